"""Values and temporaries → names in generated source."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from historycompat.language.expressions import library, values
from historycompat.language.expressions.closures import zero_step
from historycompat.language.expressions.signatures import ANY, Kinds

_HELPERS: dict[str, Any] = {
    "dict": dict,
    "list": list,
    "str": str,
    "bool": bool,
    "isinstance": isinstance,
    "len": len,
    "numbers": values.NUMBERS,
    "sized": values.SIZED,
    "equals": values.equals,
    "flattened": values.flattened,
    "object_of": values.object_of,
    "zero_step": zero_step,
    "reference": library.reference,
    **values.ORDERS,
}


@dataclass(frozen=True, slots=True)
class Code:
    """A Python expression and the types its value can have.

    `name`: it is a variable or a constant, and may be written twice. `object` names a `dict` that has the fields of the
    value, whatever the value is; empty where there is no such name.
    """

    text: str
    kinds: Kinds = ANY
    name: bool = False
    object: str = ""

    def replaced(self, text: str) -> str:
        """Another value in place of this one, which is still computed where that may raise."""
        return text if self.name else f"({self.text}, {text})[1]"


class Names:
    """The names of one generated text, all of them behind one prefix, and what the constants among them stand for."""

    def __init__(self, prefix: str = "") -> None:
        self.prefix = prefix
        self.constants: dict[str, Any] = {}
        self._count = 0

    def new(self, letter: str) -> str:
        self._count += 1
        return f"{self.prefix}{letter}{self._count}"

    def constant(self, value: Any) -> str:
        name = self.new("k")
        self.constants[name] = value
        return name

    def named(self, name: str, value: Any) -> str:
        """A constant under a name that says what it is."""
        self.constants[self.prefix + name] = value
        return self.prefix + name

    def helper(self, name: str) -> str:
        return self.named(name, _HELPERS[name])

    def bind(self, code: Code) -> tuple[str, str]:
        """How to write a value the first time and after that."""
        if code.name:
            return code.text, code.text
        name = self.new("t")
        return f"({name} := {code.text})", name

    def is_a(self, code: Code, kind: str) -> tuple[str, str]:
        """A test for `dict`, `list` or `str`, and how to write the value after it."""
        first, later = self.bind(code)
        return self.class_test(first, later, kind), later

    def class_test(self, first: str, later: str, kind: str) -> str:
        """A test for a class or a subclass. The exact class and null come first: they are the usual cases."""
        cls = self.helper(kind)
        return f"({first}.__class__ is {cls} or {later} is not None and {self.helper('isinstance')}({later}, {cls}))"

    def display(self, value: Any) -> str:
        """A literal in Python, so that each evaluation makes its own lists and objects."""
        if isinstance(value, dict):
            return "{" + ", ".join(f"{key!r}: {self.display(member)}" for key, member in value.items()) + "}"
        if isinstance(value, list):
            return "[" + ", ".join(map(self.display, value)) + "]"
        if isinstance(value, float) and not math.isfinite(value):
            return self.constant(value)
        return repr(value)
