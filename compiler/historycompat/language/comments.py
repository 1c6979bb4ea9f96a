"""A rule file → its comments, each with what it is about."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from historycompat.language import nodes
from historycompat.language.grammar import parser
from historycompat.language.nodes import Node
from historycompat.language.packs import Kind, symbol_of
from historycompat.source import Fragment, Source
from historycompat.tree import Pack, Rule

# What a comment can be about: a rule or part of one, by the rule's number and the name of the part's span.
Unit = tuple[int, str]

HEADER: Unit = (-1, "")
FOOTER: Unit = (-1, "end")

_COMMENT = re.compile(r"#[^\r\n]*")
_YAML_COMMENT = re.compile(r"(?<![^\s\[\]{},\ufeff])#[^\r\n]*")


@dataclass(slots=True)
class Comments:
    """The comment lines above each unit, an empty line where one divides them; `(n, "end")` stands before the end of a
    rule, and `FOOTER` before that of the file."""

    above: dict[Unit, list[str]] = field(default_factory=lambda: defaultdict(list))

    def of(self, unit: Unit) -> list[str]:
        return self.above.get(unit, [])


def read(pack: Pack, kind: Kind) -> Comments:
    """The comments of a pack that was read without a complaint."""
    source, found = pack.source, Comments()
    units = sorted(_units(pack))
    begin = int(source.text.startswith("\ufeff"))
    whole = Fragment(source, source.text[begin:], ((0, begin),))
    for offset, text in sorted(_yaml(source) if kind == "yaml" else _in_rules(whole, "file")):
        unit, at = _owner(offset, source, units, pack.rules)
        lines = found.above[unit]
        if lines and source.text[:offset].rstrip(" \t").endswith(("\n\n", "\n\r\n")) and lines[-1]:
            lines.append("")
        lines.append(text.rstrip())
        if (
            at > offset
            and re.match(r"\r?\n[ \t]*\r?\n", source.text[offset + len(text) :])
            and not _more(source, offset, at)
        ):
            lines.append("")
    return found


def _more(source: Source, offset: int, end: int) -> bool:
    """Whether another comment follows before `end`."""
    return "#" in source.text[source.text.find("\n", offset) + 1 : end]


def _units(pack: Pack) -> Iterator[tuple[int, int, Unit]]:
    """Where each unit stands: start, end, and its name."""
    for number, rule in enumerate(pack.rules):
        if rule.span:
            yield rule.span.start, rule.span.start, (number, "")
        for name, span in rule.spans.items():
            yield span.start, span.end, (number, "" if name == "name" else name)
    start = re.match(r"\ufeff?(?:[ \t\r]*(?:#.*)?\n)*", pack.source.text)
    first = min((rule.span.start for rule in pack.rules if rule.span), default=len(pack.source.text))
    if start and start.end() < first and pack.source.text[start.end() : first].strip(" -"):
        yield start.end(), start.end(), HEADER


def _owner(
    offset: int, source: Source, units: list[tuple[int, int, Unit]], rules: tuple[Rule, ...]
) -> tuple[Unit, int]:
    """What a comment is about, and where that stands: what it stands in or behind, else what follows it."""
    line = source.text.rfind("\n", 0, offset) + 1
    header = next((start for start, _, unit in units if unit == HEADER), offset + 1)
    first = min((rule.span.start for rule in rules if rule.span), default=0)
    if header <= offset < first and source.text[line:offset].strip(" -"):
        return HEADER, 0
    beside = [unit for unit in units if unit[2][1] and unit[0] <= offset and (offset < unit[1] or line < unit[1])]
    if beside and (source.text[line:offset].strip() or offset < beside[-1][1]):
        return beside[-1][2], 0
    around = next((n for n, rule in enumerate(rules) if rule.span and rule.span.start < offset < rule.span.end), None)
    for start, _, unit in units:
        if start > offset and (around is None or unit[0] == around):
            return unit, start
    return ((around, "end"), 0) if around is not None else (FOOTER, 0)


def _in_rules(fragment: Fragment, symbol: str) -> Iterator[tuple[int, str]]:
    """The comments between the tokens of a text in the rule language, with their offsets in the file."""
    at = 0
    tokens = [*parser().parse_interactive(fragment.text, symbol).iter_parse()]
    for token in (*tokens, None):
        until = len(fragment.text) if token is None else token.start_pos or 0
        for comment in _COMMENT.finditer(fragment.text, at, until):
            yield fragment.offset(comment.start()), comment[0]
        at = until if token is None else token.end_pos or 0


def _yaml(source: Source) -> Iterator[tuple[int, str]]:
    root = nodes.read(source, [])
    at = 0
    scalars = [*_scalars(root, ())] if root else []
    for node, symbol in scalars:
        yield from ((found.start(), found[0]) for found in _YAML_COMMENT.finditer(source.text, at, node.start))
        if symbol:
            yield from _in_rules(node.fragment, symbol)
        at = max(node.end, at)
    yield from ((found.start(), found[0]) for found in _YAML_COMMENT.finditer(source.text, at))


def _scalars(node: Node, path: tuple[str, ...]) -> Iterator[tuple[Node, str | None]]:
    """Every scalar in file order, and the symbol of the grammar that it is read as."""
    if node.kind == "scalar":
        yield node, symbol_of(path[1]) if len(path) == 2 and path[0] == "rules" else None
    elif node.kind == "list":
        for item in node.items:
            yield from _scalars(item, path)
    else:
        for key, value in node.pairs():
            yield key, None
            yield from _scalars(value, (*path, key.text))
