"""A process that writes to a store: `repair` until it is killed, or `count` up some times against competitors."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "compiler"))

from historycompat.errors import Conflict
from historycompat.store import HistoryStore, open_store

THREAD = "thread-1"


def document(number: int) -> dict[str, object]:
    """A history whose every part shows which write it is of."""
    return {"number": number, "messages": [{"role": "user", "content": str(number) * 20}] * 500}


def repair(store: HistoryStore) -> None:
    revision, found = store.load(THREAD)
    number = found["number"]
    while True:
        number += 1
        revision = store.replace(THREAD, revision, document(number), note=f"write {number}")
        print(revision, flush=True)


def count(store: HistoryStore, times: int) -> None:
    """Add one so often; print how many attempts were told that somebody else was faster."""
    conflicts = 0
    for _ in range(times):
        while True:
            revision, number = store.load(THREAD)
            try:
                store.replace(THREAD, revision, number + 1)
            except Conflict:
                conflicts += 1
            else:
                break
    print(conflicts)


if __name__ == "__main__":
    with open_store(sys.argv[2]) as opened:
        if sys.argv[1] == "repair":
            repair(opened)
        else:
            count(opened, int(sys.argv[3]))
