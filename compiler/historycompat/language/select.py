"""ir.Target → a function that picks the places of a snapshot."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from historycompat import ir
from historycompat.edits import Pointer
from historycompat.language.expressions import codegen, locate
from historycompat.pairs import Occurrence
from historycompat.states import CALL_STATES, MESSAGE_STATES, PART_STATES, RESULT_STATES
from historycompat.tree import Expr
from historycompat.view import Hit, PathHit, Select, View

Condition = Callable[[Any, Hit], bool]
Candidates = Callable[[View], Iterator[Hit]]


def selector(target: ir.Target) -> Select:
    """The places of a target, in the order of the prompt, after `where` and `except`."""
    candidates = _CANDIDATES[target.kind](target)
    where = condition(target.where)
    end, count = target.exclude or ("first", 0)

    def select(view: View) -> list[Hit]:
        hits = [hit for hit in candidates(view) if where is None or where(hit.value, hit)]
        if not count:
            return hits
        return hits[count:] if end == "first" else hits[:-count]

    return select


def condition(expr: Expr | None) -> Condition | None:
    """A test that answers false, and says so once in the run's notes, where the expression raises on wrong types."""
    if expr is None:
        return None
    test = codegen.predicate(expr)

    def guarded(value: Any, hit: Hit) -> bool:
        try:
            return test(value, hit)
        except ValueError as error:  # what every JMESPath error is; naming it would load its library for each request
            hit.view.context.note(f"a condition did not apply to a value and counted as no match: {error}")
            return False

    return guarded


def _among(word: Any, words: frozenset[str] | None) -> bool:
    return words is None or (isinstance(word, str) and word in words)


def _messages(target: ir.Target) -> Callable[[View], Iterator[int]]:
    states = [MESSAGE_STATES[name] for name in target.states]
    if not states:
        return lambda view: iter(view.indexes(target.roles))

    def indexes(view: View) -> Iterator[int]:
        if "last" in target.states and not _among(view.role(-1) if view.messages else None, target.roles):
            return
        for index in view.indexes(target.roles):
            if all(state(view, index) for state in states):
                yield index

    return indexes


def _message_hits(target: ir.Target) -> Candidates:
    indexes = _messages(target)
    return lambda view: (Hit(view.path(index), view.messages[index], view, index=index) for index in indexes(view))


def _part_hits(target: ir.Target) -> Candidates:
    indexes = _messages(target)
    states = [PART_STATES[name] for name in target.part_states]

    def candidates(view: View) -> Iterator[Hit]:
        pairs = view.shape.pairs(target.types)
        for index in indexes(view):
            parts = view.parts(index)
            for position, part in enumerate(parts):
                if (
                    isinstance(part, dict)
                    and _among(part.get("type"), target.types)
                    and all(state(parts, position) for state in states)
                ):
                    path = view.path(index, view.shape.parts, position)
                    yield Hit(path, part, view, index, position, view.pairing.at(path) if pairs else None)

    return candidates


def _half_hits(target: ir.Target) -> Candidates:
    is_call = target.kind == "call"
    table = CALL_STATES if is_call else RESULT_STATES
    states: list[Callable[[View, Occurrence], bool]] = [table[name] for name in target.states]

    def candidates(view: View) -> Iterator[Hit]:
        for occurrence in view.pairing.occurrences:
            half = occurrence.call if is_call else occurrence.result
            if half is not None and all(state(view, occurrence) for state in states):
                yield Hit(half.path, half.part, view, half.index, half.position, occurrence)

    return candidates


def _prompt_hits(target: ir.Target) -> Candidates:
    return lambda view: iter((Hit((), view.root, view),))


def _path_hits(target: ir.Target) -> Candidates:
    assert target.path is not None
    places = locate.locator(target.path)

    def candidates(view: View) -> Iterator[Hit]:
        def hit_at(path: Pointer, value: Any) -> Hit:
            return PathHit(path, value, view)

        return (hit_at(path, value) for path, value in places(view.root, hit_at))

    return candidates


_CANDIDATES: dict[str, Callable[[ir.Target], Candidates]] = {
    "message": _message_hits,
    "part": _part_hits,
    "call": _half_hits,
    "result": _half_hits,
    "prompt": _prompt_hits,
    "path": _path_hits,
}
