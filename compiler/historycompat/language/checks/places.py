"""Rule → every place in it where an expression or a regular expression stands, and what is known there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from historycompat import tree
from historycompat.language.checks.shapes import UNKNOWN, Reader, Shape, parts, shape_of, variables_for
from historycompat.language.vocabulary import PAIRED, PART_OBJECTS, VARIABLES
from historycompat.tree import Expr

# Arguments that are computed for each part of a message, not for the message that the target selects.
_FOR_EACH_PART = {("split", "by")}


@dataclass(frozen=True, slots=True)
class Place:
    """An expression where it stands: `clause` is `when`, `where`, `path` or the name of an argument, `within` the kind
    of target (or `when`), `at` what `@` is there, `variables` what is defined and `shapes` what is known of them."""

    expr: Expr
    clause: str
    at: Shape
    within: str
    variables: frozenset[str]
    shapes: dict[str, Shape]


def targets(statement: tree.Statement) -> Iterator[tree.Target]:
    """The target of a statement, and others among its arguments."""
    if statement.target:
        yield statement.target
    yield from (value for value in statement.args.values() if isinstance(value, tree.Target))


def expressions(rule: tree.Rule) -> Iterator[Place]:
    """Every expression of a rule."""
    wire = rule.format is not None
    if rule.when is not None:
        yield _place(rule.when, "when", None, "when", UNKNOWN if wire else shape_of("prompt"), wire)
    for statement in rule.do:
        yield from _of_statement(statement, wire)


def _of_statement(statement: tree.Statement, wire: bool) -> Iterator[Place]:
    for target in targets(statement):
        if target.path is not None:
            root = UNKNOWN if wire else shape_of("prompt")
            yield _place(target.path, "path", target, "path", root, wire)
        if target.where is not None:
            yield _place(target.where, "where", target, target.kind, selected(target, wire), wire)
    for name, value in statement.args.items():
        if not isinstance(value, Expr):
            continue
        if (statement.verb, name) in _FOR_EACH_PART:
            part = UNKNOWN if wire else parts(PART_OBJECTS)
            yield _place(value, name, tree.Target("part"), "part", part, wire)
        elif statement.target:
            target = statement.target
            yield _place(value, name, target, target.kind, selected(target, wire), wire)


def _place(expr: Expr, clause: str, target: tree.Target | None, within: str, at: Shape, wire: bool) -> Place:
    known = VARIABLES[within]
    if target and within == "part" and (not target.types or {"*", *PAIRED} & {*target.types}):
        known = known | {"call", "result"}
    return Place(expr, clause, at, within, known, variables_for(target, wire))


def selected(target: tree.Target, wire: bool) -> Shape:
    """What a target selects, in a canonical prompt."""
    if wire:
        return UNKNOWN
    match target.kind:
        case "part":
            named = frozenset(f"part {name}" for name in target.types) & PART_OBJECTS
            return parts(named if target.types and "*" not in target.types else PART_OBJECTS)
        case "call" | "result":
            return parts(frozenset({f"part tool-{target.kind}"}))
        case "path":
            assert target.path is not None
            return _each(target.path, Reader(variables_for(target, wire)).read(target.path, shape_of("prompt")))
    return shape_of(target.kind)


def _each(path: Expr, found: Shape) -> Shape:
    """What a path selects one by one: each projection in a row gives a list of what the next one gives."""
    projected = False
    while path.kind in ("projection", "filter_projection", "subexpression"):
        if path.kind == "subexpression":
            path = path.children[-1]
        else:
            path, found, projected = path.children[1], found.item or UNKNOWN, True
    return found if projected else UNKNOWN


def regexes(rule: tree.Rule) -> Iterator[tree.Regex]:
    """Every regular expression between slashes."""
    yield from (pattern.regex for pattern in rule.on_error)
    for statement in rule.do:
        yield from _regexes_in(tuple(statement.args.values()))


def _regexes_in(value: Any) -> Iterator[tree.Regex]:
    match value:
        case tree.Regex():
            yield value
        case tree.Mapper(regex=tree.Regex() as regex):
            yield regex
        case tuple():
            for item in value:
                yield from _regexes_in(item)
