"""Blocks of Bedrock Converse ⇄ canonical parts."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from historycompat.edits import value_at
from historycompat.formats.cache_points import CACHE
from historycompat.formats.kinds import Field, Joint, Kind, Kinds, Part, Writer
from historycompat.formats.readers import Links
from historycompat.formats.values import as_before, from_bytes, has, is_web_url

NAME = "bedrock"
OURS = ("bedrock",)

# The media type of each `format`, by the block that it stands in; of several with one type the first is written.
MEDIA = {
    "image": {"png": "image/png", "jpeg": "image/jpeg", "gif": "image/gif", "webp": "image/webp"},
    "document": {
        "pdf": "application/pdf",
        "csv": "text/csv",
        "doc": "application/msword",
        "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "xls": "application/vnd.ms-excel",
        "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "html": "text/html",
        "txt": "text/plain",
        "md": "text/markdown",
    },
    "video": {
        "mp4": "video/mp4",
        "webm": "video/webm",
        "mov": "video/quicktime",
        "mkv": "video/x-matroska",
        "flv": "video/x-flv",
        "mpeg": "video/mpeg",
        "mpg": "video/mpeg",
        "wmv": "video/x-ms-wmv",
        "three_gp": "video/3gpp",
    },
    "audio": {
        "mp3": "audio/mpeg",
        "wav": "audio/wav",
        "opus": "audio/opus",
        "aac": "audio/aac",
        "flac": "audio/flac",
        "mp4": "audio/mp4",
        "ogg": "audio/ogg",
    },
}
_OBJECTS = frozenset(("toolUse", "toolResult", *MEDIA))
_UNNAMED = "document"
_NOTHING: Mapping[str, Any] = {}


def by_key(native: Part) -> Hashable:
    """The mark of a block: the key of what it holds, where that is well formed."""
    if isinstance(native.get("text"), str):
        return "text"
    for key, held in native.items():
        if key in _OBJECTS and isinstance(held, dict):
            return _object_mark(key, held)
    return _reasoning_mark(native.get("reasoningContent"))


def _object_mark(key: str, held: dict[str, Any]) -> str | None:
    if key == "toolUse":
        return "hosted" if held.get("type") == "server_tool_use" else key
    if key == "toolResult":
        return key
    known = held.get("format") in tuple(MEDIA[key])
    return key if known and isinstance(value_at(held, ("source", "bytes")), (str, bytes)) else None


def _reasoning_mark(held: Any) -> str | None:
    if not isinstance(held, dict):
        return None
    if isinstance(held.get("reasoningText"), dict):
        return "thought"
    return "redacted" if "redactedContent" in held else None


def _media(block: str) -> Joint:
    """The bytes and format of a block."""
    formats = {media: name for name, media in reversed(MEDIA[block].items())}

    def decode(native: Part, links: Links) -> Mapping[str, Any]:
        held = native[block]
        return {"data": from_bytes(held["source"]["bytes"]), "mediaType": MEDIA[block][held["format"]]}

    def encode(part: Part, native: Part, writer: Writer) -> Mapping[str, Any]:
        held = native.get(block, _NOTHING)
        data = as_before(part.get("data"), value_at(held, ("source", "bytes")))
        return {block: {**held, "format": formats.get(part.get("mediaType", "")), "source": {"bytes": data}}}

    return Joint((block,), ("data", "mediaType"), decode, encode)


def _file(block: str, type_: str, *fields: Field | Joint) -> Kind:
    media = tuple(MEDIA[block].values())

    def fits(part: Part) -> bool:
        return part.get("mediaType") in media and isinstance(part.get("data"), str) and not is_web_url(part["data"])

    return Kind(block, type_, (_media(block), *fields), when=fits)


def _name(native: Part, links: Links) -> Mapping[str, Any]:
    name = native["document"].get("name", _UNNAMED)
    return _NOTHING if name == _UNNAMED else {"filename": name}


def _to_name(part: Part, native: Part, writer: Writer) -> Mapping[str, Any]:
    return {"document": {**native.get("document", _NOTHING), "name": part.get("filename", _UNNAMED)}}


def _files(type_: str, *fields: Field) -> list[Kind]:
    name = Joint(("document",), ("filename",), _name, _to_name)
    return [_file(block, type_, *((name,) if block == "document" else ()), *fields) for block in MEDIA]


ITEMS = Kinds(
    NAME, "content", [Kind("text", "text", (Field("text", "text"),)), *_files("media")], mark=by_key, typeless=True
)
"""What the content of a tool result holds."""


def _output(native: Part, links: Links) -> Mapping[str, Any]:
    held = native["toolResult"]
    if "content" not in held:
        return _NOTHING
    content, failed = held["content"], held.get("status") == "error"
    only = content[0] if isinstance(content, list) and len(content) == 1 and isinstance(content[0], dict) else _NOTHING
    if only.keys() == {"text"} and isinstance(only["text"], str):
        return {"output": {"type": "error-text" if failed else "text", "value": only["text"]}}
    if only.keys() == {"json"}:
        return {"output": {"type": "error-json" if failed else "json", "value": only["json"]}}
    if isinstance(content, list) and not failed:
        return {"output": {"type": "content", "value": [ITEMS.read(item, links, ITEMS) for item in content]}}
    kind = "text" if isinstance(content, str) else "json"
    return {"output": {"type": f"error-{kind}" if failed else kind, "value": content}}


def _to_output(part: Part, native: Part, writer: Writer) -> Mapping[str, Any]:
    output, held = part.get("output"), native.get("toolResult", _NOTHING)
    if not isinstance(output, dict):
        return {"toolResult": {key: value for key, value in held.items() if key not in ("content", "status")}}
    kind, value = output.get("type"), output.get("value")
    if kind == "content" and isinstance(value, list):
        content = [ITEMS.write(item, writer, ITEMS) for item in value]
    else:
        content = [{"text" if str(kind).endswith("text") and isinstance(value, str) else "json": value}]
    failed = {"status": "error"} if str(kind).startswith("error") else {"status": "success"} if "status" in held else {}
    return {"toolResult": {**held, "content": content, **failed}}


_CACHE = Field(CACHE, "providerOptions.bedrock.cachePoint", optional=True)
_CALL = (
    Field("toolUse.toolUseId", "toolCallId"),
    Field("toolUse.name", "toolName"),
    Field("toolUse.input", "input"),
    _CACHE,
)
_REDACTED = "providerOptions.anthropic.redactedData"


def _is_hosted(part: Part) -> bool:
    return part.get("providerExecuted") is True


def _to_redacted(part: Part, native: Part, writer: Writer) -> Mapping[str, Any]:
    held = native.get("reasoningContent", _NOTHING)
    data = as_before(value_at(part, tuple(_REDACTED.split("."))), held.get("redactedContent"))
    return {"reasoningContent": {**held, "redactedContent": data}}


BLOCKS = Kinds(
    NAME,
    "content",
    [
        Kind("text", "text", (Field("text", "text"), _CACHE)),
        Kind(
            "redacted",
            "reasoning",
            (
                Joint(
                    ("reasoningContent",),
                    (_REDACTED,),
                    lambda native, links: {_REDACTED: from_bytes(native["reasoningContent"]["redactedContent"])},
                    _to_redacted,
                ),
                _CACHE,
            ),
            canonical={"text": ""},
            when=has(_REDACTED),
        ),
        Kind(
            "thought",
            "reasoning",
            (
                Field("reasoningContent.reasoningText.text", "text"),
                Field("reasoningContent.reasoningText.signature", "providerOptions.anthropic.signature"),
                _CACHE,
            ),
            native={"reasoningContent": {"reasoningText": {}}},
            when=lambda part: not has(_REDACTED)(part),
        ),
        *_files("file", _CACHE),
        Kind(
            "hosted",
            "tool-call",
            _CALL,
            native={"toolUse": {"type": "server_tool_use"}},
            canonical={"providerExecuted": True},
            when=_is_hosted,
        ),
        Kind(
            "toolUse",
            "tool-call",
            _CALL,
            native={"toolUse": {}},
            when=lambda part: not _is_hosted(part),
            derived=("providerExecuted",),
        ),
        Kind(
            "toolResult",
            "tool-result",
            (
                Field("toolResult.toolUseId", "toolCallId"),
                Joint(("toolResult",), ("output",), _output, _to_output),
                _CACHE,
            ),
            native={"toolResult": {}},
            role="tool",
            derived=("toolName",),
        ),
    ],
    mark=by_key,
    typeless=True,
    namespaces=OURS,
)
