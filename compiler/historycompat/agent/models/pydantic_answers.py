"""Responses of pydantic-ai, whole or event by event → model parts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from historycompat.agent.models.clients import required
from historycompat.agent.models.prompts import PROMPT_FORMATS, as_format
from historycompat.agent.parts import (
    AnswerFinish,
    File,
    FinishReason,
    ModelPart,
    Reasoning,
    ResponseInfo,
    TextDelta,
    ToolCall,
    ToolResult,
    Usage,
)

_REASONS: dict[str | None, FinishReason] = {
    "stop": "stop",
    "length": "length",
    "content_filter": "content-filter",
    "tool_call": "tool-calls",
    "error": "error",
    None: "unknown",
}
_WHOLE_AT_START = ("builtin-tool-return", "file")
_WHOLE_AT_END = ("text", "thinking", "tool-call", "builtin-tool-call")


def info_of(response: Any, warnings: tuple[str, ...]) -> ResponseInfo:
    return ResponseInfo(response.provider_response_id, response.model_name, warnings=warnings)


def parts_of(response: Any, part: Any) -> Iterator[ModelPart]:
    """A whole part. What its provider must see again is said in the words of canonical prompts."""
    for read in _canonical(response, part):
        match read["type"]:
            case "text" if read["text"]:
                yield TextDelta(read["text"], read.get("providerOptions"))
            case "reasoning":
                yield Reasoning(read["text"], read.get("providerOptions"), end=True)
            case "tool-call":
                yield _call(read)
            case "tool-result":
                yield _result(read)
            case "file":
                yield File(read["data"], read["mediaType"])


_DELTAS: dict[str, type[TextDelta] | type[Reasoning]] = {"text": TextDelta, "thinking": Reasoning}


def parts_of_event(stream: Any, event: Any) -> Iterator[ModelPart]:
    """What an event of a stream says: text and reasoning as they are written, other parts when they are whole."""
    match event.event_kind:
        case "part_start" if event.part.part_kind in _WHOLE_AT_START:
            yield from parts_of(stream, event.part)
        case "part_start" if event.part.part_kind in _DELTAS and event.part.content:
            yield _DELTAS[event.part.part_kind](event.part.content)
        case "part_delta" if event.delta.part_delta_kind in _DELTAS and event.delta.content_delta:
            yield _DELTAS[event.delta.part_delta_kind](event.delta.content_delta)
        case "part_end" if event.part.part_kind in _WHOLE_AT_END:
            for part in parts_of(stream, event.part):
                yield from _what_is_left(part)


def _what_is_left(part: ModelPart) -> Iterator[ModelPart]:
    """Of a part whose text has been said."""
    match part:
        case TextDelta(provider_options=options):
            if options:
                yield TextDelta("", options)
        case Reasoning(provider_options=options):
            yield Reasoning("", options, end=True)
        case _:
            yield part


def finish_of(response: Any) -> Iterator[AnswerFinish]:
    """The end of an answer, unless it was cut off."""
    if response.state not in ("complete", "suspended"):
        return
    reason = _REASONS.get(response.finish_reason, "other")
    if reason in ("stop", "unknown") and any(part.part_kind == "tool-call" for part in response.parts):
        reason = "tool-calls"  # Google says "stop"
    usage = response.usage
    details = {response.provider_name: response.provider_details} if response.provider_details else None
    yield AnswerFinish(reason, Usage(usage.input_tokens, usage.output_tokens), details)


def _canonical(response: Any, part: Any) -> list[Any]:
    messages = required("pydantic_ai.messages")
    alone = messages.ModelResponse(parts=[part], provider_name=response.provider_name)
    dumped = messages.ModelMessagesTypeAdapter.dump_python([alone], mode="json")
    prompt = as_format(dumped, "pydantic-ai", PROMPT_FORMATS["v2"])
    return [read for message in prompt for read in message["content"]]


def _call(read: dict[str, Any]) -> ToolCall:
    value = read.get("input")
    if value is None or value == "":
        value = {}
    hosted = read.get("providerExecuted") is True
    return ToolCall(read["toolCallId"], read["toolName"], value, hosted, read.get("providerOptions"))


def _result(read: dict[str, Any]) -> ToolResult:
    output = read["output"]
    failed = str(output["type"]).startswith("error")
    return ToolResult(read["toolCallId"], read["toolName"], None, output["value"], failed, provider_executed=True)
