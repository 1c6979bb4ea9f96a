"""Expr → Python source → callables: the fast back end.

An expression becomes one Python expression; a projection becomes a function of its own, since its right side sees
nothing but the element. Types known in advance (see kinds) turn JMESPath's truth and equality into Python's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from historycompat.language.expressions import closures
from historycompat.language.expressions.functions import may_raise
from historycompat.language.expressions.kinds import CHAINS, Scope
from historycompat.language.expressions.names import Code
from historycompat.language.expressions.values import truthy
from historycompat.language.expressions.writer import Writer
from historycompat.tree import Expr
from historycompat.view import Compute, Hit

Predicate = Callable[[Any, Hit], bool]

# What one Python expression without a function of its own can say.
_INLINE = CHAINS | {
    "and_expression",
    "comparator",
    "current",
    "field",
    "function_expression",
    "identity",
    "index",
    "key_val_pair",
    "literal",
    "multi_select_dict",
    "multi_select_list",
    "not_expression",
    "or_expression",
    "slice",
}


def compute(expr: Expr) -> Compute:
    """A function of a value and the selected place, as `closures.compute` makes it, only faster."""
    made: Compute | None = _made(expr, truth=False)
    return made or closures.compute(expr)


def predicate(expr: Expr) -> Predicate:
    """Whether the value of an expression is true to JMESPath (0 is, `{}` is not)."""
    made: Predicate | None = _made(expr, truth=True)
    if made is not None:
        return made
    slow = closures.compute(expr)
    return lambda value, hit: truthy(slow(value, hit))


def part_test(expr: Expr, at: str = "p", prefix: str = "_") -> tuple[str, dict[str, Any]] | None:
    """The truth of an expression as one Python expression over the variable `at`, which must hold an exact `dict`,
    and the constants and helpers it names; None where it reads variables, may raise, or needs a loop.

    Every name in it but `at`, temporaries included, starts with `prefix`. It needs no builtins.
    """
    whole = Scope(frozenset({"object"}))
    if any(node.kind not in _INLINE for node in expr.walk()) or may_raise(expr, whole):
        return None
    writer = Writer(prefix)
    try:
        text = writer.truth(expr, Code(at, whole.at, name=True, object=at))
        compile(text, "<part test>", "eval")
    except (SyntaxError, RecursionError, MemoryError):
        return None
    return text, writer.constants


def source(expr: Expr, *, truth: bool = False) -> str:
    """The Python source that `compute` (or `predicate`) runs, to read."""
    return _source(expr, truth)[0]


def conjuncts(expr: Expr) -> list[Expr]:
    """The operands of a top-level `&&`."""
    return closures.run(expr, ("and_expression",))


def type_literal(expr: Expr) -> tuple[str | None, Expr | None]:
    """Split off a top-level `type == 'x'`: the `x`, and the rest of the condition (None where nothing is left)."""
    rest = conjuncts(expr)
    for number, test in enumerate(rest):
        literal = _tested_type(test)
        if literal is not None:
            return literal, joined(rest[:number] + rest[number + 1 :])
    return None, expr


def variables(expr: Expr) -> frozenset[str]:
    """The `$variables` that an expression reads, without the `$`."""
    return frozenset(node.value for node in expr.walk() if node.kind == "variable")


def _tested_type(test: Expr) -> str | None:
    match test:
        case Expr("comparator", (Expr("field", _, "type"), Expr("literal", _, str() as literal)), "eq"):
            return literal
        case Expr("comparator", (Expr("literal", _, str() as literal), Expr("field", _, "type")), "eq"):
            return literal
    return None


def joined(operands: list[Expr]) -> Expr | None:
    """Operands as one `&&`; None of none."""
    whole = operands[0] if operands else None
    for operand in operands[1:]:
        whole = Expr("and_expression", (whole, operand))
    return whole


def _made(expr: Expr, *, truth: bool) -> Any:
    """The generated function, or None where Python's compiler gives up: too many brackets or levels."""
    try:
        text, names = _source(expr, truth)
        code = compile(text, "<expression>", "exec")
    except (SyntaxError, RecursionError, MemoryError):
        return None
    exec(code, names)
    return names["compute"]


def _source(expr: Expr, truth: bool) -> tuple[str, dict[str, Any]]:
    writer = Writer()

    def body(at: Code) -> list[str]:
        result = f"True if {writer.truth(expr, at)} else False" if truth else writer.value(expr, at).text
        return [f"return {result}"]

    writer.function("value", body, name="compute")
    return "\n".join(writer.functions) + "\n", {"__builtins__": {}, **writer.constants}
