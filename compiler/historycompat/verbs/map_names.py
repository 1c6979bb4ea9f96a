"""`map names`: tool names take a form that the provider accepts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from historycompat.edits import Edit, Pointer, value_at
from historycompat.regex import Regex
from historycompat.verbs.mapping import Mapper, Renaming, check, effects, followers, put
from historycompat.verbs.placement import halves
from historycompat.verbs.samples import assistant, call, result, tool
from historycompat.verbs.verb import Editor, Example, Verb
from historycompat.view import Hit, View


@dataclass(frozen=True, slots=True)
class Mention:
    """A tool's name where it is written: under `keys` of the object at `path`."""

    path: Pointer
    holder: dict[str, Any]
    keys: tuple[str, ...]

    @property
    def name(self) -> Any:
        return value_at(self.holder, self.keys) if self.keys else None


def build(unless: Regex, mappers: tuple[Mapper, ...]) -> Editor:
    def edit(view: View, hits: list[Hit]) -> Iterator[Edit]:
        renaming = Renaming(unless, mappers)
        declared = _named(_declared(view))
        # All declared names are known from the start: those that are right come first and stay.
        wrong = {it.name: not unless.search(it.name) for it in declared}
        used = _named(Mention(half.path, half.part, half.site.name) for half, _ in halves(view.pairing))
        renamed: dict[str, str] = {}
        for name in (*sorted(wrong, key=wrong.__getitem__), *(it.name for it in used)):
            if name not in renamed:
                renamed[name] = renaming.of(name)
        for it in (*declared, *used, *(it for it in _named(_referring(view)) if it.name in renamed)):
            yield from put(it.path, it.holder, it.keys, renamed[it.name])

    return edit


def _named(mentions: Iterator[Mention]) -> list[Mention]:
    return [it for it in mentions if isinstance(it.name, str) and it.name]


def _declared(view: View) -> Iterator[Mention]:
    """The names in `tools`: under `name`, or under the keys that calls have it under (`function.name`)."""
    tools = view.root.get("tools")
    keys = dict.fromkeys((("name",), *(site.name for site in view.shape.calls)))
    for number, tool_ in enumerate(tools if isinstance(tools, list) else []):
        yield from (Mention(("tools", number), tool_, path) for path in keys)


def _referring(view: View) -> Iterator[Mention]:
    for it in followers(view):
        yield from (Mention(it.path, it.part, site.name) for site in view.shape.calls)


VERB = Verb(
    name="map_names",
    does="renames tools, injectively, over calls, results, approvals and `$tools`",
    build=build,
    targets=frozenset({"prompt", "call"}),
    least_safety=lambda statement: "safe",
    effects=effects,
    doc="""\
One name becomes one other name everywhere. The functions and what happens to a name that comes out empty, wrong or
taken are those of `map ids`. Names come in this order: the declared tools (those that match `unless` first), then calls
and results as they stand. A missing name is not made up.""",
    examples=(
        Example(
            'map names unless /^[a-zA-Z0-9_-]{1,64}$/ replacing /[^a-zA-Z0-9_-]/ with "_" shorten 64',
            (assistant(call("c1", "files.list")), tool(result("c1", "files.list"))),
            (assistant(call("c1", "files_list")), tool(result("c1", "files_list"))),
        ),
        Example(
            'map names unless /^mcp_/ prefix "mcp_"',
            (assistant(call("c1", "ls"), call("c2", "mcp_cat")), tool(result("c1", "ls"), result("c2", "mcp_cat"))),
            (
                assistant(call("c1", "mcp_ls"), call("c2", "mcp_cat")),
                tool(result("c1", "mcp_ls"), result("c2", "mcp_cat")),
            ),
        ),
    ),
    check=check,
)
