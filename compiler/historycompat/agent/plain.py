"""What a tool returns or a model writes → JSON that any store and any provider takes."""

from __future__ import annotations

import json
from typing import Any

from pydantic_core import to_jsonable_python


def plain(value: Any) -> Any:
    """A copy as plain JSON: models and dataclasses as objects, NaN and infinities as texts, bytes as text or else as
    base64, all else as its text. Raises ValueError for what has no end, and for numbers and depths beyond all bounds.
    """
    return json.loads(json.dumps(_jsonable(value)), parse_constant=str)


def json_text(value: Any) -> str:
    """The JSON text of the same copy."""
    return json.dumps(plain(value), separators=(",", ":"))


def _jsonable(value: Any) -> Any:
    try:
        return to_jsonable_python(value, fallback=str)
    except UnicodeDecodeError:
        return to_jsonable_python(value, fallback=str, bytes_mode="base64")
