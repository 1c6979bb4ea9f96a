"""A conversation → the request that says it, in each wire format."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from random_conversations import TOOLS, Call, Conversation, Turn
from strict_server import item_id, prefix_digest, sign

Body = dict[str, Any]
SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}}


def _json(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


def _chat_message(turn: Turn, arguments: Callable[[Any], Any]) -> list[Body]:
    if turn.role == "tool":
        return [{"role": "tool", "tool_call_id": each.id, "content": each.output} for each in turn.results]
    message: Body = {"role": turn.role, "content": turn.text}
    if turn.thought is not None:
        message["reasoning_content"] = turn.thought.text
    if turn.calls:
        message["tool_calls"] = [_chat_call(call, arguments) for call in turn.calls]
    return [message]


def _chat_call(call: Call, arguments: Callable[[Any], Any]) -> Body:
    written = {"name": call.name, "arguments": arguments(call.arguments)}
    body: Body = {"id": call.id, "type": "function", "function": written}
    if call.signature:
        body["extra_content"] = {"google": {"thought_signature": call.signature}}
    return body


def chat(talk: Conversation) -> Body:
    body: Body = {"messages": [message for turn in talk.turns for message in _chat_message(turn, _json)]}
    if talk.tools:
        body["tools"] = [{"type": "function", "function": {"name": name, "parameters": SCHEMA}} for name in TOOLS]
    return body


def ollama(talk: Conversation) -> Body:
    written = [message for turn in talk.turns for message in _chat_message(turn, lambda value: value)]
    for message in written:
        if "reasoning_content" in message:
            message["thinking"] = message.pop("reasoning_content")
        message["content"] = message["content"] or ""
    return {**chat(talk), "messages": written}


def responses(talk: Conversation) -> Body:
    body: Body = {"store": False, "input": [item for turn in talk.turns for item in _items(turn)]}
    if talk.tools:
        body["tools"] = [{"type": "function", "name": name, "parameters": SCHEMA} for name in TOOLS]
    return body


def _items(turn: Turn) -> list[Body]:
    if turn.role == "tool":
        return [{"type": "function_call_output", "call_id": each.id, "output": each.output} for each in turn.results]
    items: list[Body] = []
    if turn.thought is not None:
        identifier = item_id("rs", turn.seed) if turn.seed else "rs_other"
        items.append(
            {"type": "reasoning", "id": identifier, "summary": [], "encrypted_content": turn.thought.signature}
        )
        if turn.thought.signature is None:
            del items[0]["encrypted_content"]
    seed = turn.seed if turn.thought is not None else None
    if turn.text is not None:
        items.append({"role": turn.role, "content": turn.text} | _identified(seed, "msg"))
    for index, call in enumerate(turn.calls):
        item = {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": _json(call.arguments)}
        items.append(item | _identified(seed, "fc", index))
    return items


def _identified(seed: str | None, prefix: str, index: int = 0) -> Body:
    return {"id": item_id(prefix, seed, index + 1)} if seed else {}


def _anthropic_blocks(turn: Turn) -> list[Body]:
    blocks: list[Body] = []
    if turn.thought is not None:
        blocks.append({"type": "thinking", "thinking": turn.thought.text, "signature": turn.thought.signature})
        if turn.thought.signature is None:
            del blocks[0]["signature"]
    if turn.text is not None:
        blocks.append({"type": "text", "text": turn.text})
    blocks += [{"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments} for call in turn.calls]
    results = [{"type": "tool_result", "tool_use_id": each.id, "content": each.output} for each in turn.results]
    return blocks + results


def _bedrock_blocks(turn: Turn) -> list[Body]:
    blocks: list[Body] = []
    if turn.thought is not None:
        text = {"text": turn.thought.text, "signature": turn.thought.signature}
        blocks.append({"reasoningContent": {"reasoningText": {key: value for key, value in text.items() if value}}})
    if turn.text is not None:
        blocks.append({"text": turn.text})
    blocks += [{"toolUse": {"toolUseId": call.id, "name": call.name, "input": call.arguments}} for call in turn.calls]
    results = [{"toolResult": {"toolUseId": each.id, "content": [{"text": each.output}]}} for each in turn.results]
    return blocks + results


def _gemini_parts(turn: Turn, with_ids: bool) -> list[Body]:
    parts: list[Body] = [{"text": turn.thought.text, "thought": True}] if turn.thought is not None else []
    if turn.text is not None:
        parts.append({"text": turn.text})
    for call in turn.calls:
        part: Body = {
            "functionCall": {"name": call.name, "args": call.arguments, **({"id": call.id} if with_ids else {})}
        }
        parts.append({**part, "thoughtSignature": call.signature} if call.signature else part)
    for each in turn.results:
        response = {"name": each.name, "response": {"output": each.output}, **({"id": each.id} if with_ids else {})}
        parts.append({"functionResponse": response})
    return parts


def _blocks(talk: Conversation, key: str, blocks: Callable[[Turn], list[Body]], roles: Body) -> tuple[Body, list[str]]:
    """The messages of a format in which results are blocks of a user message, and the system texts in front of them."""
    messages: list[Body] = []
    system: list[str] = []
    results: Body | None = None
    for turn in talk.turns:
        if turn.role in ("system", "developer") and not messages:
            system.append(turn.text or "")
        elif turn.role == "tool" and results is not None:
            results[key] += blocks(turn)
        else:
            message = {"role": roles.get(turn.role, turn.role), key: blocks(turn)}
            messages.append(message)
            results = message if turn.role == "tool" else None
    return {key: messages}, system


def anthropic(talk: Conversation) -> Body:
    written, system = _blocks(talk, "content", _anthropic_blocks, {"tool": "user", "developer": "system"})
    body: Body = {"max_tokens": 8000, "messages": written["content"]}
    if system:
        body["system"] = "\n".join(system)
    if talk.thinking:
        body["thinking"] = {"type": "enabled", "budget_tokens": 2000}
    if talk.tools:
        body["tools"] = [{"name": name, "input_schema": SCHEMA} for name in TOOLS]
    _bind(talk, body)
    return body


def _bind(talk: Conversation, body: Body) -> None:
    """Signs what Anthropic's models thought behind the conversation as it stands here, where the thought says so."""
    bound = {turn.thought.text for turn in talk.turns if turn.thought and turn.thought.bound and turn.thought.signature}
    for index, message in enumerate(body["messages"]):
        for block in message["content"]:
            if block["type"] == "thinking" and block["thinking"] in bound:
                block["signature"] = sign("anthropic", block["thinking"], prefix=prefix_digest(body, index))


