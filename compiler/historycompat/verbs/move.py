"""`move`: messages and parts go elsewhere as a block, results behind their calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from historycompat import tree
from historycompat.edits import Edit, Pointer, value_at
from historycompat.errors import Complaint
from historycompat.pairs import Site
from historycompat.states import RESULT_STATES
from historycompat.verbs.complaints import complaint
from historycompat.verbs.judgement import reads
from historycompat.verbs.placement import Slots, permuted
from historycompat.verbs.removal import removal
from historycompat.verbs.samples import assistant, call, reasoning, result, system, text, tool, user
from historycompat.verbs.verb import Editor, Effects, Example, Verb
from historycompat.view import Hit, Select, View


def build(place: str, anchor: Select | None = None) -> Editor:
    def edit(view: View, hits: list[Hit]) -> Iterator[Edit]:
        anchors = anchor(view) if anchor else []
        if place == "after" and _are(hits, "result") and _are(anchors, "call"):
            yield from _behind_calls(view, hits, {hit.path for hit in anchors})
            return
        marks = _by_list(anchors)
        for path, chosen in _by_list(hits).items():
            values = value_at(view.root, path)
            key = view.shape.role if path == view.shape.spine else "type"
            kinds = [_kind(value, key) for value in values]
            order = _ORDERS[place](kinds, chosen, sorted(marks.get(path, set()) - chosen))
            yield from permuted(path, values, order)

    return edit


def _kind(value: Any, key: str) -> str | None:
    kind = value.get(key) if isinstance(value, dict) else None
    return kind if isinstance(kind, str) else None


def _are(hits: list[Hit], half: str) -> bool:
    """Whether all hits are calls, or results, of occurrences."""
    return all(hit.occurrence and hit.path == getattr(getattr(hit.occurrence, half), "path", None) for hit in hits)


def _by_list(hits: list[Hit]) -> dict[Pointer, set[int]]:
    """Each list that hits stand in, with their indexes there."""
    lists: dict[Pointer, set[int]] = {}
    for hit in hits:
        if hit.path and isinstance(hit.path[-1], int):
            lists.setdefault(hit.path[:-1], set()).add(hit.path[-1])
    return lists


def _to_start(kinds: Sequence[str | None], chosen: set[int], marks: list[int]) -> list[int]:
    """Behind the head: the leading run of what is chosen or of a kind with it."""
    moving = {kinds[at] for at in chosen} - {None}
    head = 0
    while head < len(kinds) and (head in chosen or kinds[head] in moving):
        head += 1
    block = [at for at in sorted(chosen) if at >= head]
    return [*range(head), *block, *(at for at in range(head, len(kinds)) if at not in chosen)]


def _to_end(kinds: Sequence[str | None], chosen: set[int], marks: list[int]) -> list[int]:
    last = len(kinds) - 1
    mirrored = _to_start(kinds[::-1], {last - at for at in chosen}, marks)
    return [last - at for at in reversed(mirrored)]


def _before(kinds: Sequence[str | None], chosen: set[int], marks: list[int]) -> list[int]:
    return _beside(len(kinds), chosen, marks[0] if marks else None)


def _after(kinds: Sequence[str | None], chosen: set[int], marks: list[int]) -> list[int]:
    return _beside(len(kinds), chosen, marks[-1] + 1 if marks else None)


def _beside(length: int, chosen: set[int], at: int | None) -> list[int]:
    if at is None:
        return list(range(length))
    rest = [index for index in range(length) if index not in chosen]
    cut = sum(index < at for index in rest)
    return [*rest[:cut], *sorted(chosen), *rest[cut:]]


_ORDERS: dict[str, Callable[[Sequence[str | None], set[int], list[int]], list[int]]] = {
    "start": _to_start,
    "end": _to_end,
    "before": _before,
    "after": _after,
}


def _behind_calls(view: View, hits: list[Hit], calls: set[Pointer]) -> Iterator[Edit]:
    """Each late result to the message behind its own call's, made from the result's message where there is none."""
    slots, late = Slots(view), RESULT_STATES["late"]
    joining: dict[Pointer, list[Hit]] = {}
    making: dict[Pointer, list[Hit]] = {}
    for hit in hits:
        it = hit.occurrence
        if it and it.call and it.call.path in calls and late(view, it):
            slot, is_new = slots.of(it.call)
            (making if is_new else joining).setdefault(slot, []).append(hit)
    depth = len(view.shape.spine) + 1
    growing = {slot[:depth] for slot in joining}
    leaving = {hit.path for arrivals in (*joining.values(), *making.values()) for hit in arrivals}
    staying = {path for path in leaving if path[:depth] in growing}
    yield from removal(view, staying, on_empty="keep")
    yield from removal(view, leaving - staying)
    for slot, arrivals in joining.items():
        yield from (Edit("add", slot, hit.value) for hit in arrivals)
    for slot, arrivals in making.items():
        yield from (Edit("add", slot, message) for message in _made(view, arrivals, growing))


def _made(view: View, arrivals: list[Hit], growing: set[Pointer]) -> Iterator[Any]:
    """The messages for results that find none: whole-message results as they are, parts in one message, which becomes
    one for results where it is of another role."""
    first = arrivals[0]
    if first.position is None:
        yield from (hit.value for hit in arrivals)
        return
    source, key = first.message, first.path[-2]
    parts = [hit.value for hit in arrivals]
    role, homes = source.get(view.shape.role), view.shape.homes(_site(view, first))
    moves_whole = len(source[key]) == len(parts) and all(hit.index == first.index for hit in arrivals)
    if moves_whole and role in homes and first.path[:-2] not in growing:
        yield source
        return
    made = {**source, view.shape.role: role if role in homes else homes[0], key: parts}
    view.context.lineage.record(made, source)
    yield made


def _site(view: View, hit: Hit) -> Site:
    it = hit.occurrence
    return it.result.site if it and it.result else view.shape.results[0]


def _check(statement: tree.Statement) -> Iterator[Complaint]:
    target, anchor = statement.target, statement.args.get("anchor")
    if target is None or not isinstance(anchor, tree.Target) or "path" in (target.kind, anchor.kind):
        return
    if (target.kind == "message") != (anchor.kind == "message") or anchor.kind == "prompt":
        yield complaint(
            "E502",
            f"a {target.kind} cannot stand beside a {anchor.kind}: they are in different lists",
            statement,
            "messages move beside messages, parts beside parts of their message, results `after call`",
        )


VERB = Verb(
    name="move",
    does="moves messages or parts as a block, keeping their order; `result:late to after call` moves each result behind"
    " its own call's message",
    build=build,
    targets=frozenset({"part", "message", "call", "result", "path"}),
    least_safety=lambda statement: "safe",
    effects=lambda statement: Effects(reads=reads(statement), writes=frozenset({"message"})),
    keeps_prefix=False,
    doc="""\
