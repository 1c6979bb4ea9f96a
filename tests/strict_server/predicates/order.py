"""Turns → roles where the provider does not allow them, and turns with nothing in them."""

from __future__ import annotations

from strict_server.conversation import Request, Turn
from strict_server.predicates.finding import Finding, Findings, Predicate, found


def follows(request: Request, /, *, role: str, after: list[str]) -> Findings:
    """Turns of this role directly behind a turn of one of those."""
    for previous, turn in zip(request.turns, request.turns[1:], strict=False):
        if turn.role == role and previous.role in after:
            yield found(turn, role=role, previous=previous.role)


def same_role(request: Request, /, *, roles: list[str]) -> Findings:
    """Turns with the role of the turn before."""
    for previous, turn in zip(request.turns, request.turns[1:], strict=False):
        if turn.role == previous.role and turn.role in roles:
            yield found(turn, role=turn.role)


def not_alternating(request: Request, /, *, tools: str = "count", system: str = "leading") -> Findings:
    """The first turn that breaks user, assistant, user, ... behind the system messages.

    `tools = "skip"` leaves out calls and results; `system` says where system messages may stand: `leading`, `once`, `never`."""
    turns = request.turns
    leading = 0
    while leading < len(turns) and turns[leading].role == "system":
        leading += 1
    if leading > {"never": 0, "once": 1}.get(system, leading):
        yield found(turns[leading - 1])
        return
    counted = [turn for turn in turns[leading:] if tools == "count" or not _is_tool_turn(turn)]
    for position, turn in enumerate(counted):
        if turn.role != ("user", "assistant")[position % 2]:
            yield found(turn, role=turn.role)
            return


def _is_tool_turn(turn: Turn) -> bool:
    return turn.role == "tool" or bool(turn.of("call"))


def first_is(request: Request, /, *, roles: list[str], with_calls: bool = False, past_system: bool = False) -> Findings:
    """The first turn has one of these roles."""
    turns = [turn for turn in request.turns if not (past_system and turn.role == "system")]
    if turns and turns[0].role in roles and (turns[0].of("call") or not with_calls):
        yield found(turns[0], role=turns[0].role)


def last_is(
    request: Request, /, *, roles: list[str], ends_on: list[str] | None = None, at_least: int = 1, unless: str = ""
) -> Findings:
    """The last turns (as many as `at_least`) have one of these roles, and no true value under the key `unless`.

    `ends_on` keeps those whose last part is of these kinds, or that have no part."""
    tail = request.turns[-at_least:]
    if len(tail) < at_least or any(turn.role not in roles or turn.raw.get(unless) for turn in tail):
        return
    last = tail[-1]
    if ends_on is None or not last.parts or last.parts[-1].kind in ends_on:
        yield found(last, role=last.role)


def only_turn_is(request: Request, /, *, roles: list[str]) -> Findings:
    if len(request.turns) == 1 and request.turns[0].role in roles:
        yield found(request.turns[0])


def none_is(request: Request, /, *, roles: list[str]) -> Findings:
    """No turn has one of these roles."""
    if request.turns and not any(turn.role in roles for turn in request.turns):
        yield Finding(())


def late(request: Request, /, *, roles: list[str]) -> Findings:
    """Turns of these roles at another place than the first."""
    for turn in request.turns[1:]:
        if turn.role in roles:
            yield found(turn, role=turn.role)


def call_turn_misplaced(request: Request, /) -> Findings:
    """Calls that are not directly behind a turn of the user."""
    for position, turn in enumerate(request.turns):
        before = request.turns[position - 1] if position else None
        if turn.of("call") and (before is None or before.role == "model"):
            yield found(turn)


def result_turn_misplaced(request: Request, /) -> Findings:
    """Results that are not directly behind a turn with calls."""
    for position, turn in enumerate(request.turns):
        before = request.turns[position - 1] if position else None
        if turn.of("result") and (before is None or not before.of("call")):
            yield found(turn)


