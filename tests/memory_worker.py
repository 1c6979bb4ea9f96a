"""An agent's process that saves turn after turn to a thread until it is killed, and prints the number of each."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "compiler"))

from historycompat.agent.memory import Memory
from historycompat.processors.message_list import Changes

THREAD, RESOURCE, PARTS = "thread-1", "alice", "abc"


async def turns(url: str) -> None:
    session = await Memory(url).open(THREAD, RESOURCE)
    number = session.states.get("worker", {}).get("turns", 0)
    while True:
        content = {"format": 2, "parts": [{"type": "text", "text": "x" * 5000}]}
        added = tuple({"id": f"{number}.{part}", "role": "user", "content": content} for part in PARTS)
        await session.save(Changes(added=added), {"worker": {"turns": number + 1}})
        print(number, flush=True)
        number += 1


if __name__ == "__main__":
    asyncio.run(turns(sys.argv[1]))
