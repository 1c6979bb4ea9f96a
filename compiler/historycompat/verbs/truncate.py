"""`truncate`: a string or a list is cut to a length."""

from __future__ import annotations

from collections.abc import Iterator

from historycompat.edits import Edit, value_at
from historycompat.verbs.judgement import ANYWHERE, argument, changing, reads, under
from historycompat.verbs.removal import removal, with_partners
from historycompat.verbs.samples import assistant, call, result, text, tool, user
from historycompat.verbs.verb import Editor, Effects, Example, Verb
from historycompat.view import Hit, View

MARKER = "…[truncated]"


def build(path: tuple[str, ...], count: int, unit: str, keeping: str = "first") -> Editor:
    def cut_texts(view: View, hits: list[Hit]) -> Iterator[Edit]:
        for hit in hits:
            old = value_at(hit.value, path)
            if isinstance(old, str) and len(old) > count:
                yield Edit("replace", (*hit.path, *path), _cut(old, count, keeping))

    def cut_lists(view: View, hits: list[Hit]) -> Iterator[Edit]:
        doomed = set()
        for hit in hits:
            old = value_at(hit.value, path)
            if isinstance(old, list) and len(old) > count:
                head = _head(count, keeping)
                surplus = range(head, head + len(old) - count)
                doomed |= {(*hit.path, *path, position) for position in surplus}
        return removal(view, with_partners(view, doomed)) if doomed else iter(())

    return cut_texts if unit == "chars" else cut_lists


def _cut(text_: str, count: int, keeping: str) -> str:
    marker = MARKER if count >= 2 * len(MARKER) else MARKER[:1] if count else ""
    kept = count - len(marker)
    head = _head(kept, keeping)
    return text_[:head] + marker + text_[len(text_) - (kept - head) :]


def _head(count: int, keeping: str) -> int:
    """How many of the kept ones are the first."""
    return {"first": count, "last": 0, "middle": count - count // 2}[keeping]


VERB = Verb(
    name="truncate",
    does="cuts a string or a list to a length; the marker counts inside it",
    build=build,
    targets=ANYWHERE,
    least_safety=lambda statement: changing(statement.target, argument(statement, "path")[0]),
    effects=lambda statement: Effects(
        reads=reads(statement) | under(statement.target, argument(statement, "path")[0]),
        writes=under(statement.target, argument(statement, "path")[0]),
    ),
    doc=f"""\
A string longer than N characters keeps its first (the default) or last ones, or both ends (`keeping middle` cuts the
middle out), with `{MARKER}` where something is missing: only `{MARKER[0]}` where N is under {2 * len(MARKER)}, nothing
where N is 0. A list keeps N items, without a marker; where these are parts, pairs stay whole, and a message left
without parts goes. Characters are Unicode code points. Unsafe on the text of anyone but a tool.""",
    examples=(
        Example(
            "truncate text to 30 chars on user/text",
            (user(text("a very long question about many things")),),
            (user(text("a very long questi…[truncated]")),),
        ),
        Example(
            "truncate output.value to 9 chars keeping middle on result",
            (assistant(call("c1", "read")), tool(result("c1", "read", "0123456789abcdef"))),
            (assistant(call("c1", "read")), tool(result("c1", "read", "0123…cdef"))),
        ),
        Example(
            "truncate content to 1 items keeping last on message user",
            (user(text("first"), text("second")),),
            (user(text("second")),),
        ),
    ),
)
