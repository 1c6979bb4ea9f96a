"""`set`: a key gets a value."""

from __future__ import annotations

from collections.abc import Iterator

from historycompat import ir
from historycompat.edits import Edit, changes, detached, with_path
from historycompat.verbs.judgement import ANYWHERE, argument, changing, reads, under, whole
from historycompat.verbs.samples import assistant, call, text, user
from historycompat.verbs.verb import Editor, Effects, Example, Verb
from historycompat.view import Compute, Hit, View


def build(path: tuple[str, ...], to: Compute) -> Editor:
    def edit(view: View, hits: list[Hit]) -> Iterator[Edit]:
        for hit in hits:
            if isinstance(hit.value, dict):
                new = with_path(hit.value, path, detached(to(hit.value, hit)))
                yield from changes(hit.path, hit.value, new)

    return edit


def _least_safety(statement: ir.Statement) -> str:
    key = argument(statement, "path")[0]
    safety = changing(statement.target, key)
    # `{_raw: input}` takes the old value along.
    return "safe" if whole(argument(statement, "to"), key) else safety


VERB = Verb(
    name="set",
    does="assigns a value to a key; creates parent objects, never lists",
    build=build,
    targets=ANYWHERE,
    least_safety=_least_safety,
    effects=lambda statement: Effects(
        reads=reads(statement), writes=under(statement.target, argument(statement, "path")[0])
    ),
    doc="""\
The expression sees the selected value as `@`. Missing parents, and parents that are no objects, become objects. On
`prompt` the keys are those of the request: `set tools to ...`, `set params.temperature to ...`. Assigning an equal
value changes nothing. A selected value that is not an object has no keys and is left alone.

Unsafe on the text of anyone but a tool; lossy on what calls, results, reasoning and media carry; safe elsewhere, where
the condition says that the old value is blank or null, and where the new value takes the whole old one along.""",
    examples=(
        Example(
            "set input to `{}` on call where input == `null`",
            (assistant(call("c1", "list", input=None)),),
            (assistant(call("c1", "list", {})),),
        ),
        Example(
            "set providerOptions.anthropic.cacheControl.type to 'ephemeral' on message user:last",
            (user(text("hi")),),
            (user(text("hi"), providerOptions={"anthropic": {"cacheControl": {"type": "ephemeral"}}}),),
        ),
    ),
)
