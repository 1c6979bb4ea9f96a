"""The body of an answer → the same answer as a stream of chunks, one function per wire format."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from strict_server.eventstream import frame

Body = dict[str, Any]
Chunks = Iterator[bytes]


class Stream(NamedTuple):
    content_type: str
    encode: Callable[[Body], Chunks]


def _words(text: str) -> list[str]:
    return re.findall(r"\S+\s*|\s+", text)


def _data(event: Body, name: str | None = None, end: str = "\n\n") -> bytes:
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(event)}{end}".encode()


def chat(body: Body) -> Chunks:
    base = {"id": body["id"], "object": "chat.completion.chunk", "created": body["created"], "model": body["model"]}

    def chunk(delta: Body, reason: str | None = None, **more: Any) -> bytes:
        return _data({**base, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}], **more})

    message, reason = body["choices"][0]["message"], body["choices"][0]["finish_reason"]
    yield chunk({"role": "assistant", "content": ""})
    for key in ("reasoning_content", "reasoning", "content"):
        for word in _words(message.get(key) or ""):
            yield chunk({key: word})
    for index, call in enumerate(message.get("tool_calls", ())):
        opened = {**call["function"], "arguments": ""}
        yield chunk({"tool_calls": [{**call, "index": index, "function": opened}]})
        arguments = {"arguments": call["function"]["arguments"]}
        yield chunk({"tool_calls": [{"index": index, "function": arguments}]})
    yield chunk({}, reason, usage=body["usage"])
    yield b"data: [DONE]\n\n"


def anthropic_events(body: Body) -> Iterator[Body]:
    yield {"type": "message_start", "message": {**body, "content": [], "stop_reason": None}}
    for index, block in enumerate(body["content"]):
        opened, deltas = _anthropic_block(block)
        yield {"type": "content_block_start", "index": index, "content_block": opened}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    usage = {"output_tokens": body["usage"]["output_tokens"]}
    yield {
        "type": "message_delta",
        "delta": {"stop_reason": body["stop_reason"], "stop_sequence": None},
        "usage": usage,
    }
    yield {"type": "message_stop"}


def _anthropic_block(block: Body) -> tuple[Body, list[Body]]:
    if block["type"] == "tool_use":
        return {**block, "input": {}}, [{"type": "input_json_delta", "partial_json": json.dumps(block["input"])}]
    key = block["type"]
    deltas = [{"type": f"{key}_delta", key: word} for word in _words(block[key])]
    if key == "thinking":
        deltas.append({"type": "signature_delta", "signature": block["signature"]})
        return {"type": key, key: "", "signature": ""}, deltas
    return {"type": key, key: ""}, deltas


def anthropic(body: Body) -> Chunks:
    return (_data(event, event["type"]) for event in anthropic_events(body))


def invoke(body: Body) -> Chunks:
    """Anthropic's events in the frames of Bedrock's InvokeModelWithResponseStream."""
    for event in anthropic_events(body):
        yield frame("chunk", {"bytes": base64.b64encode(json.dumps(event).encode()).decode()})


def gemini(body: Body) -> Chunks:
    candidate = body["candidates"][0]
    pieces = [piece for part in candidate["content"]["parts"] for piece in _gemini_pieces(part)]
    for index, piece in enumerate(pieces):
        one = {"content": {"role": "model", "parts": [piece]}, "index": 0}
        if index + 1 == len(pieces):
            one["finishReason"] = candidate["finishReason"]
        yield _data({**body, "candidates": [one]}, end="\r\n\r\n")


def _gemini_pieces(part: Body) -> list[Body]:
    return [{**part, "text": word} for word in _words(part["text"])] if "text" in part else [part]


def bedrock(body: Body) -> Chunks:
    yield frame("messageStart", {"role": "assistant"})
    for index, block in enumerate(body["output"]["message"]["content"]):
        if "toolUse" in block:
            call = block["toolUse"]
            start = {"toolUse": {"toolUseId": call["toolUseId"], "name": call["name"]}}
            yield frame("contentBlockStart", {"contentBlockIndex": index, "start": start})
        for delta in _bedrock_deltas(block):
            yield frame("contentBlockDelta", {"contentBlockIndex": index, "delta": delta})
        yield frame("contentBlockStop", {"contentBlockIndex": index})
    yield frame("messageStop", {"stopReason": body["stopReason"]})
    yield frame("metadata", {"usage": body["usage"], "metrics": body["metrics"]})


def _bedrock_deltas(block: Body) -> list[Body]:
    if "toolUse" in block:
        return [{"toolUse": {"input": json.dumps(block["toolUse"]["input"])}}]
    if "reasoningContent" in block:
        reasoning = block["reasoningContent"]["reasoningText"]
        words = [{"reasoningContent": {"text": word}} for word in _words(reasoning["text"])]
        return [*words, {"reasoningContent": {"signature": reasoning["signature"]}}]
    return [{"text": word} for word in _words(block["text"])]


def responses(body: Body) -> Chunks:
    events: list[Body] = [
        {"type": "response.created", "response": {**body, "status": "in_progress", "output": [], "usage": None}}
    ]
    for index, item in enumerate(body["output"]):
        events += _item_events(index, item)
    events.append({"type": "response.completed", "response": body})
    for number, event in enumerate(events):
        yield _data({**event, "sequence_number": number}, event["type"])


def _item_events(index: int, item: Body) -> list[Body]:
    place = {"output_index": index, "item_id": item["id"]}
    opened = {**item, "status": "in_progress"} if "status" in item else item
    inner: list[Body] = []
    if item["type"] == "function_call":
        opened = {**opened, "arguments": ""}
        done = {"arguments": item["arguments"], "name": item["name"]}
        inner = [
            {"type": "response.function_call_arguments.delta", **place, "delta": item["arguments"]},
            {"type": "response.function_call_arguments.done", **place, **done},
        ]
    elif item["type"] == "message":
        opened = {**opened, "content": []}
        inner = _text_events({**place, "content_index": 0}, item["content"][0])
    added = {"type": "response.output_item.added", "output_index": index, "item": opened}
    return [added, *inner, {"type": "response.output_item.done", "output_index": index, "item": item}]


def _text_events(place: Body, part: Body) -> list[Body]:
    deltas = [
        {"type": "response.output_text.delta", **place, "delta": word, "logprobs": []} for word in _words(part["text"])
    ]
    return [
        {"type": "response.content_part.added", **place, "part": {**part, "text": ""}},
        *deltas,
        {"type": "response.output_text.done", **place, "text": part["text"], "logprobs": []},
        {"type": "response.content_part.done", **place, "part": part},
    ]


def ollama(body: Body) -> Chunks:
    for word in _words(body["message"]["content"]):
        piece = {"role": "assistant", "content": word}
        yield (json.dumps({"model": body["model"], "message": piece, "done": False}) + "\n").encode()
    yield (json.dumps({**body, "message": {**body["message"], "content": ""}}) + "\n").encode()


def cohere_v1(body: Body) -> Chunks:
    for word in _words(body["text"]):
        yield (json.dumps({"event_type": "text-generation", "text": word}) + "\n").encode()
    yield (json.dumps({"event_type": "stream-end", "finish_reason": "COMPLETE", "response": body}) + "\n").encode()


SSE, AWS, LINES = "text/event-stream", "application/vnd.amazon.eventstream", "application/x-ndjson"
STREAMS: dict[str, Stream] = {
    "chat": Stream(SSE, chat),
    "anthropic": Stream(SSE, anthropic),
    "gemini": Stream(SSE, gemini),
    "bedrock": Stream(AWS, bedrock),
    "responses": Stream(SSE, responses),
    "ollama": Stream(LINES, ollama),
    "cohere-v1": Stream(LINES, cohere_v1),
}

OWN_STREAMS = {"bedrock-invoke": Stream(AWS, invoke)}
"""By provider: who streams a wire in frames of its own."""
