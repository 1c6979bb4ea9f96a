"""Tool calls and their results: where they stand, and which belong together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from historycompat.edits import Pointer, value_at


@dataclass(frozen=True, slots=True)
class Site:
    """Where a format keeps tool calls or results, and under which keys.

    `within` is the message key that holds the list (None: the message itself is the call or result), `inside` are the
    keys that lead on from there; `type` is what the value under `type_key` must be (`tool-*`: begin with; None: any
    object there is one); `name` is empty where none is kept; `roles` are the messages it may stand in (empty: any). An
    `id` of several keys lies in an object that tells calls and results from their neighbours. `state` is a path whose
    value must be one of `states` (none given: anything but null). `joined`: a result is said in the object of its call.
    `fresh` is what a new message has beside its results, by path.
    """

    within: str | None
    type: str | None
    id: tuple[str, ...]
    name: tuple[str, ...]
    roles: tuple[str, ...] = ()
    inside: tuple[str, ...] = ()
    type_key: str = "type"
    state: tuple[str, ...] = ()
    states: tuple[str, ...] = ()
    joined: bool = False
    fresh: tuple[tuple[tuple[str, ...], str], ...] = ()

    @property
    def place(self) -> tuple[str, ...]:
        """The path of the list in a message; empty where the message itself is the call or result."""
        return () if self.within is None else (self.within, *self.inside)

    def holds(self, part: dict[str, Any]) -> bool:
        """Whether an object that stands here is a call or result."""
        if self.type is not None and not _is_type(part.get(self.type_key), self.type):
            return False
        if self.state and not self._is_in_state(value_at(part, self.state)):
            return False
        return isinstance(value_at(part, self.id[:-1]), dict)

    def _is_in_state(self, state: Any) -> bool:
        return state in self.states if self.states else state is not None


def _is_type(kind: Any, wanted: str) -> bool:
    return kind == wanted or (wanted.endswith("*") and isinstance(kind, str) and kind.startswith(wanted[:-1]))


@dataclass(slots=True, eq=False)
class Half:
    """A tool call or a tool result where it stands."""

    path: Pointer
    index: int
    position: int | None
    part: dict[str, Any]
    site: Site

    @property
    def id(self) -> Any:
        return value_at(self.part, self.site.id)

    @property
    def name(self) -> Any:
        return value_at(self.part, self.site.name) if self.site.name else None


@dataclass(slots=True, eq=False)
class Occurrence:
    """A call, a result, or both: a call opens an occurrence of its id, and a result belongs to the call in whose object
    it stands or else to the nearest earlier unanswered call with its id. `number` counts occurrences in order of
    appearance."""

    number: int
    call: Half | None = None
    result: Half | None = None


class Pairing:
    """The occurrences of a prompt, in order, and the one that stands at a place."""

    def __init__(self, halves: Iterator[tuple[bool, Half]]) -> None:
        self.occurrences: list[Occurrence] = []
        self._at: dict[Pointer, Occurrence] = {}
        self._open: dict[Any, list[Occurrence]] = {}
        self._seen: dict[tuple[bool, Any], Pointer] = {}
        for is_call, half in halves:
            self._place(is_call, half)

    def _place(self, is_call: bool, half: Half) -> None:
        key = half.id if isinstance(half.id, (str, int, float)) else None
        waiting = self._open.get(key, [])
        joined = self._at.get(half.path)
        if joined is not None and joined in waiting:
            occurrence = joined
            waiting.remove(occurrence)
        elif is_call or not waiting:
            occurrence = Occurrence(len(self.occurrences))
            self.occurrences.append(occurrence)
        else:
            # Nearest message first; calls that stand in one message are answered in their order.
            latest = max(o.call.index for o in waiting if o.call)
            occurrence = next(o for o in waiting if o.call and o.call.index == latest)
            waiting.remove(occurrence)
        if is_call:
            occurrence.call = half
            self._open.setdefault(key, []).append(occurrence)
        else:
            occurrence.result = half
        self._at[half.path] = occurrence
        self._seen.setdefault((is_call, key), half.path)

    def at(self, path: Pointer) -> Occurrence | None:
        return self._at.get(path)

    def is_first(self, is_call: bool, half: Half) -> bool:
        """Whether no earlier call (or result) has the same id."""
        key = half.id if isinstance(half.id, (str, int, float)) else None
        return self._seen.get((is_call, key)) == half.path

    def paired(self) -> set[tuple[int, int]]:
        """The identities of the part objects of complete pairs."""
        return {(id(o.call.part), id(o.result.part)) for o in self.occurrences if o.call and o.result}
