"""Haystack chat messages ⇄ canonical prompt.

The contents of a message are its parts; results stand in tool messages and carry the call they answer. `meta`, `extra`
and what else the canonical prompt does not know stay as they are.

Degraded when written: inputs that are null, which become empty objects; the list of a single system text, which is that
text; JSON outputs, which become text. Files by URL are refused: Haystack holds their data alone.

Facts: haystack-ai 3, `ChatMessage.to_dict`.
"""

from __future__ import annotations

from collections.abc import Hashable

from historycompat.formats.apart import Tools
from historycompat.formats.chat_parts import function_tools
from historycompat.formats.detection import Marks, words
from historycompat.formats.framework_parts import arguments, outcome, within
from historycompat.formats.kinds import Field, Kind, Kinds, Part
from historycompat.formats.lens import Lens
from historycompat.formats.readers import unless_none
from historycompat.formats.roles import Role, Roles, Slot
from historycompat.formats.values import is_media, is_web_url
from historycompat.pairs import Site
from historycompat.view import Shape

NAME = "haystack"

_CONTENTS = words("tool_call tool_call_result reasoning image file")
_DATA = {"image": "base64_image", "file": "base64_data"}
_PREFIXES = {"image": ("image/",), "file": ("application/", "text/", "audio/", "video/")}


def by_key(native: Part) -> Hashable:
    """The mark of a content: the key that it is under, where that holds what it should."""
    if isinstance(native.get("text"), str):
        return "text"
    for key, held in native.items():
        if key in _CONTENTS and isinstance(held, dict):
            return key if key not in _DATA or _is_media(key, held) else None
    return None


def _is_media(key: str, held: Part) -> bool:
    return isinstance(held.get(_DATA[key]), str) and isinstance(held.get("mime_type"), str)


def _media(key: str, type_: str) -> Kind:
    name = (Field("file.filename", "filename", unless_none),) if (key, type_) == ("file", "file") else ()
    return Kind(
        key,
        type_,
        (Field(f"{key}.{_DATA[key]}", "data"), Field(f"{key}.mime_type", "mediaType"), *name),
        native={key: {}},
        when=lambda part: is_media(part, *_PREFIXES[key]) and not is_web_url(part["data"]),
    )


_TEXT = Kind("text", "text", (Field("text", "text"),))

ITEMS = Kinds(NAME, "result", [_TEXT, *(_media(key, "media") for key in _DATA)], mark=by_key, typeless=True)

CONTENTS = Kinds(
    NAME,
    "content",
    [
        _TEXT,
        *(_media(key, "file") for key in _DATA),
        Kind("reasoning", "reasoning", (Field("reasoning.reasoning_text", "text"),), native={"reasoning": {}}),
        Kind(
            "tool_call",
            "tool-call",
            (
                Field("tool_call.id", "toolCallId", unless_none),
                Field("tool_call.tool_name", "toolName"),
                within("tool_call", arguments("arguments")),
            ),
            native={"tool_call": {}},
        ),
        Kind(
            "tool_call_result",
            "tool-result",
            (
                Field("tool_call_result.origin.id", "toolCallId", unless_none),
                Field("tool_call_result.origin.tool_name", "toolName"),
                within("tool_call_result", outcome("result", "error", (True,), False, ITEMS)),
            ),
            native={"tool_call_result": {"origin": {"arguments": {}}, "error": False}},
            role="tool",
        ),
    ],
    mark=by_key,
    typeless=True,
    namespaces=(NAME,),
)

SLOT = Slot(CONTENTS, string={"type": "text"}, lone="text", empty=[])
_HEADER = (Field("name", "providerOptions.openai.name", unless_none),)

LENS = Lens(
    NAME,
    Roles(
        [
            Role("system", "system", (SLOT,), _HEADER, text=True),
            Role("user", "user", (SLOT,), _HEADER),
            Role("assistant", "assistant", (SLOT,), _HEADER),
            Role("tool", "tool", (SLOT,), _HEADER),
        ],
        other=Role(None, None, (SLOT,), _HEADER),
    ),
    tools=Tools(function_tools(NAME)),
)

FORMAT = LENS.format(
    "Haystack chat messages",
    Marks(
        roles=words("system user assistant tool"),
        types=frozenset(f"{{{key}}}" for key in (*_CONTENTS, "text")),
        lists=words("system user assistant tool"),
        own_keys=words("meta"),
        own_types=frozenset(f"{{{key}}}" for key in ("tool_call", "tool_call_result", "reasoning")),
        foreign_keys=words("parts tool_calls tool_call_id providerOptions"),
    ),
    Shape(
        calls=(Site("content", None, ("tool_call", "id"), ("tool_call", "tool_name")),),
        results=(
            Site(
                "content",
                None,
                ("tool_call_result", "origin", "id"),
                ("tool_call_result", "origin", "tool_name"),
            ),
        ),
    ),
    words(
        "documents reasoning any-order results-together result-names output-error-text output-content empty-messages "
        "many-texts neighbours result-ids"
    ),
)
