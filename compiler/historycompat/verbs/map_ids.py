"""`map ids`: tool call ids take a form that the provider accepts."""

from __future__ import annotations

from collections.abc import Iterator

from historycompat.edits import Edit
from historycompat.pairs import Half, Occurrence
from historycompat.regex import Regex
from historycompat.verbs.mapping import SALT_LENGTH, Mapper, Renaming, base62, check, effects, followers, put, text_of
from historycompat.verbs.samples import assistant, call, result, tool
from historycompat.verbs.verb import Editor, Example, Verb
from historycompat.view import Hit, View

# The bearers of one old id in order, with the new one of each.
Bearers = list[tuple[Half, str]]


def build(unless: Regex, mappers: tuple[Mapper, ...]) -> Editor:
    def edit(view: View, hits: list[Hit]) -> Iterator[Edit]:
        renaming = Renaming(unless, mappers)
        renamed: dict[str, Bearers] = {}
        for occurrence in view.pairing.occurrences:
            halves = [half for half in (occurrence.call, occurrence.result) if half is not None]
            old = text_of(halves[0].id)
            new = renaming.of(old or _minted(occurrence))
            renamed.setdefault(old, []).append((halves[0], new))
            for half in halves:
                yield from put(half.path, half.part, half.site.id, new)
        for it in followers(view):
            yield from put(it.path, it.part, it.keys, _nearest(renamed[it.id], it.index, it.position))

    return edit


def _minted(occurrence: Occurrence) -> str:
    return "call_" + base62(f"occurrence {occurrence.number}", SALT_LENGTH)


def _nearest(bearers: Bearers, index: int, position: int) -> str:
    """The new id of the last bearer before a place; of the first one behind it where there is none."""
    before = [new for half, new in bearers if (half.index, half.position or 0) <= (index, position)]
    return before[-1] if before else bearers[0][1]


_SAFE_CHARACTERS = 'map ids unless /^[a-zA-Z0-9_-]+$/ replacing /[^a-zA-Z0-9_-]/ with "_"'

VERB = Verb(
    name="map_ids",
    does="renames tool call ids, injectively, over calls, results and approvals",
    build=build,
    targets=frozenset({"prompt", "call"}),
    least_safety=lambda statement: "safe",
    effects=effects,
    doc="""\
The occurrences of calls and results are renamed in their order. An id that matches `unless` and is not taken stays;
else the functions apply from left to right: `replacing /re/ with "s"` substitutes, `hash N` is the base-62 SHA-256 of
the text in N characters, `prefix "s"` puts text before it, `shorten N` cuts to N characters.

What comes out empty, does not match or is taken is made again from the old id with eight characters of a salted hash,
which stand behind it or over its end, and which `shorten` keeps; after 64 tries the rule faults. A second call with a
used id is another occurrence and gets an id of its own, with its result. Missing and empty ids are made from the number
of the occurrence; a number is taken as its text. Parts of other types that carry a call's id (approvals) follow the
nearest call before them.

Injective, deterministic, idempotent, and the ids of a history's prefix do not depend on what follows.""",
    examples=(
        Example(
            _SAFE_CHARACTERS,
            (
                assistant(
                    call("a.b", "ls"), {"type": "tool-approval-request", "approvalId": "p1", "toolCallId": "a.b"}
                ),
                tool(result("a.b", "ls")),
            ),
            (
                assistant(
                    call("a_b", "ls"), {"type": "tool-approval-request", "approvalId": "p1", "toolCallId": "a_b"}
                ),
                tool(result("a_b", "ls")),
            ),
        ),
        Example(
            _SAFE_CHARACTERS,
            (assistant(call("a.b", "ls"), call("a:b", "cat")), tool(result("a.b", "ls"), result("a:b", "cat"))),
            (
                assistant(call("a_b", "ls"), call("a_bUPYEQ5N8", "cat")),
                tool(result("a_b", "ls"), result("a_bUPYEQ5N8", "cat")),
            ),
        ),
        Example(
            "map ids unless /^[a-zA-Z0-9]{9}$/ hash 9",
            (assistant(call("call_PTLP8xhu", "ls")), tool(result("call_PTLP8xhu", "ls"))),
            (assistant(call("U7TCjAgiN", "ls")), tool(result("U7TCjAgiN", "ls"))),
        ),
        Example(
            "map ids unless /^.{1,12}$/ shorten 12",
            (assistant(call("functions.ls:0", "ls")), tool(result("functions.ls:0", "ls"))),
            (assistant(call("functions.ls", "ls")), tool(result("functions.ls", "ls"))),
        ),
    ),
    check=check,
)
