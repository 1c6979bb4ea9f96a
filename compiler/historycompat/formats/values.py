"""Native values ⇄ canonical values that several formats share: JSON text, data URLs, media types."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable
from typing import Any

from historycompat.edits import MISSING, value_at

_DATA_URL = re.compile(r"data:([^;,]*);base64,")
_WEB_URL = re.compile(r"https?://", re.IGNORECASE)


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


_decoder = json.JSONDecoder(parse_constant=_no_number)
_scan: Callable[[str, int], tuple[Any, int]] = _decoder.scan_once  # type: ignore[attr-defined]


def from_json(text: Any) -> Any:
    """The value that a JSON text says; a text that is no JSON, and what is no text, as it is."""
    if not isinstance(text, str):
        return text
    try:
        value, end = _scan(text, 0)
        return value if end == len(text) else _decoder.decode(text)
    except StopIteration:
        return _padded(text)
    except (ValueError, RecursionError):
        return text


def _padded(text: str) -> Any:
    """The value of a JSON text with blanks in front; any other text as it is."""
    try:
        return _decoder.decode(text)
    except (ValueError, RecursionError):
        return text


def to_json(value: Any) -> str:
    """The inverse of `from_json`: a text that is read as this value. A text that is no JSON stands for itself."""
    return value if isinstance(value, str) and from_json(value) is value else compact(value)


def compact(value: Any) -> str:
    """JSON without blanks. Letters stand as they are, unless they cannot be encoded (lone surrogates)."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":"))
    return text


def as_text(value: Any) -> str:
    """A value where only text can stand: itself, or its JSON."""
    return value if isinstance(value, str) else compact(value)


def is_web_url(data: Any) -> bool:
    return isinstance(data, str) and _WEB_URL.match(data) is not None


def from_url(url: str, unknown: str) -> dict[str, Any] | None:
    """The `data` and `mediaType` of a URL: base64 text for a data URL, the URL itself and the media type `unknown` for
    one of the web, None for any other."""
    if match := _DATA_URL.match(url):
        return {"data": url[match.end() :], "mediaType": match[1] or unknown}
    return {"data": url, "mediaType": unknown} if is_web_url(url) else None


def to_url(part: dict[str, Any]) -> str:
    """The URL of a file part: its own, or a data URL of its base64 text."""
    data = part.get("data")
    return str(data) if is_web_url(data) else f"data:{part.get('mediaType')};base64,{data}"


def is_media(part: dict[str, Any], *prefixes: str) -> bool:
    """Whether the media type of a part starts with one of these, and its data is text."""
    media = part.get("mediaType")
    return isinstance(media, str) and media.startswith(prefixes) and isinstance(part.get("data"), str)


def from_bytes(value: Any) -> Any:
    """Bytes, as some SDKs hold them, as base64 text."""
    return base64.b64encode(value).decode() if isinstance(value, bytes) else value


def as_before(value: Any, old: Any) -> Any:
    """A base64 text as bytes where there were bytes before."""
    if not isinstance(old, bytes) or not isinstance(value, str):
        return value
    try:
        return base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        return value


def has(path: str) -> Callable[[dict[str, Any]], bool]:
    """Whether a part has something under a dotted path."""
    keys = tuple(path.split("."))
    return lambda part: value_at(part, keys, MISSING) is not MISSING
