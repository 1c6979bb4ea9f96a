"""`keep only`: all other keys go."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from historycompat import ir
from historycompat.edits import Edit, changes
from historycompat.verbs.judgement import ANYWHERE, argument, bases, changing, reads, worst
from historycompat.verbs.samples import assistant, text, user
from historycompat.verbs.verb import Editor, Effects, Example, Verb
from historycompat.view import Hit, View

Paths = tuple[tuple[str, ...], ...]


def build(paths: Paths) -> Editor:
    def edit(view: View, hits: list[Hit]) -> Iterator[Edit]:
        for hit in hits:
            if isinstance(hit.value, dict):
                yield from changes(hit.path, hit.value, _kept(hit.value, paths))

    return edit


def _kept(value: dict[str, Any], paths: Paths) -> dict[str, Any]:
    kept = {}
    for key, child in value.items():
        inside = tuple(path[1:] for path in paths if path[0] == key)
        if () in inside:
            kept[key] = child
        elif inside and isinstance(child, dict) and (rest := _kept(child, inside)):
            kept[key] = rest
    return kept


def _least_safety(statement: ir.Statement) -> str:
    key = {"part": "text", "message": "content"}.get(statement.target.kind)
    kept = {path[0] for path in argument(statement, "paths")}
    return worst("lossy", changing(statement.target, key)) if key and key not in kept else "lossy"


VERB = Verb(
    name="keep",
    does="deletes every key but the named ones",
    build=build,
    targets=ANYWHERE,
    least_safety=_least_safety,
    effects=lambda statement: Effects(
        reads=reads(statement), removes=frozenset(f"{base}.*" for base in bases(statement.target))
    ),
    doc="""\
A path with a dot keeps its parents, with nothing else in them: `keep only function.name` leaves `{function: {name}}`.
What is kept stays in the order in which it stood. A selected value that is not an object is left alone.""",
    examples=(
        Example(
            "keep only role, content on message user",
            (user(text("hi"), name="ann", metadata={"at": 1}),),
            (user(text("hi")),),
        ),
        Example(
            "keep only type, text, providerOptions.anthropic on assistant/text",
            (assistant(text("hello", id="t1", providerOptions={"anthropic": {"a": 1}, "openai": {"b": 2}})),),
            (assistant(text("hello", providerOptions={"anthropic": {"a": 1}})),),
        ),
    ),
)
