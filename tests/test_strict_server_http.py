"""The strict server over HTTP: error bodies, replies that clients send back, streams, records."""

from __future__ import annotations

import json
import re
import struct
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest
from strict_server import PROVIDERS, StrictServer, check, refusals, route
from strict_server.conversation import HISTORY_KEY
from strict_server.conversations import OPENING, proceed
from strict_server.expansion import expand
from support import json_lines

HERE = Path(__file__).with_name("strict_server")
REFUSED = [case for file in sorted((HERE / "cases" / "refused").glob("*.jsonl")) for case in json_lines(file)]


@pytest.fixture
def server() -> Iterator[StrictServer]:
    with StrictServer() as running:
        yield running


def post(server: StrictServer, path: str, body: Any) -> tuple[int, dict[str, str], bytes]:
    connection = HTTPConnection(server.origin.removeprefix("http://"))
    try:
        connection.request("POST", path, json.dumps(body), {"content-type": "application/json"})
        answer = connection.getresponse()
        return answer.status, {key.lower(): value for key, value in answer.getheaders()}, answer.read()
    finally:
        connection.close()


PATHS = {
    "chat": "/v1/chat/completions",
    "responses": "/v1/responses",
    "anthropic": "/v1/messages",
    "gemini": "/v1beta/models/{model}:generateContent",
    "bedrock": "/model/{model}/converse",
    "ollama": "/api/chat",
    "cohere-v1": "/v1/chat",
}


def path_of(where: str, model: str) -> str:
    provider, wire = route(where)
    return f"/{provider}{PATHS[wire].format(model=model)}"


def test_error_bodies_have_the_shape_of_their_provider(server: StrictServer) -> None:
    """One refusal of every provider, as golden file."""
    bodies = {}
    for case in REFUSED:
        provider = route(case["route"]).provider
        if provider not in bodies and isinstance(case["refused"], list):
            body = {
                HISTORY_KEY.get(route(case["route"]).wire, "messages"): expand(case["refused"]),
                "model": case["model"],
            }
            status, headers, raw = post(server, path_of(case["route"], case["model"]), body)
            bodies[provider] = {"status": status, "body": json.loads(raw)}
            if provider.startswith("bedrock"):
                bodies[provider]["x-amzn-errortype"] = headers["x-amzn-errortype"]
    golden = HERE / "cases" / "error_bodies.json"
    assert bodies == json.loads(golden.read_text(encoding="utf-8"))


ROUTES = [f"{name}/{wire}" for name, provider in PROVIDERS.items() for wire in provider.wires if wire in OPENING]
MODELS = {
    "mistral": "mistral-large-latest",
    "deepseek": "deepseek-v4-pro",
    "google": "gemini-3-pro",
    "cerebras": "gpt-oss-120b",
    "moonshot": "kimi-k2-thinking",
    "bedrock": "us.anthropic.claude-sonnet-4-5-v1:0",
    "ollama": "llama3.3",
}
WIRE_MODELS = {"anthropic": "claude-opus-4-5", "responses": "gpt-5", "chat": "gpt-4.1"}


def model_for(where: str) -> str:
    provider, wire = route(where)
    return MODELS.get(provider) or WIRE_MODELS[wire]


@pytest.mark.parametrize("where", ROUTES)
def test_the_server_accepts_its_own_replies(server: StrictServer, where: str) -> None:
    """Text, a tool call, its result, text: each reply goes back unchanged, as clients do."""
    wire, model = route(where).wire, model_for(where)
    body = {"model": model, **OPENING[wire]("Hi")}
    for text in ('Please call ls {"path": "."}', "unused", "Thanks"):
        status, _, raw = post(server, path_of(where, model), body)
        assert status == 200, raw
        body = proceed(wire, body, json.loads(raw), text)
    assert post(server, path_of(where, model), body)[0] == 200
    assert len(server.accepted) == 4


@pytest.mark.parametrize("model", ["claude-sonnet-4-5", "claude-opus-4-8", "claude-opus-5-5"])
def test_replayed_thinking_is_accepted_until_it_is_touched(server: StrictServer, model: str) -> None:
    kind = "adaptive" if model > "claude-opus" else "enabled"
    body = {"model": model, "system": "Short.", "thinking": {"type": kind}, **OPENING["anthropic"]("Please call ls")}
    reply = json.loads(post(server, "/anthropic/v1/messages", body)[2])
    body = proceed("anthropic", body, reply, "")
    assert check("anthropic", model, body) is None
    changed = json.loads(json.dumps(body))
    changed["messages"][1]["content"][0]["thinking"] += " Not."
    assert "anthropic-thinking-modified" in {refusal.entry_id for refusal in refusals("anthropic", changed)}
    other_system = check("anthropic", model, {**body, "system": "Long."})
    bound = "anthropic-thinking-bound-to-prefix" if model == "claude-opus-5-5" else None
    assert (other_system and other_system.entry_id) == bound


