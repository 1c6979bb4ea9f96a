"""Real client libraries with one added line against the strict server."""

from __future__ import annotations

import asyncio
import gzip
import json
import logging
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest
from poisoned import ALIAS, ANTHROPIC, FOREIGN_ID, OPENAI, anthropic_history, openai_history
from strict_server import StrictServer

from historycompat import Outcome, Ruleset, apply
from historycompat.session import Session

pytestmark = pytest.mark.integration

try:
    import anthropic
    import httpx
    import httpx2
    import openai
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
except ImportError as error:
    pytest.skip(f"not in an environment with the client libraries ({error})", allow_module_level=True)
else:
    from historycompat.integrations.anthropic import HistoryCompatMiddleware
    from historycompat.integrations.transport import HistoryCompatTransport

REPLY = "All good now."
LIBRARIES = [httpx, httpx2]
every_library = pytest.mark.parametrize("library", LIBRARIES, ids=lambda library: library.__name__)


@pytest.fixture
def server() -> Iterator[StrictServer]:
    with StrictServer(REPLY) as running:
        yield running


def statuses(server: StrictServer) -> list[int]:
    return [exchange.status for exchange in server.exchanges]


# openai, through a transport of either library


def openai_client(server: StrictServer, library: Any, **options: Any) -> openai.OpenAI:
    http_client = library.Client(transport=HistoryCompatTransport(**options))
    return openai.OpenAI(api_key="any", base_url=f"{server.origin}/mistral/v1", http_client=http_client)


def async_openai_client(server: StrictServer, library: Any, **options: Any) -> openai.AsyncOpenAI:
    http_client = library.AsyncClient(transport=HistoryCompatTransport(**options))
    return openai.AsyncOpenAI(api_key="any", base_url=f"{server.origin}/mistral/v1", http_client=http_client)


async def openai_sync(server: StrictServer, library: Any, messages: Any, **options: Any) -> str | None:
    with openai_client(server, library, **options) as client:
        return client.chat.completions.create(model=ALIAS, messages=messages).choices[0].message.content


async def openai_sync_stream(server: StrictServer, library: Any, messages: Any, **options: Any) -> str | None:
    with openai_client(server, library, **options) as client:
        chunks = client.chat.completions.create(model=ALIAS, messages=messages, stream=True)
        return "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)


async def openai_async(server: StrictServer, library: Any, messages: Any, **options: Any) -> str | None:
    async with async_openai_client(server, library, **options) as client:
        return (await client.chat.completions.create(model=ALIAS, messages=messages)).choices[0].message.content


async def openai_async_stream(server: StrictServer, library: Any, messages: Any, **options: Any) -> str | None:
    async with async_openai_client(server, library, **options) as client:
        chunks = await client.chat.completions.create(model=ALIAS, messages=messages, stream=True)
        return "".join([chunk.choices[0].delta.content or "" async for chunk in chunks if chunk.choices])


# anthropic, through its middleware


def anthropic_client(server: StrictServer, **options: Any) -> anthropic.Anthropic:
    middleware = [HistoryCompatMiddleware(**options)]
    return anthropic.Anthropic(api_key="any", base_url=server.url("anthropic"), middleware=middleware)


def async_anthropic_client(server: StrictServer, **options: Any) -> anthropic.AsyncAnthropic:
    middleware = [HistoryCompatMiddleware(**options)]
    return anthropic.AsyncAnthropic(api_key="any", base_url=server.url("anthropic"), middleware=middleware)


async def anthropic_sync(server: StrictServer, messages: Any, **options: Any) -> str:
    with anthropic_client(server, **options) as client:
        return client.messages.create(model=ALIAS, max_tokens=9, messages=messages).content[0].text  # type: ignore


async def anthropic_sync_raw_stream(server: StrictServer, messages: Any, **options: Any) -> str:
    with anthropic_client(server, **options) as client:
        events = client.messages.create(model=ALIAS, max_tokens=9, messages=messages, stream=True)
        return "".join(event.delta.text for event in events if event.type == "content_block_delta")  # type: ignore


async def anthropic_sync_stream(server: StrictServer, messages: Any, **options: Any) -> str:
    with (
        anthropic_client(server, **options) as client,
        client.messages.stream(model=ALIAS, max_tokens=9, messages=messages) as stream,
    ):
        return "".join(stream.text_stream)


