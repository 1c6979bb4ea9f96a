"""OpenAI chat completions ⇄ canonical prompt, with the dialects that others speak of it.

An assistant message is read as its reasoning (`reasoning_dialects`), its content, its `refusal` (a text with the option
`openai.refusal`) and its `tool_calls`. A reasoning string that repeats what another field said is no part of its own,
and is kept equal to it. Each tool message is one canonical tool message with one result. `developer` is read as
`system`. Legacy `function_call`, `audio` and unknown parts are opaque.

Degraded when written: the order of reasoning, text and calls inside an assistant message, which its fields fix;
several reasoning parts from elsewhere, which become one string; a reasoning part that repeats another; tool outputs of
other types than `text`, which become text, as do inputs of custom tools; several results of one tool message, which
become a message each; the media type of web URLs; provider options with no field here.

Facts: openai-python 3.57, `ChatCompletionMessageParam`; for the dialects the documentation of the vendors named.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from historycompat.edits import same
from historycompat.formats.apart import Tools
from historycompat.formats.detection import Marks, words
from historycompat.formats.kinds import Field, Joint, Kind, Kinds, Part, Writer
from historycompat.formats.lens import Lens
from historycompat.formats.openai_parts import CACHE, ITEMS, NAME, OURS, PARTS
from historycompat.formats.readers import Links
from historycompat.formats.reasoning_dialects import CALL_SIGNATURE, reasoning_slots
from historycompat.formats.roles import Role, Roles, Slot
from historycompat.formats.values import as_text, from_json, has, to_json
from historycompat.pairs import Site
from historycompat.view import Shape


def call_type(native: Part) -> Hashable:
    """The mark of a tool call without type: some clients leave that of functions out."""
    return "function" if native.get("type") is None and "function" in native else None


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
    return {"content": as_text(value)}


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
    old = _function(native, Links()) if function else {}
    for key, name, encode in (("name", "toolName", None), ("arguments", "input", to_json)):
        if name not in part:
            function.pop(key, None)
        elif name not in old or not same(part[name], old[name]):
            function[key] = part[name] if encode is None else encode(part[name])
    return {"function": function}


_HEADER = (Field("name", "providerOptions.openai.name"), Field("metadata", "metadata"))

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
                Field("custom.input", "input", encode=as_text),
            ),
            when=has("providerOptions.openai.type"),
        ),
        Kind(
            "function",
            "tool-call",
            (
                Field("id", "toolCallId"),
                Joint(("function",), ("toolName", "input"), _function, _to_function),
                *CALL_SIGNATURE,
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
                Joint(("content",), ("output",), _output, _to_output, texts=True),
                CACHE,
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
    tools=Tools(TOOLS),
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
        foreign_keys=words(
            "parts providerOptions tool_plan citations tool_name thinking images from_history stop_after_tool_call"
        ),
        foreign_body=words("safe_prompt random_seed prompt_mode citation_options safety_mode keep_alive think"),
    ),
    Shape(
        calls=(Site("tool_calls", None, ("id",), ("function", "name")),),
        results=(Site(None, None, ("tool_call_id",), ("name",), roles=("tool",)),),
    ),
    words(
        "system-parts user-files documents reasoning any-input result-names output-content empty-messages many-texts "
        "neighbours result-ids"
    ),
)
