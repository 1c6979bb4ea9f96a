"""Expr → the places it names in a value: where a statement may edit, not copies of what stands there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from historycompat.edits import Pointer
from historycompat.language.expressions import codegen
from historycompat.language.expressions.closures import run
from historycompat.language.expressions.kinds import CHAINS
from historycompat.tree import Expr
from historycompat.view import Hit

Place = tuple[Pointer, Any]
HitAt = Callable[[Pointer, Any], Hit]

# What an expression leads to: nothing, one place, or what a projection stands for, a list that stands nowhere itself.
_Found = Place | list["_Found"] | None
_Step = Callable[[_Found, HitAt], _Found]


def locator(expr: Expr) -> Callable[[Any, HitAt], Iterator[Place]]:
    """A function of a root and `hit_at` that yields the places an expression names: their paths and values.

    Fields, indexes (counted from the start in the result), slices, projections, filters, `[]`, `*`, `@` and pipes of
    these name places; `problem` says which part of an expression does not. Places come in the order of the expression,
    each once. A place that does not exist is not yielded; one that holds null is, although a projection's value leaves
    nulls out. A filter's condition sees the element as `@`, and reads `$variables` off `hit_at(path, element)`, which
    is called only if it has any; like every condition it may raise JMESPathError. `expr` must have no `problem`.
    """
    locate = _step(expr)
    return lambda root, hit_at: _places(locate(((), root), hit_at))


def problem(expr: Expr) -> Expr | None:
    """The first part that names no place (a function, a comparison, `||`, ...), or None. Filter conditions may be
    anything."""
    if expr.kind not in _STEPS:
        return expr
    below = expr.children[:2] if expr.kind == "filter_projection" else expr.children
    found = (problem(child) for child in below if isinstance(child, Expr))
    return next((node for node in found if node is not None), None)


def _places(found: _Found) -> Iterator[Place]:
    if isinstance(found, list):
        for member in found:
            yield from _places(member)
    elif found is not None:
        yield found


def _step(expr: Expr) -> _Step:
    return _STEPS[expr.kind](expr)


def _here(expr: Expr) -> _Step:
    return lambda at, hit_at: at


def _chain(expr: Expr) -> _Step:
    steps = [_step(member) for member in run(expr, CHAINS)]

    def chain(at: _Found, hit_at: HitAt) -> _Found:
        for step in steps:
            at = step(at, hit_at)
        return at

    return chain


def _field(expr: Expr) -> _Step:
    name = expr.value

    def field(at: _Found, hit_at: HitAt) -> _Found:
        if not isinstance(at, tuple) or not isinstance(at[1], dict) or name not in at[1]:
            return None
        return (*at[0], name), at[1][name]

    return field


def _index(expr: Expr) -> _Step:
    def index(at: _Found, hit_at: HitAt) -> _Found:
        elements = at[1] if isinstance(at, tuple) else at
        if not isinstance(elements, list):
            return None
        number = expr.value + len(elements) if expr.value < 0 else expr.value
        if not 0 <= number < len(elements):
            return None
        found: _Found = ((*at[0], number), elements[number]) if isinstance(at, tuple) else elements[number]
        return found

    return index


def _slice(expr: Expr) -> _Step:
    def cut(at: _Found, hit_at: HitAt) -> _Found:
        elements = None if expr.children[2] == 0 else _elements(at)
        return None if elements is None else elements[slice(*expr.children)]

    return cut


def _elements(at: _Found) -> list[_Found] | None:
    """The places of a list's elements, or what a projection stands for; None of what has no elements."""
    if isinstance(at, tuple) and isinstance(at[1], list):
        path, value = at
        return [((*path, number), element) for number, element in enumerate(value)]
    return at if isinstance(at, list) else None


def _members(at: _Found) -> list[_Found] | None:
    """The places of an object's values."""
    if isinstance(at, tuple) and isinstance(at[1], dict):
        path, value = at
        return [((*path, key), member) for key, member in value.items()]
    return None


def _projection(expr: Expr) -> _Step:
    base, right = map(_step, expr.children[:2])
    over = _members if expr.kind == "value_projection" else _elements
    keeps = _condition(expr.children[2]) if expr.kind == "filter_projection" else None

    def project(at: _Found, hit_at: HitAt) -> _Found:
        members = over(base(at, hit_at))
        if members is None:
            return None
        kept = (member for member in members if keeps is None or keeps(member, hit_at))
        return [found for member in kept if (found := right(member, hit_at)) is not None]

    return project


def _condition(expr: Expr) -> Callable[[_Found, HitAt], bool]:
    """A test of a place; what is none, such as a list made by a projection, fails it."""
    test = codegen.predicate(expr)
    no_hit: Any = None
    if codegen.variables(expr):
        return lambda place, hit_at: isinstance(place, tuple) and test(place[1], hit_at(*place))
    return lambda place, hit_at: isinstance(place, tuple) and test(place[1], no_hit)


def _flatten(expr: Expr) -> _Step:
    base = _step(expr.children[0])

    def flatten(at: _Found, hit_at: HitAt) -> _Found:
        members = _elements(base(at, hit_at))
        if members is None:
            return None
        inner = ((member, _elements(member)) for member in members)
        return [place for member, elements in inner for place in ([member] if elements is None else elements)]

    return flatten


_STEPS: dict[str, Callable[[Expr], _Step]] = {
    "current": _here,
    "identity": _here,
    "field": _field,
    "index": _index,
    "slice": _slice,
    "projection": _projection,
    "filter_projection": _projection,
    "value_projection": _projection,
    "flatten": _flatten,
    **dict.fromkeys(CHAINS, _chain),
}
