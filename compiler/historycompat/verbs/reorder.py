"""`reorder`: the parts of a message are sorted by type."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from historycompat.edits import Edit
from historycompat.verbs.judgement import reads, under
from historycompat.verbs.placement import permuted
from historycompat.verbs.samples import assistant, call, reasoning, text, user
from historycompat.verbs.verb import Editor, Effects, Example, Verb
from historycompat.view import Hit, View


def build(types: tuple[str, ...]) -> Editor:
    def rank(part: Any) -> int:
        type_ = part.get("type") if isinstance(part, dict) else None
        return types.index(type_) if type_ in types else len(types)

    def edit(view: View, hits: list[Hit]) -> Iterator[Edit]:
        for hit in hits:
            if hit.index is not None:
                parts = view.parts(hit.index)
                ranks = [rank(part) for part in parts]
                order = sorted(range(len(parts)), key=ranks.__getitem__)
                yield from permuted((*hit.path, view.shape.parts), parts, order)

    return edit


VERB = Verb(
    name="reorder",
    does="sorts a message's parts by type, stably; types that are not named come last",
    build=build,
    targets=frozenset({"message"}),
    least_safety=lambda statement: "safe",
    effects=lambda statement: Effects(reads=reads(statement), writes=under(statement.target, "content")),
    doc="Parts of one type, and all parts of types that are not named, keep their order among each other.",
    examples=(
        Example(
            "reorder reasoning, text, tool-call on message assistant",
            (assistant(call("c1", "ls"), text("Let me look."), reasoning("hmm")),),
            (assistant(reasoning("hmm"), text("Let me look."), call("c1", "ls")),),
        ),
        Example(
            "reorder image on message user",
            (user(text("a"), text("b"), {"type": "image", "image": "data:,"}),),
            (user({"type": "image", "image": "data:,"}, text("a"), text("b")),),
        ),
    ),
)
