"""The canonical messages of one row → what its native parts will be, calls with their results."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from historycompat.edits import MISSING, same
from historycompat.formats.format import OPAQUE
from historycompat.formats.kinds import Part


@dataclass(slots=True, eq=False)
class Entry:
    """One native part to be: something said, or a call, its result, or both.

    `hosted`: a result without its call, in the assistant's own message. `starts`: it begins a message, and `apart` that
    only a step can part it from what stands before.
    """

    said: Part | None = None
    call: Part | None = None
    result: Part | None = None
    hosted: bool = False
    starts: bool = False
    apart: bool = False

    @property
    def is_open(self) -> bool:
        """Whether this is a call that waits for a result in a message of its own."""
        return self.call is not None and self.result is None and not self.is_hosted

    def has_id_of(self, result: Any) -> bool:
        """Whether this is a call, and a result has its id."""
        if self.call is None or not isinstance(result, dict):
            return False
        return same(self.call.get("toolCallId", MISSING), result.get("toolCallId", MISSING))

    @property
    def is_hosted(self) -> bool:
        return self.call is not None and bool(self.call.get("providerExecuted"))

    @property
    def is_inline(self) -> bool:
        """Whether the result stands in the assistant's own message."""
        return self.hosted or self.is_hosted

    @property
    def ends_step(self) -> bool:
        """Whether this ends the step before it, where that has results."""
        return self.said is not None and _type(self.said) != OPAQUE


Natives = Callable[[Any], Any]
"""From a canonical part to the native one it was read from."""


def entries_of(
    group: Iterable[dict[str, Any]], parts_of: Callable[[dict[str, Any]], list[Any]], native_of: Natives
) -> list[Entry]:
    """The entries of the messages of a row, in order; `parts_of` gives the parts of a message."""
    entries: list[Entry] = []
    step: list[Entry] = []  # of the last message of the row's own role, and of the results behind it
    before = ""  # what the message before was: "said" or "answered"
    for message in group:
        parts = parts_of(message)
        if message.get("role") == "tool":
            _answer(parts, step, native_of)
            before = "answered" if parts else before
        elif said := _said(parts):
            entries += step
            step = said
            step[0].starts = True
            step[0].apart = before == "said" or (before == "answered" and not step[0].ends_step)
            before = "said"
    return entries + step


def _answer(parts: Iterable[Any], step: list[Entry], native_of: Natives) -> None:
    """Put results to the calls of a step; one without call where it is read behind the results before it."""
    for part in parts:
        native = native_of(part)
        calls = [(at, entry) for at, entry in enumerate(step) if entry.is_open]
        found = next((entry for _, entry in calls if native_of(entry.call) is native is not None), None)
        if found is None or not found.has_id_of(part):
            # A result that was read stays behind those before it; a new one may come in the order of the calls.
            first = 0 if native is None else _behind_results(step)
            found = next((entry for at, entry in calls if at >= first and entry.has_id_of(part)), None)
        if found is not None:
            found.result = part
        else:
            _insert(Entry(said=part) if _type(part) != "tool-result" else Entry(result=part), step)


def _behind_results(step: list[Entry]) -> int:
    answered = [at for at, entry in enumerate(step) if entry.result is not None and not entry.is_inline]
    return answered[-1] + 1 if answered else 0


def _insert(entry: Entry, step: list[Entry]) -> None:
    spoken = [at + 1 for at, each in enumerate(step) if each.ends_step]
    at = max(_behind_results(step), *spoken[-1:], 0)
    if at == 0 and step:
        entry.starts, entry.apart = step[0].starts, step[0].apart
        step[0].starts = step[0].apart = False
    step.insert(at, entry)


def _said(parts: Iterable[Any]) -> list[Entry]:
    entries: list[Entry] = []
    for part in parts:
        if _type(part) == "tool-call":
            entries.append(Entry(call=part))
        elif _type(part) != "tool-result":
            entries.append(Entry(said=part))
        elif entries and entries[-1].is_hosted and entries[-1].result is None and entries[-1].has_id_of(part):
            entries[-1].result = part
        else:
            entries.append(Entry(result=part, hosted=True))
    return entries


def _type(part: Any) -> Any:
    return part.get("type") if isinstance(part, dict) else None
