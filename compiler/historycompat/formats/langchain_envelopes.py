"""LangChain messages as they are stored ⇄ messages with a role and each call once."""

from __future__ import annotations

from typing import Any

from historycompat.edits import same
from historycompat.formats.envelopes import Envelope, Message
from historycompat.formats.values import to_json
from historycompat.formats.writing import old_if_same, shallow_same

_CLASSES = {
    "human": "HumanMessage",
    "ai": "AIMessage",
    "system": "SystemMessage",
    "tool": "ToolMessage",
}
_CHUNKS = {f"{name}Chunk": f"{name}Chunk" for name in _CLASSES.values()}
TYPES = {**_CLASSES, **_CHUNKS}
_TYPE_OF = {name: type_ for type_, name in TYPES.items()}

# Blocks in a content that repeat a call, and their keys for its id, name and arguments.
_ECHOES = {
    "tool_use": ("id", "name", "input"),
    "tool_call": ("id", "name", "args"),
    "function_call": ("call_id", "name", "arguments"),
}
_CALL = ("id", "name", "args")
_ECHO = "$echo"


def _inner(item: Message) -> Message:
    """The object that has the fields of a message."""
    if "content" in item:
        return item
    held: Message | None = next((item[key] for key in ("data", "kwargs") if isinstance(item.get(key), dict)), None)
    return item if held is None else held


def _type(item: Message, inner: Message) -> Any:
    path = item.get("id")
    if inner is not item and "kwargs" in item and isinstance(path, list) and path:
        return _TYPE_OF.get(path[-1]) if isinstance(path[-1], str) else None
    return item.get("type")


def opened(item: Message) -> Message | None:
    """A stored message (`{"type", "data"}`, a serialized constructor, or the fields alone) as one with a role."""
    inner = _inner(item)
    kind = _type(item, inner)
    if isinstance(kind, str) and kind in TYPES:
        return _without_echoes({**inner, "role": kind})
    return _without_echoes(dict(inner)) if "role" in inner else None


def _without_echoes(message: Message) -> Message:
    """A message whose calls have the blocks at the end of its content that repeat them."""
    content, calls = message.get("content"), message.get("tool_calls")
    if not isinstance(content, list) or not isinstance(calls, list):
        return message
    waiting: dict[Any, list[int]] = {}  # the places of the calls, by id
    for at, call in enumerate(calls):
        if isinstance(call, dict) and isinstance(call.get("id"), str):
            waiting.setdefault(call["id"], []).append(at)
    end, echoes = len(content), {}
    while end and (places := waiting.get(_echoed(content[end - 1]))):
        end -= 1
        echoes[places.pop()] = content[end]
    if not echoes:
        return message
    paired = [{**call, _ECHO: (call, echoes[at])} if at in echoes else call for at, call in enumerate(calls)]
    return {**message, "content": content[:end], "tool_calls": paired}


def _echoed(block: Any) -> Any:
    """The id of the call that a block repeats."""
    kind = block.get("type") if isinstance(block, dict) else None
    keys = _ECHOES.get(kind) if isinstance(kind, str) else None
    call = block.get(keys[0]) if keys else None
    return call if isinstance(call, str) else None


def closed(message: Message, item: Message | None, items: list[Message]) -> Message:
    """The inverse of `opened`. A new message is stored as the first one is."""
    old = _inner(item) if item is not None else {}
    said = _with_echoes({key: value for key, value in message.items() if key != "role"}, old)
    role = message.get("role")
    kind = role if isinstance(role, str) and role in TYPES else None
    if item is None:
        return _new(kind, role, said, items[0] if items else {})
    if kind is None and "role" in message:
        said["role"] = role
    elif "role" in old:
        said["role"] = old["role"]
    changed = kind is not None and kind != _type(item, old)
    if changed and "type" in said:
        said["type"] = kind
    inner = old if shallow_same(said, old) else said
    if old is item:
        return {**inner, "type": kind} if changed else inner
    if inner is old and not changed:
        return item
    return _around(item, kind if changed else None, inner)


def _new(kind: str | None, role: Any, said: Message, model: Message) -> Message:
    fields = {**({"type": kind} if kind else {} if role is None else {"role": role}), **said}
    if kind is None or _inner(model) is model:
        return fields
    if "kwargs" in model:
        package = model["id"][:-1] if isinstance(model.get("id"), list) else ["langchain", "schema", "messages"]
        return {"lc": 1, "type": "constructor", "id": [*package, TYPES[kind]], "kwargs": fields}
    return {"type": kind, "data": fields}


def _around(item: Message, kind: str | None, inner: Message) -> Message:
    if "kwargs" in item:
        named = {} if kind is None else {"id": [*item["id"][:-1], TYPES[kind]]}
        return {**item, **named, "kwargs": inner}
    return {**item, "data": inner} if kind is None else {**item, "type": kind, "data": inner}


def _with_echoes(message: Message, old: Message) -> Message:
    """A message with the blocks that repeat its calls, each in step with its call."""
    content, calls = message.get("content"), message.get("tool_calls")
    pairs = [_pair(call) for call in calls] if isinstance(calls, list) else []
    echoes = [echo for _, echo in pairs if echo is not None]
    if not echoes and not isinstance(old.get("tool_calls"), list):
        return message
    was, had = old.get("tool_calls"), old.get("content")
    if isinstance(calls, list):
        message["tool_calls"] = old_if_same([call for call, _ in pairs], was if isinstance(was, list) else calls)
    if echoes or (isinstance(content, list) and isinstance(had, list)):
        blocks = content if isinstance(content, list) else [{"type": "text", "text": content}] if content else []
        before = had if isinstance(had, list) else []
        order = {id(block): at for at, block in enumerate(before)}
        echoes.sort(key=lambda pair: order.get(id(pair[1]), len(order)))
        message["content"] = old_if_same([*blocks, *(block for block, _ in echoes)], before)
    return message


def _pair(call: Any) -> tuple[Any, tuple[Any, Any] | None]:
    """The call of one with an echo, and the new echo with the old."""
    if not isinstance(call, dict) or _ECHO not in call:
        return call, None
    was, block = call[_ECHO]
    said = {key: value for key, value in call.items() if key != _ECHO}
    if shallow_same(said, was):
        return was, (block, block)
    changed = {
        name: to_json(said[key]) if isinstance(block.get(name), str) and key == "args" else said[key]
        for key, name in zip(_CALL, _ECHOES[block["type"]], strict=True)
        if key in said and not (key in was and same(said[key], was[key]))
    }
    return said, ({**block, **changed} if changed else block, block)


ENVELOPE = Envelope(opened, closed)