def bedrock(talk: Conversation) -> Body:
    written, system = _blocks(talk, "content", _bedrock_blocks, {"tool": "user", "developer": "system"})
    body: Body = {"messages": written["content"]}
    if system:
        body["system"] = [{"text": text} for text in system]
    if talk.tools:
        tools = [{"toolSpec": {"name": name, "inputSchema": {"json": SCHEMA}}} for name in TOOLS]
        body["toolConfig"] = {"tools": tools}
    return body


def gemini(talk: Conversation) -> Body:
    roles = {"tool": "user", "assistant": "model", "developer": "system"}
    with_ids = talk.random.random() < 0.5  # without them results pair by name and order
    written, system = _blocks(talk, "parts", lambda turn: _gemini_parts(turn, with_ids), roles)
    body: Body = {"contents": written["parts"]}
    if system:
        body["systemInstruction"] = {"parts": [{"text": text} for text in system]}
    if talk.tools:
        body["tools"] = [{"functionDeclarations": [{"name": name} for name in TOOLS]}]
    return body


WIRES: dict[str, Callable[[Conversation], Body]] = {
    "chat": chat,
    "ollama": ollama,
    "responses": responses,
    "anthropic": anthropic,
    "bedrock": bedrock,
    "gemini": gemini,
}
HISTORY = {"responses": "input", "gemini": "contents"}
BLOCKS = {"gemini": "parts"}