async def anthropic_async(server: StrictServer, messages: Any, **options: Any) -> str:
    async with async_anthropic_client(server, **options) as client:
        answer = await client.messages.create(model=ALIAS, max_tokens=9, messages=messages)
        return answer.content[0].text  # type: ignore


async def anthropic_async_stream(server: StrictServer, messages: Any, **options: Any) -> str:
    async with (
        async_anthropic_client(server, **options) as client,
        client.messages.stream(model=ALIAS, max_tokens=9, messages=messages) as stream,
    ):
        return "".join([text async for text in stream.text_stream])


async def anthropic_beta(server: StrictServer, messages: Any, **options: Any) -> str:
    async with async_anthropic_client(server, **options) as client:
        answer = await client.beta.messages.create(model=ALIAS, max_tokens=9, messages=messages)
        return answer.content[0].text  # type: ignore


async def anthropic_transport(server: StrictServer, messages: Any, **options: Any) -> str:
    http_client = anthropic.DefaultHttpxClient(transport=HistoryCompatTransport(**options))
    with anthropic.Anthropic(api_key="any", base_url=server.url("anthropic"), http_client=http_client) as client:
        return client.messages.create(model=ALIAS, max_tokens=9, messages=messages).content[0].text  # type: ignore


Client = Callable[..., Awaitable[str | None]]


def _with(library: Any, call: Callable[..., Awaitable[str | None]]) -> Client:
    return lambda server, messages, **options: call(server, library, messages, **options)


OPENAI_CALLS = (openai_sync, openai_sync_stream, openai_async, openai_async_stream)
ANTHROPIC_CALLS = (
    anthropic_sync,
    anthropic_sync_raw_stream,
    anthropic_sync_stream,
    anthropic_async,
    anthropic_async_stream,
    anthropic_beta,
    anthropic_transport,
)
# Before version 3 the openai package takes httpx only.
TAKEN = [library for library in LIBRARIES if library is httpx or int(openai.__version__.partition(".")[0]) >= 3]
CLIENTS: dict[str, tuple[Client, Callable[[], list[Any]]]] = {
    **{
        f"{call.__name__} {library.__name__}": (_with(library, call), openai_history)
        for call in OPENAI_CALLS
        for library in TAKEN
    },
    **{call.__name__: (call, anthropic_history) for call in ANTHROPIC_CALLS},
}
every_client = pytest.mark.parametrize("name", CLIENTS)


@every_client
async def test_one_added_line_and_the_history_is_accepted(name: str, server: StrictServer) -> None:
    send, history = CLIENTS[name]
    messages, kept = history(), history()
    assert await send(server, messages) == REPLY
    assert statuses(server) == [400, 200], "one refusal, one repair"
    assert messages == kept, "the caller's list was changed"
    first, second = server.exchanges
    assert FOREIGN_ID in json.dumps(first.body)
    assert FOREIGN_ID not in json.dumps(second.body)
    assert {**first.body, "messages": 0} == {**second.body, "messages": 0}, "more than messages was changed"


@every_client
async def test_a_known_model_is_right_the_first_time(name: str, server: StrictServer) -> None:
    send, history = CLIENTS[name]
    model = "mistral/mistral-large-latest" if "openai" in name else "anthropic/claude-sonnet-4-5"
    assert await send(server, history(), model=model) == REPLY
    assert statuses(server) == [200]


@every_client
async def test_an_error_that_no_rule_knows_comes_as_it_was(name: str, server: StrictServer) -> None:
    send, history = CLIENTS[name]
    expected: Any = openai.BadRequestError if "openai" in name else anthropic.BadRequestError
    with pytest.raises(expected) as caught:
        await send(server, history(), rules=Ruleset())
    assert statuses(server) == [400]
    refusal = server.refused[0].refusal
    assert refusal is not None
    assert refusal.message in str(caught.value)
    assert json.loads(caught.value.response.text) == refusal.body


@every_client
async def test_a_session_pays_one_refusal_for_a_conversation(name: str, server: StrictServer) -> None:
    send, history = CLIENTS[name]
    session = Session()
    told: list[Outcome] = []
    for _ in range(3):
        assert await send(server, history(), session=session, on_repair=told.append) == REPLY
    assert statuses(server) == [400, 200, 200, 200]
    assert [outcome.stored["messages"] for outcome in told] == [server.exchanges[1].body["messages"]]


