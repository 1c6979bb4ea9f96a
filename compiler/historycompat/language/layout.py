"""A pack and its comments → the text of a rule file in canonical form, on either surface."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from historycompat.edits import same
from historycompat.errors import HistoryCompatError
from historycompat.language import comments, unparse, yaml_text
from historycompat.language.comments import FOOTER, HEADER, Comments
from historycompat.language.packs import Kind, read_pack
from historycompat.language.unparse_expressions import quoted
from historycompat.source import Source
from historycompat.tree import Pack, Rule

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")

# The fields of a test, in the order they are written.
CASE_FIELDS = ("name", "model", "also", "origin", "phase", "error", "tools", "params", "given", "then", "stored")


class NotFormatted(HistoryCompatError):
    """A pack cannot be written in the form that was asked for."""


def formatted(pack: Pack, kind: Kind, to: Kind | None = None, *, drop_tests: bool = False) -> str:
    """The canonical text of a pack that was read from a file of `kind` without a complaint.

    Raises NotFormatted where the pack has tests and is to be written as rule text, unless they may be dropped, and
    where the new text would mean something else.
    """
    to = to or kind
    if to == "rules" and any(rule.tests for rule in pack.rules):
        if not drop_tests:
            raise NotFormatted("tests are written in YAML only; --drop-tests writes the rules without them")
        pack = replace(pack, rules=tuple(_without_tests(rule) for rule in pack.rules))
    notes = comments.read(pack, kind)
    text = "\n".join(_YAML(pack, notes).lines() if to == "yaml" else _rules(pack, notes)) + "\n"
    if text != pack.source.text:
        _require_same(pack, text, to)
    return text


def _without_tests(rule: Rule) -> Rule:
    spans = {name: span for name, span in rule.spans.items() if not name.startswith("tests[")}
    return replace(rule, tests=(), spans=spans)


def _require_same(pack: Pack, text: str, kind: Kind) -> None:
    again, complaints = read_pack(Source(pack.source.name, text), kind=kind)
    if complaints or again is None or _meaning(again) != _meaning(pack) or not same(_tests(again), _tests(pack)):
        raise NotFormatted("this file is left as it is: written in canonical form it would not mean the same")


def _meaning(pack: Pack) -> str:
    return repr((pack.name, [replace(rule, tests=()) for rule in pack.rules]))


def _tests(pack: Pack) -> list[Any]:
    return [list(rule.tests) for rule in pack.rules]


def _joined(blocks: Iterable[list[str]]) -> Iterator[str]:
    """Blocks with an empty line between them."""
    for at, block in enumerate(blocks):
        yield from [""] * bool(at)
        yield from block


# ----- rule text


def _rules(pack: Pack, notes: Comments) -> Iterator[str]:
    header = [f"pack {pack.name} language {pack.language}"] if _NAME.fullmatch(pack.name) else []
    head = [*notes.of(HEADER), *header]
    blocks = [[*notes.of((n, "")), *_rule(rule, n, notes)] for n, rule in enumerate(pack.rules)]
    return _joined(block for block in (head, *blocks, notes.of(FOOTER)) if block)


def _rule(rule: Rule, number: int, notes: Comments) -> Iterator[str]:
    yield f"rule {rule.name} {{"
    for clause, value in unparse.clauses(rule):
        yield from _indented(notes.of((number, clause)))
        yield from _clause(clause, [value] if isinstance(value, str) else value)
    for at, statement in enumerate(rule.do):
        yield from _indented(notes.of((number, f"do[{at}]")))
        yield from _indented(_continued(unparse.statement(statement)))
    yield from _indented(notes.of((number, "end")))
    yield "}"


def _clause(clause: str, values: list[str]) -> Iterator[str]:
    texts = [quoted(value) for value in values] if clause in unparse.TEXTS else values
    pieces = (text + "," * (at < len(texts) - 1) for at, text in enumerate(texts))
    return _indented(_continued(unparse.filled([clause, *pieces])))


def _continued(lines: list[str]) -> list[str]:
    return [lines[0], *("  " + line for line in lines[1:])]


def _indented(lines: Iterable[str]) -> Iterator[str]:
    return (f"  {line}".rstrip() for line in lines)


# ----- YAML

_RULE, _FIELD, _ITEM = 2, 4, 6


class _YAML:
    """Writes one pack as YAML."""

    def __init__(self, pack: Pack, notes: Comments) -> None:
        self.pack, self.notes = pack, notes

    def lines(self) -> Iterator[str]:
        yield from self.notes.of(HEADER)
        yield f"language: {self.pack.language}"
        if _NAME.fullmatch(self.pack.name):
            yield f"pack: {self.pack.name}"
        yield "rules:" if self.pack.rules else "rules: []"
        yield from _joined([*self._rule(rule, number)] for number, rule in enumerate(self.pack.rules))
        if footer := self.notes.of(FOOTER):
            yield from ("", *footer)

    def _comments(self, number: int, part: str, indent: int) -> Iterator[str]:
        return ((" " * indent + line).rstrip() for line in self.notes.of((number, part)))

    def _rule(self, rule: Rule, number: int) -> Iterator[str]:
        yield from self._comments(number, "", _RULE)
        yield f"  - name: {rule.name}"
        for clause, value in unparse.clauses(rule):
            yield from self._comments(number, clause, _FIELD)
            yield from _field(clause, value)
        yield "    do:"
        for at, statement in enumerate(rule.do):
            yield from self._comments(number, f"do[{at}]", _ITEM)
            if at == len(rule.do) - 1:  # in YAML nothing tells the end of a rule from the start of the next
                yield from self._comments(number, "end", _ITEM)
            yield from _dashed("\n".join(unparse.statement(statement)))
        if rule.tests:
            yield "    tests:"
        for at, case in enumerate(rule.tests):
            yield from self._comments(number, f"tests[{at}]", _ITEM)
            yield from _case(case)


def _field(clause: str, value: str | list[str]) -> Iterator[str]:
    if isinstance(value, str):
        head, *rest = yaml_text.text_lines(value, _ITEM, _FIELD + len(clause) + 2)
        yield f"    {clause}: {head}"
        yield from rest
        return
    row = f"    {clause}: [{', '.join(value)}]"
    if clause == "models" and len(row) <= yaml_text.WIDTH and all(yaml_text.is_plain(v, in_flow=True) for v in value):
        yield row
        return
    yield f"    {clause}:"
    for item in value:
        yield from _dashed(item)


def _dashed(text: str) -> Iterator[str]:
    head, *rest = yaml_text.text_lines(text, _ITEM + 2)
    yield f"      - {head}"
    yield from rest


def _case(case: dict[str, Any]) -> Iterator[str]:
    known = [name for name in CASE_FIELDS if name in case]
    for at, name in enumerate([*known, *(name for name in case if name not in CASE_FIELDS)]):
        head = ("      - " if at == 0 else "        ") + yaml_text.key(name) + ":"
        first, *rest = yaml_text.lines(case[name], _ITEM + 4, lead=len(head) + 1)
        yield f"{head} {first}".rstrip()
        yield from rest
