"""Ollama chat ⇄ canonical prompt.

A message is read as its `thinking`, its content, its images and its `tool_calls`. Each tool message is one canonical
tool message with one result. Calls and results without ids are paired by name and order, and get ids that are not
written; servers that know `id` and `tool_call_id` keep others. The media type of an image is told from its first bytes.

Degraded when written: several texts or thoughts, which become one; text behind images or calls, which comes before
them; the media types of images; outputs of other types than `text`, which become text; several results of one tool
message, which become a message each. Images by URL, documents and media in outputs are refused.

Facts: ollama-python 0.6, `Message`; `api/types.go` of the server for ids.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from historycompat.formats.apart import Tools
from historycompat.formats.chat_parts import function, function_tools, output
from historycompat.formats.detection import Marks, words
from historycompat.formats.folding import ITEM, PART
from historycompat.formats.kinds import Field, Joint, Kind, Kinds, Part, Writer
from historycompat.formats.lens import Lens
from historycompat.formats.pairing import said_id
from historycompat.formats.readers import Links
from historycompat.formats.roles import Role, Roles, Slot
from historycompat.formats.values import is_media, is_web_url
from historycompat.formats.writing import old_if_same, shallow_same
from historycompat.pairs import Site
from historycompat.view import Shape

NAME = "ollama-chat"
OURS = ("ollama",)

# What base64 texts of image files start with.
_BEGINNINGS = {"iVBORw0K": "image/png", "/9j/": "image/jpeg", "R0lGOD": "image/gif", "UklGR": "image/webp"}


def unfold(messages: list[Any]) -> list[Any]:
    """Messages whose images are objects: the text of each under `PART`."""
    return [_unfolded(message) if _has_images(message) else message for message in messages]


def _has_images(message: Any) -> bool:
    return isinstance(message, dict) and isinstance(message.get("images"), list)


def _unfolded(message: dict[str, Any]) -> dict[str, Any]:
    images = [{PART: image} if isinstance(image, str) else image for image in message["images"]]
    return {**message, "images": images, ITEM: message}


def fold(messages: list[Any]) -> list[Any]:
    """The inverse of `unfold`: messages as they were, but for what was edited."""
    return [_folded(message) if isinstance(message, dict) else message for message in messages]


def _folded(message: dict[str, Any]) -> dict[str, Any]:
    if not _has_images(message):
        return {key: value for key, value in message.items() if key != ITEM} if ITEM in message else message
    native = message.get(ITEM, {})
    images = [image.get(PART, image) if isinstance(image, dict) else image for image in message["images"]]
    folded = {**message, "images": old_if_same(images, native.get("images", []))}
    folded.pop(ITEM, None)
    return native if shallow_same(folded, native) else folded


def _image(native: Part, links: Links) -> Mapping[str, Any]:
    data = native[PART]
    media = next((media for beginning, media in _BEGINNINGS.items() if data.startswith(beginning)), "image/*")
    return {"data": data, "mediaType": media}


def _to_image(part: Part, native: Part, writer: Writer) -> Mapping[str, Any]:
    return {PART: part.get("data")}


def _is_image(part: Part) -> bool:
    return is_media(part, "image/") and not is_web_url(part["data"])


IMAGES = Kinds(
    NAME,
    "images",
    [Kind("image", "file", (Joint((PART,), ("data", "mediaType"), _image, _to_image),), when=_is_image)],
    mark=lambda native: "image" if PART in native else None,
    typeless=True,
    namespaces=OURS,
)

CALLS = Kinds(
    NAME,
    "tool_calls",
    [Kind("call", "tool-call", (Field("id", "toolCallId", encode=said_id), *function(as_text=False)))],
    mark=lambda native: "call" if isinstance(native.get("function"), dict) else None,
    typeless=True,
    namespaces=OURS,
)

RESULT = Kinds(
    NAME,
    "",
    [
        Kind(
            "tool",
            "tool-result",
            (
                Field("tool_call_id", "toolCallId", encode=said_id),
                Field("tool_name", "toolName"),
                output(Kinds(NAME, "content", ())),
            ),
            native={"role": "tool"},
        )
    ],
    mark=lambda native: "tool",
    namespaces=OURS,
)
"""A tool message, which is its result."""

CONTENT = Slot(Kinds(NAME, "content", ()), string={"type": "text"}, only_strings=True)
THINKING = Slot(Kinds(NAME, "thinking", ()), string={"type": "reasoning"}, only_strings=True)
PICTURES = Slot(IMAGES)

LENS = Lens(
    NAME,
    Roles(
        [
            Role("system", "system", (CONTENT,), text=True),
            Role("user", "user", (CONTENT, PICTURES)),
            Role("assistant", "assistant", (THINKING, CONTENT, PICTURES, Slot(CALLS))),
            Role("tool", "tool", whole=RESULT),
        ],
        other=Role(None, None, (CONTENT, PICTURES)),
    ),
    tools=Tools(function_tools(NAME)),
    unnamed_results=True,
    optional_ids=True,
    namespaces=OURS,
    unfold=unfold,
    fold=fold,
)

FORMAT = LENS.format(
    "Ollama chat",
    Marks(
        roles=words("system user assistant tool"),
        types=frozenset(),
        strings=words("system user assistant tool"),
        own_keys=words("thinking images tool_name"),
        own_body=words("options keep_alive think"),
        foreign_keys=words("parts providerOptions tool_plan citations reasoning_content"),
    ),
    Shape(
        calls=(Site("tool_calls", None, ("id",), ("function", "name")),),
        results=(Site(None, None, ("tool_call_id",), ("tool_name",), roles=("tool",)),),
    ),
    words("reasoning neighbours"),
)
