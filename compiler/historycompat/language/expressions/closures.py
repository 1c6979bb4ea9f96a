"""Expr → nested Python closures: the back end that takes any expression, and says what the other one must compute."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from historycompat.edits import detached
from historycompat.language.expressions.kinds import CHAINS, VARIABLES
from historycompat.language.expressions.library import function, matcher, reference
from historycompat.language.expressions.values import ORDERS, equals, flattened, get, item, truthy
from historycompat.tree import Expr
from historycompat.view import Compute, Hit


def compute(expr: Expr) -> Compute:
    """A function of a value (`@`) and the selected place (the source of `$variables`).

    Values are JSON values; results are the jmespath library's, and may share objects with the value but never with the
    expression. Raises jmespath.exceptions.JMESPathError, here for unknown functions, wrong arity and unknown
    variables, and in the returned function where a function refuses its arguments.
    """
    return _BUILDERS[expr.kind](expr)


def run(expr: Expr, nested: Iterable[str]) -> list[Expr]:
    """The members of a run of nested nodes of some kinds, in order: `a.b[0]` → `a`, `b`, `[0]`."""
    members, waiting = [], [expr]
    while waiting:
        node = waiting.pop()
        if node.kind in nested:
            waiting.extend(reversed(node.children))
        else:
            members.append(node)
    return members


def attribute(name: str) -> str:
    """The attribute of a hit that a variable reads. Raises JMESPathError where there is none."""
    if name in VARIABLES:
        return name
    from jmespath.exceptions import JMESPathError

    raise JMESPathError(f"there is no variable ${name}")


def zero_step(value: Any) -> None:
    """A slice with step 0: an error on a list, null on anything else."""
    if not isinstance(value, list):
        return
    from jmespath.exceptions import JMESPathError

    raise JMESPathError("slice step cannot be zero")


def _itself(value: Any, hit: Hit) -> Any:
    return value


def _chain(expr: Expr) -> Compute:
    steps: list[Compute] = []
    names: list[str] = []
    for step in run(expr, CHAINS):
        if step.kind == "field":
            names.append(step.value)
            continue
        steps += [_fields(*names)] if names else []
        names = []
        steps.append(compute(step))
    steps += [_fields(*names)] if names else []
    return _composed([step for step in steps if step is not _itself])


def _composed(steps: list[Compute]) -> Compute:
    if len(steps) <= 1:
        return steps[0] if steps else _itself
    if len(steps) == 2:
        first, second = steps
        return lambda value, hit: second(first(value, hit), hit)

    def composed(value: Any, hit: Hit) -> Any:
        for step in steps:
            value = step(value, hit)
        return value

    return composed


def _fields(*names: str) -> Compute:
    if len(names) > 1:
        return lambda value, hit: get(value, *names)
    (name,) = names
    return lambda value, hit: value.get(name) if isinstance(value, dict) else None


def _literal(expr: Expr) -> Compute:
    value = expr.value
    return (lambda _, hit: detached(value)) if isinstance(value, (list, dict)) else lambda _, hit: value


def _operand(expr: Expr) -> Compute:
    """A value that is only looked at, so that a literal list or object need not be copied."""
    value = expr.value
    return (lambda _, hit: value) if expr.kind == "literal" else compute(expr)


def _variable(expr: Expr) -> Compute:
    name = attribute(expr.value)
    return lambda value, hit: getattr(hit, name)


def _index(expr: Expr) -> Compute:
    index = expr.value
    return lambda value, hit: item(value, index)


def _slice(expr: Expr) -> Compute:
    if expr.children[2] == 0:
        return lambda value, hit: zero_step(value)
    cut = slice(*expr.children)
    return lambda value, hit: value[cut] if isinstance(value, list) else None


def _comparator(expr: Expr) -> Compute:
    left, right = map(_operand, expr.children)
    if expr.value in ORDERS:
        compare = ORDERS[expr.value]
        return lambda value, hit: compare(left(value, hit), right(value, hit))
    literal = expr.children[1]
    if literal.kind == "literal" and isinstance(literal.value, str):
        text, wanted = literal.value, expr.value == "eq"
        return lambda value, hit: (left(value, hit) == text) is wanted
    if expr.value == "eq":
        return lambda value, hit: equals(left(value, hit), right(value, hit))
    return lambda value, hit: not equals(left(value, hit), right(value, hit))


def _logic(expr: Expr) -> Compute:
    """The first value that decides: a false one for `&&`, a true one for `||`, else the last."""
    *operands, last = map(compute, run(expr, (expr.kind,)))
    deciding = expr.kind == "or_expression"

    def logic(value: Any, hit: Hit) -> Any:
        for operand in operands:
            found = operand(value, hit)
            if truthy(found) is deciding:
                return found
        return last(value, hit)

    return logic


def _not(expr: Expr) -> Compute:
    inner = compute(expr.children[0])
    return lambda value, hit: not truthy(inner(value, hit))


def _projection(expr: Expr) -> Compute:
    base, right = map(compute, expr.children)

    def project(value: Any, hit: Hit) -> Any:
        elements = base(value, hit)
        if not isinstance(elements, list):
            return None
        return [found for element in elements if (found := right(element, hit)) is not None]

    return project


def _filter(expr: Expr) -> Compute:
    base, right, condition = map(compute, expr.children)

    def project(value: Any, hit: Hit) -> Any:
        elements = base(value, hit)
        if not isinstance(elements, list):
            return None
        kept = (element for element in elements if truthy(condition(element, hit)))
        return [found for element in kept if (found := right(element, hit)) is not None]

    return project


def _value_projection(expr: Expr) -> Compute:
    base, right = map(compute, expr.children)

    def project(value: Any, hit: Hit) -> Any:
        members = base(value, hit)
        if not isinstance(members, dict):
            return None
        return [found for member in members.values() if (found := right(member, hit)) is not None]

    return project


def _flatten(expr: Expr) -> Compute:
    base = compute(expr.children[0])
    return lambda value, hit: flattened(base(value, hit))


def _list(expr: Expr) -> Compute:
    members = tuple(map(compute, expr.children))
    return lambda value, hit: None if value is None else [member(value, hit) for member in members]


def _object(expr: Expr) -> Compute:
    members = tuple((pair.value, compute(pair.children[0])) for pair in expr.children)
    return lambda value, hit: None if value is None else {key: member(value, hit) for key, member in members}


def _call(expr: Expr) -> Compute:
    called = function(expr.value, len(expr.children))
    arguments = tuple(map(compute, expr.children))
    if expr.value == "matches" and expr.children[1].kind == "literal" and isinstance(expr.children[1].value, str):
        called, arguments = matcher(expr.children[1].value), arguments[:1]
    if len(arguments) == 1:
        (only,) = arguments
        return lambda value, hit: called(only(value, hit))
    return lambda value, hit: called(*[argument(value, hit) for argument in arguments])


def _expref(expr: Expr) -> Compute:
    body = compute(expr.children[0])
    return lambda value, hit: reference(body, hit)


_BUILDERS: dict[str, Callable[[Expr], Compute]] = {
    "current": lambda expr: _itself,
    "identity": lambda expr: _itself,
    "field": lambda expr: _fields(expr.value),
    "literal": _literal,
    "variable": _variable,
    "index": _index,
    "slice": _slice,
    "comparator": _comparator,
    "and_expression": _logic,
    "or_expression": _logic,
    "not_expression": _not,
    "projection": _projection,
    "filter_projection": _filter,
    "value_projection": _value_projection,
    "flatten": _flatten,
    "multi_select_list": _list,
    "multi_select_dict": _object,
    "function_expression": _call,
    "expref": _expref,
    **dict.fromkeys(CHAINS, _chain),
}
