"""Calls and results that say no ids or names → the same ones, paired by name and order."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

from historycompat.edits import MISSING

Part = dict[str, Any]

_MADE = re.compile(r"unidentified_[1-9][0-9]*")


def is_made(call_id: Any) -> bool:
    """Whether an id is one that `identify` made."""
    return isinstance(call_id, str) and _MADE.fullmatch(call_id) is not None


def said_id(call_id: Any) -> Any:
    """An id as native objects say it: MISSING for one that was made here."""
    return MISSING if is_made(call_id) else call_id


def identify(halves: Sequence[Part]) -> None:
    """Give ids to calls and results without one: `unidentified_<n>` to the n-th of the history, and to a result the id
    of the nearest open call with its name before it; where no name fits, of the first open one."""
    if all(half.get("toolCallId") for half in halves):
        return
    numbers = iter(range(1, 1 << 62))
    waiting: list[list[Part]] = []  # the open calls, by turn
    for kind, group in groupby(halves, key=lambda half: half["type"]):
        turn = list(group)
        if kind == "tool-call":
            for call in turn:
                _number(call, numbers)
            waiting.append(turn)
        else:
            _answer(turn, waiting, numbers)


def _answer(results: list[Part], waiting: list[list[Part]], numbers: Iterator[int]) -> None:
    """Pair the results of one turn: those with ids first, then those whose name fits, then the rest in order."""
    lost = []
    for result in results:
        if result.get("toolCallId"):
            _take(waiting, "toolCallId", result["toolCallId"])
        else:
            lost.append(result)
    for result in list(lost):
        if call := _take(waiting, "toolName", result.get("toolName")):
            result["toolCallId"] = call["toolCallId"]
            lost.remove(result)
    for result in lost:
        if waiting and waiting[-1]:
            result["toolCallId"] = waiting[-1].pop(0)["toolCallId"]
        else:
            _number(result, numbers)


def _take(waiting: list[list[Part]], key: str, value: Any) -> Part | None:
    """Close the first call of the latest turn that has this value, and give it."""
    for turn in reversed(waiting):
        for at, call in enumerate(turn):
            if value is not None and call.get(key) == value:
                return turn.pop(at)
    return None


def _number(half: Part, numbers: Iterator[int]) -> None:
    number = next(numbers)
    if not half.get("toolCallId"):
        half["toolCallId"] = f"unidentified_{number}"


def name_results(halves: Iterable[Part]) -> None:
    """Give results without a tool name that of the nearest call before them with their id."""
    names: dict[str, Any] = {}
    for half in halves:
        call = half.get("toolCallId")
        if not isinstance(call, str):
            continue
        if half["type"] == "tool-call":
            names[call] = half.get("toolName")
        elif call in names:
            half.setdefault("toolName", names[call])
