"""A JMESPath tree → its text, with the brackets that it needs and no others."""

from __future__ import annotations

import json
import re

from historycompat.language.chains import NOT, POWER
from historycompat.tree import Expr

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_RAW = re.compile(r"(\\.|[^'\\\x00-\x1f])*")

_SIGNS = {"eq": "==", "ne": "!=", "lt": "<", "lte": "<=", "gt": ">", "gte": ">="}
_PROJECTIONS = frozenset({"projection", "value_projection", "filter_projection"})

# How strongly each kind binds; what is not here is a chain or an operand.
_PIPE, _OR, _AND, _COMPARE, _CHAIN = range(5)
_POWER = {"pipe": _PIPE, "or_expression": _OR, "and_expression": _AND, "comparator": _COMPARE}
_DOT, _STAR, _NOT, _CLOSED = POWER["sub_field"], POWER["values"], NOT, 100
_SELECTIONS = ("multi_select_list", "multi_select_dict")
_JOINTS = {"pipe": " | ", "or_expression": " || ", "and_expression": " && "}


def expression(expr: Expr) -> str:
    """The text that parses to this tree."""
    return _text(expr, _PIPE)


def operands(expr: Expr) -> tuple[str, list[tuple[Expr, str]]] | None:
    """The operator that an expression is a row of, and what stands between it; None for all but `||` and `&&`."""
    if expr.kind not in ("or_expression", "and_expression"):
        return None
    found: list[Expr] = []
    node = expr
    while node.kind == expr.kind:
        node, right = node.children
        found.insert(0, right)
    power = _POWER[expr.kind] + 1
    return _JOINTS[expr.kind].strip(), [(one, _text(one, power)) for one in (node, *found)]


def name(text: str) -> str:
    """An object key as it is written in paths and expressions."""
    return text if _NAME.fullmatch(text) else quoted(text)


def quoted(text: str) -> str:
    """A text in double quotes."""
    return _safe(json.dumps(text, ensure_ascii=False))


def _safe(text: str) -> str:
    return re.sub("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]", lambda found: f"\\u{ord(found[0]):04x}", text)


def _text(expr: Expr, power: int) -> str:
    """An expression in a place that takes what binds at least as strongly as `power`."""
    own = _POWER.get(expr.kind, _CHAIN)
    if own == _CHAIN:
        return _chain(expr)
    left, right = expr.children
    joint = f" {_SIGNS[expr.value]} " if expr.kind == "comparator" else _JOINTS[expr.kind]
    text = _text(left, own) + joint + _text(right, own + 1)
    return f"({text})" if own < power else text


def _chain(expr: Expr) -> str:
    children = expr.children
    match expr.kind:
        case "field":
            return name(expr.value)
        case "current":
            return "@"
        case "identity":
            return ""
        case "variable":
            return f"${expr.value}"
        case "literal":
            return _literal(expr.value)
        case "function_expression":
            return f"{expr.value}({', '.join(map(expression, children))})"
        case "expref":
            return f"&{expression(children[0])}"
        case "multi_select_list":
            return f"[{', '.join(map(expression, children))}]"
        case "multi_select_dict":
            return "{" + ", ".join(f"{name(pair.value)}: {expression(pair.children[0])}" for pair in children) + "}"
        case "not_expression":
            return f"!{_negated(children[0])}"
        case "index":
            return f"[{expr.value}]"
        case "slice":
            return f"[{_slice(children)}]"
        case "subexpression":
            return _members(children)
        case "index_expression":
            return _head(children[0], POWER["index"]) + "".join(map(_chain, children[1:]))
        case "flatten":
            return f"{_head(children[0], POWER['flatten'])}[]"
    return _projection(expr)


def _literal(value: object) -> str:
    raw = value.replace("'", "\\'") if isinstance(value, str) else ""
    if isinstance(value, str) and _RAW.fullmatch(raw) and raw.replace("\\'", "'") == value:
        return f"'{raw}'"
    return "`" + _safe(json.dumps(value, ensure_ascii=False)).replace("`", "\\`") + "`"


def _slice(bounds: tuple[object, ...]) -> str:
    start, stop, step = ("" if bound is None else str(bound) for bound in bounds)
    return f"{start}:{stop}:{step}" if step else f"{start}:{stop}"


def _negated(expr: Expr) -> str:
    simple = ("field", "current", "variable", "literal", "function_expression", "not_expression")
    return _chain(expr) if expr.kind in simple else f"({expression(expr)})"


def _head(expr: Expr, step: int) -> str:
    """What stands before a step that binds as strongly as `step`, in brackets where it would take the step along."""
    as_written = expr.kind == "not_expression" and not (expr.span and expr.span.text.startswith("("))
    if expr.kind in _POWER or (expr.kind == "not_expression" and not as_written) or step > _reach(expr):
        return f"({expression(expr)})"
    return _chain(expr)


def _reach(expr: Expr) -> int:
    """Steps that bind stronger than this, and stand behind the expression, belong to the last operand in it."""
    last = expr.children[-1] if expr.children else None
    match expr.kind:
        case "not_expression":
            return _NOT
        case "subexpression":
            assert last
            return _CLOSED if last.kind in _SELECTIONS else min(_DOT, _reach(last))
        case "projection" | "value_projection" | "filter_projection":
            return _reach_of_projection(expr)
    return _CLOSED


def _reach_of_projection(expr: Expr) -> int:
    left, right = expr.children[:2]
    if right.kind == "identity":
        return POWER["flatten"]
    if right.kind in _SELECTIONS:
        return _CLOSED
    own = {"filter_projection": POWER["filter"], "value_projection": _DOT}.get(expr.kind, _STAR)
    if left.kind == "identity" and expr.kind == "value_projection":
        own = _STAR
    return min(POWER["flatten"] if left.kind == "flatten" else own, _reach(right))


def _members(children: tuple[Expr, ...]) -> str:
    """`a.b.c`: up to a member that would take the rest along, the chain stands in brackets."""
    text = _head(children[0], _DOT)
    for at, child in enumerate(children[1:], 1):
        text += f".{_chain(child)}"
        if at < len(children) - 1 and _reach(child) < _DOT:
            text = f"({text})"
    return text


def _projection(expr: Expr) -> str:
    left, right, *condition = expr.children
    if expr.kind == "filter_projection":
        return f"{_head(left, POWER['filter'])}[?{expression(condition[0])}]{_carried(right)}"
    if expr.kind == "value_projection":
        start = _head(left, _DOT)
        return f"{start}.*{_carried(right)}" if start else f"*{_carried(right)}"
    sliced = left.kind == "index_expression" and len(left.children) == 2 and left.children[1].kind == "slice"
    if left.kind == "flatten" or sliced:
        return _chain(left) + _carried(right)
    return f"{_head(left, POWER['each'])}[*]{_carried(right)}"


def _carried(right: Expr) -> str:
    """What a projection does with each element."""
    if right.kind == "identity":
        return ""
    text = _chain(right)
    opening = right
    while opening.kind in ("subexpression", "index_expression", "flatten", *_PROJECTIONS):
        opening = opening.children[0]
    return text if opening.kind == "identity" and not text.startswith("*") else f".{text}"
