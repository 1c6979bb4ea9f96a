"""`unset`: keys go."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from typing import Any

from historycompat import ir
from historycompat.edits import Edit, changes, without_path
from historycompat.verbs.judgement import ANYWHERE, argument, changing, reads, under, worst
from historycompat.verbs.samples import assistant, reasoning, text, user
from historycompat.verbs.verb import Editor, Effects, Example, Verb
from historycompat.view import Hit, View


def build(paths: tuple[tuple[str, ...], ...], prune: bool = False) -> Editor:
    def without(value: dict[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
        return without_path(value, path, prune=prune)

    def edit(view: View, hits: list[Hit]) -> Iterator[Edit]:
        for hit in hits:
            if isinstance(hit.value, dict):
                yield from changes(hit.path, hit.value, reduce(without, paths, hit.value))

    return edit


def _keys(statement: ir.Statement) -> list[str]:
    return [path[0] for path in argument(statement, "paths")]


VERB = Verb(
    name="unset",
    does="deletes keys; `prune` also deletes parents left `{}`",
    build=build,
    targets=ANYWHERE,
    least_safety=lambda statement: worst("lossy", *(changing(statement.target, key) for key in _keys(statement))),
    effects=lambda statement: Effects(reads=reads(statement), removes=under(statement.target, *_keys(statement))),
    doc="""\
A key that is not there is no fault. `prune` deletes the parents that this statement leaves empty, up to the selected
value itself; parents that were `{}` before stay. A selected value that is not an object is left alone.""",
    examples=(
        Example(
            "unset providerOptions.openai.itemId prune on assistant/text",
            (assistant(text("hello", providerOptions={"openai": {"itemId": "msg_1"}})),),
            (assistant(text("hello")),),
        ),
        Example(
            "unset providerOptions, providerMetadata on assistant/reasoning",
            (user(text("hi")), assistant(reasoning("hmm", providerOptions={"google": {}}, providerMetadata={}))),
            (user(text("hi")), assistant(reasoning("hmm"))),
        ),
    ),
)
