"""JSON values as JMESPath sees them: their truth, equality, order and type names."""

from __future__ import annotations

import operator
from collections.abc import Callable
from types import NoneType
from typing import Any

# In this order `isinstance` tells a boolean from a number.
TYPES: dict[type, str] = {
    str: "string",
    bool: "boolean",
    int: "number",
    float: "number",
    list: "array",
    dict: "object",
    NoneType: "null",
}
NUMBERS = frozenset({int, float})
SIZED = frozenset({str, list, dict})


def truthy(value: Any) -> bool:
    """False for null, false, `''`, `[]` and `{}`; every number is true."""
    return value is not None and (True if value else value == 0 and value is not False)


def equals(a: Any, b: Any) -> bool:
    """Python's equality, except that 0 and 1 are no booleans; inside lists and objects they are, as in the library."""
    return bool(a == b) and (a.__class__ is bool) is (b.__class__ is bool)


def _ordered(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool | None]:
    def ordered(a: Any, b: Any) -> bool | None:
        comparable = b.__class__ in NUMBERS if a.__class__ in NUMBERS else isinstance(a, str) and isinstance(b, str)
        return compare(a, b) if comparable else None

    return ordered


# Two numbers or two strings have an order; everything else compares to null.
ORDERS: dict[str, Callable[[Any, Any], bool | None]] = {
    "lt": _ordered(operator.lt),
    "lte": _ordered(operator.le),
    "gt": _ordered(operator.gt),
    "gte": _ordered(operator.ge),
}


def type_of(value: Any) -> str | None:
    """The JMESPath name of a value's type; None for what is no JSON value (an `&expression`)."""
    return TYPES.get(value.__class__) or next((name for cls, name in TYPES.items() if isinstance(value, cls)), None)


def flattened(value: Any) -> list[Any] | None:
    """One level of lists merged into the list around them; None unless given a list."""
    if not isinstance(value, list):
        return None
    merged: list[Any] = []
    for element in value:
        if isinstance(element, list):
            merged += element
        else:
            merged.append(element)
    return merged


_NOTHING: dict[str, Any] = {}


def object_of(value: Any) -> dict[str, Any]:
    """An object with the fields that JMESPath sees in a value: none in anything but an object. Only to be read."""
    return value if isinstance(value, dict) else _NOTHING


def get(value: Any, *keys: str) -> Any:
    """The value under nested keys, null where there is none."""
    for key in keys:
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    return value


def item(value: Any, index: int) -> Any:
    """The element of a list, counted from the end where negative; null where there is none."""
    return value[index] if isinstance(value, list) and -len(value) <= index < len(value) else None
