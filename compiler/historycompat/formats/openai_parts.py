"""Content parts of OpenAI's chat messages ⇄ canonical parts: texts, refusals, images, documents, audio."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from historycompat.edits import value_at
from historycompat.formats.kinds import Field, Joint, Kind, Kinds, Part, Writer
from historycompat.formats.readers import Links
from historycompat.formats.values import from_url, is_media, is_web_url, to_url

NAME = "openai-chat"
OURS = ("openai",)
_AUDIO = {"wav": "audio/wav", "mp3": "audio/mpeg"}


def by_type(native: Part) -> Hashable:
    """The mark of a media part whose place is well formed."""
    kind: Any = native.get("type")
    if kind == "input_audio":
        return kind, value_at(native, ("input_audio", "format")) in _AUDIO
    url = value_at(native, {"image_url": ("image_url", "url"), "file": ("file", "file_data")}.get(kind, ()))
    return kind, isinstance(url, str) and from_url(url, "") is not None


def _image(native: Part, links: Links) -> Mapping[str, Any]:
    return from_url(native["image_url"]["url"], "image/*") or {}


def _to_image(part: Part, native: Part, writer: Writer) -> Mapping[str, Any]:
    return {"image_url": {**native.get("image_url", {}), "url": to_url(part)}}


def _document(native: Part, links: Links) -> Mapping[str, Any]:
    return from_url(native["file"]["file_data"], "application/pdf") or {}


def _to_document(part: Part, native: Part, writer: Writer) -> Mapping[str, Any]:
    return {"file": {**native.get("file", {}), "file_data": to_url(part)}}


def _audio(native: Part, links: Links) -> Mapping[str, Any]:
    audio = native["input_audio"]
    return {"data": audio.get("data"), "mediaType": _AUDIO[audio["format"]]}


def _to_audio(part: Part, native: Part, writer: Writer) -> Mapping[str, Any]:
    kind = next((kind for kind, media in _AUDIO.items() if media == part.get("mediaType")), "mp3")
    return {"input_audio": {"data": part.get("data"), "format": kind}}


def _refusal(native: Part, links: Links) -> Mapping[str, Any]:
    said = {"text": native["refusal"]} if "refusal" in native else {}
    return said | {"providerOptions.openai.refusal": True}


def _to_refusal(part: Part, native: Part, writer: Writer) -> Mapping[str, Any]:
    return {"refusal": part.get("text")}


def _is_image(part: Part) -> bool:
    return is_media(part, "image/")


def _is_refusal(part: Part) -> bool:
    return value_at(part, ("providerOptions", "openai", "refusal")) is True


CACHE = Field("cache_control", "providerOptions.anthropic.cacheControl")
_URL = Joint(("image_url",), ("data", "mediaType"), _image, _to_image)

ITEMS = Kinds(
    NAME,
    "content",
    [
        Kind("text", "text", (Field("text", "text"),), native={"type": "text"}),
        Kind(
            ("image_url", True),
            "media",
            (_URL,),
            native={"type": "image_url"},
            when=_is_image,
        ),
    ],
    mark=by_type,
)
"""What a list as the content of a tool message holds."""

PARTS = Kinds(
    NAME,
    "content",
    [
        Kind(
            "refusal",
            "text",
            (Joint(("refusal",), ("text", "providerOptions.openai.refusal"), _refusal, _to_refusal),),
            native={"type": "refusal"},
            when=_is_refusal,
        ),
        Kind(
            "text",
            "text",
            (Field("text", "text"), CACHE),
            native={"type": "text"},
            when=lambda part: not _is_refusal(part),
        ),
        Kind(
            ("image_url", True),
            "file",
            (_URL, Field("image_url.detail", "providerOptions.openai.imageDetail"), CACHE),
            native={"type": "image_url"},
            when=_is_image,
        ),
        Kind(
            ("file", True),
            "file",
            (
                Joint(("file",), ("data", "mediaType"), _document, _to_document),
                Field("file.filename", "filename"),
                CACHE,
            ),
            native={"type": "file"},
            when=lambda part: is_media(part, "application/", "text/"),
        ),
        Kind(
            ("input_audio", True),
            "file",
            (Joint(("input_audio",), ("data", "mediaType"), _audio, _to_audio),),
            native={"type": "input_audio"},
            when=lambda part: is_media(part, *_AUDIO.values()) and not is_web_url(part["data"]),
        ),
    ],
    mark=by_type,
    namespaces=OURS,
)
