"""Content blocks and tool calls of LangChain ⇄ canonical parts, in the shapes of its versions."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any

from historycompat.formats.anthropic import THINKING
from historycompat.formats.chat_parts import image, text_kind, url_of
from historycompat.formats.framework_parts import outcome
from historycompat.formats.kinds import Field, Joint, Kind, Kinds, Part, Writer
from historycompat.formats.readers import Links, unless_none
from historycompat.formats.values import from_json, from_url, is_media, is_web_url, to_json

NAME = "langchain"

_UNKNOWN = {"image": "image/*", "file": "application/pdf"}
_PLACES = ("base64", "url", "data")


def by_type(native: Part) -> Hashable:
    """The mark of a block with media: its type, and where they are."""
    kind: Any = native.get("type")
    if kind == "image_url":
        url = url_of(native)
        return ("image", isinstance(url, str) and from_url(url, "") is not None)
    if kind in _UNKNOWN:
        return kind, next((key for key in _PLACES if isinstance(native.get(key), str)), None)
    return None


def _place(kind: str, key: str) -> Joint:
    """Where the data of an image or file are, and what they are."""

    def decode(native: Part, links: Links) -> Mapping[str, Any]:
        return {"data": native[key], "mediaType": native.get("mime_type", _UNKNOWN[kind])}

    def encode(part: Part, native: Part, writer: Writer) -> Mapping[str, Any]:
        media = part.get("mediaType")
        told = {} if "mime_type" not in native and media == _UNKNOWN[kind] and key == "url" else {"mime_type": media}
        return {key: part.get("data"), **told}

    return Joint((key, "mime_type"), ("data", "mediaType"), decode, encode)


def _media(kind: str, type_: str) -> list[Kind]:
    """The kinds of an image or file: by its bytes (`data` before langchain-core 1) or by its URL."""
    prefixes = ("image/",) if kind == "image" else ("application/", "text/")
    name = (Field("extras.filename", "filename", optional=True),) if kind == "file" and type_ == "file" else ()

    def fits(key: str) -> Callable[[Part], bool]:
        return lambda part: is_media(part, *prefixes) and is_web_url(part["data"]) == (key == "url")

    return [
        Kind((kind, key), type_, (_place(kind, key), *name), native={"type": kind}, when=fits(key)) for key in _PLACES
    ]


def _blocks(media: str) -> list[Kind]:
    return [text_kind(), *(kind for name in _UNKNOWN for kind in _media(name, media)), image(media)]


REASONING = Kind(
    "reasoning",
    "reasoning",
    (Field("reasoning", "text"), Field("extras.signature", "providerOptions.anthropic.signature")),
    native={"type": "reasoning"},
)

PARTS = Kinds(NAME, "content", [*_blocks("file"), REASONING, *THINKING], mark=by_type)
ITEMS = Kinds(NAME, "content", _blocks("media"), mark=by_type)

CALLS = Kinds(
    NAME,
    "tool_calls",
    [
        Kind(
            "tool_call",
            "tool-call",
            (Field("name", "toolName"), Field("args", "input"), Field("id", "toolCallId")),
            native={"type": "tool_call"},
        )
    ],
    mark=lambda native: "tool_call" if native.get("type") is None and "name" in native else None,
)

INVALID = Kinds(
    NAME,
    "invalid_tool_calls",
    [
        Kind(
            "invalid",
            "tool-call",
            (Field("name", "toolName"), Field("args", "input", from_json, to_json), Field("id", "toolCallId")),
            native={"type": "invalid_tool_call", "error": None},
        )
    ],
    mark=lambda native: "invalid" if native.get("type") in (None, "invalid_tool_call") else None,
    typeless=True,
)
"""Calls whose arguments are no JSON object; LangChain sends them to the model as they are."""

RESULT = Kinds(
    NAME,
    "",
    [
        Kind(
            "tool",
            "tool-result",
            (
                outcome("content", "status", ("error",), "success", ITEMS),
                Field("tool_call_id", "toolCallId"),
                Field("name", "toolName", unless_none, optional=True),
            ),
            native={"role": "tool"},
        )
    ],
    mark=lambda native: "tool",
    typeless=True,
)
"""A tool message, which is its result."""
