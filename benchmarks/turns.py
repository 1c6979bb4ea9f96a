"""A turn of four canonical messages in several formats, as applications keep it, with what clients put beside it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

_TEXT = "The build is green again; the flaky test was the one that read the clock. " * 3
_TIME = "2026-11-30T11:46:05.617150Z"
_INPUT = {"path": "src/app.py", "range": [1, 80], "why": "look at the imports"}


def openai_chat(turn: int) -> list[dict[str, Any]]:
    call = {"id": f"call_{turn}", "type": "function", "function": {"name": "read", "arguments": json.dumps(_INPUT)}}
    return [
        {"role": "user", "content": [{"type": "text", "text": _TEXT}]},
        {"role": "assistant", "content": "I will look.", "tool_calls": [call], "refusal": None},
        {"role": "tool", "tool_call_id": f"call_{turn}", "content": _TEXT},
        {"role": "assistant", "content": _TEXT, "reasoning_content": "Found it."},
    ]


def anthropic(turn: int) -> list[dict[str, Any]]:
    return [
        {"role": "user", "content": [{"type": "text", "text": _TEXT}]},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "Look first.", "signature": "c2lnbmF0dXJl"},
                {"type": "text", "text": "I will look."},
                {"type": "tool_use", "id": f"toolu_{turn}", "name": "read", "input": _INPUT},
            ],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": f"toolu_{turn}", "content": _TEXT}]},
        {"role": "assistant", "content": [{"type": "text", "text": _TEXT}]},
    ]


def aisdk_v2(turn: int) -> list[dict[str, Any]]:
    output = {"type": "text", "value": _TEXT}
    ids = {"toolCallId": f"call_{turn}", "toolName": "read"}
    return [
        {"role": "user", "content": [{"type": "text", "text": _TEXT}]},
        {"role": "assistant", "content": [{"type": "tool-call", **ids, "input": _INPUT}]},
        {"role": "tool", "content": [{"type": "tool-result", **ids, "output": output}]},
        {"role": "assistant", "content": [{"type": "text", "text": _TEXT}]},
    ]


def openai_responses(turn: int) -> list[dict[str, Any]]:
    said = [{"type": "output_text", "annotations": [], "logprobs": [], "text": _TEXT}]
    message = {"type": "message", "id": f"msg_{turn}", "role": "assistant", "status": "completed", "content": said}
    thought = {"type": "summary_text", "text": "Look first."}
    call = {"call_id": f"call_{turn}", "name": "read", "arguments": json.dumps(_INPUT), "status": "completed"}
    return [
        {"role": "user", "content": [{"type": "input_text", "text": _TEXT}]},
        {
            "type": "reasoning",
            "id": f"rs_{turn}",
            "summary": [thought],
            "content": None,
            "encrypted_content": "Z0FB",
            "status": None,
        },
        {"type": "function_call", "id": f"fc_{turn}", **call},
        {"type": "function_call_output", "call_id": f"call_{turn}", "output": _TEXT},
        message,
    ]


def ui_message(turn: int) -> list[dict[str, Any]]:
    ids = {"type": "tool-read", "toolCallId": f"call_{turn}"}
    return [
        {"id": f"u{turn}", "role": "user", "parts": [{"type": "text", "text": _TEXT}]},
        {
            "id": f"a{turn}",
            "role": "assistant",
            "parts": [
                {"type": "step-start"},
                {"type": "text", "text": "I will look.", "state": "done"},
                {**ids, "state": "output-available", "input": _INPUT, "output": {"text": _TEXT}},
                {"type": "step-start"},
                {"type": "text", "text": _TEXT, "state": "done"},
            ],
        },
    ]


def mastra(turn: int) -> list[dict[str, Any]]:
    call = {"state": "result", "toolCallId": f"call_{turn}", "toolName": "read", "args": _INPUT, "result": _TEXT}
    thread = {"threadId": "t1", "resourceId": "r1", "createdAt": "2026-01-01T00:00:00.000Z"}
    user = {"format": 2, "parts": [{"type": "text", "text": _TEXT}], "content": _TEXT}
    parts = [
        {"type": "step-start"},
        {"type": "text", "text": "I will look."},
        {"type": "tool-invocation", "toolInvocation": call},
        {"type": "step-start"},
        {"type": "text", "text": _TEXT},
    ]
    return [
        {"id": f"u{turn}", "role": "user", **thread, "content": user},
        {"id": f"a{turn}", "role": "assistant", **thread, "content": {"format": 2, "parts": parts, "content": _TEXT}},
    ]


def pydantic_ai(turn: int) -> list[dict[str, Any]]:
    provider = {"provider_name": None, "provider_details": None}
    ids = {"tool_name": "read", "tool_call_id": f"call_{turn}", "tool_kind": None}
    call = {**ids, "args": json.dumps(_INPUT), "id": None, **provider, "part_kind": "tool-call"}
    result = {**ids, "content": _TEXT, "metadata": None, "timestamp": _TIME, "outcome": "success"}
    run = {"run_id": f"r{turn}", "metadata": None}
    usage = {"input_tokens": 812, "cache_read_tokens": 0, "output_tokens": 64, "details": {"reasoning_tokens": 0}}
    answered = {"usage": usage, "model_name": "gpt-5", "timestamp": _TIME, "kind": "response", **provider, **run}

    def text(said: str) -> dict[str, Any]:
        return {"content": said, "id": None, **provider, "part_kind": "text"}

    def request(part: dict[str, Any]) -> dict[str, Any]:
        return {"parts": [part], "instructions": None, "timestamp": _TIME, "kind": "request", **run}

    return [
        request({"content": _TEXT, "timestamp": _TIME, "part_kind": "user-prompt"}),
        {"parts": [text("I will look."), call], **answered},
        request({**result, "part_kind": "tool-return"}),
        {"parts": [text(_TEXT)], **answered},
    ]


def langchain(turn: int) -> list[dict[str, Any]]:
    def message(kind: str, content: str, **more: Any) -> dict[str, Any]:
        known = {"additional_kwargs": {}, "response_metadata": {}, "type": kind, "name": None}
        return {"type": kind, "data": {"content": content, **known, "id": f"{kind}-{turn}", **more}}

    def said(content: str, *calls: dict[str, Any]) -> dict[str, Any]:
        metadata = {"model_name": "gpt-5", "finish_reason": "stop", "system_fingerprint": None, "logprobs": None}
        usage = {"input_tokens": 812, "output_tokens": 64, "total_tokens": 876}
        known = {"response_metadata": metadata, "usage_metadata": usage, "invalid_tool_calls": []}
        return message("ai", content, tool_calls=list(calls), **known)

    call = {"name": "read", "args": _INPUT, "id": f"call_{turn}", "type": "tool_call"}
    result = {"tool_call_id": f"call_{turn}", "artifact": None, "status": "success"}
    return [message("human", _TEXT), said("I will look.", call), message("tool", _TEXT, **result), said(_TEXT)]


TURNS: dict[str, Callable[[int], list[dict[str, Any]]]] = {
    "openai-chat": openai_chat,
    "anthropic": anthropic,
    "aisdk-v2": aisdk_v2,
    "openai-responses": openai_responses,
    "openai-agents": openai_responses,
    "ui-message": ui_message,
    "mastra": mastra,
    "pydantic-ai": pydantic_ai,
    "langchain": langchain,
}
