"""Turns → calls without results, results without calls, and pairs that are not one to one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from strict_server.conversation import Part, Request, Turn
from strict_server.paths import hashable
from strict_server.predicates.finding import Findings, Predicate, found

Window = Callable[[list[Turn], int], list[Turn]]


def _next(turns: list[Turn], index: int) -> list[Turn]:
    return turns[index + 1 : index + 2]


def _run(turns: list[Turn], index: int) -> list[Turn]:
    """The messages of role tool right behind."""
    behind = index + 1
    while behind < len(turns) and turns[behind].role == "tool":
        behind += 1
    return turns[index + 1 : behind]


def _later(turns: list[Turn], index: int) -> list[Turn]:
    return turns[index + 1 :]


def _previous(turns: list[Turn], index: int) -> list[Turn]:
    return turns[max(index - 1, 0) : index]


def _nearest(turns: list[Turn], index: int) -> list[Turn]:
    """The message before the run of tool messages that this one is in."""
    before = index - 1
    while before >= 0 and turns[before].role == "tool":
        before -= 1
    return turns[before : before + 1] if before >= 0 else []


def _earlier(turns: list[Turn], index: int) -> list[Turn]:
    return turns[:index]


RESULTS_IN: dict[str, Window] = {"next": _next, "run": _run, "later": _later}
CALLS_IN: dict[str, Window] = {"previous": _previous, "nearest": _nearest, "earlier": _earlier}


def _parts(turns: list[Turn], kind: str) -> Iterator[Part]:
    return (part for turn in turns for part in turn.parts if part.kind == kind)


def unanswered(request: Request, /, *, within: str, one_by_one: bool = False) -> Findings:
    """Calls without a result in the `next` turn, in the `run` of tool messages behind, or anywhere `later`."""
    for position, turn in enumerate(request.turns):
        calls = turn.of("call")
        if not calls:
            continue
        answered = {part.id for part in _parts(RESULTS_IN[within](request.turns, position), "result")}
        missing = [part for part in calls if part.id not in answered]
        if one_by_one:
            yield from (found(part, id=part.id) for part in missing)
        elif missing:
            ids = ", ".join(str(part.id) for part in missing)
            yield found(turn, ids=ids, count=len(calls), role=_role_behind(request.turns, position))


def _role_behind(turns: list[Turn], position: int) -> Any:
    return turns[position + 1].role if position + 1 < len(turns) else None


def orphaned(request: Request, /, *, within: str, behind_calls: bool | None = None) -> Findings:
    """Results whose call is not in the `previous` turn, the `nearest` message that is no result, or anywhere `earlier`.

    `behind_calls` keeps those behind a turn that has calls (true), or that has none (false)."""
    for position, turn in enumerate(request.turns):
        results = turn.of("result")
        if not results:
            continue
        calls = list(_parts(CALLS_IN[within](request.turns, position), "call"))
        if behind_calls is not None and bool(calls) is not behind_calls:
            continue
        known = {part.id for part in calls}
        yield from (found(part, id=part.id, role=turn.role) for part in results if part.id not in known)


def duplicated(request: Request, /, *, kind: str, within: str = "history") -> Findings:
    """Calls (or results) with the id of an earlier one, in the `history` or in one `turn`."""
    seen: set[Any] = set()
    for turn in request.turns:
        if within == "turn":
            seen = set()
        for part in turn.of(kind):
            if isinstance(part.id, str) and part.id in seen:
                yield found(part, id=part.id)
            seen.add(part.id if isinstance(part.id, str) else None)


def miscounted(request: Request, /, *, within: str, only: str = "differ") -> Findings:
    """Turns behind calls that hold another number of results: they `differ`, or there are only ever `more`."""
    for position in range(-1, len(request.turns) - 1):
        turn = request.turns[position] if position >= 0 else None
        behind = RESULTS_IN[within](request.turns, position)
        calls, results = len(turn.of("call")) if turn else 0, len(list(_parts(behind, "result")))
        wrong = results > calls if only == "more" else bool(calls) and results != calls
        if wrong and (turn is None or turn.role != "tool"):
            yield found(request.turns[position + 1], count=calls, results=results)


def results_not_leading(request: Request, /) -> Findings:
    """Turns that answer every call of the previous turn, but do not begin with the results."""
    for previous, turn in zip(request.turns, request.turns[1:], strict=False):
        count = len(previous.of("call"))
        leading = turn.parts[:count]
        if count and len(turn.of("result")) >= count and any(part.kind != "result" for part in leading):
            yield found(turn, count=count)


def text_behind_results(request: Request, /) -> Findings:
    """Turns that hold results and something else."""
    for turn in request.turns:
        if turn.of("result") and len(turn.of("result")) != len(turn.parts):
            yield found(turn)


def renamed_result(request: Request, /) -> Findings:
    """Results that carry another name than the call they stand for: the call with their id, else the one in their place.

    A message of role tool without a name is taken to carry its id as name, as gateways translate it."""
    for position, turn in enumerate(request.turns):
        source = _nearest(request.turns, position) if turn.role == "tool" else _previous(request.turns, position)
        calls = list(_parts(source, "call"))
        for order, part in enumerate(turn.of("result")):
            call = next((call for call in calls if call.id == part.id and part.id is not None), None)
            call = call or (calls[order] if part.id is None and order < len(calls) else None)
            name = part.name or part.id
            if call is not None and name and name != call.name:
                yield found(part, name=name, expected=call.name)


def result_outside_server_call(request: Request, /, *, result: str, call: str) -> Findings:
    """Results of hosted tools without their call earlier in the same turn."""
    for turn in request.turns:
        seen: set[Any] = set()
        for part in turn.parts:
            kind = str(part.raw.get("type")) if isinstance(part.raw, dict) else ""
            if kind == call:
                seen.add(hashable(part.raw.get("id")))
            elif part.kind == "other" and kind.endswith(result) and hashable(part.raw.get("tool_use_id")) not in seen:
                yield found(part, id=part.raw.get("tool_use_id"), type=kind)


PREDICATES: dict[str, Predicate] = {
    "unanswered": unanswered,
    "orphaned": orphaned,
    "duplicated": duplicated,
    "miscounted": miscounted,
    "results_not_leading": results_not_leading,
    "text_behind_results": text_behind_results,
    "renamed_result": renamed_result,
    "result_outside_server_call": result_outside_server_call,
}