def test_without_the_line_a_history_is_refused(server: StrictServer) -> None:
    with (
        openai.OpenAI(api_key="any", base_url=f"{server.origin}/mistral/v1") as client,
        pytest.raises(openai.BadRequestError),
    ):
        client.chat.completions.create(model=ALIAS, messages=OPENAI)  # type: ignore[arg-type]
    with (
        anthropic.Anthropic(api_key="any", base_url=server.url("anthropic")) as other,
        pytest.raises(anthropic.BadRequestError),
    ):
        other.messages.create(model=ALIAS, max_tokens=9, messages=ANTHROPIC)  # type: ignore[arg-type]
    assert statuses(server) == [400, 400]


# Concurrency

CALLS = 1000
AT_ONCE = 64  # connections to a server of threads


async def _ask_all(server: StrictServer, ask: Callable[[list[Any]], Awaitable[Any]], history: Any) -> None:
    """Every call is refused once and accepted once, each with its own question and id."""
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(number: int) -> Any:
        async with gate:
            return await ask(history(f"question {number}", f"call.{number}"))

    await asyncio.gather(*map(one, range(CALLS)))
    seen: dict[str, list[tuple[int, str]]] = {}
    for exchange in server.exchanges:
        messages = exchange.body["messages"]
        called = messages[1].get("tool_calls") or messages[1]["content"]
        seen.setdefault(messages[-1]["content"], []).append((exchange.status, called[0]["id"]))
    assert len(seen) == CALLS
    for number in range(CALLS):
        expected = apply(
            history(foreign=f"call.{number}"),
            model="mistral/mistral-large-latest" if history is openai_history else "anthropic/claude-sonnet-4-5",
        ).messages
        called = expected[1].get("tool_calls") or expected[1]["content"]
        assert seen[f"question {number}"] == [(400, f"call.{number}"), (200, called[0]["id"])]


@pytest.mark.parametrize("library", TAKEN, ids=lambda library: library.__name__)
async def test_a_thousand_concurrent_calls_of_one_transport_do_not_meet(library: Any, server: StrictServer) -> None:
    async with async_openai_client(server, library) as client:
        await _ask_all(
            server, lambda messages: client.chat.completions.create(model=ALIAS, messages=messages), openai_history
        )


async def test_a_thousand_concurrent_calls_of_one_middleware_do_not_meet(server: StrictServer) -> None:
    async with async_anthropic_client(server) as client:
        await _ask_all(
            server,
            lambda messages: client.messages.create(model=ALIAS, max_tokens=9, messages=messages),
            anthropic_history,
        )


# What the transport leaves alone

CLAUDE = {"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": ANTHROPIC}
JSON = {"content-type": "application/json"}

UNTOUCHED: dict[str, tuple[dict[str, str], bytes]] = {
    "signed": ({**JSON, "authorization": "AWS4-HMAC-SHA256 Credential=AKID/..."}, json.dumps(CLAUDE).encode()),
    "bound by a digest": ({**JSON, "content-digest": "sha-256=:x:"}, json.dumps(CLAUDE).encode()),
    "compressed": ({**JSON, "content-encoding": "gzip"}, gzip.compress(json.dumps(CLAUDE).encode())),
    "no JSON": ({"content-type": "text/plain"}, json.dumps(CLAUDE).encode()),
    "broken JSON": (JSON, b'{"messages": ['),
    "nothing to repair": (JSON, b'{"messages":  [{"role":"user","content":"hi"}], "model": "claude-sonnet-4-5"}'),
    "nested too deeply": (JSON, b"[" * 100_000),
}  # fmt: skip


class Recorder:
    """The end of the line: answers from a list of statuses and keeps the requests."""

    def __init__(self, library: Any, *answers: tuple[int, bytes]) -> None:
        self.requests: list[Any] = []
        self.answers = list(answers)
        self.transport = library.MockTransport(self.answer)
        self.library = library

    def answer(self, request: Any) -> Any:
        self.requests.append(request)
        status, data = self.answers.pop(0) if self.answers else (200, b"{}")
        headers = {"content-type": "application/json", "content-encoding": "gzip"}
        return self.library.Response(status, headers=headers, stream=self.library.ByteStream(gzip.compress(data)))


