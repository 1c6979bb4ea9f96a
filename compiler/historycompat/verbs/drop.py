"""`drop`: parts, messages and other places go, and with a call its result."""

from __future__ import annotations

from collections.abc import Iterator

from historycompat import ir, tree
from historycompat.edits import Edit
from historycompat.errors import Complaint
from historycompat.verbs.complaints import complaint, word
from historycompat.verbs.judgement import bases, reads, removing
from historycompat.verbs.removal import dropped
from historycompat.verbs.samples import assistant, call, reasoning, result, text, tool, user
from historycompat.verbs.verb import Editor, Effects, Example, Verb
from historycompat.view import Hit, View


def build(on_empty: str = "drop", fill: str | None = None) -> Editor:
    def edit(view: View, hits: list[Hit]) -> Iterator[Edit]:
        return dropped(view, hits, "fill" if fill is not None else on_empty, fill)

    return edit


def _effects(statement: ir.Statement) -> Effects:
    gone = bases(statement.target)
    if gone & {"part.*", "part.tool-call", "part.tool-result", "message"}:
        gone |= {"part.tool-call", "part.tool-result"}
    return Effects(reads=reads(statement), removes=gone | {"message"})


def _check(statement: tree.Statement) -> Iterator[Complaint]:
    target = statement.target
    fills = word(statement, "on_empty") == "fill" or "fill" in statement.args
    if fills and target and (target.kind == "result" or target.roles == ("tool",)):
        yield complaint(
            "E501",
            "a tool message cannot be filled with text: it goes when it is empty",
            statement,
            "leave out `on_empty fill`",
        )


VERB = Verb(
    name="drop",
    does="removes parts or messages; a message left without parts goes too, unless `on_empty` says otherwise;"
    " the other half of a pair goes with it",
    build=build,
    targets=frozenset({"part", "message", "call", "result", "path"}),
    least_safety=lambda statement: removing(statement.target),
    effects=_effects,
    doc="""\
Dropping a tool call drops its result, in whatever message that stands, and the other way round; dropping a message
does so for every call and result in it. A pair is never left half.

`on_empty` is about each message that had parts and is left without any by this statement, also the tool message that
loses its only result: `drop` (the default) removes it, `keep` leaves it with `[]`, `fill "text"` gives it one text
part. A tool message is never filled, it goes. Messages that the statement did not touch stay, empty or not.

In a wire shape any place can be dropped: an element leaves its list, a key its object. A list of calls beside the
content (OpenAI's `tool_calls`) goes with its last call.

Safe: dropping parts and messages that say nothing (the state `:empty`, a condition that tests for blank text), and
messages that a rule inserted. Unsafe: text, and messages, of anyone but a tool. Lossy: everything else.""",
    examples=(
        Example(
            "drop assistant/reasoning",
            (user(text("hi")), assistant(reasoning("hmm"), text("hello")), assistant(reasoning("nothing else"))),
            (user(text("hi")), assistant(text("hello"))),
        ),
        Example(
            "drop user/text where text == '' on_empty fill \"(empty)\"",
            (user(text("")),),
            (user(text("(empty)")),),
        ),
        Example(
            "drop call where toolName == 'search'",
            (assistant(text("Let me look."), call("c1", "search")), tool(result("c1", "search"))),
            (assistant(text("Let me look.")),),
        ),
    ),
    check=_check,
)
