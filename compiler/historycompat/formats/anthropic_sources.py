"""Sources of Anthropic's images and documents ⇄ data and media type of files."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any

from historycompat.formats.kinds import Joint, Part, Writer
from historycompat.formats.readers import Links
from historycompat.formats.values import is_web_url


def _source(native: Part, links: Links) -> Mapping[str, Any]:
    source = native["source"]
    media = "image/*" if native["type"] == "image" else "application/pdf"
    if source["type"] == "url":
        return {"data": source.get("url"), "mediaType": media}
    media = source.get("media_type", media)
    if source["type"] == "text":
        text = str(source.get("data", "")).encode("utf-8", "surrogatepass")
        return {"data": base64.b64encode(text).decode(), "mediaType": media}
    return {"data": source.get("data"), "mediaType": media}


def _to_source(part: Part, native: Part, writer: Writer) -> Mapping[str, Any]:
    data, media = part.get("data"), part.get("mediaType")
    if is_web_url(data):
        return {"source": {"type": "url", "url": data}}
    if media == "text/plain":
        return {"source": {"type": "text", "media_type": media, "data": _plain_text(data)}}
    return {"source": {"type": "base64", "media_type": media, "data": data}}


def _plain_text(data: Any) -> str | None:
    try:
        return base64.b64decode(data, validate=True).decode("utf-8", "surrogatepass")
    except (binascii.Error, ValueError, TypeError):
        return None


def _source_reason(part: Part) -> str | None:
    data = part.get("data")
    if part.get("mediaType") != "text/plain" or is_web_url(data) or _plain_text(data) is not None:
        return None
    return "the data of a text/plain file is not base64"


SOURCE = Joint(("source",), ("data", "mediaType"), _source, _to_source, _source_reason)
