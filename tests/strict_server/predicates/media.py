"""Encoded images and documents → those that are too big, mislabelled or broken."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from typing import Any

from strict_server.conversation import Request
from strict_server.paths import Pointer
from strict_server.predicates.finding import Finding, Findings, Predicate

MAGIC = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg", b"GIF8": "image/gif", b"RIFF": "image/webp"}


def _sources(value: Any, block_type: str, pointer: Pointer = ()) -> Iterator[tuple[Pointer, dict[str, Any]]]:
    """Every base64 source of an Anthropic block of this type, however deep."""
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _sources(item, block_type, (*pointer, index))
    elif isinstance(value, dict):
        source = value.get("source")
        if value.get("type") == block_type and isinstance(source, dict) and isinstance(source.get("data"), str):
            yield (*pointer, "source"), source
        elif "content" in value:
            yield from _sources(value["content"], block_type, (*pointer, "content"))


def _all(request: Request, block_type: str) -> Iterator[tuple[Pointer, dict[str, Any]]]:
    return _sources(request.body.get("messages"), block_type, ("messages",))


def _decode(data: str, limit: int | None = None) -> bytes | None:
    try:
        return base64.b64decode(data if limit is None else data[:limit], validate=True)
    except (binascii.Error, ValueError):
        return None


def _media_type(data: str) -> str | None:
    head = _decode(data, 32) or b""
    return next((name for magic, name in MAGIC.items() if head.startswith(magic)), None)


def _size(data: str) -> tuple[int, int]:
    """Width and height in pixels of a PNG; (0, 0) where the header does not tell."""
    head = _decode(data, 32) or b""
    if len(head) < 24 or not head.startswith(b"\x89PNG"):
        return 0, 0
    return int.from_bytes(head[16:20], "big"), int.from_bytes(head[20:24], "big")


def oversized(request: Request, /, *, limit: int) -> Findings:
    for pointer, source in _all(request, "image"):
        if len(source["data"]) > limit:
            yield Finding(pointer, {"length": len(source["data"]), "limit": limit})


def too_wide(request: Request, /, *, pixels: int, images_over: int = 0) -> Findings:
    """Images with a longer side than this, in a request with more images than `images_over`."""
    images = list(_all(request, "image"))
    if len(images) > images_over:
        for pointer, source in images:
            if max(_size(source["data"])) > pixels:
                yield Finding((*pointer, "data"), {"pixels": pixels})


def mislabelled(request: Request, /) -> Findings:
    for pointer, source in _all(request, "image"):
        actual = _media_type(source["data"])
        if actual is not None and actual != source.get("media_type"):
            yield Finding(pointer, {"label": source.get("media_type"), "actual": actual})


def unreadable(request: Request, /) -> Findings:
    """Images without data, or whose data is of no known kind."""
    for pointer, source in _all(request, "image"):
        if _media_type(source["data"]) is None:
            yield Finding(pointer)


def heavy(request: Request, /, *, limit: int) -> Findings:
    total = sum(len(source["data"]) for kind in ("image", "document") for _, source in _all(request, kind))
    if total > limit:
        yield Finding(())


def many_pages(request: Request, /, *, limit: int) -> Findings:
    for pointer, source in _all(request, "document"):
        data = _decode(source["data"]) or b""
        if data.count(b"/Type /Page") - data.count(b"/Type /Pages") > limit:
            yield Finding(pointer, {"limit": limit})


PREDICATES: dict[str, Predicate] = {
    "oversized": oversized,
    "too_wide": too_wide,
    "mislabelled": mislabelled,
    "unreadable": unreadable,
    "heavy": heavy,
    "many_pages": many_pages,
}
