"""OpenAI chat completions ⇄ canonical prompt, with the dialects that others speak of it.

An assistant message is read as its reasoning (`reasoning_dialects`), its content, its `refusal` (a text with the option
`openai.refusal`) and its `tool_calls`. A reasoning string that repeats what another field said is no part of its own,
and is kept equal to it. Each tool message is one canonical tool message with one result. `developer` is
read as `system`. Legacy `function_call`, `audio` and unknown parts are opaque.

Degraded when written: the order of reasoning, text and calls inside an assistant message, which its fields fix;
several reasoning parts from elsewhere, which become one string; tool outputs of other types than `text`, which become
text; several results of one tool message, which become a message each; the media type of web URLs; provider options
with no field here.

Facts: openai-python 3.57, `ChatCompletionMessageParam`; for the dialects the documentation of the vendors named.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from historycompat.edits import same, value_at
from historycompat.formats.detection import Marks, words
from historycompat.formats.kinds import Field, Joint, Kind, Kinds, Part, Writer, has
from historycompat.formats.lens import Lens
from historycompat.formats.readers import Links
from historycompat.formats.reasoning_dialects import reasoning_slots
from historycompat.formats.roles import Role, Roles, Slot
from historycompat.formats.values import compact, from_json, from_url, is_media, is_web_url, to_json, to_url
from historycompat.view import Shape, Site

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


def call_type(native: Part) -> Hashable:
    """The mark of a tool call without type: some clients leave that of functions out."""
    return "function" if native.get("type") is None and "function" in native else None


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


def _output(native: Part, links: Links) -> Mapping[str, Any]:
    if "content" not in native:
        return {}
    content = native["content"]
    if isinstance(content, str):
        return {"output": {"type": "text", "value": content}}
    if isinstance(content, list):
        return {"output": {"type": "content", "value": [ITEMS.read(item, links, ITEMS) for item in content]}}
    return {"output": {"type": "json", "value": content}}


def _to_output(part: Part, native: Part, writer: Writer) -> Mapping[str, Any]:
    output = part.get("output")
    if not isinstance(output, dict):
        return {} if output is None else {"content": output}
    value = output.get("value")
    if output.get("type") == "content" and isinstance(value, list):
        return {"content": [ITEMS.write(item, writer, ITEMS) for item in value]}
    return {"content": value if isinstance(value, str) else compact(value)}


def _function(native: Part, links: Links) -> Mapping[str, Any]:
    function = native["function"]
    try:
        return {"toolName": function["name"], "input": from_json(function["arguments"])}
    except (KeyError, TypeError):
        return _part_of_function(function) if isinstance(function, dict) else {}


def _part_of_function(function: Part) -> Mapping[str, Any]:
    """What a function with a missing name or missing arguments still says."""
    read = {"toolName": function["name"]} if "name" in function else {}
    if "arguments" in function:
        read["input"] = from_json(function["arguments"])
    return read


def _to_function(part: Part, native: Part, writer: Writer) -> Mapping[str, Any]:
    function = native.get("function")
    function = dict(function) if isinstance(function, dict) else {}
    old = _function(native, {}) if function else {}
    for key, name, encode in (("name", "toolName", None), ("arguments", "input", to_json)):
        if name not in part:
            function.pop(key, None)
        elif name not in old or not same(part[name], old[name]):
            function[key] = part[name] if encode is None else encode(part[name])
    return {"function": function}


def _refusal(native: Part, links: Links) -> Mapping[str, Any]:
    said = {"text": native["refusal"]} if "refusal" in native else {}
    return said | {"providerOptions.openai.refusal": True}


def _to_refusal(part: Part, native: Part, writer: Writer) -> Mapping[str, Any]:
    return {"refusal": part.get("text")}


def _is_image(part: Part) -> bool:
    return is_media(part, "image/")


def _is_refusal(part: Part) -> bool:
    return value_at(part, ("providerOptions", "openai", "refusal")) is True


_HEADER = (Field("name", "providerOptions.openai.name"), Field("metadata", "metadata"))
_CACHE = Field("cache_control", "providerOptions.anthropic.cacheControl")
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
            (Field("text", "text"), _CACHE),
            native={"type": "text"},
            when=lambda part: not _is_refusal(part),
        ),
        Kind(
            ("image_url", True),
            "file",
            (_URL, Field("image_url.detail", "providerOptions.openai.imageDetail"), _CACHE),
            native={"type": "image_url"},
            when=_is_image,
        ),
        Kind(
            ("file", True),
            "file",
            (
                Joint(("file",), ("data", "mediaType"), _document, _to_document),
                Field("file.filename", "filename"),
                _CACHE,
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

CALLS = Kinds(
    NAME,
    "tool_calls",
    [
        Kind(
            "custom",
            "tool-call",
            (
                Field("id", "toolCallId"),
                Field("type", "providerOptions.openai.type"),
                Field("custom.name", "toolName"),
                Field("custom.input", "input"),
            ),
            when=has("providerOptions.openai.type"),
        ),
        Kind(
            "function",
            "tool-call",
            (
                Field("id", "toolCallId"),
                Joint(("function",), ("toolName", "input"), _function, _to_function),
                Field("extra_content.google.thought_signature", "providerOptions.google.thoughtSignature"),
            ),
            native={"type": "function"},
            when=lambda part: not has("providerOptions.openai.type")(part),
        ),
    ],
    mark=call_type,
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
                Field("tool_call_id", "toolCallId"),
                Field("name", "toolName", optional=True),
                Joint(("content",), ("output",), _output, _to_output),
                _CACHE,
            ),
            native={"role": "tool"},
        )
    ],
    mark=lambda native: "tool",
    namespaces=OURS,
)
"""A tool message, which is its result."""


TOOLS = Kinds(
    NAME,
    "tools",
    [
        Kind(
            "function",
            "function",
            (
                Field("function.name", "name"),
                Field("function.description", "description"),
                Field("function.parameters", "inputSchema"),
            ),
            native={"type": "function"},
        )
    ],
)

TEXT = {"type": "text"}
SYSTEM = Slot(PARTS, string=TEXT, empty=[])
USER = Slot(PARTS, string=TEXT, brief=True, empty=[])
ASSISTANT = (
    *reasoning_slots(NAME),
    Slot(PARTS, string=TEXT, brief=True, empty=None),
    Slot(
        Kinds(NAME, "refusal", ()),
        string={"type": "text", "providerOptions": {"openai": {"refusal": True}}},
        only_strings=True,
        closed=True,
    ),
    Slot(CALLS),
    Slot(Kinds(NAME, "function_call", ()), only_strings=True, closed=True),
    Slot(Kinds(NAME, "audio", ()), only_strings=True, closed=True),
)

LENS = Lens(
    NAME,
    Roles(
        [
            Role("system", "system", (SYSTEM,), _HEADER, text=True),
            Role("developer", "system", (SYSTEM,), _HEADER, text=True),
            Role("user", "user", (USER,), _HEADER),
            Role("assistant", "assistant", ASSISTANT, _HEADER),
            Role("tool", "tool", whole=RESULT),
        ],
        other=Role(None, None, (USER,), _HEADER),
    ),
    tools=TOOLS,
    namespaces=OURS,
)

FORMAT = LENS.format(
    "OpenAI chat",
    Marks(
        roles=words("system developer user assistant tool function"),
        types=words("text image_url input_audio file refusal"),
        strings=words("system developer user assistant tool function"),
        lists=words("system developer user assistant tool"),
        own_roles=words("developer function"),
        own_keys=words(
            "tool_calls tool_call_id function_call refusal reasoning_content reasoning_details thinking_blocks"
        ),
        own_types=words("image_url input_audio refusal"),
        own_body=words("max_completion_tokens response_format parallel_tool_calls frequency_penalty"),
        foreign_keys=words("parts providerOptions"),
    ),
    Shape(
        calls=(Site("tool_calls", None, ("id",), ("function", "name")),),
        results=(Site(None, None, ("tool_call_id",), ("name",), roles=("tool",)),),
    ),
    words("system-parts user-files documents reasoning any-input result-names output-content empty-messages"),
)
