"""The jmespath library as the judge: its parser gives trees to test with, its interpreter the right answers."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import jmespath
from jmespath.exceptions import JMESPathError
from jmespath.functions import Functions, signature

from historycompat.tree import Expr


class _WithOurs(Functions):
    """Our three functions by their definition, so that the library can judge expressions that use them."""

    @signature({"types": []})
    def _func_blank(self, value: Any) -> bool:
        return value is None or (isinstance(value, str) and value.strip() == "")

    @signature({"types": []}, {"types": ["string"]})
    def _func_has(self, value: Any, key: str) -> bool:
        return isinstance(value, dict) and key in value

    @signature({"types": []}, {"types": ["string"]})
    def _func_matches(self, value: Any, pattern: str) -> bool:
        return isinstance(value, str) and re.search(pattern, value) is not None


_OPTIONS = jmespath.Options(custom_functions=_WithOurs())


def parsed(text: str) -> Expr:
    """The tree of an expression, made by the library's own parser (which knows no variables)."""
    return _converted(jmespath.compile(text).parsed)


def _converted(node: Any) -> Any:
    if not isinstance(node, dict):
        return node
    return Expr(node["type"], tuple(map(_converted, node["children"])), node.get("value"))


def search(text: str, value: Any) -> Any:
    """What the library makes of an expression."""
    return jmespath.compile(text).search(value, _OPTIONS)


def searched(text: str, value: Any) -> tuple[str, Any]:
    """The same as an `outcome`."""
    return outcome(search, text, value)


def outcome(compute: Callable[..., Any], *arguments: Any) -> tuple[str, Any]:
    """`("value", JSON text)`, which tells 1, 1.0 and true apart, or `("error", the exception)`."""
    try:
        return "value", json.dumps(compute(*arguments))
    except (TypeError, ValueError, ArithmeticError) as error:
        return "error", error


def agree(ours: tuple[str, Any], theirs: tuple[str, Any]) -> bool:
    """Whether ours is the library's outcome. Where Python's own errors escape the library (`'a' < 1`,
    `contains('a', 1)`), ours is a value or a JMESPathError."""
    if ours[0] == "error" and not isinstance(ours[1], JMESPathError):
        return False
    if theirs[0] == "error":
        return ours[0] == "error" or not isinstance(theirs[1], JMESPathError)
    return ours == theirs


def truth(value: Any) -> bool:
    """The specification's false values: null, false and what is empty (https://jmespath.org/specification.html)."""
    return value is not None and value is not False and not (isinstance(value, (str, list, dict)) and not value)
