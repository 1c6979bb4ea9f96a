"""Models behind real client libraries against the strict server."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from agent_runs import OWNER, PATHS, stream
from poisoned import FOREIGN_ID
from strict_server import StrictServer

from historycompat import Ruleset
from historycompat.agent import Aborted, Agent, Memory
from historycompat.agent.errors import AgentError
from historycompat.agent.models.port import LanguageModel, ModelRequest, Settings, ToolSpec
from historycompat.agent.parts import (
    AnswerFinish,
    File,
    ModelPart,
    Reasoning,
    ResponseInfo,
    TextDelta,
    ToolCall,
    ToolResult,
)
from historycompat.processors.transient import client_says_retry
from historycompat.runtime.error_view import ErrorView

pytestmark = pytest.mark.integration

try:
    import openai
    from pydantic_ai.messages import (
        BinaryContent,
        FilePart,
        ModelResponse,
        NativeToolCallPart,
        NativeToolReturnPart,
        ThinkingPart,
    )
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.models.bedrock import BedrockConverseModel
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.models.mistral import MistralModel
    from pydantic_ai.providers.anthropic import AnthropicProvider
    from pydantic_ai.providers.bedrock import BedrockProvider
    from pydantic_ai.providers.google import GoogleProvider
    from pydantic_ai.providers.mistral import MistralProvider
except ImportError as error:
    pytest.skip(f"not in an environment with the client libraries ({error})", allow_module_level=True)
else:
    from historycompat.agent.models.openai import OpenAIModel
    from historycompat.agent.models.pydantic_ai import PydanticAIModel
    from historycompat.agent.models.pydantic_answers import parts_of
    from historycompat.agent.models.resolve import resolve

REPLY = "All good now."
CITY = {"city": "Rome"}
WEATHER = ToolSpec("weather", "The weather of a city.", {"type": "object", "properties": {"city": {"type": "string"}}})
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
SYSTEM = {"role": "system", "content": "Be brief."}

Make = Callable[[str], Any]


def _openai(provider: str, model: str) -> Make:
    """As it is: what a provider refuses is sent."""

    return lambda origin: OpenAIModel(
        model, base_url=f"{origin}/{provider}/v1", api_key="any", provider=provider, rules=Ruleset()
    )


def _anthropic(origin: str) -> PydanticAIModel:
    provider = {"api_key": "any", "base_url": f"{origin}/anthropic"}
    return PydanticAIModel(lambda: AnthropicModel("claude-sonnet-4-6", provider=AnthropicProvider(**provider)))


def _google(origin: str) -> PydanticAIModel:
    provider = {"api_key": "any", "base_url": f"{origin}/google"}
    return PydanticAIModel(lambda: GoogleModel("gemini-2.5-pro", provider=GoogleProvider(**provider)))


def _bedrock(origin: str) -> PydanticAIModel:
    keys = {"aws_access_key_id": "any", "aws_secret_access_key": "any", "region_name": "us-east-1"}
    provider = {**keys, "base_url": f"{origin}/bedrock"}
    return PydanticAIModel(
        lambda: BedrockConverseModel("anthropic.claude-sonnet-4-6", provider=BedrockProvider(**provider))
    )


def _mistral(origin: str) -> PydanticAIModel:
    provider = {"api_key": "any", "base_url": f"{origin}/mistral"}
    return PydanticAIModel(lambda: MistralModel("mistral-large-latest", provider=MistralProvider(**provider)))


MODELS: dict[str, Make] = {
    "openai": _openai("openai", "gpt-4o"),
    "deepseek": _openai("deepseek", "deepseek-reasoner"),
    "anthropic": _anthropic,
    "google": _google,
    "bedrock": _bedrock,
    "mistral": _mistral,
}
every_model = pytest.mark.parametrize("name", MODELS)
THINKING = {
    "anthropic": {"thinking": {"type": "enabled", "budgetTokens": 1024}},
    "google": {"thinkingConfig": {"includeThoughts": True}},
    "bedrock": {"additionalModelRequestsFields": {"thinking": {"type": "enabled", "budget_tokens": 1024}}},
}


@pytest.fixture
def server() -> Iterator[StrictServer]:
    with StrictServer(REPLY) as running:
        yield running


@asynccontextmanager
async def model_of(name: str, origin: str) -> AsyncIterator[Any]:
    model = MODELS[name](origin)
    try:
        yield model
    finally:
        await model.aclose()


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "text", "text": text}]}


async def both(model: LanguageModel, request: ModelRequest) -> tuple[list[ModelPart], list[ModelPart]]:
    """The answer at once, and as a stream each of whose pieces is waited for by another task, as an agent may do."""
    stream, pieces = model.stream(request), []
    while (piece := await asyncio.ensure_future(anext(stream, None))) is not None:  # type: ignore[arg-type]
        pieces.append(piece)
    return list(await model.generate(request)), pieces


def of(kind: type[Any], parts: list[ModelPart]) -> list[Any]:
    return [part for part in parts if isinstance(part, kind)]


def answered(parts: list[ModelPart]) -> dict[str, Any]:
    """What was said, as a message of the prompt."""
    content: list[dict[str, Any]] = []
    if thoughts := of(Reasoning, parts):
        options = [thought.provider_options for thought in thoughts if thought.provider_options]
        thought = {"type": "reasoning", "text": "".join(thought.text for thought in thoughts)}
        content.append({**thought, **({"providerOptions": options[0]} if options else {})})
    if text := "".join(part.text for part in of(TextDelta, parts)):
        content.append({"type": "text", "text": text})
    for call in of(ToolCall, parts):
        part = {"type": "tool-call", "toolCallId": call.tool_call_id, "toolName": call.tool_name, "input": call.input}
        content.append({**part, **({"providerOptions": call.provider_options} if call.provider_options else {})})
    return {"role": "assistant", "content": content}


def returned(parts: list[ModelPart], output: Any) -> dict[str, Any]:
    result = {"type": "tool-result", "output": {"type": "json", "value": output}}
    calls = of(ToolCall, parts)
    content = [{**result, "toolCallId": call.tool_call_id, "toolName": call.tool_name} for call in calls]
    return {"role": "tool", "content": content}


@every_model
async def test_a_text_comes_at_once_and_word_by_word(name: str, server: StrictServer) -> None:
    async with model_of(name, server.origin) as model:
        whole, pieces = await both(model, ModelRequest([SYSTEM, user("hi")]))
    assert [part.text for part in of(TextDelta, pieces)] == ["All ", "good ", "now."]
    assert [part.text for part in of(TextDelta, whole)] == [REPLY]
    for parts in (whole, pieces):
        [info], last = of(ResponseInfo, parts), parts[-1]
        assert info.model_id == model.model_id
        assert isinstance(last, AnswerFinish)
        assert (last.finish_reason, last.usage.output_tokens) == ("stop", 4)
        assert last.usage.input_tokens > 0
    assert len(server.accepted) == 2
    assert server.accepted[0].stream
    assert "Be brief." in json.dumps(server.exchanges[0].body)


# The strict server streams calls to Mistral as OpenAI does, which Mistral's client cannot read.
@pytest.mark.parametrize("name", [name for name in MODELS if name != "mistral"])
async def test_a_tool_is_called_and_its_result_sent(name: str, server: StrictServer) -> None:
    question = user(f"call weather {json.dumps(CITY)}")
    async with model_of(name, server.origin) as model:
        for parts in await both(model, ModelRequest([question], [WEATHER])):
            [call], last = of(ToolCall, parts), parts[-1]
            assert (call.tool_name, call.input) == ("weather", CITY)
            assert isinstance(last, AnswerFinish)
            assert last.finish_reason == "tool-calls"
            prompt = [question, answered(parts), returned(parts, {"sky": "clear"})]
            answer = await model.generate(ModelRequest(prompt, [WEATHER]))
            assert "".join(part.text for part in of(TextDelta, list(answer))) == REPLY
    assert len(server.accepted) == 4
    assert "clear" in json.dumps(server.exchanges[-1].body)


@pytest.mark.parametrize("name", ["deepseek", "anthropic", "google", "bedrock"])
async def test_reasoning_and_its_signature_are_kept_over_turns(name: str, server: StrictServer) -> None:
    question = user(f"call weather {json.dumps(CITY)}")
    async with model_of(name, server.origin) as model:
        for parts in await both(model, ModelRequest([question], [WEATHER], provider_options=THINKING)):
            thoughts = of(Reasoning, parts)
            assert "".join(thought.text for thought in thoughts) == "The user wants an answer."
            assert [thought.end for thought in thoughts] == [False] * (len(thoughts) - 1) + [True]
            prompt = [question, answered(parts), returned(parts, "clear"), user("thanks")]
            await model.generate(ModelRequest(prompt, [WEATHER], provider_options=THINKING))
            sent = json.dumps(server.exchanges[-1].body)
            options = [part.provider_options for part in (*thoughts, *of(ToolCall, parts)) if part.provider_options]
            proofs = [proof for each in options for proof in next(iter(each.values())).values()]
            assert len(proofs) == (name != "deepseek")
            assert all(proof in sent for proof in proofs)
            assert name == "google" or "The user wants an answer." in sent
    assert len(server.accepted) == 4


STRUCTURED: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "openai": (
        lambda body: body["response_format"],
        {"type": "json_schema", "json_schema": {"name": "answer", "schema": SCHEMA}},
    ),
    "deepseek": (lambda body: body["response_format"], {"type": "json_object"}),
    "anthropic": (lambda body: body["output_config"]["format"]["schema"]["required"], ["city"]),
    "google": (lambda body: body["generationConfig"]["responseMimeType"], "application/json"),
    "bedrock": (lambda body: body["outputConfig"]["textFormat"]["type"], "json_schema"),
    "mistral": (lambda body: "JSON object" in body["messages"][0]["content"], True),
}


@every_model
async def test_a_schema_is_sent_and_the_answer_is_text(name: str, server: StrictServer) -> None:
    server.reply = json.dumps(CITY)
    async with model_of(name, server.origin) as model:
        for parts in await both(model, ModelRequest([user("where?")], output_schema=SCHEMA)):
            assert json.loads("".join(part.text for part in of(TextDelta, parts))) == CITY
            assert of(ToolCall, parts) == []
        place, expected = STRUCTURED[name]
        assert place(server.exchanges[-1].body) == expected
        assert '"required"' in json.dumps(server.exchanges[-1].body).replace('\\"', '"'), "the schema itself"
        await model.generate(ModelRequest([user("where?")], [WEATHER], output_schema=SCHEMA))
    assert len(server.accepted) == 3


SETTINGS = Settings(temperature=0.5, max_tokens=2000, top_p=0.9, stop_sequences=["END"], headers={"x-trace": "1"})
SENT: dict[str, tuple[str | None, dict[str, Any]]] = {
    "openai": (None, {"temperature": 0.5, "max_completion_tokens": 2000, "top_p": 0.9, "stop": ["END"]}),
    "deepseek": (None, {"temperature": 0.5, "max_tokens": 2000, "top_p": 0.9, "stop": ["END"]}),
    "anthropic": (None, {"temperature": 0.5, "max_tokens": 2000, "stop_sequences": ["END"]}),
    "google": ("generationConfig", {"temperature": 0.5, "maxOutputTokens": 2000, "topP": 0.9, "stopSequences": ["END"]}),
    "bedrock": ("inferenceConfig", {"temperature": 0.5, "maxTokens": 2000, "topP": 0.9, "stopSequences": ["END"]}),
    "mistral": (None, {"temperature": 0.5, "max_tokens": 2000, "top_p": 0.9, "stop": ["END"]}),
}  # fmt: skip
CHOICES: dict[str, dict[Any, Any]] = {
    "openai": {
        "none": "none",
        "required": "required",
        "weather": {"type": "function", "function": {"name": "weather"}},
    },
    "anthropic": {"none": {"type": "none"}, "required": {"type": "any"}, "weather": {"type": "tool", "name": "weather"}},
}  # fmt: skip


@every_model
async def test_settings_reach_the_provider(name: str, server: StrictServer) -> None:
    async with model_of(name, server.origin) as model:
        [info, *_] = await model.generate(ModelRequest([user("hi")], settings=SETTINGS))
    assert [warning.partition(" ")[0] for warning in info.warnings] == (["headers"] if name == "mistral" else [])
    place, expected = SENT[name]
    body = server.exchanges[0].body
    assert expected.items() <= (body if place is None else body[place]).items()


@pytest.mark.parametrize("name", CHOICES)
async def test_the_choice_of_a_tool_reaches_the_provider(name: str, server: StrictServer) -> None:
    async with model_of(name, server.origin) as model:
        for choice, expected in CHOICES[name].items():
            asked: Any = {"type": "tool", "tool_name": choice} if choice == "weather" else choice
            await model.generate(ModelRequest([user("hi")], [WEATHER, replace(WEATHER, name="tides")], asked))
            assert server.exchanges[-1].body["tool_choice"] == expected


async def test_options_of_the_provider_join_the_body(server: StrictServer) -> None:
    options = {"openai": {"reasoningEffort": "low", "metadata": {"orderId": "1"}}, "anthropic": {"thinking": {}}}
    async with model_of("openai", server.origin) as model:
        request = ModelRequest([user("hi")], settings=Settings(top_k=3), provider_options=options)
        for parts in await both(model, request):
            assert of(ResponseInfo, parts)[0].warnings == ("top_k is no setting of chat completions: it was left out",)
    body = server.exchanges[0].body
    assert (body["reasoning_effort"], body["metadata"]) == ("low", {"orderId": "1"})
    assert "top_k" not in body
    assert "thinking" not in body


# Refusals and failures


def foreign() -> list[Any]:
    """A history with what each provider refuses: an id that is no id there, or a call without result."""
    call = {"type": "tool-call", "toolCallId": FOREIGN_ID, "toolName": "bash", "input": {}}
    return [user("list the files"), {"role": "assistant", "content": [call]}, user("open it")]


@every_model
async def test_a_refusal_arrives_whole_and_once(name: str, server: StrictServer) -> None:
    async with model_of(name, server.origin) as model:
        request = ModelRequest(foreign())
        for attempt in (model.generate(request), anext(model.stream(request))):
            server.clear()
            with pytest.raises(Exception) as caught:  # noqa: PT011
                await attempt
            [exchange] = server.refused
            assert exchange.refusal is not None
            view = ErrorView.of(caught.value)
            assert view.status == exchange.refusal.status == 400
            assert exchange.refusal.message in view.texts
            assert not client_says_retry(caught.value)


class Busy(BaseHTTPRequestHandler):
    """A provider that is overloaded."""

    def do_POST(self) -> None:
        self.server.asked += 1  # type: ignore[attr-defined]
        self.rfile.read(int(self.headers.get("content-length") or 0))
        body = b'{"error": {"message": "overloaded", "code": 503, "status": "UNAVAILABLE"}}'
        self.send_response(503)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: Any) -> None:
        """Says nothing."""


@contextmanager
def busy() -> Iterator[Any]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Busy) as http:
        http.asked = 0  # type: ignore[attr-defined]
        thread = threading.Thread(target=http.serve_forever, args=(0.02,))
        thread.start()
        yield http
        http.shutdown()
        thread.join()


@every_model
async def test_no_client_retries_by_itself_and_each_says_what_may_pass(name: str) -> None:
    with busy() as http:
        async with model_of(name, f"http://127.0.0.1:{http.server_address[1]}") as model:
            for attempt in (
                model.generate(ModelRequest([user("hi")])),
                anext(model.stream(ModelRequest([user("hi")]))),
            ):
                asked = http.asked
                with pytest.raises(Exception) as caught:  # noqa: PT011
                    await attempt
                assert http.asked == asked + 1
                assert ErrorView.of(caught.value).status == 503
                assert client_says_retry(caught.value)


@every_model
async def test_a_server_that_is_not_there_may_come_back(name: str) -> None:
    async with model_of(name, "http://127.0.0.1:9") as model:
        for attempt in (model.generate(ModelRequest([user("hi")])), anext(model.stream(ModelRequest([user("hi")])))):
            with pytest.raises(Exception) as caught:  # noqa: PT011
                await attempt
            assert client_says_retry(caught.value)


async def test_a_history_that_pydantic_ai_cannot_hold_is_told(server: StrictServer) -> None:
    async with model_of("anthropic", server.origin) as model:
        nameless = {"role": "assistant", "content": [{"type": "tool-call", "toolCallId": "1", "input": {}}]}
        with pytest.raises(AgentError, match=r"^AGENT_BAD_MESSAGES.*no place for this history"):
            await model.generate(ModelRequest([user("hi"), nameless]))
    assert server.exchanges == []


# Connections


@pytest.mark.parametrize("name", sorted(MODELS.keys() - {"google"}))  # google-genai 2.34 closes it when it is collected
async def test_a_stream_that_is_left_early_closes_its_connection(name: str, server: StrictServer) -> None:
    server.reply = "word " * 200_000  # more than the buffers of a connection take
    broken = threading.Event()
    server._http.handle_error = lambda request, address: broken.set()  # type: ignore[method-assign]
    async with model_of(name, server.origin) as model:
        stream = model.stream(ModelRequest([user("hi")]))
        heard = [await asyncio.ensure_future(anext(stream)) for _ in range(3)]
        await asyncio.ensure_future(stream.aclose())
        assert of(TextDelta, heard) or of(Reasoning, heard)
        assert await asyncio.to_thread(broken.wait, 5), "the server could write all of it"


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("name", ["openai", "anthropic"])
@pytest.mark.parametrize("way", ["left", "aborted", "cancelled"])
async def test_a_run_that_is_stopped_closes_its_connection_and_keeps_what_was_said(
    way: str, name: str, path: Any, server: StrictServer
) -> None:
    server.reply = "word " * 200_000
    broken, heard, signal, memory = threading.Event(), asyncio.Event(), asyncio.Event(), Memory(":memory:")
    server._http.handle_error = lambda request, address: broken.set()  # type: ignore[method-assign]

    async def read() -> None:
        run = stream(Agent(model=model, memory=memory), "hi", path, memory=OWNER, abort_signal=signal)
        async with run as result:
            async for _ in result.text_stream:
                heard.set()
                if way == "left":
                    return

    async with model_of(name, server.origin) as model:
        model.specification_version = "v1" if path == "legacy" else "v2"
        reader = asyncio.create_task(read())
        await asyncio.wait_for(heard.wait(), 5)
        if way == "aborted":
            signal.set()
        elif way == "cancelled":
            reader.cancel()
        with suppress(asyncio.CancelledError, Aborted):
            await reader
        assert await asyncio.to_thread(broken.wait, 5), "the server could write all of it"
    assert "word " in str(await memory.messages("t1"))


@every_model
def test_a_model_serves_several_event_loops(name: str, server: StrictServer) -> None:
    model = MODELS[name](server.origin)

    async def ask() -> Any:
        parts = await model.generate(ModelRequest([user("hi")]))
        await model.aclose()
        await model.aclose()
        return of(TextDelta, list(parts))[0].text

    assert [asyncio.run(ask()) for _ in range(2)] == [REPLY] * 2


async def test_a_given_client_is_used_and_left_open(server: StrictServer) -> None:
    async with openai.AsyncOpenAI(api_key="any", base_url=server.url("openai"), max_retries=5) as client:
        model = OpenAIModel("gpt-4o", client=client, headers={"x-team": "a"})
        await model.generate(ModelRequest([user("hi")]))
        await model.aclose()
        await model.generate(ModelRequest([user("hi")]))
    assert len(server.accepted) == 2


# Names


async def test_a_name_is_resolved_to_a_model_that_answers(
    server: StrictServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GROQ_API_KEY", "any")
    monkeypatch.setenv("GROQ_BASE_URL", f"{server.origin}/groq/v1")
    model: Any = resolve("groq/llama-3.3-70b-versatile", "v1")
    assert model is resolve("Groq/llama-3.3-70b-versatile", "v1")
    assert (model.provider, model.model_id) == ("groq", "llama-3.3-70b-versatile")
    parts = list(await model.generate(ModelRequest([SYSTEM, user("hi")])))
    await model.aclose()
    assert "".join(part.text for part in of(TextDelta, parts)) == REPLY


def test_names_of_providers_with_their_own_wire_are_those_of_pydantic_ai(monkeypatch: pytest.MonkeyPatch) -> None:
    for provider, variable in {"anthropic": "ANTHROPIC", "google": "GEMINI", "mistral": "MISTRAL"}.items():
        monkeypatch.setenv(f"{variable}_API_KEY", "any")
        model = resolve(f"{provider}/some-model")
        assert isinstance(model, PydanticAIModel)
        assert (model.provider, model.model_id, model.specification_version) == (provider, "some-model", "v2")


# Parts that the strict server does not send

NATIVE: dict[str, tuple[Any, list[ModelPart]]] = {
    "redacted thinking": (
        ThinkingPart("", id="redacted_thinking", signature="x", provider_name="anthropic"),
        [Reasoning("", {"anthropic": {"redactedData": "x"}}, end=True)],
    ),
    "a call of the provider": (
        NativeToolCallPart("web_search", {"q": "a"}, tool_call_id="1", provider_name="anthropic"),
        [ToolCall("1", "web_search", {"q": "a"}, provider_executed=True)],
    ),
    "a result of the provider": (
        NativeToolReturnPart("web_search", ["b"], tool_call_id="1", provider_name="anthropic"),
        [ToolResult("1", "web_search", None, ["b"], provider_executed=True)],
    ),
    "a file": (FilePart(BinaryContent(b"abc", media_type="image/png")), [File("YWJj", "image/png")]),
}


@pytest.mark.parametrize("name", NATIVE)
def test_parts_of_pydantic_ai_are_read(name: str) -> None:
    part, expected = NATIVE[name]
    assert list(parts_of(ModelResponse([part], provider_name="anthropic"), part)) == expected