What is selected moves inside the list it stands in: messages among the messages, parts inside their message, elements
of a `path` in theirs.

- `to start`: behind the head, the leading run of what is selected or has its role (for parts: its type). Late system
  messages thus line up behind the first ones.
- `to end`: before the tail, likewise.
- `to before T`: before the first T that is not itself selected; `to after T`: behind the last one. Without one nothing
  moves.
- results `to after call`: each late result moves behind the results in the message after its own call's message.

What already stands in the head or the tail stays, so that a second run moves nothing. For a late result without a
message to join, one is made with the keys of the message that it leaves; where that message holds nothing else it moves
as it is. Messages left empty go. A result that is not late stays.""",
    examples=(
        Example(
            "move message system:late to start",
            (system("Be brief."), user(text("hi")), system("Be kind."), assistant(text("hello"))),
            (system("Be brief."), system("Be kind."), user(text("hi")), assistant(text("hello"))),
        ),
        Example(
            "move result:late to after call",
            (assistant(call("c1", "ls")), user(text("hurry")), tool(result("c1", "ls"))),
            (assistant(call("c1", "ls")), tool(result("c1", "ls")), user(text("hurry"))),
        ),
        Example(
            "move assistant/reasoning to before assistant/text",
            (assistant(text("hello"), reasoning("hmm"), call("c1", "ls")),),
            (assistant(reasoning("hmm"), text("hello"), call("c1", "ls")),),
        ),
    ),
    check=_check,
)
