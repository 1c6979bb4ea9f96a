"""W208, W209: conditions that are no conditions, and presence tested by truth where what is there may be false."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from historycompat import tree
from historycompat.errors import Complaint
from historycompat.language.checks.places import expressions, targets
from historycompat.language.checks.worlds import Fixed, Keys, decided, path_of
from historycompat.language.vocabulary import PARTS, ROLES
from historycompat.source import Span
from historycompat.tree import Expr

_CHAINS = ("and_expression", "or_expression")

# What a provider has put there may be `{}`, and still says that it was that provider.
_OPEN = frozenset({"providerOptions", "providerMetadata"})


def fixed_by(target: tree.Target | None, rule: tree.Rule) -> Fixed:
    """What the selector and the phase of a rule say already of the values that a condition reads."""
    error: dict[Keys, Iterable[Any]] = {} if rule.on_error else {("$error",): [None]}
    if target is None or rule.format is not None:
        return error
    roles = list(ROLES if not target.roles or "*" in target.roles else target.roles)
    match target.kind:
        case "part":
            types = list(PARTS if "*" in target.types else target.types)
            return error | {("@", "type"): types, ("$message", "role"): roles}
        case "call" | "result":
            return error | {("@", "type"): [f"tool-{target.kind}"]}
        case "message":
            return error | {("@", "role"): roles, ("$message", "role"): roles}
    return error


def conditions(rule: tree.Rule) -> Iterator[tuple[Expr, Fixed]]:
    """Every condition of a rule, with what is known where it stands."""
    if rule.when is not None:
        yield rule.when, fixed_by(None, rule)
    for target in (target for statement in rule.do for target in targets(statement)):
        if target.where is not None:
            yield target.where, fixed_by(target, rule)
    for place in expressions(rule):
        for node in place.expr.walk():
            if node.kind == "filter_projection":
                yield node.children[2], {}


def constant_conditions(rule: tree.Rule, pack: tree.Pack) -> Iterator[Complaint]:
    """W208: conditions, and operands of `&&` and `||`, that always come out the same or stand there twice."""
    for condition, fixed in conditions(rule):
        yield from _constant(condition, fixed)


def _constant(condition: Expr, fixed: Fixed) -> Iterator[Complaint]:
    if condition.kind in _CHAINS:
        operands = list(_operands(condition, condition.kind))
        inner = [complaint for operand in operands for complaint in _constant(operand, fixed)]
        yield from inner or _undivided(condition, fixed) or _repeated(condition, operands)
    elif condition.kind == "not_expression" and condition.children[0].kind in _CHAINS:
        yield from _constant(condition.children[0], fixed)
    else:
        yield from _undivided(condition, fixed)


def _operands(node: Expr, kind: str) -> Iterator[Expr]:
    if node.kind == kind:
        for child in node.children:
            yield from _operands(child, kind)
    else:
        yield node


def _undivided(condition: Expr, fixed: Fixed) -> list[Complaint]:
    outcome = decided(condition, fixed)
    if outcome is None:
        return []
    text = _text(condition)
    shown = "this" if "`" in text else f"`{text}`"
    message = f"{shown} {'always' if outcome else 'never'} holds here{_because(condition, fixed)}"
    return [Complaint("W208", message, condition.span, _INSTEAD.get((condition.kind, outcome), _OTHERWISE[outcome]))]


_INSTEAD = {
    ("and_expression", False): "its sides exclude each other: write || if one of them is enough",
    ("or_expression", True): "where one side does not hold the other does: write && if both are meant",
}
_OTHERWISE = {True: "take it away, or say what else is meant", False: "nothing would ever be edited: say what is meant"}


def _because(condition: Expr, fixed: Fixed) -> str:
    """What settles a condition that depends on something elsewhere."""
    if decided(condition, {}) is not None:
        return ""
    return ", since nothing else is selected"


def _repeated(condition: Expr, operands: list[Expr]) -> Iterator[Complaint]:
    for number, operand in enumerate(operands):
        if operand in operands[:number]:
            sign = "&&" if condition.kind == "and_expression" else "||"
            message = f"`{_text(operand)}` stands on both sides of {sign}"
            yield Complaint("W208", message, operand.span, "take one away, or write what the other should be")


def _text(node: Expr) -> str:
    return " ".join(node.span.text.split()) if node.span else "this"


def tested_by_truth(rule: tree.Rule, pack: tree.Pack) -> Iterator[Complaint]:
    """W209: `!(providerOptions.anthropic)` is also true where it is `{}`."""
    seen = set[Span | None]()
    for condition, _ in conditions(rule) if rule.format is None else ():
        for node, negated, guarded in _tested(condition, ()):
            keys = path_of(node)
            if keys and node.span not in seen and not guarded and _may_be_hollow(keys):
                seen.add(node.span)
                yield _by_truth(node, keys, negated)


def _tested(node: Expr, beside: tuple[Expr, ...], negated: bool = False) -> Iterator[tuple[Expr, bool, bool]]:
    """Everything whose truth is asked, whether behind `!`, and whether what stands beside it reads on from there: then
    it is a guard."""
    if node.kind in _CHAINS:
        operands = list(_operands(node, node.kind))
        for number, operand in enumerate(operands):
            yield from _tested(operand, (*beside, *operands[:number], *operands[number + 1 :]), negated)
    elif node.kind == "not_expression":
        yield from _tested(node.children[0], beside, not negated)
    else:
        yield node, negated, any(_reads_on(other, node) for other in beside)


def _reads_on(other: Expr, node: Expr) -> bool:
    keys = path_of(node) or ()
    for inner in other.walk():
        longer = path_of(inner) or ()
        if (len(longer) > len(keys) and longer[: len(keys)] == keys) or (
            inner.kind == "function_expression" and any(path_of(child) == keys for child in _exprs(inner))
        ):
            return True
    return False


def _exprs(node: Expr) -> Iterator[Expr]:
    yield from (child for child in node.children if isinstance(child, Expr))


def _may_be_hollow(keys: tuple[str, ...]) -> bool:
    """Whether `{}` or '' is a legal value of a path, and nothing that the author would call missing."""
    *_, holder, last = ("", *keys)
    return holder in _OPEN or (last == "input" and (len(keys) == 2 and keys[0] in ("@", "$call")))


def _by_truth(node: Expr, keys: tuple[str, ...], negated: bool) -> Complaint:
    text = _text(node).strip("( )")
    holder, _, last = text.rpartition(".")
    if last == "input":
        empty, hint = "`{}` or ''", f"write {text} {'==' if negated else '!='} `null`"
    else:
        empty, hint = "`{}`", f"write {'!' * negated}has({holder}, '{last}')"
    message = f"`{text}` counts as missing where it is {empty}, which is legal there"
    return Complaint("W209", message, node.span, hint)
