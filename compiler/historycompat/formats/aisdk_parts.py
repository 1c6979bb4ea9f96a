"""Parts of AI SDK prompts and model messages ⇄ canonical parts: the tables that its generations share.

The older generation (prompt V1, CoreMessage of ai 4) says `args`, `result`, `mimeType` and `signature`; the newer one
(prompts V3 and V4, ModelMessage of ai 5 to 7) is the canonical prompt but for files and the content of tool outputs.

Facts: @ai-sdk/provider 1.1.3, 3.0.19 and 4.0.38; ai 4, 5, 6 and 7.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

from historycompat.edits import MISSING, value_at, with_path, without_path
from historycompat.formats.kinds import Field, Joint, Kind, Kinds, Part, Writer
from historycompat.formats.readers import Links
from historycompat.formats.values import from_url, has, is_media

TEXT = {"type": "text"}
OPTIONS = Field("providerOptions", "providerOptions", optional=True)
_SIGNATURE = ("providerOptions", "anthropic", "signature")
_REDACTED = ("providerOptions", "anthropic", "redactedData")


def text_kind(*options: Field) -> Kind:
    return Kind("text", "text", (Field("text", "text"), *options), native=TEXT)


def is_image(part: Part) -> bool:
    return is_media(part, "image/")


# ----- the older generation


def image_kind(media: str, *options: Field) -> Kind:
    """An `image` part, whose media type under the key `media` may be missing."""

    def decode(native: Part, links: Links) -> Mapping[str, Any]:
        image, kind = native["image"], native.get(media, "image/*")
        return _bare(image, kind) or {"data": image, "mediaType": kind}

    def encode(part: Part, native: Part, writer: Writer) -> Mapping[str, Any]:
        kind = part.get("mediaType")
        return {"image": part.get("data")} | ({} if kind in (None, "image/*") else {media: kind})

    joint = Joint(("image", media), ("data", "mediaType"), decode, encode)
    return Kind("image", "file", (joint, *options), native={"type": "image"}, when=is_image)


def _bare(data: Any, unknown: Any) -> Mapping[str, Any] | None:
    """The base64 text of a data URL, and its media type."""
    return from_url(data, unknown) if isinstance(data, str) and data.startswith("data:") else None


def file_kind(media: str, *options: Field) -> Kind:
    fields = (Field("data", "data"), Field(media, "mediaType"), Field("filename", "filename", optional=True))
    return Kind(("file", None), "file", (*fields, *options), native={"type": "file"})


def signed_kinds(options: str, *more: Field) -> tuple[Kind, Kind]:
    """Reasoning with its signature beside it, and redacted reasoning, for the key of the provider options."""
    return (
        Kind(
            "redacted-reasoning",
            "reasoning",
            (_sealed("data", options, _REDACTED), *more),
            native={"type": "redacted-reasoning"},
            canonical={"text": ""},
            when=has(".".join(_REDACTED)),
        ),
        Kind(
            "reasoning",
            "reasoning",
            (_sealed("signature", options, _SIGNATURE, Field("text", "text")), *more),
            native={"type": "reasoning"},
            when=lambda part: not has(".".join(_REDACTED))(part),
        ),
    )


def _sealed(seal: str, options: str, place: tuple[str, ...], text: Field | None = None) -> Joint:
    """A native key that is a provider option at `place`, with the other options; read where the first key is there."""
    lead = (seal,) if text is None else (text.native, seal)

    def decode(native: Part, links: Links) -> Mapping[str, Any]:
        read = {} if text is None else {text.canonical: native[text.native]}
        rest = {"providerOptions": native[options]} if options in native else {}
        if seal in native:
            rest = with_path(rest, place, native[seal])
        return read | rest

    def encode(part: Part, native: Part, writer: Writer) -> Mapping[str, Any]:
        said = {} if text is None or text.canonical not in part else {text.native: part[text.canonical]}
        value = value_at(part, place, MISSING)
        if value is not MISSING:
            said[seal] = value
            part = without_path(part, place, prune=True)
        return said | ({options: part["providerOptions"]} if "providerOptions" in part else {})

    canonical = ("providerOptions",) if text is None else (text.canonical, "providerOptions")
    return Joint((*lead, options), canonical, decode, encode)


def result_kind(name: str, content: str, *options: Field) -> Kind:
    """A result with `result`, `isError` and, under the key `content`, what the model is shown instead."""
    items = Kinds(
        name,
        content,
        [
            Kind("text", "text", (Field("text", "text"),), native=TEXT),
            Kind("image", "media", (Field("data", "data"), Field("mimeType", "mediaType")), native={"type": "image"}),
        ],
    )

    def decode(native: Part, links: Links) -> Mapping[str, Any]:
        shown, value = native.get(content), native["result"]
        if isinstance(shown, list):
            return {"output": {"type": "content", "value": [items.read(item, links, items) for item in shown]}}
        return {"output": plain_output(value, failed=native.get("isError") is True)}

    def encode(part: Part, native: Part, writer: Writer) -> Mapping[str, Any]:
        output = part.get("output")
        if not isinstance(output, dict):
            return {} if output is None else {"result": output}
        kind, value = output.get("type"), output.get("value", output.get("reason"))
        if kind == "content" and isinstance(value, list):
            return {"result": value, content: [items.write(item, writer, items) for item in value]}
        failed = kind in ("error-text", "error-json", "execution-denied")
        was = {} if native.get("isError") is not False else {"isError": False}
        return {"result": value} | ({"isError": True} if failed else was)

    fields = (Field("toolCallId", "toolCallId"), Field("toolName", "toolName"))
    output = Joint(("result", "isError", content), ("output",), decode, encode)
    return Kind("tool-result", "tool-result", (*fields, output, *options), native={"type": "tool-result"})


def plain_output(value: Any, *, failed: bool) -> dict[str, Any]:
    """The output that a bare result value is: a string is text, anything else JSON."""
    kind = "text" if isinstance(value, str) else "json"
    return {"type": f"error-{kind}" if failed else kind, "value": value}


def call_kind(arguments: str, *options: Field) -> Kind:
    fields = (Field("toolCallId", "toolCallId"), Field("toolName", "toolName"), Field(arguments, "input"))
    return Kind("tool-call", "tool-call", (*fields, *options), native={"type": "tool-call"})


# ----- the newer generation


def tagged_files(type_: str, canonical: str) -> tuple[Kind, ...]:
    """Files whose data is an object that names its kind: `{"type": "data", "data": ...}` or `{"type": "url", ...}`."""
    rest = (Field("mediaType", "mediaType"), Field("filename", "filename", optional=True), OPTIONS)

    def kind(tag: str, when: Any) -> Kind:
        native = {"type": type_, "data": {"type": tag}}
        return Kind((type_, tag), canonical, (Field(f"data.{tag}", "data"), *rest), native=native, when=when)

    return kind("url", lambda part: _is_url(part.get("data"))), kind("data", lambda part: True)


def _is_url(data: Any) -> bool:
    return isinstance(data, str) and ":" in data  # base64 has no colon


def by_tag(native: Part) -> Hashable:
    """The mark of a file: the tag of its data, if that has one. Bytes in JSON may be tagged `Buffer`."""
    tag = value_at(native, ("data", "type"))
    return native.get("type"), None if tag == "Buffer" else tag


MEDIA = (Field("data", "data"), Field("mediaType", "mediaType"), Field("filename", "filename", optional=True), OPTIONS)
NAMED_MEDIA = (
    Kind("image-data", "media", MEDIA, native={"type": "image-data"}, when=is_image),
    Kind("file-data", "media", MEDIA, native={"type": "file-data"}),
    Kind("media", "media", MEDIA, native={"type": "media"}),
)
"""Media in tool outputs, of which only the first two are written from scratch."""

# Parts that the canonical prompt says alike.
_ALIKE: Mapping[str, tuple[str, ...]] = {
    "reasoning": ("text",),
    "reasoning-file": ("data", "mediaType"),
    "custom": ("kind",),
    "tool-approval-request": ("approvalId", "toolCallId", "reason", "isAutomatic", "signature", "inputSchemaInput"),
    "tool-approval-response": ("approvalId", "approved", "reason", "providerExecuted"),
}


def alike(*types: str) -> tuple[Kind, ...]:
    return tuple(
        Kind(
            type_, type_, (*(Field(key, key, optional=True) for key in _ALIKE[type_]), OPTIONS), native={"type": type_}
        )
        for type_ in types
    )


def output_kind(name: str, items: Iterable[Kind]) -> Kind:
    """A result whose `output` is canonical but for the items of its content."""
    place = Kinds(name, "output", [text_kind(OPTIONS), *items], mark=by_tag)

    def content(output: Any, each: Any) -> Any:
        if isinstance(output, dict) and output.get("type") == "content" and isinstance(output.get("value"), list):
            return {**output, "value": [each(item) for item in output["value"]]}
        return output

    def decode(native: Part, links: Links) -> Mapping[str, Any]:
        return {"output": content(native["output"], lambda item: place.read(item, links, place))}

    def encode(part: Part, native: Part, writer: Writer) -> Mapping[str, Any]:
        if "output" not in part:
            return {}
        return {"output": content(part["output"], lambda item: place.write(item, writer, place))}

    fields = (Field("toolCallId", "toolCallId"), Field("toolName", "toolName"))
    output = Joint(("output",), ("output",), decode, encode)
    return Kind("tool-result", "tool-result", (*fields, output, OPTIONS), native={"type": "tool-result"})
