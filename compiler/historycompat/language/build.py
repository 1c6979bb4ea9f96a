"""Lark's parse tree → statements, rules and packs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from lark import Token, v_args
from lark.tree import Meta

from historycompat.language import assemble
from historycompat.language.assemble import Clause
from historycompat.language.build_expressions import ExpressionBuilder, key
from historycompat.source import Fragment
from historycompat.tree import (
    ErrorPattern,
    Except,
    Expr,
    Mapper,
    ModelPattern,
    Number,
    Path,
    Regex,
    Rule,
    Statement,
    Target,
    Text,
    Word,
)

# The arguments of each statement, in the order of the grammar; `target` is not an argument but the target.
_ARGUMENTS = {
    "set": ("path", "to", "target"),
    "unset": ("paths", "prune", "target"),
    "keep": ("paths", "target"),
    "rename": ("path", "to", "target"),
    "replace": ("regex", "with_", "path", "target"),
    "map_ids": ("unless", "mappers"),
    "map_names": ("unless", "mappers"),
    "merge": ("target", "join"),
    "split": ("target", "by"),
    "reorder": ("types", "target"),
    "truncate": ("path", "count", "unit", "keeping", "target"),
    "convert": ("target", "into", "value"),
    "coerce": ("path", "kind", "otherwise", "target"),
    "answer": ("target", "value"),
    "dedupe": ("target", "by", "keeping"),
    "report": ("text", "target"),
}


@dataclass(frozen=True, slots=True)
class Header:
    """`pack team language 1`."""

    name: Word
    language: Number


@dataclass(frozen=True, slots=True)
class File:
    """A `.rules` text, or a stretch of one: its rules that drew no complaint."""

    header: Header | None
    rules: tuple[Rule, ...]


@v_args(meta=True, inline=True)
class Builder(ExpressionBuilder):
    """Builds the tree of one fragment: a statement, a clause, or a whole rule file."""

    def __init__(self, fragment: Fragment) -> None:
        super().__init__(fragment)
        self._settled = 0  # how many complaints belong to rules that are complete

    # ----- rule files -----

    def file(self, meta: Meta, header: Header | None, *rules: Rule | None) -> File:
        return File(header, tuple(rule for rule in rules if rule))

    def rules(self, meta: Meta, *rules: Rule | None) -> File:
        return self.file(meta, None, *rules)

    def pack(self, meta: Meta, name: Word, language: Number) -> Header:
        return Header(name, language)

    def rule(self, meta: Meta, name: Word, *members: Clause | Statement) -> Rule | None:
        """The rule, or None if anything in it drew a complaint."""
        clauses: dict[str, Clause] = {}
        for clause in members:
            if isinstance(clause, Clause) and (first := clauses.setdefault(clause.name, clause)) is not clause:
                message = f'"{clause.name}" is given twice, first in line {first.span.place.line}'
                self._complain("E103", message, clause.span, "delete one of them")
        do = [member for member in members if isinstance(member, Statement)]
        if not do:
            self._complain("E105", f"rule {name.text} has no statement", name.span, "say what it does: drop, set, ...")
        faults = [replace(complaint, rule=name.text) for complaint in self.complaints[self._settled :]]
        self.complaints[self._settled :] = faults
        self._settled = len(self.complaints)
        return None if faults else assemble.rule(name, clauses, do, self._span(meta))

    def clause(self, meta: Meta, keyword: Word, value: Any) -> Clause:
        last = value[-1] if isinstance(value, tuple) else value
        first = value[0] if isinstance(value, tuple) else value
        return Clause(keyword.text, value, first.span.to(last.span))

    def _tuple(self, meta: Meta, *items: Any) -> tuple[Any, ...]:
        return items

    texts = models = error_patterns = bound = statuses = mappers = types = paths = _tuple

    def model(self, meta: Meta, negated: Word | None, name: Word, *bounds: tuple[Word, Word]) -> ModelPattern:
        limits = tuple((test.text, version.text) for test, version in bounds)
        return ModelPattern(name.text, negated is not None, limits, self._span(meta))

    def error_pattern(self, meta: Meta, statuses: tuple[Number, ...] | None, regex: Regex) -> ErrorPattern:
        return ErrorPattern(tuple(n.value for n in statuses or ()), regex, self._span(meta))

    # ----- statements -----

    def __default__(self, data: Token, children: list[Any], meta: Meta) -> Any:
        if data not in _ARGUMENTS:
            return super().__default__(data, children, meta)
        return self._statement(meta, str(data), dict(zip(_ARGUMENTS[data], children[1:], strict=True)))

    def _statement(self, meta: Meta, verb: str, args: dict[str, Any]) -> Statement:
        """A statement from the arguments that are written; `prune` is a flag, and `map` is about every call."""
        given = {name: value for name, value in args.items() if value is not None}
        target = given.pop("target", None) or Target("prompt")
        if "prune" in given:
            given["prune"] = True
        return Statement(verb, target, given, self._span(meta))

    def drop(self, meta: Meta, verb: Word, target: Target, on_empty: tuple[Word, Text] | Word | None) -> Statement:
        word, fill = on_empty if isinstance(on_empty, tuple) else (on_empty, None)
        return self._statement(meta, "drop", {"target": target, "on_empty": word, "fill": fill})

    fill = _tuple

    def insert(self, meta: Meta, verb: Word, grain: Word, value: Expr, place: tuple[Word, Target]) -> Statement:
        word, target = place
        return self._statement(meta, "insert", {"grain": grain, "value": value, "place": word, "target": target})

    def place(self, meta: Meta, word: Word, at: Target | Expr | None) -> tuple[Word, Target]:
        """`at_start` and `at_end` without a target are about the prompt, on the condition that may follow."""
        target = at if isinstance(at, Target) else Target("prompt", where=at, span=at.span if at else word.span)
        return Word(word.text.removeprefix("at_"), word.span), target

    def move(self, meta: Meta, verb: Word, target: Target, destination: tuple[Word, Target | None]) -> Statement:
        place, anchor = destination
        return self._statement(meta, "move", {"target": target, "place": place, "anchor": anchor})

    def destination(self, meta: Meta, word: Word, anchor: Target | None = None) -> tuple[Word, Target | None]:
        return word, anchor

    def mapper(self, meta: Meta, kind: Word, *values: Regex | Text | Number) -> Mapper:
        regex = next((value for value in values if isinstance(value, Regex)), None)
        text = next((value.value for value in values if isinstance(value, Text)), None)
        count = next((value.value for value in values if isinstance(value, Number)), None)
        return Mapper(kind.text, regex, text, count, self._span(meta))

    def target(self, meta: Meta, selector: Target, where: Expr | None, exclude: Except | None) -> Target:
        return replace(selector, where=where, exclude=exclude, span=self._span(meta))

    def selector(self, meta: Meta, word: Word, detail: Word | Expr | None = None) -> Target:
        if isinstance(detail, Expr):
            return Target("path", path=detail)
        if "/" in word.text:
            left, right = (_side(side) for side in word.text.split("/"))
            return Target("part", *left, *right)
        names, states = _side(detail.text if detail else "")
        return Target(word.text, names, states)

    def where(self, meta: Meta, condition: Expr) -> Expr:
        return condition

    def exclusion(self, meta: Meta, end: Word, count: Number) -> Except:
        return Except(end.text, count.value, self._span(meta))

    def path(self, meta: Meta, *keys: Word | Text) -> Path:
        return Path(tuple(key(name) for name in keys), self._span(meta))


def _side(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """`user|assistant:settled` → the names and the states; both may be empty."""
    names, *states = text.split(":")
    return tuple(names.split("|")) if names else (), tuple(states)
