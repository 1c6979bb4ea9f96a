"""Cohere chat, version 2 ⇄ canonical prompt.

The content of an assistant message is read as text and reasoning, then come its `tool_plan`, a reasoning with the
option `cohere.toolPlan`, and its `tool_calls`. Each tool message is one canonical tool message with one result; one
document in it is its output, a text or JSON. Other documents are opaque; citations stay where they are.

Degraded when written: calls and plans before text, which come behind it; failed outputs and JSON outputs that are no
objects, which become text; a result's tool name (its call's holds); several results of one tool message, which become a
message each; the media type of web URLs. Images in outputs are refused.

Facts: cohere 7.3, `ChatMessageV2`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from historycompat.edits import value_at
from historycompat.formats.apart import Tools
from historycompat.formats.chat_parts import by_url, function, function_tools, image, output, text_kind
from historycompat.formats.detection import Marks, words
from historycompat.formats.kinds import Field, Joint, Kind, Kinds, Part, Writer
from historycompat.formats.lens import Lens
from historycompat.formats.readers import Links
from historycompat.formats.roles import Role, Roles, Slot
from historycompat.pairs import Site
from historycompat.view import Shape

NAME = "cohere-chat"
OURS = ("cohere",)
_PLAN = {"type": "reasoning", "providerOptions": {"cohere": {"toolPlan": True}}}

ITEMS = Kinds(NAME, "content", [text_kind()])
_LISTED = output(ITEMS)


def _document(content: Any) -> Part | None:
    """The document that is all of a content; its type may be left out."""
    only = content[0] if isinstance(content, list) and len(content) == 1 else None
    known = isinstance(only, dict) and only.get("type", "document") == "document"
    return only if known and isinstance(value_at(only, ("document", "data")), (str, dict)) else None


def _output(native: Part, links: Links) -> Mapping[str, Any]:
    held = _document(native["content"])
    if held is None:
        return _LISTED.decode(native, links)
    data = held["document"]["data"]
    return {"output": {"type": "text" if isinstance(data, str) else "json", "value": data}}


def _to_output(part: Part, native: Part, writer: Writer) -> Mapping[str, Any]:
    kind, value = (value_at(part, ("output", key)) for key in ("type", "value"))
    held = _document(native.get("content"))
    if (kind == "json" and isinstance(value, dict)) or (kind == "text" and held):
        document = {**held["document"], "data": value} if held else {"data": value}
        return {"content": [{**(held or {"type": "document"}), "document": document}]}
    return _LISTED.encode(part, native, writer)


def _is_plan(part: Part) -> bool:
    return value_at(part, ("providerOptions", "cohere", "toolPlan")) is True


THOUGHT = Kind(
    "thinking",
    "reasoning",
    (Field("thinking", "text"),),
    native={"type": "thinking"},
    when=lambda part: not _is_plan(part),
)

_DETAIL = Field("image_url.detail", "providerOptions.cohere.imageDetail")
PARTS = Kinds(NAME, "content", [text_kind(), image("file", _DETAIL)], mark=by_url, namespaces=OURS)
SAID = Kinds(NAME, "content", [text_kind(), THOUGHT], namespaces=OURS)

CALLS = Kinds(
    NAME,
    "tool_calls",
    [Kind("function", "tool-call", (Field("id", "toolCallId"), *function(as_text=True)), native={"type": "function"})],
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
                Joint(("content",), ("output",), _output, _to_output, _LISTED.check),
            ),
            native={"role": "tool"},
            derived=("toolName",),
        )
    ],
    mark=lambda native: "tool",
    namespaces=OURS,
)
"""A tool message, which is its result."""

TEXT = {"type": "text"}
USER = Slot(PARTS, string=TEXT, brief=True, empty=[])
ASSISTANT = (
    Slot(SAID, string=TEXT, brief=True),
    Slot(Kinds(NAME, "tool_plan", ()), string=_PLAN, only_strings=True),
    Slot(CALLS),
)

LENS = Lens(
    NAME,
    Roles(
        [
            Role("system", "system", (Slot(PARTS, string=TEXT, empty=[]),), text=True),
            Role("user", "user", (USER,)),
            Role("assistant", "assistant", ASSISTANT),
            Role("tool", "tool", whole=RESULT),
        ],
        other=Role(None, None, (USER,)),
    ),
    tools=Tools(function_tools(NAME)),
    unnamed_results=True,
    namespaces=OURS,
)

FORMAT = LENS.format(
    "Cohere chat",
    Marks(
        roles=words("system user assistant tool"),
        types=words("text image_url thinking document"),
        strings=words("system user assistant tool"),
        lists=words("system user assistant tool"),
        own_keys=words("tool_plan citations"),
        own_types=words("thinking document"),
        own_body=words("citation_options safety_mode strict_tools documents"),
        foreign_keys=words("parts providerOptions tool_name"),
    ),
    Shape(
        calls=(Site("tool_calls", None, ("id",), ("function", "name")),),
        results=(Site(None, None, ("tool_call_id",), (), roles=("tool",)),),
    ),
    words("system-parts user-files reasoning any-input empty-messages many-texts neighbours result-ids"),
)
