"""A history and a reply in any wire format → the next request: what a client does between two calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Body = dict[str, Any]

_SCHEMA: Body = {"type": "object", "properties": {"path": {"type": "string"}}}
OPENING: dict[str, Callable[[str], Body]] = {
    "chat": lambda text: {
        "messages": [{"role": "user", "content": text}],
        "tools": [{"type": "function", "function": {"name": "ls", "parameters": _SCHEMA}}],
    },
    "anthropic": lambda text: {
        "max_tokens": 4000,
        "messages": [{"role": "user", "content": text}],
        "tools": [{"name": "ls", "input_schema": _SCHEMA}],
    },
    "gemini": lambda text: {
        "contents": [{"role": "user", "parts": [{"text": text}]}],
        "tools": [{"functionDeclarations": [{"name": "ls"}]}],
    },
    "bedrock": lambda text: {
        "messages": [{"role": "user", "content": [{"text": text}]}],
        "toolConfig": {"tools": [{"toolSpec": {"name": "ls", "inputSchema": {"json": _SCHEMA}}}]},
    },
    "responses": lambda text: {
        "input": [{"role": "user", "content": [{"type": "input_text", "text": text}]}],
        "tools": [{"type": "function", "name": "ls", "parameters": _SCHEMA}],
    },
    "ollama": lambda text: {
        "stream": False,
        "messages": [{"role": "user", "content": text}],
        "tools": [{"type": "function", "function": {"name": "ls"}}],
    },
}
"""A first request with one tool `ls`."""


def _chat(body: Body, reply: Body, text: str) -> list[Body]:
    message = reply["choices"][0]["message"]
    results: list[Body] = [
        {"role": "tool", "tool_call_id": call["id"], "name": call["function"]["name"], "content": "a.py"}
        for call in message.get("tool_calls", ())
    ]
    return [*body["messages"], message, *(results or [{"role": "user", "content": text}])]


def _anthropic(body: Body, reply: Body, text: str) -> list[Body]:
    calls = [block for block in reply["content"] if block["type"] == "tool_use"]
    results: list[Body] = [{"type": "tool_result", "tool_use_id": call["id"], "content": "a.py"} for call in calls]
    assistant = {"role": "assistant", "content": reply["content"]}
    return [*body["messages"], assistant, {"role": "user", "content": results or text}]


def _gemini(body: Body, reply: Body, text: str) -> list[Body]:
    content = reply["candidates"][0]["content"]
    calls = [part["functionCall"] for part in content["parts"] if "functionCall" in part]
    results: list[Body] = [
        {"functionResponse": {"name": call["name"], "response": {"output": "a.py"}}} for call in calls
    ]
    return [*body["contents"], content, {"role": "user", "parts": results or [{"text": text}]}]


def _bedrock(body: Body, reply: Body, text: str) -> list[Body]:
    message = reply["output"]["message"]
    calls = [block["toolUse"] for block in message["content"] if "toolUse" in block]
    results: list[Body] = [
        {"toolResult": {"toolUseId": call["toolUseId"], "content": [{"text": "a.py"}]}} for call in calls
    ]
    return [*body["messages"], message, {"role": "user", "content": results or [{"text": text}]}]


def _responses(body: Body, reply: Body, text: str) -> list[Body]:
    calls = [item for item in reply["output"] if item["type"] == "function_call"]
    results: list[Body] = [
        {"type": "function_call_output", "call_id": call["call_id"], "output": "a.py"} for call in calls
    ]
    return [*body["input"], *reply["output"], *(results or [{"role": "user", "content": text}])]


def _ollama(body: Body, reply: Body, text: str) -> list[Body]:
    message = reply["message"]
    results = [{"role": "tool", "tool_name": "ls", "content": "a.py"} for _ in message.get("tool_calls", ())]
    return [*body["messages"], message, *(results or [{"role": "user", "content": text}])]


_NEXT = {
    "chat": ("messages", _chat),
    "anthropic": ("messages", _anthropic),
    "gemini": ("contents", _gemini),
    "bedrock": ("messages", _bedrock),
    "responses": ("input", _responses),
    "ollama": ("messages", _ollama),
}


def proceed(wire: str, body: Body, reply: Body, text: str) -> Body:
    """The request after a reply: with the results of its calls, or else with the next thing that the user says."""
    key, extend = _NEXT[wire]
    return {**body, key: extend(body, reply, text)}
