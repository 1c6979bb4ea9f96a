"""Comparisons → Python source: plain operators where the types allow it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from historycompat.language.expressions.names import Code
from historycompat.language.expressions.values import ORDERS, equals, type_of
from historycompat.tree import Expr

if TYPE_CHECKING:
    from historycompat.language.expressions.writer import Writer

_SYMBOLS = {"lt": "<", "lte": "<=", "gt": ">", "gte": ">="}
_MIRRORED = {"lt": "gt", "lte": "gte", "gt": "lt", "gte": "lte"}


def comparator(writer: Writer, expr: Expr, at: Code) -> str:
    left, right = expr.children
    if left.kind == "literal" and right.kind == "literal":
        return repr(_folded(expr.value, left.value, right.value))
    if left.kind == "literal":
        return _against_literal(writer, _MIRRORED.get(expr.value, expr.value), right, left.value, at)
    if right.kind == "literal":
        return _against_literal(writer, expr.value, left, right.value, at)
    one, other = writer.value(left, at), writer.value(right, at)
    if expr.value in ORDERS:
        return f"{writer.helper(expr.value)}({one.text}, {other.text})"
    if any({"boolean", "number"} <= {a, b} for a in one.kinds for b in other.kinds):
        return f"({'not ' * (expr.value == 'ne')}{writer.helper('equals')}({one.text}, {other.text}))"
    return f"({one.text} {'==' if expr.value == 'eq' else '!='} {other.text})"


def _folded(operator: str, left: Any, right: Any) -> bool | None:
    return ORDERS[operator](left, right) if operator in ORDERS else equals(left, right) == (operator == "eq")


def _against_literal(writer: Writer, operator: str, side: Expr, value: Any, at: Code) -> str:
    """`side operator value`."""
    if operator in ORDERS:
        return writer.through(side, at, lambda found: _order(writer, operator, found, value), "None")
    equal = operator == "eq"
    match side:
        case Expr("function_expression", (typed,), "type") if value in list(_CLASS_TESTS):
            missed = repr((value == "null") is equal)
            return writer.through(typed, at, lambda found: _has_type(writer, equal, found, value), missed)
    missed = repr((value is None) is equal)
    return writer.through(side, at, lambda found: _equality(writer, equal, found, value), missed)


def _equality(writer: Writer, equal: bool, found: Code, value: Any) -> str:
    if value is None or isinstance(value, bool):
        if (type_of(value) or "null") not in found.kinds:
            return found.replaced(repr(not equal))
        return f"({found.text} {'is' if equal else 'is not'} {value})"
    if value in (0, 1) and "boolean" in found.kinds:
        first, later = writer.bind(found)
        cls = writer.helper("bool")
        return f"({'' if equal else 'not '}({first} == {value} and {later}.__class__ is not {cls}))"
    shown = writer.constant(value) if isinstance(value, (list, dict)) else writer.display(value)
    return f"({found.text} {'==' if equal else '!='} {shown})"


def _has_type(writer: Writer, equal: bool, found: Code, kind: str) -> str:
    if kind not in found.kinds:
        return found.replaced(repr(not equal))
    return f"({'' if equal else 'not '}{_CLASS_TESTS[kind](writer, found)})"


def _order(writer: Writer, operator: str, found: Code, value: Any) -> str:
    if type_of(value) != "number":
        return f"{writer.helper(operator)}({found.text}, {writer.display(value)})"
    if found.kinds == {"number"}:
        return f"({found.text} {_SYMBOLS[operator]} {writer.display(value)})"
    first, later = writer.bind(found)
    numbers = writer.helper("numbers")
    return f"({later} {_SYMBOLS[operator]} {writer.display(value)} if {first}.__class__ in {numbers} else None)"


def _is_a(kind: str) -> Callable[[Writer, Code], str]:
    return lambda writer, found: writer.is_a(found, kind)[0]


# `type(x) == '...'` as Python tests it.
_CLASS_TESTS: Mapping[str, Callable[[Writer, Code], str]] = {
    "array": _is_a("list"),
    "boolean": lambda writer, found: f"({found.text}.__class__ is {writer.helper('bool')})",
    "null": lambda writer, found: f"({found.text} is None)",
    "number": lambda writer, found: f"({found.text}.__class__ in {writer.helper('numbers')})",
    "object": _is_a("dict"),
    "string": _is_a("str"),
}
