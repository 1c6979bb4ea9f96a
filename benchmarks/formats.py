"""Each format's read and write of an unchanged 1,000-message history, as a ratio of copy.deepcopy of it.

Run: python benchmarks/formats.py [rounds]. Absolute times mean nothing on shared machines: the two sides are timed in
turns, and the median of the pairs' ratios is compared with the gate.
"""

from __future__ import annotations

import copy
import json
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

from historycompat import formats
from historycompat.edits import Lineage

GATE = 0.5
MESSAGES = 1000

_TEXT = "The build is green again; the flaky test was the one that read the clock. " * 3
_INPUT = {"path": "src/app.py", "range": [1, 80], "why": "look at the imports"}


def openai_chat(turn: int) -> list[dict[str, Any]]:
    call = {"id": f"call_{turn}", "type": "function", "function": {"name": "read", "arguments": json.dumps(_INPUT)}}
    return [
        {"role": "user", "content": [{"type": "text", "text": _TEXT}]},
        {"role": "assistant", "content": "I will look.", "tool_calls": [call], "refusal": None},
        {"role": "tool", "tool_call_id": f"call_{turn}", "content": _TEXT},
        {"role": "assistant", "content": _TEXT, "reasoning_content": "Found it."},
    ]


def anthropic(turn: int) -> list[dict[str, Any]]:
    return [
        {"role": "user", "content": [{"type": "text", "text": _TEXT}]},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "Look first.", "signature": "c2lnbmF0dXJl"},
                {"type": "text", "text": "I will look."},
                {"type": "tool_use", "id": f"toolu_{turn}", "name": "read", "input": _INPUT},
            ],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": f"toolu_{turn}", "content": _TEXT}]},
        {"role": "assistant", "content": [{"type": "text", "text": _TEXT}]},
    ]


def aisdk_v2(turn: int) -> list[dict[str, Any]]:
    output = {"type": "text", "value": _TEXT}
    ids = {"toolCallId": f"call_{turn}", "toolName": "read"}
    return [
        {"role": "user", "content": [{"type": "text", "text": _TEXT}]},
        {"role": "assistant", "content": [{"type": "tool-call", **ids, "input": _INPUT}]},
        {"role": "tool", "content": [{"type": "tool-result", **ids, "output": output}]},
        {"role": "assistant", "content": [{"type": "text", "text": _TEXT}]},
    ]


HISTORIES: dict[str, Callable[[int], list[dict[str, Any]]]] = {
    "openai-chat": openai_chat,
    "anthropic": anthropic,
    "aisdk-v2": aisdk_v2,
}


def seconds(job: Callable[[], object]) -> float:
    start = time.perf_counter()
    job()
    return time.perf_counter() - start


def ratio(name: str, rounds: int) -> float:
    kind = formats.find(name)
    history = json.loads(json.dumps([message for turn in range(MESSAGES // 4) for message in HISTORIES[name](turn)]))

    def lens() -> None:
        reading = kind.read(history)
        if kind.write(reading, reading.messages, reading.tools, reading.params, Lineage()) is not history:
            raise AssertionError(f"{name}: an unchanged history was rewritten")

    return statistics.median(seconds(lens) / seconds(lambda: copy.deepcopy(history)) for _ in range(rounds))


def main() -> int:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    ratios = {name: ratio(name, rounds) for name in HISTORIES}
    for name, value in ratios.items():
        print(f"{name:<14} {value:5.2f}  (gate {GATE})")
    return int(any(value > GATE for value in ratios.values()))


if __name__ == "__main__":
    sys.exit(main())
