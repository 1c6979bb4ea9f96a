"""E201, E202: JMESPath that is written as another language, and means something else."""

from __future__ import annotations

import re
from collections.abc import Iterator

from historycompat import tree
from historycompat.errors import Complaint
from historycompat.language.checks.places import expressions
from historycompat.tree import Expr

_CONSTANTS = {word: word.lower() for word in ("true", "false", "null", "True", "False")} | dict.fromkeys(
    ("None", "nil", "undefined"), "null"
)
_CHAINS = frozenset({"subexpression", "index_expression", "projection", "filter_projection", "value_projection"})

# Arguments that give a value rather than a condition or a key to compare by.
_TEXTS = frozenset({"to", "value", "otherwise"})


def misplaced_not(rule: tree.Rule, pack: tree.Pack) -> Iterator[Complaint]:
    """`!a.b` is `(!a).b`: `!` binds stronger than `.` and projections."""
    for place in expressions(rule):
        found: set[int] = set()
        for node in place.expr.walk():
            if id(node) not in found and node.kind in _CHAINS and (first := _negated(node)):
                found |= {id(inner) for inner in node.walk()}
                yield _misplaced(node, first)


def _negated(node: Expr) -> Expr | None:
    """The `!a` that a chain begins with, unless it stands in brackets."""
    while node.kind in _CHAINS or node.kind == "flatten":
        node = node.children[0]
    return node if node.kind == "not_expression" and node.span and node.span.text.startswith("!") else None


def _misplaced(node: Expr, first: Expr) -> Complaint:
    text = node.span.text if node.span else ""
    rest = text.lstrip("! ")
    marks = text[: len(text) - len(rest)].replace(" ", "")
    base, dot, last = rest.rpartition(".")
    has = f", or {marks}has({base}, '{last}')" if dot and last.isidentifier() else ""
    negated = first.span.text if first.span else ""
    message = f"`{text}` means `({negated}){rest[len(negated) - len(marks) :]}` and never matches"
    fix = (node.span, f"{marks}({rest})") if node.span else None
    return Complaint("E201", message, node.span, f"write {marks}({rest}){has}", fix=fix)


def bare_constants(rule: tree.Rule, pack: tree.Pack) -> Iterator[Complaint]:
    """`true`, `null` and "text" are names of fields."""
    for place in expressions(rule):
        for node, parent, position in _with_parents(place.expr):
            if node.kind != "field" or (parent and parent.kind in _CHAINS and position > 0):
                continue
            if node.span and node.span.text.lstrip("\\").startswith('"'):
                if _is_text(node, parent, position, place.clause):
                    hint = f'write {_raw(node.value)} for the text, or @."{node.value}" for the field'
                    message = f'"{node.value}" in double quotes is the name of a field'
                    yield Complaint("E202", message, node.span, hint, fix=(node.span, _raw(node.value)))
            elif node.value in _CONSTANTS:
                meant = f"`{_CONSTANTS[node.value]}`"
                message = f"{node.value} without backticks is the name of a field"
                fix = (node.span, meant) if node.span else None
                yield Complaint("E202", message, node.span, f"write {meant} in backticks", fix=fix)


# Where a value stands that nothing is read from.
_WHOLE = frozenset(
    {"comparator", "key_val_pair", "and_expression", "or_expression", "function_expression", "multi_select_list"}
)


def bare_lists(rule: tree.Rule, pack: tree.Pack) -> Iterator[Complaint]:
    """`content == []`: alone, `[]` flattens what is around it."""
    for place in expressions(rule):
        for node, parent, _ in _with_parents(place.expr):
            whole = parent.kind in _WHOLE if parent else place.clause in _TEXTS
            if whole and node == _FLATTENED:
                fix = (node.span, "`[]`") if node.span else None
                message = "[] without backticks flattens the value that is looked at, and is no empty list"
                yield Complaint("E202", message, node.span, "write `[]` in backticks", fix=fix)


_IDENTITY = Expr("identity")
_FLATTENED = Expr("projection", (Expr("flatten", (_IDENTITY,)), _IDENTITY))

# A pattern as other languages write it; a path as /v1/ is none.
_SLASHED = re.compile(r"/(?P<pattern>.+)/(?P<flags>[ims]*)", re.DOTALL)
_SIGNS = frozenset("^$*+?[](){}|\\")


def slashed_patterns(rule: tree.Rule, pack: tree.Pack) -> Iterator[Complaint]:
    """`matches(text, '/refused/i')`: slashes stand around a pattern only where no quotes do."""
    for place in expressions(rule):
        for node in place.expr.walk():
            if node.kind != "function_expression" or node.value != "matches" or len(node.children) != 2:
                continue
            pattern = node.children[1]
            found = _SLASHED.fullmatch(pattern.value) if isinstance(pattern.value, str) else None
            if found and (found["flags"] or _SIGNS & {*found["pattern"]}):
                meant = _raw((f"(?{found['flags']})" if found["flags"] else "") + found["pattern"])
                fix = (pattern.span, meant) if pattern.span else None
                message = "inside quotes the slashes are part of the pattern"
                yield Complaint("E202", message, pattern.span, f"write {meant}", fix=fix)


def _with_parents(expr: Expr, parent: Expr | None = None, position: int = 0) -> Iterator[tuple[Expr, Expr | None, int]]:
    yield expr, parent, position
    for number, child in enumerate(expr.children):
        if isinstance(child, Expr):
            yield from _with_parents(child, expr, number)


def _is_text(node: Expr, parent: Expr | None, position: int, clause: str) -> bool:
    """Whether a quoted name stands where only text makes sense."""
    if parent is None:
        return clause in _TEXTS
    if parent.kind == "comparator":
        other = parent.children[1 - position]
        return other.kind != "literal" and (position == 1 or other.kind != "field")
    return parent.kind in ("function_expression", "key_val_pair", "multi_select_list")


def _raw(text: str) -> str:
    return "'" + text.replace("'", "\\'") + "'"
