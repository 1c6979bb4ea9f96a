"""A native body → turns and parts that every wire format shares, each still knowing its native object and place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from strict_server.paths import Pointer, hashable


@dataclass(slots=True)
class Part:
    """One piece of a turn: `text`, `call`, `result`, `thinking`, `image`, `file` or `other`.

    `value` is the text, the arguments, or the content of the result."""

    kind: str
    raw: Any
    pointer: Pointer
    id: Any = None
    name: Any = None
    value: Any = None

    def __post_init__(self) -> None:
        self.id, self.name = hashable(self.id), hashable(self.name)


@dataclass(slots=True)
class Turn:
    index: int
    role: Any
    raw: dict[str, Any]
    pointer: Pointer
    parts: list[Part] = field(default_factory=list)

    def of(self, kind: str) -> list[Part]:
        return [part for part in self.parts if part.kind == kind]


@dataclass(frozen=True)
class Request:
    """What a refusal is decided from."""

    provider: str
    wire: str
    model: str
    body: dict[str, Any]

    @cached_property
    def turns(self) -> list[Turn]:
        return list(READERS[self.wire](self.body))


Reader = Callable[[dict[str, Any]], Iterator[Turn]]


def _turns(body: dict[str, Any], key: str) -> Iterator[Turn]:
    history = body.get(key)
    if isinstance(history, list):
        for index, raw in enumerate(history):
            if isinstance(raw, dict):
                yield Turn(index, hashable(raw.get("role")), raw, (key, index))


def _items(holder: dict[str, Any], key: str, pointer: Pointer) -> Iterator[tuple[Pointer, Any]]:
    items = holder.get(key)
    if isinstance(items, list):
        for index, item in enumerate(items):
            yield (*pointer, key, index), item


def chat(body: dict[str, Any]) -> Iterator[Turn]:
    for turn in _turns(body, "messages"):
        message = turn.raw
        for key in ("reasoning_content", "reasoning", "thinking"):
            if isinstance(message.get(key), str):
                turn.parts.append(Part("thinking", message, (*turn.pointer, key), value=message[key]))
        if turn.role == "tool":
            identifier, name = message.get("tool_call_id"), message.get("name")
            turn.parts.append(Part("result", message, turn.pointer, identifier, name, message.get("content")))
        turn.parts += _text_or_parts(message, turn.pointer, _chat_part)
        for pointer, call in _items(message, "tool_calls", turn.pointer):
            called = call.get("function") if isinstance(call, dict) else None
            called = called if isinstance(called, dict) else {}
            identifier = call.get("id") if isinstance(call, dict) else None
            turn.parts.append(Part("call", call, pointer, identifier, called.get("name"), called.get("arguments")))
        yield turn


def _text_or_parts(
    message: dict[str, Any], pointer: Pointer, read: Callable[[Pointer, dict[str, Any]], Part]
) -> Iterator[Part]:
    content = message.get("content")
    if isinstance(content, str):
        yield Part("text", content, (*pointer, "content"), value=content)
    for where, item in _items(message, "content", pointer):
        if isinstance(item, dict):
            yield read(where, item)


_CHAT_KINDS = {"text": "text", "image_url": "image", "file": "file", "thinking": "thinking"}


def _chat_part(pointer: Pointer, part: dict[str, Any]) -> Part:
    kind = _CHAT_KINDS.get(str(part.get("type")), "other")
    return Part(kind, part, pointer, value=part.get("text"))


_ANTHROPIC_KINDS = {
    "text": "text", "tool_use": "call", "tool_result": "result", "thinking": "thinking",
    "redacted_thinking": "thinking", "image": "image", "document": "file",
}  # fmt: skip


def anthropic(body: dict[str, Any]) -> Iterator[Turn]:
    for turn in _turns(body, "messages"):
        turn.parts += _text_or_parts(turn.raw, turn.pointer, _anthropic_block)
        yield turn


def _anthropic_block(pointer: Pointer, block: dict[str, Any]) -> Part:
    kind = _ANTHROPIC_KINDS.get(str(block.get("type")), "other")
    if kind == "call":
        return Part(kind, block, pointer, block.get("id"), block.get("name"), block.get("input"))
    if kind == "result":
        return Part(kind, block, pointer, block.get("tool_use_id"), value=block.get("content"))
    return Part(kind, block, pointer, value=block.get("text", block.get("thinking")))


def gemini(body: dict[str, Any]) -> Iterator[Turn]:
    for turn in _turns(body, "contents"):
        for pointer, part in _items(turn.raw, "parts", turn.pointer):
            if isinstance(part, dict):
                turn.parts.append(_gemini_part(pointer, part))
        yield turn


def _gemini_part(pointer: Pointer, part: dict[str, Any]) -> Part:
    for key, kind, value in (("functionCall", "call", "args"), ("functionResponse", "result", "response")):
        if isinstance(part.get(key), dict):
            native = part[key]
            return Part(kind, part, pointer, native.get("id"), native.get("name"), native.get(value))
    if "text" in part:
        return Part("thinking" if part.get("thought") else "text", part, pointer, value=part["text"])
    return Part("image" if "inlineData" in part else "other", part, pointer)


def bedrock(body: dict[str, Any]) -> Iterator[Turn]:
    for turn in _turns(body, "messages"):
        for pointer, block in _items(turn.raw, "content", turn.pointer):
            if isinstance(block, dict):
                turn.parts.append(_bedrock_block(pointer, block))
        yield turn


_BEDROCK_KINDS = {"reasoningContent": "thinking", "image": "image", "document": "file"}


def _bedrock_block(pointer: Pointer, block: dict[str, Any]) -> Part:
    for key, kind, value in (("toolUse", "call", "input"), ("toolResult", "result", "content")):
        if isinstance(block.get(key), dict):
            native = block[key]
            return Part(kind, block, (*pointer, key), native.get("toolUseId"), native.get("name"), native.get(value))
    if "text" in block:
        return Part("text", block, pointer, value=block["text"])
    reasoning = block.get("reasoningContent")
    if isinstance(reasoning, dict) and isinstance(reasoning.get("reasoningText"), dict):
        return Part("thinking", block, pointer, value=reasoning["reasoningText"].get("text"))
    return Part(next((kind for key, kind in _BEDROCK_KINDS.items() if key in block), "other"), block, pointer)


_ITEM_KINDS = {
    "function_call": "call", "custom_tool_call": "call", "reasoning": "thinking",
    "function_call_output": "result", "custom_tool_call_output": "result",
}  # fmt: skip


def responses(body: dict[str, Any]) -> Iterator[Turn]:
    for turn in _turns(body, "input"):
        item = turn.raw
        kind = _ITEM_KINDS.get(str(item.get("type")))
        if kind is None:
            turn.parts += _text_or_parts(item, turn.pointer, _chat_part)
        else:
            turn.role = turn.role or "assistant"
            value = item.get("arguments", item.get("input", item.get("output")))
            turn.parts.append(Part(kind, item, turn.pointer, item.get("call_id"), item.get("name"), value))
        yield turn


def cohere_v1(body: dict[str, Any]) -> Iterator[Turn]:
    for turn in _turns(body, "chat_history"):
        if isinstance(turn.raw.get("message"), str):
            turn.parts.append(Part("text", turn.raw, (*turn.pointer, "message"), value=turn.raw["message"]))
        yield turn


READERS: dict[str, Reader] = {
    "chat": chat,
    "anthropic": anthropic,
    "gemini": gemini,
    "bedrock": bedrock,
    "responses": responses,
    "ollama": chat,
    "cohere-v1": cohere_v1,
}
HISTORY_KEY = {"gemini": "contents", "responses": "input", "cohere-v1": "chat_history"}
"""Where a wire keeps the history; `messages` in every other."""
