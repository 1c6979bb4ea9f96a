"""Lark's parse tree of a JMESPath expression → Expr."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from lark import Token, v_args
from lark.tree import Meta
from lark.visitors import Transformer_NonRecursive

from historycompat.errors import Complaint
from historycompat.language import chains, literals
from historycompat.source import Fragment, Span
from historycompat.tree import Expr, Number, Regex, Text, Word

# How deep an expression may nest. An alternative of `||` and a projection are a level each; the compliance suite of
# JMESPath has an expression of 105.
DEPTH = 120

_COMPARATORS = {"==": "eq", "!=": "ne", "<": "lt", "<=": "lte", ">": "gt", ">=": "gte"}


@v_args(meta=True, inline=True)
class ExpressionBuilder(Transformer_NonRecursive[Token, Any]):
    """Builds the tokens and expressions of one fragment; `complaints` gathers what the grammar alone cannot refuse."""

    def __init__(self, fragment: Fragment) -> None:
        super().__init__()
        self.complaints: list[Complaint] = []
        self._fragment = fragment

    def _span(self, meta: Meta) -> Span:
        return self._fragment.span(meta.start_pos, meta.end_pos)

    def _complain(self, code: str, message: str, span: Span, suggestion: str | None = None) -> None:
        self.complaints.append(Complaint(code, message, span, suggestion))

    # ----- tokens -----

    def __default_token__(self, token: Token) -> Word:
        return Word(str(token), self._place(token))

    def _place(self, token: Token) -> Span:
        start = token.start_pos or 0
        return self._fragment.span(start, start + len(token))

    def _read(self, token: Token, read: Callable[[str], Any], otherwise: Any) -> Any:
        """What `read` makes of a token; a complaint and `otherwise` where it refuses."""
        try:
            return read(str(token))
        except literals.Refused as refused:
            start = token.start_pos or 0
            span = self._fragment.span(start + refused.start, start + refused.end)
            self._complain(refused.code, refused.message, span, refused.suggestion)
            return otherwise

    def DQ(self, token: Token) -> Text:  # noqa: N802
        return Text(self._read(token, literals.text, ""), self._place(token))

    def UINT(self, token: Token) -> Number:  # noqa: N802
        return Number(self._read(token, literals.number, 0), self._place(token))

    INT = UINT

    def REGEX(self, token: Token) -> Regex:  # noqa: N802
        pattern, flags = self._read(token, literals.regex, ("", ""))
        return Regex(pattern, flags, self._place(token))

    def RAW(self, token: Token) -> Expr:  # noqa: N802
        return Expr("literal", (), self._read(token, literals.raw, ""), self._place(token))

    def LITERAL(self, token: Token) -> Expr:  # noqa: N802
        return Expr("literal", (), self._read(token, literals.json_value, None), self._place(token))

    def VARIABLE(self, token: Token) -> Expr:  # noqa: N802
        return Expr("variable", (), str(token[1:]), self._place(token))

    def CURRENT(self, token: Token) -> Expr:  # noqa: N802
        return Expr("current", (), None, self._place(token))

    # ----- expressions -----

    def __default__(self, data: Token, children: list[Any], meta: Meta) -> Expr | chains.Step:
        """Steps stay flat until their chain is complete; every other rule is named as its node."""
        nodes = tuple(child for child in children if isinstance(child, Expr))
        if data in chains.STEPS:
            return chains.Step(str(data), self._span(meta), nodes[0] if nodes else None)
        return Expr(str(data), nodes, None, self._span(meta))

    def expression(self, meta: Meta, expr: Expr) -> Expr:
        if literals.depth(expr) > DEPTH:
            self._too_deep(self._span(meta))
        return expr

    object = expression

    def _too_deep(self, span: Span) -> None:
        hint = "a long row of || is shorter as contains([...], x)"
        self._complain("E113", f"this expression is more than {DEPTH} levels deep", span, hint)

    def group(self, meta: Meta, expr: Expr) -> Expr:
        return replace(expr, span=self._span(meta))

    def comparator(self, meta: Meta, left: Expr, sign: Word, right: Expr) -> Expr:
        return Expr("comparator", (left, right), _COMPARATORS[sign.text], self._span(meta))

    def chain(self, meta: Meta, *members: Word | Expr | chains.Step) -> Expr:
        nots = [member.span for member in members if isinstance(member, Word)]
        steps = [member for member in members if isinstance(member, chains.Step)]
        head = members[len(nots)]
        assert not isinstance(head, Word)
        if sum(step.projects for step in steps) > DEPTH:
            self._too_deep(self._span(meta))
            return Expr("identity", (), None, self._span(meta))
        return chains.nest(nots, head, steps if isinstance(head, Expr) else steps[1:])

    def field(self, meta: Meta, name: Word | Text) -> Expr:
        return Expr("field", (), key(name), name.span)

    def call(self, meta: Meta, name: Word, *arguments: Expr | None) -> Expr:
        given = tuple(argument for argument in arguments if argument)
        return Expr("function_expression", given, name.text, self._span(meta))

    def pair(self, meta: Meta, name: Word | Text, value: Expr) -> Expr:
        return Expr("key_val_pair", (value,), key(name), self._span(meta))

    def index(self, meta: Meta, number: Number) -> chains.Step:
        span = self._span(meta)
        return chains.Step("index", span, Expr("index", (), number.value, span))

    def slice(self, meta: Meta, *bounds: Number | None) -> chains.Step:
        span = self._span(meta)
        return chains.Step("slice", span, Expr("slice", tuple(b and b.value for b in bounds), None, span))


def key(name: Word | Text) -> str:
    """The object key that a bare or quoted name stands for."""
    return name.text if isinstance(name, Word) else name.value
