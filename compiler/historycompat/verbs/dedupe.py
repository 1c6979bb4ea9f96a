"""`dedupe`: of equals, one stays."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any

from historycompat import ir
from historycompat.edits import Edit, Pointer
from historycompat.pairs import Half, Pairing
from historycompat.verbs.judgement import bases, reads
from historycompat.verbs.placement import halves
from historycompat.verbs.removal import is_within, removal
from historycompat.verbs.samples import assistant, call, result, text, tool, user
from historycompat.verbs.verb import Editor, Effects, Example, Verb
from historycompat.view import Compute, Hit, View


def build(by: Compute, keeping: str = "first") -> Editor:
    def edit(view: View, hits: list[Hit]) -> Iterator[Edit]:
        seen: set[Hashable] = set()
        doomed: set[Pointer] = set()
        for hit in hits if keeping == "first" else reversed(hits):
            key = by(hit.value, hit)
            if key is None or not hit.path:
                continue
            if _hashable(key) in seen:
                doomed.add(hit.path)
            seen.add(_hashable(key))
        return removal(view, doomed | _left_alone(view, doomed)) if doomed else iter(())

    return edit


def _hashable(value: Any) -> Hashable:
    """Equal for equal JSON values: `true` is not `1`, `1` is `1.0`, the order of keys does not matter."""
    if isinstance(value, dict):
        return frozenset((key, _hashable(child)) for key, child in value.items())
    if isinstance(value, (list, tuple)):
        return tuple(_hashable(child) for child in value)
    if not isinstance(value, Hashable):  # no JSON value, such as a set
        return repr(value)
    return (type(value), value) if isinstance(value, bool) else value


def _left_alone(view: View, doomed: set[Pointer]) -> set[Pointer]:
    """The halves of pairs whose other half goes and for which no equal takes its place."""
    kept = [(is_call, half) for half, is_call in halves(view.pairing) if not is_within(half.path, doomed)]
    after = Pairing(iter(kept))
    return {half.path for _, half in kept if _is_paired(view.pairing, half) and not _is_paired(after, half)}


def _is_paired(pairing: Pairing, half: Half) -> bool:
    occurrence = pairing.at(half.path)
    return occurrence is not None and bool(occurrence.call and occurrence.result)


def _effects(statement: ir.Statement) -> Effects:
    return Effects(reads=reads(statement), removes=bases(statement.target) | {"message"})


VERB = Verb(
    name="dedupe",
    does="drops equals, all but the first or the last",
    build=build,
    targets=frozenset({"part", "message", "call", "result", "path"}),
    least_safety=lambda statement: "lossy",
    effects=_effects,
    doc="""\
Equals are the selected places for which the expression gives the same value (JSON equality with types), wherever they
stand. Null is equal to nothing: what has no id is no duplicate. Dropping follows the rules of `drop`, but a result or
call whose other half goes stays where the equal that is kept takes its place. `keeping last` lets later messages
decide about earlier ones, so it keeps no prefix stable.""",
    examples=(
        Example(
            "dedupe result by toolCallId keeping last",
            (assistant(call("c1", "ls")), tool(result("c1", "ls", "pending")), tool(result("c1", "ls", "a.py"))),
            (assistant(call("c1", "ls")), tool(result("c1", "ls", "a.py"))),
        ),
        Example(
            "dedupe user/image by image",
            (user(text("look"), {"type": "image", "image": "a"}, {"type": "image", "image": "a"}),),
            (user(text("look"), {"type": "image", "image": "a"}),),
        ),
    ),
)
