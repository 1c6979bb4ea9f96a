"""Calls judged before they run: unknown functions, wrong arity, and arguments that a function may raise on."""

from __future__ import annotations

from collections.abc import Iterator

from historycompat.errors import did_you_mean
from historycompat.language.expressions.kinds import CHAINS, PRESENT, PROJECTIONS, Scope, after, facts, kinds
from historycompat.language.expressions.signatures import ANY, FUNCTIONS, Kinds
from historycompat.tree import Expr

__all__ = ["FUNCTIONS", "call_problem", "may_raise", "missing_arguments"]


def call_problem(name: str, argc: int) -> str | None:
    """What is wrong with calling a function with so many arguments; None when nothing is."""
    function = FUNCTIONS.get(name)
    if function is None:
        hint = did_you_mean(name, FUNCTIONS)
        return f"there is no function {name}()" + (f", {hint}" if hint else "")
    least = len(function.takes)
    if argc == least or (function.variadic and argc > least):
        return None
    count = "at least " * function.variadic + f"{least} argument" + "s" * (least > 1)
    return f"{name}() takes {count}, not {argc}"


def may_raise(expr: Expr, scope: Scope | None = None) -> bool:
    """Whether some value makes the expression raise: a call that gets a wrong type (null for what is missing included),
    or a slice with step 0. Comparisons never raise. Understands guards such as `type(x) == 'string' && length(x)`;
    what a list holds is never known, so `sum`, `join`, `sort_by` and their kin may always raise."""
    if any(node.kind == "slice" and node.children[2] == 0 for node in expr.walk()):
        return True
    return any(_is_risky(call, within) for call, within in _calls(expr, scope or Scope(), ANY))


def missing_arguments(expr: Expr, scope: Scope | None = None) -> Iterator[tuple[Expr, Expr]]:
    """The calls that raise on a missing value, each with the argument that may be missing where null is refused.

    What is selected (`@`) is there, and so are the elements of a list. A default (`length(x || '')`, `not_null(x, '')`)
    or a guard (`x && length(x)`) makes sure of anything else.
    """
    scope = scope or Scope()
    for call, within in _calls(expr, Scope(scope.at & PRESENT, scope.facts), PRESENT):
        for position, argument in enumerate(call.children):
            accepted = FUNCTIONS[call.value].parameter(position)
            if "null" not in accepted and "null" in kinds(argument, within):
                yield call, argument


def _is_risky(call: Expr, scope: Scope) -> bool:
    function = FUNCTIONS[call.value]
    given = [(kinds(argument, scope), function.parameter(at)) for at, argument in enumerate(call.children)]
    # The key that an `&expression` computes for `sort_by` and its kin must be a number or a string.
    return call.value.endswith("_by") or not all(types <= accepted for types, accepted in given)


def _calls(expr: Expr, scope: Scope, element: Kinds) -> Iterator[tuple[Expr, Scope]]:
    """Every call with a known name and a right arity, and the scope it stands in."""
    if expr.kind == "function_expression" and call_problem(expr.value, len(expr.children)) is None:
        yield expr, scope
    for child, inner in _scoped(expr, scope, element):
        yield from _calls(child, inner, element)


def _scoped(expr: Expr, scope: Scope, element: Kinds) -> Iterator[tuple[Expr, Scope]]:
    """The nodes right below a node, each with its own scope. `element` is what the elements of lists can be."""
    if expr.kind in CHAINS:
        for number, step in enumerate(expr.children):
            yield step, after(expr.children[:number], scope) if number else scope
    elif expr.kind in PROJECTIONS:
        base, right, *condition = expr.children
        yield base, scope
        inside = Scope(element)
        for test in condition:
            yield test, inside
            inside = inside.knowing(facts(test, holds=True))
        yield right, inside
    elif expr.kind in ("and_expression", "or_expression"):
        left, right = expr.children
        yield left, scope
        yield right, scope.knowing(facts(left, holds=expr.kind == "and_expression"))
    elif expr.kind == "expref":
        yield expr.children[0], Scope(element)
    elif expr.kind.startswith("multi_select"):
        # Nothing is computed where `@` is null.
        yield from ((child, Scope(scope.at & PRESENT, scope.facts)) for child in expr.children)
    else:
        yield from ((child, scope) for child in expr.children if isinstance(child, Expr))
