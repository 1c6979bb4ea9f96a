"""`replace`: what a pattern matches in a string becomes something else."""

from __future__ import annotations

from collections.abc import Iterator

from historycompat import tree
from historycompat.edits import Edit, value_at
from historycompat.errors import Complaint
from historycompat.regex import Regex, RegexError, compile_regex
from historycompat.verbs.complaints import complaint, word
from historycompat.verbs.judgement import ANYWHERE, argument, changing, reads, under
from historycompat.verbs.samples import system, text, user
from historycompat.verbs.verb import Editor, Effects, Example, Verb
from historycompat.view import Hit, View


def build(regex: Regex, with_: str, path: tuple[str, ...]) -> Editor:
    def edit(view: View, hits: list[Hit]) -> Iterator[Edit]:
        for hit in hits:
            old = value_at(hit.value, path)
            if isinstance(old, str):
                yield Edit("replace", (*hit.path, *path), regex.sub(with_, old))

    return edit


def _check(statement: tree.Statement) -> Iterator[Complaint]:
    regex, new = statement.args.get("regex"), word(statement, "with_")
    if not isinstance(regex, tree.Regex) or new is None or (statement.target and statement.target.where):
        return
    try:
        again = compile_regex(regex.pattern, regex.flags).sub(new, new)
    except RegexError:  # reported with its place by the checks of regular expressions
        return
    if again != new:
        yield complaint(
            "E503",
            f"the pattern matches its own replacement, so {new!r} becomes {again!r} at the next run",
            statement,
            "narrow the pattern, or add a `where` that is false once it was replaced",
        )


VERB = Verb(
    name="replace",
    does="substitutes every match of a pattern in a string",
    build=build,
    targets=ANYWHERE,
    least_safety=lambda statement: changing(statement.target, argument(statement, "path")[0]),
    effects=lambda statement: Effects(
        reads=reads(statement) | under(statement.target, argument(statement, "path")[0]),
        writes=under(statement.target, argument(statement, "path")[0]),
    ),
    doc="""\
The path leads from the selected object to a string; where it leads to anything else, or nowhere, nothing happens.
Unsafe on the text of anyone but a tool.""",
    examples=(
        Example(
            'replace /<\\/?system-reminder>/ with "" in text on user/text',
            (user(text("<system-reminder>buy milk</system-reminder>")),),
            (user(text("buy milk")),),
        ),
        Example(
            'replace /\\t/ with "  " in content on message system',
            (system("Rules:\n\tbe brief"), user(text("a\tb"))),
            (system("Rules:\n  be brief"), user(text("a\tb"))),
        ),
    ),
    check=_check,
)
