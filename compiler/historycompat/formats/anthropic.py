"""Anthropic Messages ⇄ canonical prompt.

A user message with `tool_result` blocks is read as a tool message for each run of results and a user message for each
run of the rest, and written back as the one message while these stand together. The top-level `system` of a body is
read as a leading system message. Blocks with no canonical counterpart (`search_result`, `container_upload`,
`compaction`, images and documents by file id, anything unknown) are opaque.

Degraded when written: provider options other than `cacheControl`, `signature`, `redactedData`, `serverName` and `type`
of `anthropic`; a result's tool name (its call's holds); outputs of type `json` and `error-json`, which become text in
results of the client's tools; outputs of hosted tools, which are all `json`; the media type of web URLs.

Facts: anthropic-sdk-python 2.14, `MessageParam` and its blocks.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import Any

from historycompat.edits import value_at
from historycompat.formats.anthropic_sources import SOURCE
from historycompat.formats.apart import System, Tools
from historycompat.formats.detection import Marks, words
from historycompat.formats.kinds import Field, Joint, Kind, Kinds, Part, Writer
from historycompat.formats.lens import Lens
from historycompat.formats.readers import Links
from historycompat.formats.roles import Role, Roles, Slot
from historycompat.formats.values import compact, has, is_media
from historycompat.pairs import Site
from historycompat.view import Shape

NAME = "anthropic"
OURS = ("anthropic",)

# Hosted tools whose results are blocks of the type `<name>_tool_result`.
_OWN_RESULTS = ("web_search", "web_fetch", "code_execution", "bash_code_execution", "text_editor_code_execution")
_CALL_TYPES = ("tool_use", "server_tool_use", "mcp_tool_use")
_RESULT_TYPES = ("tool_result", *(f"{name}_tool_result" for name in (*_OWN_RESULTS, "tool_search", "mcp")))


def _result_site(kind: str) -> Site:
    role = "user" if kind == "tool_result" else "assistant"
    return Site("content", kind, ("tool_use_id",), ("name",), fresh=((("role",), role),))


OWN_TYPES = words(
    "image document search_result thinking redacted_thinking tool_use tool_result server_tool_use mcp_tool_use "
    "container_upload compaction *_tool_result"
)


def by_type(native: Part) -> Hashable:
    """The mark of a block that its type alone does not give: results of hosted tools share one."""
    kind: Any = native.get("type")
    if kind in ("image", "document"):
        return kind, value_at(native, ("source", "type"))
    return "*_tool_result" if isinstance(kind, str) and kind.endswith("_tool_result") else None


def _output(native: Part, links: Links) -> Mapping[str, Any]:
    if "content" not in native:
        return {}
    content, failed = native["content"], native.get("is_error") is True
    if isinstance(content, str):
        return {"output": {"type": "error-text" if failed else "text", "value": content}}
    if isinstance(content, list) and not failed:
        return {"output": {"type": "content", "value": [ITEMS.read(item, links, ITEMS) for item in content]}}
    return {"output": {"type": "error-json" if failed else "json", "value": content}}


def _to_output(part: Part, native: Part, writer: Writer) -> Mapping[str, Any]:
    output = part.get("output")
    if not isinstance(output, dict):
        return {} if output is None else {"content": output}
    kind, value = output.get("type"), output.get("value")
    if kind == "content" and isinstance(value, list):
        value = [ITEMS.write(item, writer, ITEMS) for item in value]
    elif not isinstance(value, str) and not _are_blocks(value):
        value = compact(value)
    return {"content": value, **_failure(kind, native)}


def _failure(kind: Any, native: Part) -> Mapping[str, Any]:
    if kind in ("error-text", "error-json"):
        return {"is_error": True}
    return {"is_error": False} if native.get("is_error") in (True, False) else {}


def _are_blocks(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(each, dict) and "type" in each for each in value)


def _hosted(native: Part, links: Links) -> Mapping[str, Any]:
    """The output, and either the tool's name or, where the block's type does not follow from that, the type."""
    failed = native.get("is_error") is True
    read: dict[str, Any] = {}
    if "content" in native:
        read["output"] = {"type": "error-json" if failed else "json", "value": native["content"]}
    name = native["type"].removesuffix("_tool_result")
    return read | ({"toolName": name} if name in _OWN_RESULTS else {"providerOptions.anthropic.type": native["type"]})


def _to_hosted(part: Part, native: Part, writer: Writer) -> Mapping[str, Any]:
    output = part.get("output")
    kind = value_at(part, ("providerOptions", "anthropic", "type")) or f"{part.get('toolName')}_tool_result"
    if not isinstance(output, dict):
        return {"type": kind}
    return {"type": kind, "content": output.get("value"), **_failure(output.get("type"), native)}


_HEADER = (Field("metadata", "metadata"),)
_CACHE = Field("cache_control", "providerOptions.anthropic.cacheControl", optional=True)
_CALL = (Field("id", "toolCallId"), Field("name", "toolName"), Field("input", "input"), _CACHE)
_HOSTED = {"providerExecuted": True}
_HOSTED_RESULT = (
    Field("tool_use_id", "toolCallId"),
    Joint(
        ("type", "content", "is_error"), ("output", "toolName", "providerOptions.anthropic.type"), _hosted, _to_hosted
    ),
    _CACHE,
)
_RESULT = Kind(
    "tool_result",
    "tool-result",
    (Field("tool_use_id", "toolCallId"), Joint(("content", "is_error"), ("output",), _output, _to_output), _CACHE),
    native={"type": "tool_result"},
    role="tool",
    derived=("toolName",),
)
_CALLS = (
    Kind(
        "mcp_tool_use",
        "tool-call",
        (*_CALL, Field("server_name", "providerOptions.anthropic.serverName")),
        native={"type": "mcp_tool_use"},
        canonical=_HOSTED,
        when=has("providerOptions.anthropic.serverName"),
    ),
    Kind(
        "server_tool_use",
        "tool-call",
        _CALL,
        native={"type": "server_tool_use"},
        canonical=_HOSTED,
        when=lambda part: part.get("providerExecuted") is True,
    ),
    Kind(
        "tool_use",
        "tool-call",
        _CALL,
        native={"type": "tool_use"},
        when=lambda part: part.get("providerExecuted") is not True,
        derived=("providerExecuted",),
    ),
)

THINKING = (
    Kind(
        "redacted_thinking",
        "reasoning",
        (Field("data", "providerOptions.anthropic.redactedData"),),
        native={"type": "redacted_thinking"},
        canonical={"text": ""},
        when=has("providerOptions.anthropic.redactedData"),
    ),
    Kind(
        "thinking",
        "reasoning",
        (Field("thinking", "text"), Field("signature", "providerOptions.anthropic.signature")),
        native={"type": "thinking"},
        when=lambda part: not has("providerOptions.anthropic.redactedData")(part),
    ),
)


def _files(kind: str, when: Any, *fields: Field) -> tuple[Kind, ...]:
    """The kinds of a block with a source, one for each kind of source."""
    return tuple(
        Kind((kind, source), "file", (SOURCE, *fields, _CACHE), native={"type": kind}, when=when)
        for source in ("base64", "url", *(("text",) if kind == "document" else ()))
    )


def _is_image(part: Part) -> bool:
    return is_media(part, "image/")


def _is_document(part: Part) -> bool:
    return is_media(part, "application/pdf", "text/plain")


ITEMS = Kinds(
    NAME,
    "content",
    [
        Kind("text", "text", (Field("text", "text"),), native={"type": "text"}),
        Kind(("image", "base64"), "media", (SOURCE,), native={"type": "image"}, when=_is_image),
        Kind(("document", "base64"), "media", (SOURCE,), native={"type": "document"}, when=_is_document),
    ],
    mark=by_type,
)
"""What a list as the content of a `tool_result` holds."""


_HOSTED_BLOCK = Kind("*_tool_result", "tool-result", _HOSTED_RESULT, role="tool")


def _blocks(*results: Kind) -> Kinds:
    """The blocks of a message."""
    return Kinds(
        NAME,
        "content",
        [
            Kind("text", "text", (Field("text", "text"), _CACHE), native={"type": "text"}),
            *THINKING,
            *_files("image", _is_image),
            *_files("document", _is_document, Field("title", "filename")),
            *_CALLS,
            *results,
        ],
        mark=by_type,
        namespaces=OURS,
    )


# A new result in an assistant message is a hosted tool's, in a user message the client's unless it says otherwise; one
# that was read stays what it was.
_SAID = replace(_HOSTED_BLOCK, when=has("providerOptions.anthropic.type"))
USER = Slot(_blocks(_SAID, _RESULT, _HOSTED_BLOCK), string={"type": "text"}, empty=[])
ASSISTANT = Slot(_blocks(_HOSTED_BLOCK, _RESULT), string={"type": "text"}, empty=[])

TOOLS = Kinds(
    NAME,
    "tools",
    [
        Kind(
            kind,
            "function",
            (Field("name", "name"), Field("description", "description"), Field("input_schema", "inputSchema"), _CACHE),
            native={} if kind is None else {"type": kind},
        )
        for kind in (None, "custom")
    ],
)

LENS = Lens(
    NAME,
    Roles(
        [
            Role("user", "user", (USER,), _HEADER, splits=True),
            Role("assistant", "assistant", (ASSISTANT,), _HEADER),
            Role("system", "system", (USER,), _HEADER, text=True),
        ],
        other=Role(None, None, (ASSISTANT,), _HEADER),
    ),
    tools=Tools(TOOLS),
    system=System(("system",)),
    unnamed_results=True,
    namespaces=OURS,
)

FORMAT = LENS.format(
    "Anthropic Messages",
    Marks(
        roles=words("user assistant system"),
        types=words("text") | OWN_TYPES,
        strings=words("user assistant system"),
        lists=words("user assistant system"),
        own_types=OWN_TYPES,
        own_body=words("system anthropic_version anthropic_beta stop_sequences"),
        foreign_keys=words("tool_calls tool_call_id parts providerOptions"),
    ),
    Shape(
        calls=tuple(Site("content", kind, ("id",), ("name",)) for kind in _CALL_TYPES),
        results=tuple(_result_site(kind) for kind in _RESULT_TYPES),
    ),
    words(
        "system-parts user-files documents reasoning any-order any-input output-error-text output-content hosted-calls "
        "empty-messages many-texts neighbours result-ids"
    ),
)
