"""Answers of the chat completions API, whole or chunk by chunk → model parts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from uuid import uuid4

from historycompat.agent.models.prompts import PROMPT_FORMATS, as_format
from historycompat.agent.parts import (
    AnswerFinish,
    FinishReason,
    ModelPart,
    Options,
    Reasoning,
    ResponseInfo,
    Source,
    TextDelta,
    ToolCall,
    Usage,
)

Json = Mapping[str, Any]

_REASONS: dict[str, FinishReason] = {
    "stop": "stop",
    "length": "length",
    "content_filter": "content-filter",
    "tool_calls": "tool-calls",
    "function_call": "tool-calls",
}
_GROWING = ("text", "summary", "data", "signature")  # what comes in pieces; the rest of a detail is said once


class ChatAnswer:
    """One answer while it comes in. Reasoning is read in the dialects of `reasoning_dialects`."""

    def __init__(self, headers: Mapping[str, str], warnings: tuple[str, ...] = ()) -> None:
        self._headers, self._warnings = dict(headers), warnings
        self._begun = self._refused = False
        self._reason: str | None = None
        self._usage = Usage()
        self._calls: list[dict[str, Any]] = []
        self._thought: dict[str, Any] | None = None  # the reasoning that is being written

    def feed(self, body: Json) -> Iterator[ModelPart]:
        """What a completion or a chunk of one says."""
        if not self._begun:
            self._begun = True
            yield ResponseInfo(body.get("id"), body.get("model"), self._headers, self._warnings)
        if usage := body.get("usage"):
            self._usage = Usage(usage.get("prompt_tokens") or 0, usage.get("completion_tokens") or 0)
        for choice in (body.get("choices") or ())[:1]:
            yield from self._message(choice.get("delta") or choice.get("message") or {})
            self._reason = choice.get("finish_reason") or self._reason

    def end(self) -> Iterator[ModelPart]:
        """What is known only at the end. An answer without finish reason was cut off, and its calls with it."""
        yield from self._end_thought()
        if self._reason is None:
            return
        yield from _tool_calls(self._calls)
        reason = _REASONS.get(self._reason, "other")
        if self._calls and reason == "stop":  # some servers say so
            reason = "tool-calls"
        yield AnswerFinish(reason, self._usage, {"openai": {"refusal": True}} if self._refused else None)

    def _message(self, message: Json) -> Iterator[ModelPart]:
        if details := message.get("reasoning_details"):
            for detail in details:
                yield from self._detail(detail)
        elif thought := message.get("reasoning_content") or message.get("reasoning"):
            yield from self._detail({"text": thought})
        for key in ("content", "refusal"):
            if text := message.get(key):
                self._refused |= key == "refusal"
                yield from self._end_thought()
                yield TextDelta(_text(text))
        yield from _sources(message.get("annotations"))
        for call in message.get("tool_calls") or ():
            yield from self._end_thought()
            self._call(call)

    def _detail(self, detail: Json) -> Iterator[Reasoning]:
        """A piece of reasoning, which goes on with the one before where nothing tells them apart."""
        place = (detail.get("type"), detail.get("index"))
        if self._thought is None or (self._thought.get("type"), self._thought.get("index")) != place:
            yield from self._end_thought()
            self._thought = {}
        for key, value in detail.items():
            if key in _GROWING and isinstance(value, str):
                value = self._thought.get(key, "") + value
            if value is not None:
                self._thought[key] = value
        if text := detail.get("text") or detail.get("summary"):
            yield Reasoning(text)

    def _end_thought(self) -> Iterator[Reasoning]:
        if self._thought is not None:
            yield Reasoning(provider_options=_options(self._thought), end=True)
            self._thought = None

    def _call(self, piece: Json) -> None:
        """Pieces belong together by index. Where servers give none, or the same to all, a new id is a new call."""
        index, identifier, function = piece.get("index"), piece.get("id"), piece.get("function") or {}
        call = next((call for call in reversed(self._calls) if call["index"] == index), None)
        if call is None or (identifier and call["id"] not in (None, identifier)) or (index is None and identifier):
            call = {"index": index, "id": None, "name": "", "arguments": "", "more": {}}
            self._calls.append(call)
        call["id"] = call["id"] or identifier
        call["name"] = call["name"] or function.get("name") or ""
        call["arguments"] += function.get("arguments") or ""
        call["more"].update({key: piece[key] for key in piece if key not in ("index", "id", "function", "type")})


def _tool_calls(calls: list[dict[str, Any]]) -> Iterator[ToolCall]:
    if not calls:
        return
    natives = [
        {
            **call["more"],
            "id": call["id"] or f"call_{uuid4().hex}",
            "type": "function",
            "function": {"name": call["name"], "arguments": call["arguments"]},
        }
        for call in calls
    ]
    for call, part in zip(calls, _canonical({"tool_calls": natives}), strict=True):
        written: str = call["arguments"]
        value = part["input"] if isinstance(part.get("input"), dict) else written if written.strip() else {}
        yield ToolCall(part["toolCallId"], part["toolName"], value, provider_options=part.get("providerOptions"))


def _options(thought: dict[str, Any]) -> Options | None:
    """What must be sent again with a thought, in the words of canonical prompts."""
    if "type" not in thought:
        return None
    [part] = _canonical({"reasoning_details": [thought]})
    options: Options | None = part.get("providerOptions")
    return options


def _canonical(message: dict[str, Any]) -> list[Any]:
    [read] = as_format([{"role": "assistant", **message}], "openai-chat", PROMPT_FORMATS["v2"])
    parts: list[Any] = read["content"]
    return parts


def _text(content: Any) -> str:
    """A text, or the texts of a list of parts."""
    if isinstance(content, str):
        return content
    return "".join(part.get("text") or "" for part in content if isinstance(part, Mapping))


def _sources(annotations: Any) -> Iterator[Source]:
    for annotation in annotations or ():
        if url := (cited := annotation.get("url_citation") or {}).get("url"):
            yield Source(url, cited.get("title"))
