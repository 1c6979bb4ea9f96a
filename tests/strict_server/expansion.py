"""A case as written → the request it stands for: signatures, images and long strings are spelled as what makes them."""

from __future__ import annotations

import base64
import struct
from typing import Any

from strict_server.signing import prefix_digest, sign


def expand(written: Any) -> Any:
    """Replaces `{"$sign": {provider, text, prefix | before}}`, `{"$png": [width, height]}` and `{"$repeat": [text, times]}`.

    `before` binds a signature to the messages in front of the one with this index, in the same body."""
    body = {"messages": written} if isinstance(written, list) else written
    return _expand(written, body)


def _expand(value: Any, body: dict[str, Any]) -> Any:
    if isinstance(value, list):
        return [_expand(item, body) for item in value]
    if not isinstance(value, dict):
        return value
    match value:
        case {"$repeat": [str(text), int(times)]}:
            return text * times
        case {"$png": [int(width), int(height)]}:
            return base64.b64encode(_png(width, height)).decode()
        case {"$sign": {"provider": str(provider), "text": str(text), "before": int(index)}}:
            return sign(provider, text, prefix=prefix_digest(body, index))
        case {"$sign": {"provider": str(provider), "text": str(text), **bound}}:
            return sign(provider, text, prefix=str(bound.get("prefix", "")))
    return {key: _expand(item, body) for key, item in value.items()}


def _png(width: int, height: int) -> bytes:
    """The head of a PNG: signature, and the IHDR chunk with the size."""
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", width, height) + b"\x08\x02\x00\x00\x00"
