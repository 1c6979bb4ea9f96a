"""Function calls → Python source: the cheap and common functions in place, the others as calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from historycompat.language.expressions import library
from historycompat.language.expressions.names import Code
from historycompat.tree import Expr

if TYPE_CHECKING:
    from historycompat.language.expressions.writer import Writer


def call(writer: Writer, expr: Expr, at: Code) -> str:
    called = library.function(expr.value, len(expr.children))
    text = _IN_PLACE[expr.value](writer, expr, at) if expr.value in _IN_PLACE else None
    if text is not None:
        return text
    arguments = ", ".join(writer.value(argument, at).text for argument in expr.children)
    return f"{writer.named(expr.value, called)}({arguments})"


def _slow(writer: Writer, expr: Expr, *arguments: str) -> str:
    """The same as a call, for arguments that the text in place is not made for."""
    return f"{writer.named(expr.value, library.function(expr.value, len(expr.children)))}({', '.join(arguments)})"


def _literal_text(expr: Expr) -> str | None:
    return expr.value if expr.kind == "literal" and isinstance(expr.value, str) else None


def _blank(writer: Writer, expr: Expr, at: Code) -> str:
    def write(found: Code) -> str:
        test, text = writer.is_a(found, "str")
        return f"(not {text}.strip() if {test} else {text} is None)"

    return writer.through(expr.children[0], at, write, "True")


def _has(writer: Writer, expr: Expr, at: Code) -> str | None:
    holder, key = expr.children
    name = _literal_text(key)
    if name is None:
        return None

    def write(found: Code) -> str:
        if found.object:
            return f"({name!r} in {writer.holder(found)})"
        test, held = writer.is_a(found, "dict")
        return f"({test} and {name!r} in {held})"

    return writer.through(holder, at, write, "False")


def _matches(writer: Writer, expr: Expr, at: Code) -> str | None:
    pattern = _literal_text(expr.children[1])
    if pattern is None:
        return None
    search = writer.constant(library.matcher(pattern))
    return writer.through(expr.children[0], at, lambda found: f"{search}({found.text})", "False")


def _contains(writer: Writer, expr: Expr, at: Code) -> str | None:
    subject, needle = expr.children
    choices = _choices(subject, at)
    if choices is not None:
        shown = repr(tuple(choices)) if all(isinstance(choice, str) for choice in choices) else writer.constant(choices)
        return f"({writer.value(needle, at).text} in {shown})"
    text = _literal_text(needle)
    if text is None:
        return None
    first, held = writer.bind(writer.value(subject, at))
    test = f"{first}.__class__ is {writer.helper('str')} or {held}.__class__ is {writer.helper('list')}"
    return f"({text!r} in {held} if {test} else {_slow(writer, expr, held, repr(text))})"


def _choices(subject: Expr, at: Code) -> list[Any] | None:
    """The members of a list that is written out: `['a', 'b']` or a literal."""
    if subject.kind == "literal" and isinstance(subject.value, list):
        return subject.value
    if subject.kind == "multi_select_list" and "null" not in at.kinds:
        values = [member.value for member in subject.children if member.kind == "literal"]
        return values if len(values) == len(subject.children) else None
    return None


def _affix(method: str) -> Callable[[Writer, Expr, Code], str | None]:
    def write(writer: Writer, expr: Expr, at: Code) -> str | None:
        whole, part = expr.children
        affix = _literal_text(part)
        if affix is None:
            return None
        first, text = writer.bind(writer.value(whole, at))
        test = f"{first}.__class__ is {writer.helper('str')}"
        return f"({text}.{method}({affix!r}) if {test} else {_slow(writer, expr, text, repr(affix))})"

    return write


def _length(writer: Writer, expr: Expr, at: Code) -> str:
    first, held = writer.bind(writer.value(expr.children[0], at))
    counted = f"{writer.helper('len')}({held})"
    return f"({counted} if {first}.__class__ in {writer.helper('sized')} else {_slow(writer, expr, held)})"


_IN_PLACE: Mapping[str, Callable[[Writer, Expr, Code], str | None]] = {
    "blank": _blank,
    "contains": _contains,
    "ends_with": _affix("endswith"),
    "has": _has,
    "length": _length,
    "matches": _matches,
    "starts_with": _affix("startswith"),
}
