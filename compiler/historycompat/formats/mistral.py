"""Mistral chat ⇄ canonical prompt.

The content of an assistant message is read as text and reasoning, then come its `tool_calls`, whose arguments are JSON
text or an object. Each tool message is one canonical tool message with one result. Images and documents are files by
their URL, which may be a data URL; audio, references, uploaded files, resources and thinking with anything but texts
in it are opaque.

Degraded when written: calls before text, which come behind it; several texts of one thought, which become one; failed
and JSON outputs, which become text; several results of one tool message, which become a message each; the media type of
web URLs.

Facts: mistralai 3.7, `ChatCompletionRequestMessage`.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from historycompat.formats.apart import Tools
from historycompat.formats.chat_parts import by_url, function, function_tools, image, output, text_kind
from historycompat.formats.detection import Marks, words
from historycompat.formats.kinds import Field, Joint, Kind, Kinds, Part, Writer
from historycompat.formats.lens import Lens
from historycompat.formats.readers import Links
from historycompat.formats.roles import Role, Roles, Slot
from historycompat.formats.values import from_url, is_media, to_url
from historycompat.pairs import Site
from historycompat.view import Shape

NAME = "mistral-chat"
OURS = ("mistral",)


def by_type(native: Part) -> Hashable:
    """The mark of a chunk whose type alone does not say that it is well formed."""
    kind = native.get("type")
    if kind == "document_url":
        url = native.get("document_url")
        return "document" if isinstance(url, str) and from_url(url, "") is not None else None
    if kind == "thinking":
        return "thought" if isinstance(_thought_text(native.get("thinking")), str) else None
    if "type" not in native and isinstance(native.get("text"), str):
        return "text"
    return by_url(native)


def _thought_text(thinking: Any) -> str | None:
    if not isinstance(thinking, list):
        return thinking if isinstance(thinking, str) else None
    texts = [chunk["text"] for chunk in thinking if isinstance(chunk, dict) and isinstance(chunk.get("text"), str)]
    return "".join(texts) if len(texts) == len(thinking) else None


def _to_thought(part: Part, native: Part, writer: Writer) -> Mapping[str, Any]:
    return {"thinking": [{"type": "text", "text": part.get("text")}]}


def _document(native: Part, links: Links) -> Mapping[str, Any]:
    return from_url(native["document_url"], "application/pdf") or {}


def _is_document(part: Part) -> bool:
    return is_media(part, "application/", "text/")


def _chunks(media: str) -> list[Kind]:
    """The chunks of any content, with media as parts of this canonical type."""
    named = (Field("document_name", "filename"),) if media == "file" else ()
    url = Joint(
        ("document_url",), ("data", "mediaType"), _document, lambda part, native, writer: {"document_url": to_url(part)}
    )
    return [
        text_kind(),
        image(media, *((Field("image_url.detail", "providerOptions.mistral.imageDetail"),) if named else ())),
        Kind("document", media, (url, *named), native={"type": "document_url"}, when=_is_document),
    ]


THOUGHT = Kind(
    "thought",
    "reasoning",
    (
        Joint(("thinking",), ("text",), lambda native, links: {"text": _thought_text(native["thinking"])}, _to_thought),
        Field("signature", "providerOptions.mistral.signature"),
    ),
    native={"type": "thinking"},
)

PARTS = Kinds(NAME, "content", _chunks("file"), mark=by_type, namespaces=OURS)
SAID = Kinds(NAME, "content", [*_chunks("file"), THOUGHT], mark=by_type, namespaces=OURS)
ITEMS = Kinds(NAME, "content", _chunks("media"), mark=by_type)

CALLS = Kinds(
    NAME,
    "tool_calls",
    [Kind("call", "tool-call", (Field("id", "toolCallId"), *function(as_text=True)), native={"type": "function"})],
    mark=lambda native: "call" if native.get("type") in (None, "function") else None,
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
            (Field("tool_call_id", "toolCallId"), Field("name", "toolName", optional=True), output(ITEMS)),
            native={"role": "tool"},
        )
    ],
    mark=lambda native: "tool",
    namespaces=OURS,
)
"""A tool message, which is its result."""

TEXT = {"type": "text"}
USER = Slot(PARTS, string=TEXT, brief=True, empty=[])

LENS = Lens(
    NAME,
    Roles(
        [
            Role("system", "system", (Slot(SAID, string=TEXT, empty=[]),), text=True),
            Role("user", "user", (USER,)),
            Role("assistant", "assistant", (Slot(SAID, string=TEXT, brief=True), Slot(CALLS))),
            Role("tool", "tool", whole=RESULT),
        ],
        other=Role(None, None, (USER,)),
    ),
    tools=Tools(function_tools(NAME)),
    namespaces=OURS,
)

_OWN_TYPES = words("document_url thinking reference resource resource_link")

FORMAT = LENS.format(
    "Mistral chat",
    Marks(
        roles=words("system user assistant tool"),
        types=words("text image_url file input_audio") | _OWN_TYPES,
        strings=words("system user assistant tool"),
        lists=words("system user assistant tool"),
        own_types=_OWN_TYPES,
        own_body=words("safe_prompt random_seed prompt_mode"),
        foreign_keys=words("parts providerOptions tool_plan citations tool_name"),
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
