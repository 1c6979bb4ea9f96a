"""Quoted and numeric tokens → the values they stand for, and how deep those may nest."""

from __future__ import annotations

import json
import re
from typing import Any

from historycompat.tree import Expr

_DIGITS = 18
_ESCAPES = r"\n, \t, \", \\ and \u0041 are"
_SURROGATE = re.compile("[\ud800-\udfff]")


class Refused(ValueError):
    """A token that stands for no value; `start` and `end` say where in the token."""

    def __init__(self, code: str, message: str, start: int, end: int, suggestion: str | None = None) -> None:
        super().__init__(message)
        self.code, self.message, self.suggestion = code, message, suggestion
        self.start, self.end = start, end


def text(token: str) -> str:
    """A string in double quotes with JSON's escapes."""
    try:
        value = json.loads(token)
    except json.JSONDecodeError as error:
        raise _bad_text(token, error.pos) from None
    if _SURROGATE.search(value):
        raise Refused("E106", "half of a surrogate pair is no character", 0, len(token), "write both halves")
    return str(value)


def _bad_text(token: str, position: int) -> Refused:
    if token[position] == "\\":
        escape = token[position : position + 2]
        return Refused("E106", f"{escape} is no escape", position, position + 2, f"{_ESCAPES}; a backslash is \\\\")
    return Refused("E106", "a control character stands in the quotes", position, position + 1, r"a tab is written \t")


def number(token: str) -> int:
    if len(token) > _DIGITS:
        raise Refused("E106", f"a number of {len(token)} digits is too large", 0, len(token))
    return int(token)


def regex(token: str) -> tuple[str, str]:
    """Pattern and flags of `/pattern/flags`."""
    body, _, flags = token[1:].rpartition("/")
    for index, flag in enumerate(flags):
        at = len(body) + 2 + index
        if flag not in "ims":
            raise Refused("E106", f'"{flag}" is no flag of a regular expression', at, at + 1, "i, m and s are")
        if flag in flags[:index]:
            raise Refused("E103", f'the flag "{flag}" is given twice', at, at + 1)
    return re.sub(r"\\(.)", lambda m: "/" if m[1] == "/" else m[0], body), flags


def raw(token: str) -> str:
    r"""A JMESPath raw string: `\'` is the only escape."""
    return token[1:-1].replace("\\'", "'")


def json_value(token: str) -> Any:
    """A JMESPath JSON literal; what is not JSON is a string, as in the reference (JEP-12)."""
    lexeme = token[1:-1].replace("\\`", "`")
    try:
        value = _loads(lexeme)
    except json.JSONDecodeError:
        value = _deprecated_string(token, lexeme)
    except RecursionError:
        raise Refused("E113", "this JSON nests too deep", 0, len(token)) from None
    except ValueError as error:
        raise Refused("E106", str(error), 0, len(token)) from None
    if "\\u" in lexeme and _SURROGATE.search(json.dumps(value, ensure_ascii=False)):
        raise Refused("E106", "half of a surrogate pair is no character", 0, len(token))
    return value


def _deprecated_string(token: str, lexeme: str) -> Any:
    try:
        return _loads(f'"{lexeme.lstrip()}"')
    except ValueError:
        hint = "strings stand in single quotes: 'text'"
        raise Refused("E106", "what stands between the backticks is not JSON", 0, len(token), hint) from None


def _loads(lexeme: str) -> Any:
    return json.loads(lexeme, parse_int=_json_integer, parse_constant=_json_constant)


def _json_integer(digits: str) -> int:
    if len(digits) > 300:
        raise ValueError(f"a number of {len(digits)} digits is too large")
    return int(digits)


def _json_constant(name: str) -> Any:
    raise ValueError(f"JSON has no {name}")


def depth(expr: Expr) -> int:
    """How many levels an expression nests, the lists and objects of its literals included."""
    deepest, level = 0, [expr]
    while level:
        deepest += 1
        level = [child for node in level for child in _parts(node)]
    return deepest


def _parts(node: Any) -> list[Any]:
    match node:
        case Expr(kind="literal", value=value):
            return _parts(value)
        case Expr(children=children):
            return list(children)
        case list():
            return node
        case dict():
            return list(node.values())
    return []