def test_reasoning_items_must_stay_with_their_calls(server: StrictServer) -> None:
    body = {"model": "gpt-5", **OPENING["responses"]("Please call ls")}
    reply = json.loads(post(server, "/openai/v1/responses", body)[2])
    kept = proceed("responses", body, reply, "")
    without = {**kept, "input": [item for item in kept["input"] if item.get("type") != "reasoning"]}
    assert [refusal.entry_id for refusal in refusals("openai/responses", without)] == [
        "responses-item-without-reasoning"
    ]


@pytest.mark.parametrize("where", [name for name in ROUTES if route(name).wire in ("chat", "anthropic", "responses")])
def test_streams_carry_the_same_reply(server: StrictServer, where: str) -> None:
    wire, model = route(where).wire, model_for(where)
    body = {"model": model, "stream": True, **OPENING[wire]("Hi")}
    status, headers, raw = post(server, path_of(where, model), body)
    assert (status, headers["content-type"].split(";")[0]) == (
        200,
        _CONTENT_TYPES.get(route(where).provider, "text/event-stream"),
    )
    if headers["content-type"] == "text/event-stream":
        events = [json.loads(line[6:]) for line in raw.decode().splitlines() if line.startswith("data: {")]
        assert "".join(_TEXTS[wire](event) for event in events) == server.reply


_CONTENT_TYPES = {"bedrock-invoke": "application/vnd.amazon.eventstream"}
_TEXTS: dict[str, Callable[[Any], str]] = {
    "chat": lambda event: event["choices"][0]["delta"].get("content") or "",
    "anthropic": lambda event: event.get("delta", {}).get("text", ""),
    "responses": lambda event: event["delta"] if event["type"] == "response.output_text.delta" else "",
    "gemini": lambda event: event["candidates"][0]["content"]["parts"][0]["text"],
}


def test_gemini_streams(server: StrictServer) -> None:
    path = "/google/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse"
    status, _, raw = post(server, path, OPENING["gemini"]("Hi"))
    events = [json.loads(line[6:]) for line in raw.decode().splitlines() if line]
    assert (status, "".join(map(_TEXTS["gemini"], events))) == (200, server.reply)


def test_bedrock_streams_in_frames_with_valid_checksums(server: StrictServer) -> None:
    path = "/bedrock/model/amazon.nova-pro-v1:0/converse-stream"
    _, headers, raw = post(server, path, OPENING["bedrock"]("Hi"))
    assert headers["content-type"] == "application/vnd.amazon.eventstream"
    texts = [json.loads(payload)["delta"]["text"] for name, payload in _frames(raw) if name == "contentBlockDelta"]
    assert "".join(texts) == server.reply


def _frames(raw: bytes) -> Iterator[tuple[str, bytes]]:
    while raw:
        total, headers, prelude = struct.unpack(">III", raw[:12])
        assert prelude == zlib.crc32(raw[:8])
        assert struct.unpack(">I", raw[total - 4 : total])[0] == zlib.crc32(raw[: total - 4])
        name = re.search(rb":event-type\x07..(\w+)", raw[12 : 12 + headers])
        assert name is not None
        yield name[1].decode(), raw[12 + headers : total - 4]
        raw = raw[total:]


def test_exchanges_are_recorded_from_many_threads(server: StrictServer) -> None:
    good: dict[str, Any] = OPENING["chat"]("Hi")
    bad: dict[str, Any] = {"messages": []}
    with ThreadPoolExecutor(8) as pool:
        answers = pool.map(lambda n: post(server, "/openai/v1/chat/completions", good if n % 2 else bad)[0], range(40))
        assert sorted(answers) == [200] * 20 + [400] * 20
    assert (len(server.accepted), len(server.refused)) == (20, 20)
    assert {exchange.refusal.entry_id for exchange in server.refused if exchange.refusal} == {"empty-messages-array"}
    server.clear()
    assert server.exchanges == []


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/nobody/v1/messages", {}, 404),
        ("/openai/v1/embeddings", {}, 404),
        ("/anthropic/v1/messages", [], 400),
    ],
)
def test_what_no_provider_serves_is_not_recorded(server: StrictServer, path: str, body: Any, status: int) -> None:
    assert post(server, path, body)[0] == status
    assert server.exchanges == []


def test_urls_are_those_that_the_official_clients_take(server: StrictServer) -> None:
    ends = {
        where: server.url(where).removeprefix(server.origin) for where in ("anthropic", "openai", "mistral", "google")
    }
    assert ends == {"anthropic": "/anthropic", "openai": "/openai/v1", "mistral": "/mistral", "google": "/google"}
