"""LlamaIndex chat messages ⇄ canonical prompt.

The blocks of a message are its parts; a tool message is one result, whose id and name are in `additional_kwargs`.
Images and documents are files by their base64 text or their URL; the signature of a thought is an option of
`anthropic`. Other blocks, and media by path, are opaque.

Degraded when written: inputs that are null, which become empty objects; the list of a single system text, which is that
text; failed and JSON outputs, which become text; several results of one tool message, which become a message each.

Facts: llama-index-core 0.14.25, `ChatMessage`.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from historycompat.formats.apart import Tools
from historycompat.formats.chat_parts import function_tools
from historycompat.formats.detection import Marks, words
from historycompat.formats.framework_parts import arguments, listed
from historycompat.formats.kinds import Field, Joint, Kind, Kinds, Part, Writer
from historycompat.formats.lens import Lens
from historycompat.formats.readers import Links, unless_none
from historycompat.formats.roles import Role, Roles, Slot
from historycompat.formats.values import is_media, is_web_url
from historycompat.pairs import Site
from historycompat.view import Shape

NAME = "llama-index"

# The keys of the data and the media type of a block, and what that is where it is not said.
_MEDIA = {"image": ("image", "image_mimetype", "image/*"), "document": ("data", "document_mimetype", "application/pdf")}
_PREFIXES = {"image": ("image/",), "document": ("application/", "text/")}


def by_block_type(native: Part) -> Hashable:
    """The mark of a block: its type, and for media where they are."""
    kind: Any = native.get("block_type")
    if kind not in _MEDIA:
        return kind if isinstance(kind, str) else None
    if is_web_url(native.get("url")):
        return kind, "url"
    data, _, _ = _MEDIA[kind]
    return (kind, data) if isinstance(native.get(data), str) else None


def _media(block: str, key: str, type_: str) -> Kind:
    _, mime, unknown = _MEDIA[block]

    def decode(native: Part, links: Links) -> Mapping[str, Any]:
        return {"data": native[key], "mediaType": native.get(mime) or unknown}

    def encode(part: Part, native: Part, writer: Writer) -> Mapping[str, Any]:
        media = part.get("mediaType")
        kept = {mime: native[mime]} if mime in native else {}
        return {key: part.get("data"), **(kept if media == unknown else {mime: media})}

    def fits(part: Part) -> bool:
        return is_media(part, *_PREFIXES[block]) and is_web_url(part["data"]) == (key == "url")

    name = (Field("title", "filename", unless_none),) if (block, type_) == ("document", "file") else ()
    place = Joint((key, mime), ("data", "mediaType"), decode, encode)
    return Kind((block, key), type_, (place, *name), native={"block_type": block}, when=fits)


def _blocks(type_: str) -> list[Kind]:
    return [
        Kind("text", "text", (Field("text", "text"),), native={"block_type": "text"}),
        *(_media(block, key, type_) for block, (data, _, _) in _MEDIA.items() for key in (data, "url")),
    ]


BLOCKS = Kinds(
    NAME,
    "blocks",
    [
        *_blocks("file"),
        Kind(
            "thinking",
            "reasoning",
            (
                Field("content", "text", unless_none),
                Field("additional_information.signature", "providerOptions.anthropic.signature", unless_none),
            ),
            native={"block_type": "thinking"},
        ),
        Kind(
            "tool_call",
            "tool-call",
            (Field("tool_call_id", "toolCallId"), Field("tool_name", "toolName"), arguments("tool_kwargs")),
            native={"block_type": "tool_call"},
        ),
    ],
    mark=by_block_type,
    typeless=True,
    namespaces=(NAME,),
)
ITEMS = Kinds(NAME, "blocks", _blocks("media"), mark=by_block_type, typeless=True)

RESULT = Kinds(
    NAME,
    "",
    [
        Kind(
            "tool",
            "tool-result",
            (
                Field("additional_kwargs.tool_call_id", "toolCallId"),
                Field("additional_kwargs.name", "toolName", unless_none, optional=True),
                listed("blocks", ITEMS, "block_type"),
            ),
            native={"role": "tool"},
        )
    ],
    mark=lambda native: "tool",
    typeless=True,
)
"""A tool message, which is its result."""

SLOT = Slot(BLOCKS, string={"type": "text"}, lone="text", lone_as={"block_type": "text"}, empty=[])

_ALIASES = {"system": ("system", "developer"), "user": ("user",), "assistant": ("assistant", "model", "chatbot")}

LENS = Lens(
    NAME,
    Roles(
        [
            *(Role(name, role, (SLOT,), text=role == "system") for role, names in _ALIASES.items() for name in names),
            Role("tool", "tool", whole=RESULT),
            Role("function", "tool", whole=RESULT),
        ],
        other=Role(None, None, (SLOT,)),
    ),
    tools=Tools(function_tools(NAME)),
)

_EXTRA = "additional_kwargs"

FORMAT = LENS.format(
    "LlamaIndex chat messages",
    Marks(
        roles=words("system developer user assistant function tool chatbot model"),
        types=frozenset(),
        own_keys=words("blocks"),
        foreign_keys=words("content parts tool_calls"),
    ),
    Shape(
        parts="blocks",
        calls=(Site("blocks", "tool_call", ("tool_call_id",), ("tool_name",), type_key="block_type"),),
        results=(Site(None, None, (_EXTRA, "tool_call_id"), (_EXTRA, "name"), ("tool", "function")),),
    ),
    words("user-files documents reasoning any-order result-names empty-messages many-texts neighbours result-ids"),
)
