"""A reply → the body of a provider's answer, one function per wire format."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from strict_server import signing
from strict_server.conversation import Request
from strict_server.replies.plan import Reply

Body = dict[str, Any]
Encoder = Callable[[Request, Reply], Body]
CREATED = 1_790_000_000
NEVER_NULL = ("mistral", "mistral-legacy", "xai", "command-code")
"""Providers that answer "" where others answer null beside tool calls."""


def chat_message(request: Request, reply: Reply) -> Body:
    message: Body = {"role": "assistant", "content": reply.text}
    if reply.calls:
        message["content"] = "" if request.provider in NEVER_NULL else None
    if reply.thinking is not None:
        key = "reasoning" if request.provider in ("groq", "cerebras", "openrouter") else "reasoning_content"
        message[key] = reply.thinking
    if reply.calls:
        message["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
            }
            for call in reply.calls
        ]
    if request.provider == "google" and reply.calls:
        signature = {"google": {"thought_signature": signing.sign("google", reply.calls[0].name)}}
        message["tool_calls"][0]["extra_content"] = signature
    return message


def chat_usage(reply: Reply) -> Body:
    total = reply.input_tokens + reply.output_tokens
    return {"prompt_tokens": reply.input_tokens, "completion_tokens": reply.output_tokens, "total_tokens": total}


def chat(request: Request, reply: Reply) -> Body:
    choice = {
        "index": 0,
        "message": chat_message(request, reply),
        "finish_reason": "tool_calls" if reply.calls else "stop",
    }
    return {
        "id": f"chatcmpl-{reply.seed[:24]}",
        "object": "chat.completion",
        "created": CREATED,
        "model": request.model,
        "choices": [choice],
        "usage": chat_usage(reply),
    }


def anthropic(request: Request, reply: Reply) -> Body:
    content: list[Body] = []
    if reply.thinking is not None:
        content.append({"type": "thinking", "thinking": reply.thinking, "signature": reply.signature})
    if not reply.calls:
        content.append({"type": "text", "text": reply.text})
    content += [{"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments} for call in reply.calls]
    return {
        "id": f"msg_01{reply.seed[:22]}",
        "type": "message",
        "role": "assistant",
        "model": request.model,
        "content": content,
        "stop_reason": "tool_use" if reply.calls else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": reply.input_tokens, "output_tokens": reply.output_tokens},
    }


def gemini(request: Request, reply: Reply) -> Body:
    parts: list[Body] = []
    if reply.thinking is not None:
        parts.append({"text": reply.thinking, "thought": True})
    if not reply.calls:
        parts.append({"text": reply.text})
    parts += [{"functionCall": {"name": call.name, "args": call.arguments}} for call in reply.calls]
    if reply.calls:
        parts[-len(reply.calls)]["thoughtSignature"] = signing.sign("google", reply.calls[0].name)
    usage = {
        "promptTokenCount": reply.input_tokens,
        "candidatesTokenCount": reply.output_tokens,
        "totalTokenCount": reply.input_tokens + reply.output_tokens,
    }
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": request.model}


def bedrock(request: Request, reply: Reply) -> Body:
    content: list[Body] = []
    if reply.thinking is not None:
        content.append({"reasoningContent": {"reasoningText": {"text": reply.thinking, "signature": reply.signature}}})
    if not reply.calls:
        content.append({"text": reply.text})
    content += [{"toolUse": {"toolUseId": call.id, "name": call.name, "input": call.arguments}} for call in reply.calls]
    usage = {
        "inputTokens": reply.input_tokens,
        "outputTokens": reply.output_tokens,
        "totalTokens": reply.input_tokens + reply.output_tokens,
    }
    return {
        "output": {"message": {"role": "assistant", "content": content}},
        "stopReason": "tool_use" if reply.calls else "end_turn",
        "usage": usage,
        "metrics": {"latencyMs": 1},
    }


def responses(request: Request, reply: Reply) -> Body:
    return {
        "id": f"resp_55{reply.seed[:40]}" if request.body.get("store") is not False else f"resp_{reply.seed[:40]}",
        "object": "response",
        "created_at": CREATED,
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        "instructions": request.body.get("instructions"),
        "metadata": {},
        "model": request.model,
        "output": _output_items(request, reply),
        "parallel_tool_calls": True,
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": request.body.get("tools", []),
        "top_p": 1.0,
        "usage": _responses_usage(reply),
    }


def _output_items(request: Request, reply: Reply) -> list[Body]:
    seed = reply.seed
    items: list[Body] = []
    if reply.thinking is not None:
        reasoning: Body = {"id": signing.item_id("rs", seed), "type": "reasoning", "summary": []}
        if "reasoning.encrypted_content" in (request.body.get("include") or ()):
            reasoning["encrypted_content"] = signing.sign(request.provider, seed)
        items.append(reasoning)
    identify = _item_id if reply.thinking is None else signing.item_id
    if not reply.calls:
        text = {"type": "output_text", "text": reply.text, "annotations": [], "logprobs": []}
        message = {"id": identify("msg", seed), "type": "message", "role": "assistant", "status": "completed"}
        items.append({**message, "content": [text]})
    for index, call in enumerate(reply.calls):
        item = {"id": identify("fc", seed, index), "type": "function_call", "call_id": call.id, "name": call.name}
        items.append({**item, "arguments": json.dumps(call.arguments), "status": "completed"})
    return items


def _item_id(prefix: str, seed: str, index: int = 0) -> str:
    return f"{prefix}_{seed[:24]}{index:02x}"


def _responses_usage(reply: Reply) -> Body:
    return {
        "input_tokens": reply.input_tokens,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": reply.output_tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": reply.input_tokens + reply.output_tokens,
    }


def ollama(request: Request, reply: Reply) -> Body:
    message: Body = {"role": "assistant", "content": "" if reply.calls else reply.text}
    if reply.calls:
        message["tool_calls"] = [{"function": {"name": call.name, "arguments": call.arguments}} for call in reply.calls]
    counts = {"prompt_eval_count": reply.input_tokens, "eval_count": reply.output_tokens}
    named = {"model": request.model, "created_at": "2026-09-21T00:00:00Z"}
    return {**named, "message": message, "done": True, "done_reason": "stop", **counts}


def cohere_v1(request: Request, reply: Reply) -> Body:
    calls = [{"name": call.name, "parameters": call.arguments} for call in reply.calls]
    answer: Body = {"text": "" if calls else reply.text, "generation_id": reply.seed[:24], "finish_reason": "COMPLETE"}
    return {**answer, "tool_calls": calls} if calls else answer


BODIES: dict[str, Encoder] = {
    "chat": chat,
    "anthropic": anthropic,
    "gemini": gemini,
    "bedrock": bedrock,
    "responses": responses,
    "ollama": ollama,
    "cohere-v1": cohere_v1,
}