def system_misplaced(request: Request, /, *, rule: str) -> Findings:
    """Runs of system messages inside a conversation that stand `first`, that do not `follow` a user turn, or that do not
    `precede` an assistant turn or the end. An entry with empty content and `output_config` may stand anywhere."""
    turns = [turn for turn in request.turns if not _is_directive(turn)]
    starts = [
        at for at, turn in enumerate(turns) if turn.role == "system" and (at == 0 or turns[at - 1].role != "system")
    ]
    for start in starts:
        end = next((at for at in range(start, len(turns)) if turns[at].role != "system"), len(turns))
        misplaced = {
            "first": start == 0,
            "follow": start > 0 and not _may_be_followed(turns[start - 1]),
            "precede": end < len(turns) and turns[end].role != "assistant",
        }
        if misplaced[rule]:
            yield found(turns[end - 1 if rule == "precede" else start])


def _is_directive(turn: Turn) -> bool:
    return turn.role == "system" and turn.raw.get("content") == [] and turn.raw.get("output_config") is not None


def _may_be_followed(turn: Turn) -> bool:
    last = turn.parts[-1].raw if turn.parts else None
    return turn.role == "user" or (isinstance(last, dict) and str(last.get("type")).endswith("_tool_result"))


def empty_turn(request: Request, /, *, roles: list[str], key: str = "content", final: bool = True) -> Findings:
    """Turns whose content is "" or []; `final = false` leaves out an assistant turn at the end."""
    for turn in request.turns:
        if turn.role not in roles or turn.raw.get(key) not in ("", []) or _is_directive(turn):
            continue
        if final or turn.role == "user" or turn is not request.turns[-1]:
            yield found(turn, role=turn.role)


def empty_run(request: Request, /, *, role: str) -> Findings:
    """Runs of turns of this role, all of them empty."""
    run: list[Turn] = []
    for turn in [*request.turns, None]:
        if turn is not None and turn.role == role:
            run.append(turn)
            continue
        if run and all(member.raw.get("content") in ("", []) for member in run):
            yield found(run[0])
        run = []


def trailing_space(request: Request, /) -> Findings:
    """A final assistant turn whose last text ends in whitespace."""
    last = request.turns[-1] if request.turns else None
    if last is not None and last.role == "assistant" and last.parts:
        text = last.parts[-1].value if last.parts[-1].kind == "text" else None
        if isinstance(text, str) and text != text.rstrip():
            yield found(last.parts[-1])


def only_kind(request: Request, /, *, kind: str) -> Findings:
    """Assistant turns that hold nothing else, and are not empty."""
    for turn in request.turns:
        if turn.role == "assistant" and turn.parts and all(part.kind == kind for part in turn.parts):
            yield found(turn)


def kind_with(request: Request, /, *, kinds: list[str]) -> Findings:
    """Assistant turns that hold something of each of these kinds."""
    for turn in request.turns:
        if turn.role == "assistant" and all(_holds(turn, kind) for kind in kinds):
            yield found(turn)


def kind_without(request: Request, /, *, kind: str, lacks: str, role: str) -> Findings:
    """Turns of this role that hold the one kind but not the other."""
    for turn in request.turns:
        if turn.role == role and _holds(turn, kind) and not _holds(turn, lacks):
            yield found(turn)


def _holds(turn: Turn, kind: str) -> bool:
    return any(part.value != "" if kind in ("text", "thinking") else True for part in turn.of(kind))


def kind_in_role(request: Request, /, *, kind: str, roles: list[str]) -> Findings:
    for turn in request.turns:
        if turn.role in roles:
            yield from (found(part, role=turn.role) for part in turn.of(kind))


PREDICATES: dict[str, Predicate] = {
    "follows": follows,
    "same_role": same_role,
    "not_alternating": not_alternating,
    "first_is": first_is,
    "last_is": last_is,
    "only_turn_is": only_turn_is,
    "none_is": none_is,
    "late": late,
    "call_turn_misplaced": call_turn_misplaced,
    "result_turn_misplaced": result_turn_misplaced,
    "system_misplaced": system_misplaced,
    "empty_turn": empty_turn,
    "empty_run": empty_run,
    "trailing_space": trailing_space,
    "only_kind": only_kind,
    "kind_with": kind_with,
    "kind_without": kind_without,
    "kind_in_role": kind_in_role,
}
