"""Expr → the JSON types its value can have, given what the conditions around it have made sure of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from historycompat.language.expressions.signatures import ANY, FUNCTIONS, Kinds
from historycompat.language.expressions.values import type_of
from historycompat.tree import Expr

Facts = Mapping[Expr, Kinds]

CHAINS = frozenset({"subexpression", "index_expression", "pipe"})
PROJECTIONS = frozenset({"projection", "filter_projection", "value_projection"})
_PATHS = CHAINS | {"field", "index", "current", "identity", "variable"}
_NULL: Kinds = frozenset({"null"})
_BOOLEAN: Kinds = frozenset({"boolean"})
PRESENT: Kinds = ANY - _NULL

# Each variable and the types it can have (see view.Hit).
VARIABLES: dict[str, Kinds] = {
    "messages": frozenset({"array"}),
    "tools": frozenset({"array", "null"}),
    "params": frozenset({"object", "null"}),
    "model": frozenset({"object"}),
    "error": frozenset({"object", "null"}),
    "message": ANY,
    "prev": ANY,
    "next": ANY,
    "parent": ANY,
    "index": frozenset({"number", "null"}),
    "position": frozenset({"number", "null"}),
    "call": frozenset({"object", "null"}),
    "result": frozenset({"object", "null"}),
    "origin": frozenset({"object", "null"}),
}


@dataclass(frozen=True, slots=True)
class Scope:
    """Where an expression stands: the types of `@`, and what is known of paths from there."""

    at: Kinds = ANY
    facts: Facts = field(default_factory=dict)

    def knowing(self, facts: Facts) -> Scope:
        return replace(self, facts=_both(self.facts, facts)) if facts else self


def kinds(expr: Expr, scope: Scope) -> Kinds:
    """The types that the value can have: never too few, as long as variables are what `VARIABLES` says."""
    found = _RULES[expr.kind](expr, scope)
    if scope.facts and _is_path(expr):
        return found & scope.facts.get(expr, ANY)
    return found


def after(steps: tuple[Expr, ...], scope: Scope) -> Scope:
    """The scope behind the steps of a chain: their result is `@`, and facts about the old `@` are void."""
    for step in steps:
        scope = Scope(kinds(step, scope))
    return scope


def _if_array(base: Kinds) -> Kinds:
    return frozenset({"array"} if base == {"array"} else {"array", "null"} if "array" in base else {"null"})


def _field(expr: Expr, scope: Scope) -> Kinds:
    return ANY if "object" in scope.at else _NULL


def _index(expr: Expr, scope: Scope) -> Kinds:
    return ANY if "array" in scope.at else _NULL


def _projection(expr: Expr, scope: Scope) -> Kinds:
    return _if_array(kinds(expr.children[0], scope))


def _value_projection(expr: Expr, scope: Scope) -> Kinds:
    base = kinds(expr.children[0], scope)
    return _if_array(frozenset("array" if kind == "object" else "null" for kind in base))


def _multi_select(gives: str) -> Callable[[Expr, Scope], Kinds]:
    return lambda expr, scope: frozenset({gives}) | (scope.at & _NULL)


def _and(expr: Expr, scope: Scope) -> Kinds:
    left, right = expr.children
    # Every type but number has a false value, which is what a false left side gives.
    return (kinds(left, scope) - {"number"}) | kinds(right, scope.knowing(facts(left, holds=True)))


def _or(expr: Expr, scope: Scope) -> Kinds:
    left, right = expr.children
    return (kinds(left, scope) - _NULL) | kinds(right, scope.knowing(facts(left, holds=False)))


def _call(expr: Expr, scope: Scope) -> Kinds:
    if expr.value == "not_null" and expr.children:
        given = [kinds(argument, scope) for argument in expr.children]
        return (frozenset[str]().union(*given) - _NULL) | _NULL.intersection(*given)
    return FUNCTIONS[expr.value].gives if expr.value in FUNCTIONS else ANY


_RULES: dict[str, Callable[[Expr, Scope], Kinds]] = {
    "literal": lambda expr, scope: frozenset({type_of(expr.value) or "null"}),
    "current": lambda expr, scope: scope.at,
    "identity": lambda expr, scope: scope.at,
    "variable": lambda expr, scope: VARIABLES.get(expr.value, ANY),
    "field": _field,
    "index": _index,
    "slice": lambda expr, scope: _if_array(scope.at),
    "comparator": lambda expr, scope: _BOOLEAN if expr.value in ("eq", "ne") else _BOOLEAN | _NULL,
    "not_expression": lambda expr, scope: _BOOLEAN,
    "and_expression": _and,
    "or_expression": _or,
    "projection": _projection,
    "filter_projection": _projection,
    "flatten": _projection,
    "value_projection": _value_projection,
    "multi_select_list": _multi_select("array"),
    "multi_select_dict": _multi_select("object"),
    "function_expression": _call,
    "expref": lambda expr, scope: frozenset({"expref"}),
    **dict.fromkeys(CHAINS, lambda expr, scope: after(expr.children, scope).at),
}


def facts(condition: Expr, *, holds: bool) -> Facts:
    """What is known of paths once a condition has come out true, or false."""
    match condition:
        case Expr("not_expression", (inner,)):
            return facts(inner, holds=not holds)
        case Expr("and_expression", (left, right)) if holds:
            return _both(facts(left, holds=True), facts(right, holds=True))
        case Expr("or_expression", (left, right)) if not holds:
            return _both(facts(left, holds=False), facts(right, holds=False))
        case Expr("comparator", (left, right), "eq" | "ne" as operator):
            equal = holds == (operator == "eq")
            return _compared(left, right, equal) or _compared(right, left, equal)
        case Expr("function_expression", (path, *_), "has" | "matches" | "blank" as name) if holds == (name != "blank"):
            made_sure = {"has": frozenset({"object"}), "matches": frozenset({"string"}), "blank": PRESENT}
            return {path: made_sure[name]} if _is_path(path) else {}
    return {condition: PRESENT} if holds and _is_path(condition) else {}


def _compared(side: Expr, other: Expr, equal: bool) -> Facts:
    """What `side == other` (or its opposite) tells of a path in `side`, where `other` is a literal."""
    if other.kind != "literal":
        return {}
    match side:
        case Expr("function_expression", (path,), "type") if _is_path(path) and other.value in list(ANY):
            return {path: frozenset({other.value}) if equal else ANY - {other.value}}
    if not _is_path(side) or not (equal or other.value is None):
        return {}
    return {side: frozenset({type_of(other.value) or "null"}) if equal else PRESENT}


def _is_path(expr: Expr) -> bool:
    """Whether an expression only reads, so that it means the same wherever it stands under one `@`."""
    return all(node.kind in _PATHS for node in expr.walk())


def _both(one: Facts, other: Facts) -> Facts:
    return {path: one.get(path, ANY) & other.get(path, ANY) for path in (*one, *other)}
