"""What chat formats after OpenAI's share ⇄ canonical parts: functions, images by URL, outputs, tools."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from historycompat.edits import value_at
from historycompat.formats.kinds import Field, Joint, Kind, Kinds, Part, Writer
from historycompat.formats.readers import Links
from historycompat.formats.values import compact, from_json, from_url, is_media, to_json, to_url

_NOTHING: Mapping[str, Any] = {}


def function(*, as_text: bool) -> tuple[Field | Joint, Joint]:
    """Name and arguments of a call's `function`. New arguments are JSON text or the value itself; others stay what they
    are."""

    def decode(native: Part, links: Links) -> Mapping[str, Any]:
        held = native["function"]
        return {"input": from_json(held["arguments"])} if isinstance(held, dict) and "arguments" in held else _NOTHING

    def encode(part: Part, native: Part, writer: Writer) -> Mapping[str, Any]:
        held = native.get("function")
        held = held if isinstance(held, dict) else _NOTHING
        kept = {key: value for key, value in held.items() if key != "arguments"}
        if "input" not in part:
            return {"function": kept}
        text = isinstance(held["arguments"], str) if "arguments" in held else as_text
        return {"function": {**kept, "arguments": to_json(part["input"]) if text else part["input"]}}

    return Field("function.name", "toolName"), Joint(("function",), ("input",), decode, encode)


def url_of(native: Part) -> Any:
    """The URL of an image, which is a string or an object with it."""
    held = native.get("image_url")
    return held.get("url") if isinstance(held, dict) else held


def by_url(native: Part) -> Hashable:
    """The mark of an image whose URL is well formed."""
    url = url_of(native)
    return ("image", isinstance(url, str) and from_url(url, "") is not None)


def _image(native: Part, links: Links) -> Mapping[str, Any]:
    return from_url(url_of(native), "image/*") or _NOTHING


def _to_image(part: Part, native: Part, writer: Writer) -> Mapping[str, Any]:
    held = native.get("image_url", _NOTHING)
    return {"image_url": {**held, "url": to_url(part)} if isinstance(held, Mapping) else to_url(part)}


def image(type_: str, *fields: Field) -> Kind:
    """The kind of an image by URL, read as a canonical part of a type."""
    url = Joint(("image_url",), ("data", "mediaType"), _image, _to_image)
    native = {"type": "image_url"}
    return Kind(("image", True), type_, (url, *fields), native=native, when=lambda part: is_media(part, "image/"))


def text_kind() -> Kind:
    return Kind("text", "text", (Field("text", "text"),), native={"type": "text"})


def output(items: Kinds, key: str = "content") -> Joint:
    """The output under a key of a tool message: a text, or a list of `items`."""

    def decode(native: Part, links: Links) -> Mapping[str, Any]:
        content = native[key]
        if isinstance(content, list):
            return {"output": {"type": "content", "value": [items.read(item, links, items) for item in content]}}
        return {"output": {"type": "text" if isinstance(content, str) else "json", "value": content}}

    def encode(part: Part, native: Part, writer: Writer) -> Mapping[str, Any]:
        said = part.get("output")
        if not isinstance(said, dict):
            return _NOTHING if said is None else {key: said}
        value = said.get("value")
        if said.get("type") == "content" and isinstance(value, list):
            return {key: [items.write(item, writer, items) for item in value]}
        return {key: value if isinstance(value, str) else compact(value)}

    def check(part: Part) -> str | None:
        value = value_at(part, ("output", "value"))
        held = value if value_at(part, ("output", "type")) == "content" and isinstance(value, list) else []
        return next((reason for item in held if isinstance(item, dict) and (reason := items.refuses(item))), None)

    return Joint((key,), ("output",), decode, encode, check, texts=True)


def function_tools(name: str) -> Kinds:
    """The tools of a body, as OpenAI's chat has them."""
    fields = (
        Field("function.name", "name"),
        Field("function.description", "description"),
        Field("function.parameters", "inputSchema"),
    )
    return Kinds(name, "tools", [Kind("function", "function", fields, native={"type": "function"})])
