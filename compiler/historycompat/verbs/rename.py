"""`rename`: a value moves from one key to another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from historycompat import tree
from historycompat.edits import Edit, changes, value_at, with_path, without_path
from historycompat.errors import Complaint
from historycompat.verbs.complaints import complaint
from historycompat.verbs.judgement import ANYWHERE, argument, reads, under
from historycompat.verbs.samples import assistant, reasoning, text, user
from historycompat.verbs.verb import Editor, Effects, Example, Verb
from historycompat.view import Hit, View


def build(path: tuple[str, ...], to: tuple[str, ...]) -> Editor:
    def edit(view: View, hits: list[Hit]) -> Iterator[Edit]:
        for hit in hits:
            if isinstance(hit.value, dict):
                yield from changes(hit.path, hit.value, _renamed(hit.value, path, to))

    return edit


def _renamed(value: dict[str, Any], path: tuple[str, ...], to: tuple[str, ...]) -> dict[str, Any]:
    rest = without_path(value, path)
    if rest is value:
        return value
    return with_path(rest, to, value_at(value, path)) if value_at(rest, to) is None else rest


def _check(statement: tree.Statement) -> Iterator[Complaint]:
    path, to = statement.args.get("path"), statement.args.get("to")
    if isinstance(path, tree.Path) and isinstance(to, tree.Path) and to.keys[: len(path.keys)] == path.keys:
        yield complaint(
            "E503",
            f"{'.'.join(path.keys)} would move into itself, once more at every run",
            statement,
            "rename to a key outside it, or `set` a new object on a condition",
        )


VERB = Verb(
    name="rename",
    does="moves a value to another key; an existing target wins",
    build=build,
    targets=ANYWHERE,
    least_safety=lambda statement: "safe",
    effects=lambda statement: Effects(
        reads=reads(statement),
        writes=under(statement.target, argument(statement, "to")[0]),
        removes=under(statement.target, argument(statement, "path")[0]),
    ),
    doc="""\
The old key always goes. Where the new one already has a value, that stays and the old value goes with its key; null
counts as no value. Missing parents of the new key are created. What is no object is left alone.""",
    examples=(
        Example(
            "rename providerMetadata to providerOptions on assistant/reasoning",
            (user(text("hi")), assistant(reasoning("hmm", providerMetadata={"anthropic": {"signature": "s"}}))),
            (user(text("hi")), assistant(reasoning("hmm", providerOptions={"anthropic": {"signature": "s"}}))),
        ),
        Example(
            "rename providerOptions.vertex to providerOptions.google on assistant/text",
            (assistant(text("hello", providerOptions={"vertex": {"a": 1}, "google": {"a": 2}})),),
            (assistant(text("hello", providerOptions={"google": {"a": 2}})),),
        ),
    ),
    check=_check,
)
