"""Text → the structured values that stand in it: JSON, and the dicts and bytes that Python's repr() wrote."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from typing import Any

_WHOLE_LIMIT = 1024 * 1024
_SCAN_LIMIT = 64 * 1024
_TRIES = 16

_STRING = r""""(?:\\.|[^"\\])*+"|'(?:\\.|[^'\\])*+'"""
_OPENER = re.compile(r"\{|\bb(?=['\"])")
_TOKEN = re.compile(rf"{_STRING}|[{{}}\[\]]", re.DOTALL)
_BYTES = re.compile(rf"b(?:{_STRING})", re.DOTALL)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_REPR_ESCAPES = frozenset("\\'\"nrtxuU")
_DECODER = json.JSONDecoder(strict=False)


def values_in(text: str) -> Iterator[object]:
    """The value that the whole text is, or those between its other words: gateways put bodies into messages.

    A whole text is parsed up to 1 MiB; among other words only the first 64 KiB are searched.
    """
    if len(text) <= _WHOLE_LIMIT and text.lstrip()[:1] in ("{", "[", '"'):
        whole = _json(text)
        if isinstance(whole, (dict, list, str)):
            return iter((whole,))
    return _scattered(text[:_SCAN_LIMIT])


def _scattered(text: str) -> Iterator[object]:
    position = 0
    for _ in range(_TRIES):
        opener = _OPENER.search(text, position)
        if opener is None:
            return
        value, position = _literal(text, opener.start())
        if value is not None:
            yield value


def _literal(text: str, start: int) -> tuple[object, int]:
    """The JSON object, or the Python literal of a dict or of bytes, that starts here, and where to look on."""
    if text[start] == "{":
        try:
            return _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            end = _closing(text, start)
    else:
        end = found.end() if (found := _BYTES.match(text, start)) else start
    value = _python(text[start:end])
    return value, end if value is not None else start + 1


def _closing(text: str, start: int) -> int:
    """Where the bracket that opens at `start` closes; `start` itself if it never does."""
    depth = 0
    for token in _TOKEN.finditer(text, start):
        depth += (token[0] in "{[") - (token[0] in "}]")
        if depth == 0:
            return token.end()
    return start


def _json(text: str) -> Any:
    try:
        return _DECODER.decode(text)
    except (ValueError, RecursionError):
        return None


def _python(literal: str) -> dict[Any, Any] | bytes | None:
    # Any other escape is not from repr(), and would make the compiler print a warning.
    if not set(_ESCAPE.findall(literal)) <= _REPR_ESCAPES:
        return None
    try:
        value = ast.literal_eval(literal)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return None
    return value if isinstance(value, (dict, bytes)) else None
