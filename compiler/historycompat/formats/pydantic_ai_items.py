"""Requests and responses of pydantic-ai ⇄ messages: one for each part of a request, one for a response."""

from __future__ import annotations

from itertools import groupby
from typing import Any

from historycompat.formats.envelopes import PASSED, passed
from historycompat.formats.folding import ITEM, PART, with_list
from historycompat.formats.writing import old_if_same, shallow_same

Message = dict[str, Any]

_ROLES = {
    "system-prompt": "system",
    "user-prompt": "user",
    "retry-feedback": "user",
    "tool-return": "tool",
    "retry-prompt": "tool",
}
OTHER = "$other"  # the role of parts that only pass through
_KINDS = {"system": "system-prompt", "tool": "tool-return"}


def unfold(items: list[Any]) -> list[Any]:
    """The messages of requests and responses; other items, and parts of other kinds, only pass through."""
    messages: list[Any] = []
    for item in items:
        parts = item.get("parts") if isinstance(item, dict) else None
        kind = item["kind"] if isinstance(parts, list) and "kind" in item else None
        if kind == "response":
            messages.append({**item, "role": "assistant", ITEM: item})
        elif kind == "request" and parts:
            messages += [_opened(part) | {ITEM: item, PART: part} for part in parts]
        else:
            messages.append(passed(item) if isinstance(item, dict) else item)
    return messages


def _opened(part: Any) -> Message:
    """The message of a part."""
    kind = part.get("part_kind") if isinstance(part, dict) else None
    role = _ROLES.get(kind) if isinstance(kind, str) else None
    if role is None:
        return {"role": OTHER, "content": [part]}
    if kind == "retry-prompt" and part.get("tool_name") is None:
        role = "user"
    opened = {**part, "role": role}
    if role == "user" and "content" in part:
        opened["content"] = _wrapped(part)
    return opened


def _wrapped(part: Message) -> Any:
    content = part["content"]
    if not isinstance(content, list):
        return content
    return [{PART: each} if isinstance(each, str) else each for each in content]


def fold(messages: list[Any]) -> list[Any]:
    """The inverse of `unfold`: parts of one request that still stand together are that request."""
    items: list[Any] = []
    for home, group in groupby(messages, key=_home):
        if home is None:
            items += [_alone(message) for message in group]
            continue
        members = list(group)
        items.append(with_list(members[0][ITEM], "parts", [_part(message) for message in members]))
    return items


def _home(message: Any) -> int | None:
    """What tells the request that a message is a part of; None for one that stands alone."""
    if not isinstance(message, dict) or PART not in message or message.get("role") == "assistant":
        return None
    return id(message[ITEM])


def _alone(message: Any) -> Any:
    if not isinstance(message, dict) or "role" not in message:
        return message.get(PASSED, message) if isinstance(message, dict) else message
    item = message.get(ITEM)
    if message["role"] != "assistant":
        return {"parts": [_part(message)], "kind": "request"}
    said = _said(message, item)
    if item is None or PART in message:
        return {"parts": said.get("parts", []), "kind": "response"}
    return item if shallow_same(said, item) else said


def _part(message: Message) -> Any:
    """The part of a message, the very one it was where nothing was edited."""
    old = message.get(PART)
    role = message["role"]
    if role == OTHER:
        return old
    said = _said(message, old)
    if isinstance(said.get("content"), list) and role != "tool":
        said["content"] = _content(said["content"], old.get("content") if isinstance(old, dict) else None)
    if not isinstance(old, dict):
        fields = {"content": said.get("content", [])} if role != "tool" else said
        return {**fields, "part_kind": _KINDS.get(role, "user-prompt") if isinstance(role, str) else "user-prompt"}
    if _opened(old).get("role") != role:
        said["part_kind"] = _KINDS.get(role, "user-prompt")
    return old if shallow_same(said, old) else said


def _said(message: Message, old: Any) -> Message:
    """What a message says that was opened from an object, without the role: that is its own, should it have one."""
    said = {key: value for key, value in message.items() if key not in (ITEM, PART, "role")}
    return {**said, "role": old["role"]} if isinstance(old, dict) and "role" in old else said


def _content(content: list[Any], old: Any) -> Any:
    """A content with its strings; one string alone where there was no list."""
    bare = [each[PART] if isinstance(each, dict) and PART in each else each for each in content]
    if isinstance(old, list):
        return old_if_same(bare, old)
    return bare[0] if len(bare) == 1 and isinstance(bare[0], str) else bare