@every_library
@pytest.mark.parametrize("case", UNTOUCHED)
def test_what_cannot_or_need_not_change_goes_through_byte_by_byte(case: str, library: Any) -> None:
    headers, data = UNTOUCHED[case]
    recorder = Recorder(library)
    with library.Client(transport=HistoryCompatTransport(recorder.transport)) as client:
        client.post("https://api.anthropic.com/v1/messages", headers=headers, content=data)
    [request] = recorder.requests
    assert request.content == data


REFUSAL = json.dumps(
    {"error": {"message": "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"}}
).encode()


@every_library
def test_a_rewritten_request_says_its_length_and_keeps_the_rest(library: Any) -> None:
    recorder = Recorder(library, (400, REFUSAL))
    body = {**CLAUDE, "model": ALIAS, "extra": "é\ud800"}
    with library.Client(transport=HistoryCompatTransport(recorder.transport)) as client:
        answer = client.post(
            "https://gateway.example/v1/messages?beta=true",
            headers={**JSON, "x-api-key": "secret", "x-trace": "1"},
            content=json.dumps(body).encode(),
            extensions={"timeout": {"read": 7.0}},
        )
    first, second = recorder.requests
    assert answer.status_code == 200
    assert (second.method, second.url) == (first.method, first.url)
    assert second.headers["content-length"] == str(len(second.content))
    assert {**second.headers, "content-length": ""} == {**first.headers, "content-length": ""}
    assert second.extensions["timeout"] == first.extensions["timeout"]
    sent = json.loads(second.content)
    assert sent["extra"] == body["extra"]
    assert sent["messages"][1]["content"][0]["id"] == "functions_bash_0"


@every_library
def test_a_refusal_reaches_the_client_as_if_unread(library: Any) -> None:
    recorder = Recorder(library, (400, REFUSAL), (400, REFUSAL))
    with library.Client(transport=HistoryCompatTransport(recorder.transport)) as client:
        answer = client.post("https://gateway.example/v1/messages", json={**CLAUDE, "model": ALIAS})
    assert len(recorder.requests) == 2, "one retry and no more"
    assert (answer.status_code, answer.content, answer.headers["content-encoding"]) == (400, REFUSAL, "gzip")
    assert answer.elapsed.total_seconds() >= 0


@every_library
def test_an_accepted_answer_is_not_read(library: Any) -> None:
    """A stream arrives chunk by chunk: the second is made when the first has been seen."""
    made: list[int] = []

    class Chunks(library.SyncByteStream):
        def __iter__(self) -> Iterator[bytes]:
            for number in range(3):
                made.append(number)
                yield b"data: %d\n\n" % number

    transport = HistoryCompatTransport(library.MockTransport(lambda request: library.Response(200, stream=Chunks())))
    with (
        library.Client(transport=transport) as client,
        client.stream("POST", "https://api.anthropic.com/v1/messages", json=CLAUDE) as answer,
    ):
        assert made == []
        chunks = answer.iter_raw()
        assert (next(chunks), made) == (b"data: 0\n\n", [0])
        assert b"".join(chunks) == b"data: 1\n\ndata: 2\n\n"


@every_library
def test_a_failing_connection_is_not_tried_again(library: Any) -> None:
    def fail(request: Any) -> Any:
        tried.append(request)
        raise library.ConnectError("tool_use.id: should match pattern")

    tried: list[Any] = []
    with (
        library.Client(transport=HistoryCompatTransport(library.MockTransport(fail))) as client,
        pytest.raises(library.ConnectError),
    ):
        client.post("https://gateway.example/v1/messages", json={**CLAUDE, "model": ALIAS})
    assert len(tried) == 1


# OpenTelemetry


def test_each_rule_that_fires_is_an_event_of_the_current_span(caplog: pytest.LogCaptureFixture) -> None:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    with caplog.at_level(logging.ERROR), provider.get_tracer("test").start_as_current_span("call"):
        apply(anthropic_history(), model="anthropic/claude-sonnet-4-5")
        apply([{"role": "user", "content": "hi"}], model="anthropic/claude-sonnet-4-5")
    [span] = exporter.get_finished_spans()
    [event] = span.events
    assert event.name == "historycompat.rule"
    assert dict(event.attributes or {}) == {
        "historycompat.rule": "anthropic-tool-id-format",
        "historycompat.phase": "before",
        "historycompat.model": "anthropic/claude-sonnet-4-5",
        "historycompat.edits": 2,
    }
    assert FOREIGN_ID not in span.to_json()
