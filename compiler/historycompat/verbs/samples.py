"""Canonical messages and parts, in few words, for the examples of the verbs."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]


def system(text_: str, **more: Any) -> Json:
    return {"role": "system", "content": text_, **more}


def user(*parts: Json, **more: Any) -> Json:
    return {"role": "user", "content": list(parts), **more}


def assistant(*parts: Json, **more: Any) -> Json:
    return {"role": "assistant", "content": list(parts), **more}


def tool(*parts: Json, **more: Any) -> Json:
    return {"role": "tool", "content": list(parts), **more}


def text(text_: str, **more: Any) -> Json:
    return {"type": "text", "text": text_, **more}


def reasoning(text_: str, **more: Any) -> Json:
    return {"type": "reasoning", "text": text_, **more}


def call(id_: Any, name: str, input_: Any = None, **more: Any) -> Json:
    return {"type": "tool-call", "toolCallId": id_, "toolName": name, "input": {} if input_ is None else input_, **more}


def result(id_: Any, name: str, value: str = "ok", **more: Any) -> Json:
    return {
        "type": "tool-result",
        "toolCallId": id_,
        "toolName": name,
        "output": {"type": "text", "value": value},
        **more,
    }
