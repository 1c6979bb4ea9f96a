"""An event → one frame of `application/vnd.amazon.eventstream`."""

from __future__ import annotations

import json
import struct
import zlib
from typing import Any


def frame(event: str, payload: dict[str, Any]) -> bytes:
    """Prelude (total and header length, CRC), headers, payload, CRC; all numbers big-endian."""
    headers = b"".join(
        _header(name, value)
        for name, value in ((":event-type", event), (":content-type", "application/json"), (":message-type", "event"))
    )
    body = json.dumps(payload).encode()
    prelude = struct.pack(">II", 16 + len(headers) + len(body), len(headers))
    checked = prelude + struct.pack(">I", zlib.crc32(prelude)) + headers + body
    return checked + struct.pack(">I", zlib.crc32(checked))


def _header(name: str, value: str) -> bytes:
    text = value.encode()
    return struct.pack(">B", len(name)) + name.encode() + struct.pack(">BH", 7, len(text)) + text
