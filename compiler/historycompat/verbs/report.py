"""`report`: a finding, and no edit."""

from __future__ import annotations

from collections.abc import Iterator

from historycompat.edits import Finding
from historycompat.verbs.judgement import ANYWHERE, reads
from historycompat.verbs.samples import system, text, user
from historycompat.verbs.verb import Editor, Effects, Example, Verb
from historycompat.view import Hit, View


def build(text: str) -> Editor:
    def edit(view: View, hits: list[Hit]) -> Iterator[Finding]:
        return (Finding(hit.path, text) for hit in hits)

    return edit


VERB = Verb(
    name="report",
    does="notes a finding that no rule can repair; changes nothing",
    build=build,
    targets=ANYWHERE,
    least_safety=lambda statement: "safe",
    effects=lambda statement: Effects(reads=reads(statement)),
    doc="One finding for each selected place, with its JSON pointer.",
    examples=(
        Example(
            "report \"too many images\" prompt where length($messages[].content[?type == 'image'][]) > `20`",
            (user(text("hi")),),
            (user(text("hi")),),
        ),
        Example(
            'report "a late system message" message system:late',
            (user(text("hi")), system("late")),
            (user(text("hi")), system("late")),
        ),
    ),
)
