"""`convert`: a part becomes a part of another type, and a call takes its result along."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from historycompat import ir, tree
from historycompat.edits import Edit, detached
from historycompat.errors import Complaint, RuleFault
from historycompat.pairs import Half
from historycompat.verbs.complaints import complaint, word
from historycompat.verbs.judgement import argument, bases, reads, removing, whole
from historycompat.verbs.placement import run_after
from historycompat.verbs.samples import assistant, call, result, text, tool, user
from historycompat.verbs.verb import Editor, Effects, Example, Verb
from historycompat.view import Compute, Hit, PathHit, View


def build(into: str, value: Compute) -> Editor:
    def converted(hit: Hit) -> dict[str, Any]:
        computed = detached(value(hit.value, hit))
        if not isinstance(computed, dict):
            raise RuleFault(f"convert needs an object, and its expression gave {computed!r}")
        new: dict[str, Any] = computed if isinstance(hit, PathHit) else {"type": into} | computed | {"type": into}
        hit.view.context.lineage.record(new, hit.value)
        return new

    def edit(view: View, hits: list[Hit]) -> Iterator[Edit]:
        leaving: dict[int, dict[int, dict[str, Any]]] = {}
        for hit in _with_results(view, hits):
            new = converted(hit)
            if into != "tool-result" and _is_result_of_tool(hit):
                assert hit.index is not None
                assert hit.position is not None
                leaving.setdefault(hit.index, {})[hit.position] = new
            else:
                yield Edit("replace", hit.path, new)
        yield from _moved_out(view, leaving)

    return edit


def _with_results(view: View, hits: list[Hit]) -> list[Hit]:
    """The hits, and the results of the calls among them."""
    chosen = {hit.path: hit for hit in hits}
    for hit in hits:
        occurrence = hit.occurrence
        if occurrence and occurrence.call and occurrence.result and occurrence.call.path == hit.path:
            half = occurrence.result
            chosen.setdefault(half.path, Hit(half.path, half.part, view, half.index, half.position, occurrence))
    return sorted(chosen.values(), key=lambda hit: (hit.index or 0, hit.position or 0))


def _is_result_of_tool(hit: Hit) -> bool:
    result: Half | None = hit.occurrence.result if hit.occurrence else None
    return (
        not hit.view.shape.native
        and not isinstance(hit, PathHit)
        and result is not None
        and result.path == hit.path
        and hit.view.role(result.index) == "tool"
    )


def _moved_out(view: View, leaving: dict[int, dict[int, dict[str, Any]]]) -> Iterator[Edit]:
    """Converted results leave their tool messages for one user message behind the last tool message there."""
    homes: dict[int, list[dict[str, Any]]] = {}
    for index, parts in leaving.items():
        homes.setdefault(run_after(view, index).stop, []).extend(parts.values())
        if len(parts) == len(view.parts(index)):
            yield Edit("remove", view.path(index))
        else:
            yield from (Edit("remove", view.path(index, view.shape.parts, position)) for position in parts)
    for home, parts_ in homes.items():
        yield Edit("add", view.path(home), {view.shape.role: "user", view.shape.parts: parts_})


def _least_safety(statement: ir.Statement) -> str:
    value, target = argument(statement, "value"), statement.target
    keeps = [pair.children[0] for pair in value.children if pair.kind == "key_val_pair"]
    if target.kind == "path" and any(expr.kind == "current" or whole(expr, "text") for expr in keeps):
        return "safe"
    if target.types == frozenset({"text"}) and any(whole(expr, "text") for expr in keeps):
        return "lossy"
    return removing(target)


def _effects(statement: ir.Statement) -> Effects:
    gone = bases(statement.target)
    if "part.tool-call" in gone:
        gone |= {"part.tool-result"}
    new = frozenset({f"part.{argument(statement, 'into')}"})
    return Effects(
        reads=reads(statement), removes=gone, creates=new | ({"message"} if "part.tool-result" in gone else set())
    )


def _check(statement: tree.Statement) -> Iterator[Complaint]:
    target, into = statement.target, word(statement, "into")
    if target and target.kind == "part" and target.where is None and into in target.types:
        yield complaint(
            "E503",
            f"what this makes is {into} again, and is converted again at every run",
            statement,
            "add a `where` that is false for the new part, or `set` its keys",
        )


VERB = Verb(
    name="convert",
    does="replaces a part by one of another type; a result follows its call",
    build=build,
    targets=frozenset({"part", "call", "result", "path"}),
    least_safety=_least_safety,
    effects=_effects,
    doc="""\
The expression sees the part as `@` and must give an object; its `type` is filled in. With a call its result is
converted too, by the same expression with the result as `@`: `$call` and `$result` are the pair for both. Converted
results leave their tool message (which goes if nothing is left in it) for a user message behind it, or behind the tool
messages that follow it, so that no other result comes late. A result that stands in its call's message stays in place.

Converting a result alone leaves its call without one, which is a fault: convert the call.

A `path` is replaced by the object as it is given, and so is everything in a wire shape, where only the format knows
which message could take a converted result.

Safety: of a `path`, safe where the new object takes `@` or `text` along; otherwise by what is converted, as for `drop`,
except that text which goes along whole is only lossy.""",
    examples=(
        Example(
            "convert assistant/reasoning into text {text: join('', ['<think>', text, '</think>'])}",
            (assistant({"type": "reasoning", "text": "hmm"}, text("hello")),),
            (assistant(text("<think>hmm</think>"), text("hello")),),
        ),
        Example(
            "convert call where toolName == 'old' into text"
            " {text: type == 'tool-call' && 'The tool old was called.' || $result.output.value}",
            (
                user(text("hi")),
                assistant(call("c1", "old")),
                tool(result("c1", "old", "42")),
                assistant(text("It is 42.")),
            ),
            (
                user(text("hi")),
                assistant(text("The tool old was called.")),
                user(text("42")),
                assistant(text("It is 42.")),
            ),
        ),
    ),
    check=_check,
)
