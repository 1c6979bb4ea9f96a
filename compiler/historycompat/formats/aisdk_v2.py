"""AI SDK LanguageModelV2Prompt: the canonical prompt itself, bare or in a body under `messages` or `prompt`.

Nothing is converted; `carries` refuses only what stands for a native object of another format.

Facts: @ai-sdk/provider 2.0.5, `LanguageModelV2Prompt`.
"""

from __future__ import annotations

from typing import Any

from historycompat.edits import Lineage, same
from historycompat.formats.detection import Marks, words
from historycompat.formats.format import OPAQUE, SAYS, Format, Reading, messages_of
from historycompat.formats.writing import old_if_same
from historycompat.view import Shape

NAME = "aisdk-v2"
_KEYS = ("messages", "prompt")


def _key(body: dict[str, Any]) -> str:
    """The key that holds the messages of a body."""
    return next((key for key in _KEYS if isinstance(body.get(key), list)), _KEYS[0])


def read(native: Any) -> Reading:
    """Raises HistoryError where there is no list of messages."""
    messages = messages_of(native, *_KEYS)
    if not isinstance(native, dict):
        return Reading(messages, native)
    tools = native.get("tools")
    tools = tools if isinstance(tools, list) else None
    known = {_key(native), "tools"} if tools is not None else {_key(native)}
    params = {key: value for key, value in native.items() if key not in known}
    return Reading(messages, native, tools, params, has_request=True)


def write(
    reading: Reading,
    messages: list[Any],
    tools: list[Any] | None,
    params: dict[str, Any] | None,
    lineage: Lineage,
) -> Any:
    """The messages, in the body where they came in one."""
    native = reading.native
    messages = old_if_same(messages, reading.messages)
    if not isinstance(native, dict):
        return messages
    if messages is reading.messages and same(tools, reading.tools) and same(params, reading.params):
        return native
    new = {**(params or {}), _key(native): messages} | ({} if tools is None else {"tools": tools})
    return {key: new[key] for key in (*native, *new) if key in new}


def carries(message: dict[str, Any], position: int | None) -> str | None:
    """Why a message (its header for None) or one of its parts cannot be said, or None."""
    if position is None:
        return "it is an opaque message of another format" if message.get("role") == OPAQUE else None
    part = message["content"][position]
    if isinstance(part, dict) and part.get("type") == OPAQUE:
        return f"it is an opaque part of another format ({part.get('format')})"
    return None


def wrap(native: Any) -> dict[str, Any]:
    """A body with its messages under `messages`."""
    if not isinstance(native, dict):
        return {"messages": native}
    return _renamed(native, "prompt", "messages") if _key(native) == "prompt" else native


def unwrap(body: dict[str, Any], native: Any) -> Any:
    """The inverse of `wrap`."""
    if not isinstance(native, dict):
        return body.get("messages", [])
    return _renamed(body, "messages", "prompt") if _key(native) == "prompt" else body


def _renamed(body: dict[str, Any], old: str, new: str) -> dict[str, Any]:
    return {new if key == old else key: value for key, value in body.items()}


FORMAT = Format(
    name=NAME,
    title="AI SDK prompt (LanguageModelV2)",
    read=read,
    write=write,
    carries=carries,
    wrap=wrap,
    unwrap=unwrap,
    detect=Marks(
        roles=words("system user assistant tool"),
        types=words("text reasoning tool-call tool-result") | {"file of AI SDK"},
        strings=words("system"),
        lists=words("user assistant tool"),
        own_keys=words("providerOptions"),
        own_types=words("reasoning tool-call tool-result"),
        foreign_keys=words("tool_calls tool_call_id parts id createdAt"),
    ).score,
    shape=Shape(),
    says=frozenset(SAYS),
)
