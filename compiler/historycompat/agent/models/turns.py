"""A turn of a script → the parts of the answer, with the pauses and failures among them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, TypeAlias, get_args

from historycompat.agent.errors import AgentError, APICallError
from historycompat.agent.models.port import ModelRequest
from historycompat.agent.parts import (
    AnswerFinish,
    FinishReason,
    ModelPart,
    Reasoning,
    ResponseInfo,
    TextDelta,
    ToolCall,
    Usage,
)
from historycompat.errors import did_you_mean


@dataclass(frozen=True, slots=True)
class Pause:
    """A time in seconds in which the model says nothing."""

    seconds: float


@dataclass(frozen=True, slots=True)
class CutOff:
    """The answer ends here, as if the connection had been lost: without AnswerFinish."""


Piece: TypeAlias = ModelPart | Pause | CutOff | Exception
Turn: TypeAlias = "str | Piece | Sequence[Piece | str] | Mapping[str, Any] | Callable[[ModelRequest], Turn]"

_PARTS = get_args(ModelPart)
_KEYS = ("pause", "reasoning", "text", "tool_calls", "error", "finish_reason", "usage", "cut_off")
_REASONS = get_args(FinishReason)
_CALL_KEYS = ("name", "input", "id")


def pieces_of(turn: Turn, request: ModelRequest, speaker: str) -> list[Piece]:
    """All pieces of an answer, those that the turn leaves out made up. Equal requests to a speaker get equal ids.

    Raises AgentError for what is no turn.
    """
    prompt = json.dumps(request.prompt, sort_keys=True, default=repr)
    seed = sha256(f"{speaker} {prompt}".encode()).hexdigest()
    pieces = list(_spelt(turn, request, seed))
    said = [piece for piece in pieces if not isinstance(piece, Pause)]
    if not any(isinstance(piece, ResponseInfo) for piece in said) and not isinstance(next(iter(said), None), Exception):
        pieces.insert(0, ResponseInfo(f"answer-{seed[:16]}", speaker.partition("/")[2]))
    if not (said and isinstance(said[-1], AnswerFinish | CutOff | Exception)):
        calls = any(isinstance(piece, ToolCall) and not piece.provider_executed for piece in said)
        pieces.append(AnswerFinish("tool-calls" if calls else "stop", Usage(_tokens(prompt), _tokens(_all_text(said)))))
    return pieces


def words(text: str) -> list[str]:
    """A text word by word, each with the space behind it."""
    return re.findall(r"\S+\s*|\s+", text)


def _spelt(turn: Any, request: ModelRequest, seed: str) -> Iterator[Piece]:
    if isinstance(turn, str):
        yield from map(TextDelta, words(turn))
    elif isinstance(turn, (*_PARTS, Pause, CutOff, Exception)):
        piece: Any = turn
        yield piece
    elif isinstance(turn, Mapping):
        yield from _of_data(turn, seed)
    elif isinstance(turn, Sequence):
        for each in turn:
            yield from _spelt(each, request, seed)
    elif callable(turn):
        yield from _spelt(turn(request), request, seed)
    else:
        raise _wrong(
            f"{turn!r} is no turn of a script: it is a text, an exception, a sequence of model parts, plain data "
            f"({', '.join(_KEYS)}), or a function of the request that returns one of them"
        )


def _of_data(data: Mapping[str, Any], seed: str) -> Iterator[Piece]:
    _check(data, _KEYS, "turn")
    if pause := data.get("pause"):
        yield Pause(float(pause))
    yield from _reasoning(data.get("reasoning"))
    yield from map(TextDelta, words(data.get("text") or ""))
    for at, call in enumerate(data.get("tool_calls") or ()):
        _check(call, _CALL_KEYS, "tool call")
        if "name" not in call:
            raise _wrong(f"the tool call {dict(call)!r} has no name")
        yield ToolCall(call.get("id") or f"call_{seed[at : at + 20]}", call["name"], call.get("input") or {})
    if (error := data.get("error")) is not None:
        yield _error(error)
    elif data.get("cut_off"):
        yield CutOff()
    elif "finish_reason" in data or "usage" in data:
        yield _finish(data)


def _reasoning(data: Any) -> Iterator[Reasoning]:
    """Of a text, or of `{text, provider_options}`."""
    if data is None:
        return
    block: Mapping[str, Any] = {"text": data} if isinstance(data, str) else data
    _check(block, ("text", "provider_options"), "reasoning")
    yield from map(Reasoning, words(block.get("text") or ""))
    yield Reasoning(provider_options=block.get("provider_options"), end=True)


def _finish(data: Mapping[str, Any]) -> AnswerFinish:
    usage = data.get("usage") or {}
    _check(usage, ("input_tokens", "output_tokens"), "usage")
    reason: Any = data.get("finish_reason") or ("tool-calls" if data.get("tool_calls") else "stop")
    if reason not in _REASONS:
        raise _wrong(f"{reason!r} is no finish reason: {did_you_mean(str(reason), _REASONS) or ', '.join(_REASONS)}")
    return AnswerFinish(reason, Usage(**usage))


def _error(data: Mapping[str, Any]) -> APICallError:
    _check(data, ("status", "body", "message", "headers", "is_retryable"), "error")
    body = data.get("body")
    message = data.get("message") or _message_in(body) or f"the scripted model answers with status {data.get('status')}"
    return APICallError(
        message,
        status=data.get("status"),
        body=body if body is None or isinstance(body, str) else json.dumps(body),
        headers=dict(data.get("headers") or {}),
        is_retryable=data.get("is_retryable"),
    )


def _message_in(body: Any) -> str | None:
    """What a provider's answer says, where its shape is one of the usual."""
    while isinstance(body, Mapping):
        body = body.get("error", body.get("message"))
    return body if isinstance(body, str) else None


def _check(data: Any, known: tuple[str, ...], what: str) -> None:
    if not isinstance(data, Mapping):
        raise _wrong(f"the {what} {data!r} is no object of {', '.join(known)}")
    for key in data:
        if key not in known:
            hint = did_you_mean(str(key), known) or f"there are {', '.join(known)}"
            raise _wrong(f"the {what} has an unknown key {key!r}: {hint}")


def _wrong(message: str) -> AgentError:
    return AgentError("AGENT_BAD_OPTION", message)


def _all_text(pieces: Sequence[Piece]) -> str:
    return "".join(piece.text for piece in pieces if isinstance(piece, TextDelta | Reasoning))


def _tokens(text: str) -> int:
    """About as many as a tokenizer would count."""
    return -(-len(text) // 4)
