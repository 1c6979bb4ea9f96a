"""`answer`: a call without a result gets one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from historycompat.edits import Edit, Pointer, changes, detached, with_path
from historycompat.errors import RuleFault
from historycompat.pairs import Half
from historycompat.states import marked_synthetic
from historycompat.verbs.judgement import reads
from historycompat.verbs.placement import Slots, result_role
from historycompat.verbs.samples import assistant, call, result, text, tool, user
from historycompat.verbs.verb import Editor, Effects, Example, Verb
from historycompat.view import Compute, Hit, View


def build(value: Compute) -> Editor:
    def edit(view: View, hits: list[Hit]) -> Iterator[Edit]:
        slots = Slots(view)
        made: dict[Pointer, list[dict[str, Any]]] = {}
        for hit in hits:
            call = hit.occurrence.call if hit.occurrence and not hit.occurrence.result else None
            if call is None:
                continue
            new = _result(view, call, detached(value(hit.value, hit)))
            if view.shape.answering(call.site).joined:
                yield from changes(call.path, call.part, new)
                continue
            slot, is_new = slots.of(call)
            if is_new:
                made.setdefault(slot, []).append(new)
            else:
                yield Edit("add", slot, new)
        for slot, results in made.items():
            yield from (Edit("add", slot, message) for message in _messages(view, results))

    return edit


def _result(view: View, call: Half, output: Any) -> dict[str, Any]:
    site = view.shape.answering(call.site)
    new: dict[str, Any] = {} if site.type is None else {site.type_key: site.type}
    for path, value in ((site.id, call.id), (site.name, call.name)):
        if path and value is not None:
            new = with_path(new, path, value)
    if not view.shape.native:
        return marked_synthetic({**new, "output": output})
    if not isinstance(output, dict):
        raise RuleFault(f"in this format a result is an object with its output in it, not {output!r}")
    return _over(call.part, output) if site.joined else _over(output, new)


def _over(body: dict[str, Any], filled: dict[str, Any]) -> dict[str, Any]:
    """The filled-in keys first, then the body; where both have a key the filled-in value wins."""
    merged = {**filled, **{key: value for key, value in body.items() if key not in filled}}
    for key in body.keys() & filled.keys():
        if isinstance(body[key], dict) and isinstance(filled[key], dict):
            merged[key] = _over(body[key], filled[key])
    return merged


def _messages(view: View, results: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The messages that hold new results; of a format in which those are items of a type, these items."""
    site = view.shape.results[0]
    if site.within is None and site.type is not None:
        return results
    message: dict[str, Any] = {view.shape.role: result_role(view)}
    for path, value in site.fresh:
        message = with_path(message, path, value)
    if site.within is None:
        return [{**message, **result} for result in results]
    return [with_path(message, site.place, results)]


VERB = Verb(
    name="answer",
    does="gives a call without a result a synthetic one, in the tool message behind the call's message",
    build=build,
    targets=frozenset({"call"}),
    least_safety=lambda statement: "safe",
    effects=lambda statement: Effects(reads=reads(statement), creates=frozenset({"part.tool-result", "message"})),
    keeps_prefix=False,
    doc="""\
The expression is the `output` of the new result; its id and tool name are the call's. It stands behind the results in
the tool messages directly after the call's message. Where there is none one is made; the calls of one message share it,
in their order. A call that has a result is left alone.

In a wire shape the expression is the body of the native result (Anthropic: `{content: '...'}`), and type, id and name
are filled in where the format keeps them; where a result is a message or an item of its own, it becomes one, and where
it is said in the call's object (UI messages), the body is put over that. Only results of the
canonical prompt are marked synthetic.

Keeps no prefix: a call is without a result until that arrives.""",
    examples=(
        Example(
            "answer call:orphan with {type: 'error-text', value: 'No result.'}",
            (assistant(call("c1", "ls"), call("c2", "cat")), user(text("never mind"))),
            (
                assistant(call("c1", "ls"), call("c2", "cat")),
                tool(
                    marked_synthetic({**result("c1", "ls"), "output": {"type": "error-text", "value": "No result."}}),
                    marked_synthetic({**result("c2", "cat"), "output": {"type": "error-text", "value": "No result."}}),
                ),
                user(text("never mind")),
            ),
        ),
        Example(
            "answer call:orphan with {type: 'text', value: 'ok'}",
            (assistant(call("c1", "ls"), call("c2", "cat")), tool(result("c2", "cat", "meow"))),
            (
                assistant(call("c1", "ls"), call("c2", "cat")),
                tool(result("c2", "cat", "meow"), marked_synthetic(result("c1", "ls"))),
            ),
        ),
    ),
)
