"""Each kind of node → Python source."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from historycompat.language.expressions.calls import call
from historycompat.language.expressions.closures import attribute, run
from historycompat.language.expressions.comparisons import comparator
from historycompat.language.expressions.kinds import CHAINS
from historycompat.language.expressions.names import Code
from historycompat.language.expressions.values import type_of
from historycompat.tree import Expr

if TYPE_CHECKING:
    from historycompat.language.expressions.writer import Writer


def literal(writer: Writer, value: Any) -> Code:
    types = frozenset({type_of(value) or "null"})
    if "number" in types:
        return Code(writer.constant(value), types, name=True)
    return Code(writer.display(value), types, name=value is None or isinstance(value, bool))


def _chain(writer: Writer, expr: Expr, at: Code) -> str:
    return writer.through(expr, at, lambda found: found.text, "None")


def _variable(writer: Writer, expr: Expr, at: Code) -> str:
    return f"hit.{attribute(expr.value)}"


def _index(writer: Writer, expr: Expr, at: Code) -> str:
    if "array" not in at.kinds:
        return at.replaced("None")
    test, held = writer.is_a(at, "list")
    index = expr.value
    reaches = held if index in (0, -1) else f"{writer.helper('len')}({held}) {'>' if index > 0 else '>='} {abs(index)}"
    return f"({held}[{index}] if {test} and {reaches} else None)"


def _slice(writer: Writer, expr: Expr, at: Code) -> str:
    if "array" not in at.kinds:
        return at.replaced("None")
    if expr.children[2] == 0:
        return f"{writer.helper('zero_step')}({at.text})"
    test, held = writer.is_a(at, "list")
    return f"({held}[{':'.join('' if part is None else str(part) for part in expr.children)}] if {test} else None)"


def _not(writer: Writer, expr: Expr, at: Code) -> str:
    return writer.truth(expr, at)


def _logic(writer: Writer, expr: Expr, at: Code) -> str:
    """Python's own `and` and `or`, except behind a value that may be a number."""
    *operands, last = writer.short_circuit(writer.value, run(expr, (expr.kind,)), at)
    is_and = expr.kind == "and_expression"
    text = last.text
    for operand in reversed(operands):
        if "number" not in operand.kinds:
            text = f"{operand.text} {'and' if is_and else 'or'} {text}"
            continue
        first, later = writer.bind(operand)
        test = f"{first} is not None and ({later} or {later} == 0 and {later} is not False)"
        text = f"(({text}) if {test} else {later})" if is_and else f"({later} if {test} else ({text}))"
    return f"({text})"


def _multi_select(writer: Writer, expr: Expr, at: Code) -> str:
    first, later = writer.bind(at)
    inside = Code(later, at.kinds - {"null"}, name=True, object=at.object)
    with writer.maybe():
        if expr.kind == "multi_select_list":
            made = "[" + ", ".join(writer.value(member, inside).text for member in expr.children) + "]"
        else:
            members = (f"{pair.value!r}: {writer.value(pair.children[0], inside).text}" for pair in expr.children)
            made = "{" + ", ".join(members) + "}"
    return made if at.name and "null" not in at.kinds else f"(None if {first} is None else {made})"


def _flatten(writer: Writer, expr: Expr, at: Code) -> str:
    return f"{writer.helper('flattened')}({writer.value(expr.children[0], at).text})"


def projection(writer: Writer, expr: Expr, at: Code, *, any_will_do: bool = False) -> str:
    """A call of a loop of its own. With `any_will_do` it gives a boolean: whether the list would hold anything."""
    base, right, *condition = expr.children
    over = "dict" if expr.kind == "value_projection" else "list"
    elements = writer.value(base, at)

    def body(whole: Code) -> list[str]:
        element = Code("x", name=True, object=writer.new("o"))
        tests = [writer.truth(wanted, element) for wanted in condition]
        first, later = writer.bind(writer.value(right, element))
        tests.append(f"{first} is not None")
        step = f"if {' and '.join(tests)}: {'return True' if any_will_do else f'out.append({later})'}"
        return [
            f"if not {writer.is_a(whole, over)[0]}: return None",
            *([] if any_will_do else ["out = []"]),
            f"for x in {whole.text}{'.values()' if over == 'dict' else ''}:",
            *(f"    {line}" for line in [*writer.prologue(element), step]),
            f"return {'False' if any_will_do else 'out'}",
        ]

    return f"{writer.function('b', body)}({elements.text}, hit)"


def _expref(writer: Writer, expr: Expr, at: Code) -> str:
    body = writer.function("x", lambda element: [f"return {writer.value(expr.children[0], element).text}"])
    return f"{writer.helper('reference')}({body}, hit)"


TEXTS: dict[str, Callable[[Writer, Expr, Code], str]] = {
    "field": _chain,
    "variable": _variable,
    "index": _index,
    "slice": _slice,
    "comparator": comparator,
    "and_expression": _logic,
    "or_expression": _logic,
    "not_expression": _not,
    "projection": projection,
    "filter_projection": projection,
    "value_projection": projection,
    "flatten": _flatten,
    "multi_select_list": _multi_select,
    "multi_select_dict": _multi_select,
    "function_expression": call,
    "expref": _expref,
    **dict.fromkeys(CHAINS, _chain),
}
