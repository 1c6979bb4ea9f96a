"""A flat chain of JMESPath steps → the nested tree of the reference implementation.

What a projection carries along, and how far `!` reaches, follows from the binding powers of the `jmespath` library
(its `Parser.BINDINGPOWER`), so that every expression means here what it means there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from historycompat.source import Span
from historycompat.tree import Expr

NOT = 45
_STAR = 20
_DOT = 40
POWER = {
    "flatten": 9,
    "values": _STAR,
    "filter": 21,
    "sub_field": _DOT,
    "sub_selection": _DOT,
    "sub_values": _DOT,
    "index": 55,
    "slice": 55,
    "each": 55,
}

STEPS = frozenset(POWER)


@dataclass(frozen=True, slots=True)
class Step:
    """One link of a chain: `.name`, `[0]`, `[?...]`. `kind` is the grammar's rule, `node` what it holds."""

    kind: str
    span: Span
    node: Expr | None = None

    @property
    def projects(self) -> bool:
        """Whether what follows nests a level deeper."""
        return self.kind not in ("sub_field", "sub_selection", "index")

    @property
    def held(self) -> Expr:
        assert self.node is not None, self.kind
        return self.node


def nest(nots: Sequence[Span], head: Expr | Step, steps: Sequence[Step]) -> Expr:
    """The tree of `nots` exclamation marks, a first operand (or an opening step such as `[0]`) and further steps."""
    chain = _Chain(steps)
    left = head if isinstance(head, Expr) else chain.opening(head)
    if nots:
        left = chain.follow(left, NOT)
        for mark in reversed(nots):
            left = Expr("not_expression", (left,), None, mark.to(_span(left)))
    return chain.follow(left, 0)


class _Chain:
    """The steps that are left, and the node they apply to: a small precedence climber."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self._steps = steps
        self._at = 0

    def _peek(self) -> Step | None:
        return self._steps[self._at] if self._at < len(self._steps) else None

    def follow(self, left: Expr, power: int) -> Expr:
        """Applies the steps that bind stronger than `power`."""
        while (step := self._peek()) and power < POWER[step.kind]:
            self._at += 1
            left = self._apply(left, step)
        return left

    def opening(self, step: Step) -> Expr:
        """A step without anything before it applies to the current node."""
        current = Expr("identity", (), None, Span(step.span.source, step.span.start, step.span.start))
        if step.kind in ("values", "sub_values"):
            return _projection("value_projection", current, self._carried(step, _STAR))
        return self._apply(current, step)

    def _apply(self, left: Expr, step: Step) -> Expr:
        match step.kind:
            case "sub_field":
                return _extended("subexpression", left, self.follow(step.held, _DOT))
            case "sub_selection":
                return _extended("subexpression", left, step.held)
            case "sub_values":
                return _projection("value_projection", left, self._carried(step, _DOT))
            case "flatten":
                flat = Expr("flatten", (left,), None, _span(left).to(step.span))
                return _projection("projection", flat, self._carried(step, POWER["flatten"]))
            case "filter":
                return _projection("filter_projection", left, self._carried(step, POWER["filter"]), step.held)
            case "each":
                return _projection("projection", left, self._carried(step, _STAR))
        if step.kind == "index" or left.kind == "index_expression":
            return _extended("index_expression", left, step.held)
        return _projection("projection", _extended("index_expression", left, step.held), self._carried(step, _STAR))

    def _carried(self, behind: Step, power: int) -> Expr:
        """What a projection applies to each element: the steps up to the one that ends it."""
        step = self._peek()
        if step is None or step.kind == "flatten":
            return Expr("identity", (), None, Span(behind.span.source, behind.span.end, behind.span.end))
        self._at += 1
        match step.kind:
            case "sub_field":
                return self.follow(step.held, power)
            case "sub_selection":
                return step.held
        return self.follow(self.opening(step), power)


def _extended(kind: str, left: Expr, right: Expr) -> Expr:
    """`a.b` then `.c` is one subexpression of three; indexes join in the same way."""
    heads = left.children if left.kind == kind else (left,)
    return Expr(kind, (*heads, right), None, _span(left).to(_span(right)))


def _projection(kind: str, left: Expr, right: Expr, *condition: Expr) -> Expr:
    return Expr(kind, (left, right, *condition), None, _span(left).to(_span(right)))


def _span(node: Expr) -> Span:
    assert node.span is not None, node.kind
    return node.span
