"""OpenAI Responses input items ⇄ canonical prompt.

What a model made in a row (reasoning, its messages, its calls) is one assistant message; each output of a function or
custom tool is a tool message, every other message one of its role. A part of an assistant message has the id of its
item as `openai.itemId`; the parts of one item stay one item while they stand together, and new parts with one id become
one. `instructions` of a body are read as a leading system message, an `input` that is a string as a user message.
Messages of the chat API that belong here no more, `role: tool` and `tool_calls`, are read as what they mean, with the
option `openai.chat`; without it they are written as the items that they should be.
Items of hosted and built-in tools are opaque: those that models make as parts where they stand, all others, known or
not, as messages.

Degraded when written: neighbouring assistant messages, which become one; messages without parts; failed and JSON
outputs, which become text; a result's tool name (its call's holds); several results of one tool message, which become
an item each; the media type of web URLs; provider options with no field here.

Facts: openai-python 3.57, `ResponseInputItemParam`.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from historycompat.edits import value_at
from historycompat.formats.apart import System, Tools
from historycompat.formats.chat_parts import output
from historycompat.formats.detection import Marks, words
from historycompat.formats.folding import PART
from historycompat.formats.kinds import Field, Joint, Kind, Kinds, Part, Writer
from historycompat.formats.lens import Lens
from historycompat.formats.readers import Links, unless_none
from historycompat.formats.responses_items import ITEM_TYPES, NEW, OUTPUT_OF, OWN_CALLS, RUN, fold, role_of, unfold
from historycompat.formats.roles import Role, Roles, Slot
from historycompat.formats.values import as_text, from_json, from_url, has, is_media, to_json, to_url
from historycompat.pairs import Site
from historycompat.view import Shape

NAME = "openai-responses"
OURS = ("openai",)


def by_place(native: Part) -> Hashable:
    """The mark of an image or file: where it is, if that is well formed."""
    for key in ("image_url", "file_data", "file_url"):
        url = native.get(key)
        if isinstance(url, str):
            return (native.get("type"), key) if from_url(url, "") is not None else None
    return None


def _file(kind: str, key: str, unknown: str, when: Any, *fields: Field | Joint, type_: str = "file") -> Kind:
    def decode(native: Part, links: Links) -> Mapping[str, Any]:
        return from_url(native[key], unknown) or {}

    def encode(part: Part, native: Part, writer: Writer) -> Mapping[str, Any]:
        return {key: to_url(part)}

    place = Joint((key,), ("data", "mediaType"), decode, encode)
    return Kind((kind, key), type_, (place, *fields), native={"type": kind}, when=when)


def _detail(native: Part, links: Links) -> Mapping[str, Any]:
    return {} if native["detail"] == "auto" else {"providerOptions.openai.imageDetail": native["detail"]}


def _to_detail(part: Part, native: Part, writer: Writer) -> Mapping[str, Any]:
    return {"detail": value_at(part, ("providerOptions", "openai", "imageDetail"), "auto")}


def _is_image(part: Part) -> bool:
    return is_media(part, "image/")


def _is_document(part: Part) -> bool:
    return is_media(part, "application/", "text/")


def _content(text: str, media: str) -> list[Kind]:
    """The kinds of what a message or an output holds: texts, and media as the canonical type that stands there."""
    detail = Joint(("detail",), ("providerOptions.openai.imageDetail",), _detail, _to_detail)
    name = Field("filename", "filename")
    return [
        Kind(text, "text", (Field("text", "text"),), native={"type": text}),
        _file("input_image", "image_url", "image/*", _is_image, detail, type_=media),
        _file("input_file", "file_data", "application/pdf", _is_document, name, type_=media),
        _file("input_file", "file_url", "application/pdf", lambda part: False, name, type_=media),
    ]


ITEMS = Kinds(NAME, "output", _content("input_text", "media"), mark=by_place, namespaces=OURS)
PARTS = Kinds(NAME, "content", _content("input_text", "file"), mark=by_place, namespaces=OURS)


_ID = Field("id", "providerOptions.openai.itemId", unless_none)
_CALL = (Field("call_id", "toolCallId"), Field("name", "toolName"))
_IS_REFUSAL = has("providerOptions.openai.refusal")
_IS_CUSTOM = has("providerOptions.openai.type")
_IS_CHAT = has("providerOptions.openai.chat")


MADE = Kinds(
    NAME,
    RUN,
    [
        Kind(
            "refused",
            "text",
            (
                Field(f"{PART}.refusal", "text"),
                Field("type", "providerOptions.openai.refusal", lambda kind: True, lambda told: "refused"),
                _ID,
            ),
            when=_IS_REFUSAL,
        ),
        Kind(
            "said",
            "text",
            (Field(f"{PART}.text", "text"), _ID),
            native={"type": "said"},
            when=lambda part: not _IS_REFUSAL(part),
        ),
        Kind(
            "thought",
            "reasoning",
            (
                Field(f"{PART}.text", "text"),
                _ID,
                Field("encrypted", "providerOptions.openai.reasoningEncryptedContent", unless_none),
            ),
            native={"type": "thought"},
        ),
        Kind(
            "called",
            "tool-call",
            (
                Field("type", "providerOptions.openai.chat", lambda kind: True, lambda told: "called"),
                Field(f"{PART}.id", "toolCallId"),
                Field(f"{PART}.function.name", "toolName"),
                Field(f"{PART}.function.arguments", "input", from_json, to_json),
            ),
            native={"type": "called", PART: {"type": "function"}},
            when=_IS_CHAT,
        ),
        Kind(
            "custom_tool_call",
            "tool-call",
            (
                Field("type", "providerOptions.openai.type", lambda kind: "custom", lambda kind: "custom_tool_call"),
                *_CALL,
                Field("input", "input", encode=as_text),
                _ID,
            ),
            when=_IS_CUSTOM,
        ),
        Kind(
            "function_call",
            "tool-call",
            (*_CALL, Field("arguments", "input", from_json, to_json), _ID),
            native={"type": "function_call"},
            when=lambda part: not _IS_CUSTOM(part),
        ),
    ],
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
                Field("role", "providerOptions.openai.chat", lambda role: True, lambda told: "tool"),
                Field("tool_call_id", "toolCallId"),
                output(ITEMS),
            ),
            native={"role": "tool"},
            when=_IS_CHAT,
            derived=("toolName",),
        ),
        *(
            Kind(
                kind,
                "tool-result",
                (Field("call_id", "toolCallId"), output(ITEMS, "output")),
                native={"type": kind},
                derived=("toolName",),
            )
            for kind in (NEW, *OUTPUT_OF.values())
        ),
    ],
    mark=lambda native: native.get("role") if native.get("type") is None else None,
    namespaces=OURS,
)
"""An output item, which is its result; which type a new one has, its call says."""

TOOLS = Kinds(
    NAME,
    "tools",
    [
        Kind(
            "function",
            "function",
            (Field("name", "name"), Field("description", "description"), Field("parameters", "inputSchema")),
            native={"type": "function"},
        )
    ],
)

SYSTEM = Slot(PARTS, string={"type": "text"}, empty=[])
USER = Slot(PARTS, string={"type": "text"}, brief=True, empty=[])

LENS = Lens(
    NAME,
    Roles(
        [
            Role("user", "user", (USER,)),
            Role("system", "system", (SYSTEM,), text=True),
            Role("developer", "system", (SYSTEM,), text=True),
            Role("assistant", "assistant", (Slot(MADE),)),
            Role("tool", "tool", whole=RESULT),
        ],
        other=Role(None, None, (USER,)),
        name_of=role_of,
    ),
    tools=Tools(TOOLS),
    spine="input",
    system=System(("instructions",), only_text=True, takes_new=False),
    unnamed_results=True,
    namespaces=OURS,
    unfold=unfold,
    fold=fold,
    text_alone=True,
)

_CALLS = sorted(OWN_CALLS)

FORMAT = LENS.format(
    "OpenAI Responses",
    Marks(
        roles=words("user system developer assistant") | ITEM_TYPES,
        types=words("input_text input_image input_file output_text refusal"),
        strings=words("user system developer assistant"),
        lists=words("user system developer assistant"),
        own_roles=ITEM_TYPES,
        own_types=words("input_text output_text input_image input_file"),
        own_body=words("input instructions previous_response_id"),
        foreign_keys=words("tool_calls tool_call_id parts providerOptions"),
    ),
    Shape(
        spine=("input",),
        calls=tuple(Site(None, kind, ("call_id",), ("name",)) for kind in (*OUTPUT_OF, *_CALLS)),
        results=tuple(
            Site(None, kind, ("call_id",), ()) for kind in (*OUTPUT_OF.values(), *(f"{kind}_output" for kind in _CALLS))
        ),
    ),
    words("system-parts user-files documents reasoning any-order any-input output-content many-texts result-ids"),
)
