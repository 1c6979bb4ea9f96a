"""The model in this process that says what a script tells, and the way from a name to a model."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from historycompat.agent.errors import Aborted, AgentError, APICallError
from historycompat.agent.models.chat_answers import ChatAnswer
from historycompat.agent.models.port import LanguageModel, ModelRequest
from historycompat.agent.models.resolve import PROVIDERS, Chat, Direct, resolve
from historycompat.agent.models.scripted import CutOff, Pause, ScriptedModel, Turn
from historycompat.agent.parts import AnswerFinish, Reasoning, ResponseInfo, Source, TextDelta, ToolCall, Usage
from historycompat.models.providers import ALIASES

ASKED = ModelRequest([{"role": "user", "content": [{"type": "text", "text": "How is the weather in Rome?"}]}])
SIGNED = {"anthropic": {"signature": "c2ln"}}
CALL = ToolCall("call_1", "weather", {"city": "Rome"})
BODY = {"type": "error", "error": {"type": "invalid_request_error", "message": "messages.1: no such id"}}


def said(parts: Any) -> list[Any]:
    """The parts without what is made up: ids, and counts of tokens."""
    return [part for part in parts if not isinstance(part, ResponseInfo | AnswerFinish)]


TURNS: dict[str, tuple[Turn, list[Any], str | None]] = {
    "a text": ("It is  sunny.", [TextDelta("It "), TextDelta("is  "), TextDelta("sunny.")], "stop"),
    "nothing": ("", [], "stop"),
    "a part": (CALL, [CALL], "tool-calls"),
    "parts": (
        [Reasoning("hm", SIGNED, end=True), "Let me see.", Pause(0), CALL],
        [Reasoning("hm", SIGNED, end=True), TextDelta("Let "), TextDelta("me "), TextDelta("see."), CALL],
        "tool-calls",
    ),
    "parts with an end": (["Long", AnswerFinish("length")], [TextDelta("Long")], "length"),
    "parts that break off": (["Half a", CutOff()], [TextDelta("Half "), TextDelta("a")], None),
    "a function": (lambda request: f"{len(request.prompt)} message", [TextDelta("1 "), TextDelta("message")], "stop"),
    "data": (
        {"reasoning": "hm", "text": "Well", "tool_calls": [{"name": "weather", "input": {"city": "Rome"}, "id": "call_1"}]},
        [Reasoning("hm"), Reasoning(end=True), TextDelta("Well"), CALL],
        "tool-calls",
    ),
    "data with a signature": (
        {"reasoning": {"text": "hm", "provider_options": SIGNED}, "finish_reason": "content-filter"},
        [Reasoning("hm"), Reasoning("", SIGNED, end=True)],
        "content-filter",
    ),
    "data that breaks off": ({"text": "Half", "cut_off": True}, [TextDelta("Half")], None),
}  # fmt: skip


@pytest.mark.parametrize("name", TURNS)
async def test_a_turn_is_said_in_the_same_pieces_at_once_and_as_a_stream(name: str) -> None:
    turn, expected, reason = TURNS[name]
    model: LanguageModel = ScriptedModel([turn, turn], model_id="small")
    whole = list(await model.generate(ASKED))
    assert whole == [part async for part in model.stream(ASKED)], "equal requests are answered alike"
    assert said(whole) == expected
    assert isinstance(whole[0], ResponseInfo)
    assert whole[0].model_id == "small"
    ends = [part.finish_reason for part in whole if isinstance(part, AnswerFinish)]
    assert ends == ([] if reason is None else [reason])
    assert reason is None or isinstance(whole[-1], AnswerFinish)


async def test_what_is_used_is_estimated_unless_told() -> None:
    model = ScriptedModel(["four", {"text": "four", "usage": {"input_tokens": 7, "output_tokens": 9}}])
    estimated, told = [(await model.generate(ASKED))[-1] for _ in range(2)]
    assert isinstance(estimated, AnswerFinish)
    assert estimated.usage.output_tokens == 1
    assert estimated.usage.input_tokens > 10
    assert told == AnswerFinish("stop", Usage(7, 9))


ERRORS: dict[str, tuple[Any, dict[str, Any]]] = {
    "a body": (
        {"status": 400, "body": BODY},
        {"message": "messages.1: no such id", "status": 400, "body": json.dumps(BODY), "is_retryable": False},
    ),
    "a text": ({"status": 503, "body": "busy"}, {"message": "busy", "body": "busy", "is_retryable": True}),
    "a status": ({"status": 429, "headers": {"retry-after": "1"}}, {"headers": {"retry-after": "1"}, "body": None}),
}


@pytest.mark.parametrize("name", ERRORS)
async def test_an_error_of_plain_data_is_that_of_a_call(name: str) -> None:
    data, expected = ERRORS[name]
    with pytest.raises(APICallError) as caught:
        await ScriptedModel([{"error": data}]).generate(ASKED)
    assert {key: getattr(caught.value, key) for key in expected} == expected


@pytest.mark.parametrize("turn", [["Half ", KeyError("x")], {"text": "Half ", "error": {"status": 500}}])
async def test_an_error_comes_after_what_was_said_before_it(turn: Turn) -> None:
    heard: list[Any] = []
    with pytest.raises((KeyError, APICallError)):
        heard += [heard.append(part) async for part in ScriptedModel([turn]).stream(ASKED)]
    assert said(heard) == [TextDelta("Half ")]


async def test_a_refusal_says_nothing_before() -> None:
    heard: list[Any] = []
    with pytest.raises(ValueError, match=r"^no$"):
        heard += [heard.append(part) async for part in ScriptedModel([ValueError("no")]).stream(ASKED)]
    assert heard == []


async def test_calls_get_ids_that_differ_between_turns_and_calls() -> None:
    calls = {"tool_calls": [{"name": "weather"}, {"name": "weather"}]}
    model = ScriptedModel([calls, calls])
    later = ModelRequest([*ASKED.prompt, {"role": "user", "content": [{"type": "text", "text": "And now?"}]}])
    parts = [*await model.generate(ASKED), *await model.generate(later)]
    ids = [part.tool_call_id for part in parts if isinstance(part, ToolCall)]
    assert len(set(ids)) == 4
    assert all(each.startswith("call_") and len(each) <= 40 for each in ids)


async def test_requests_are_kept_as_they_were() -> None:
    prompt: list[Any] = [{"role": "user", "content": []}]
    signal = asyncio.Event()
    model = ScriptedModel(lambda request: "hi")
    await model.generate(ModelRequest(prompt, abort_signal=signal))
    prompt[0]["content"].append("later")
    assert model.requests == [ModelRequest([{"role": "user", "content": []}], abort_signal=signal)]


WRONG: dict[str, tuple[Any, str]] = {
    "no turn": ([3], "3 is no turn of a script"),
    "a bare text": ("hello", "'hello' is no script"),
    "a misspelt key": ([{"txt": "a"}], "the turn has an unknown key 'txt': did you mean \"text\"?"),
    "a misspelt key of a call": ([{"tool_calls": [{"nam": "a"}]}], 'did you mean "name"?'),
    "a call without name": ([{"tool_calls": [{"input": {}}]}], "has no name"),
    "an error that is none": ([{"error": 400}], "the error 400 is no object of status, body"),
    "an unknown reason": ([{"finish_reason": "tool_calls"}], 'is no finish reason: did you mean "tool-calls"?'),
    "the end": ([], "scripted/scripted is at its end: it has 0 turns and this is request 1"),
}


@pytest.mark.parametrize("name", WRONG)
async def test_what_is_wrong_with_a_script_is_said(name: str) -> None:
    script, expected = WRONG[name]
    with pytest.raises(AgentError, match=r"^AGENT_BAD_OPTION") as caught:
        await ScriptedModel(script).generate(ASKED)
    assert expected in str(caught.value)


# Cancellation


async def test_a_stream_ends_with_its_abort_signal() -> None:
    signal = asyncio.Event()
    stream = ScriptedModel([["one ", Pause(60), "two"]]).stream(ModelRequest([], abort_signal=signal))
    heard = [await anext(stream), await anext(stream)]
    asyncio.get_running_loop().call_later(0.01, signal.set)
    with pytest.raises(Aborted):
        await anext(stream)
    assert said(heard) == [TextDelta("one ")]


async def test_a_stream_can_be_cancelled_and_lets_others_run() -> None:
    turns: list[int] = []

    async def count() -> None:
        while True:
            turns.append(1)
            await asyncio.sleep(0)

    counting = asyncio.create_task(count())
    await ScriptedModel(["a b c d e f"]).generate(ASKED)
    counting.cancel()
    assert len(turns) >= 6
    waiting = asyncio.create_task(ScriptedModel([Pause(60)]).generate(ASKED))
    await asyncio.sleep(0.01)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting


async def test_a_pause_stands_before_each_piece() -> None:
    begun = time.perf_counter()
    await ScriptedModel(["a b"], pause=0.01).generate(ASKED)
    assert time.perf_counter() - begun >= 0.04, "ResponseInfo, two words and AnswerFinish"


# Files

TURNS_OF_FILE = [{"tool_calls": [{"name": "weather", "input": {"city": "Rome"}}]}, "Sunny."]
YAML = """
provider: anthropic
model_id: claude-sonnet-4-5
turns:
  - tool_calls: [{name: weather, input: {city: Rome}}]
  - Sunny.
"""


@pytest.mark.parametrize(
    ("name", "text", "provider"),
    [("a.yaml", YAML, "anthropic"), ("b.json", json.dumps(TURNS_OF_FILE), "scripted")],
)
async def test_a_script_can_be_a_file(name: str, text: str, provider: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    model = ScriptedModel.from_file(path, specification_version="v1")
    assert (model.provider, model.specification_version) == (provider, "v1")
    [call] = said(await model.generate(ASKED))
    assert (call.tool_name, call.input) == ("weather", {"city": "Rome"})
    assert said(await model.generate(ASKED)) == [TextDelta("Sunny.")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (None, "cannot be read"),
        ("[", "is not well-formed"),
        ("a: 1", "unknown key 'a'"),
        ("provider: x", "there is no list of turns"),
        ("hello", "there is no list of turns"),
    ],
)
def test_a_file_that_is_no_script_is_refused(text: str | None, expected: str, tmp_path: Path) -> None:
    path = tmp_path / "script.yaml"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    with pytest.raises(AgentError, match=expected) as caught:
        ScriptedModel.from_file(path)
    assert str(path) in str(caught.value)


# From a name to a model


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ([{"role": "user", "content": [{"type": "text", "text": "Hello there"}]}], "You said: Hello there"),
        ([{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}], "You said: Hello"),
        ([], "You said: "),
    ],
)
async def test_a_scripted_name_is_a_model_that_repeats(prompt: list[Any], expected: str) -> None:
    model = resolve("scripted/demo", "v1")
    assert (model.provider, model.model_id, model.specification_version) == ("scripted", "demo", "v1")
    assert "".join(part.text for part in said(await model.generate(ModelRequest(prompt)))) == expected


async def test_a_scripted_file_begins_anew_each_time(tmp_path: Path) -> None:
    path = tmp_path / "script.json"
    path.write_text('["one", "two"]', encoding="utf-8")
    for _ in range(2):
        assert said(await resolve(f"scripted/{path}").generate(ASKED)) == [TextDelta("one")]


def test_a_model_is_what_it_is() -> None:
    model = ScriptedModel([], specification_version="v1")
    assert resolve(model, "v2") is model


UNKNOWN: dict[str, tuple[Any, str]] = {
    "a misspelt provider": ("antropic/claude", 'there is no provider "antropic": did you mean "anthropic"?'),
    "a provider nobody knows": ("zzz/x", "there are alibaba, anthropic"),
    "a model alone": ("gpt-5", "its name is provider/model, did you mean openai/gpt-5?"),
    "the scripted one alone": ("scripted", "its name is provider/model, did you mean scripted/demo?"),
    "nothing": ("", "its name is provider/model, such as openai/gpt-5"),
    "a provider alone": ("openai/", "its name is provider/model"),
    "another thing": (object(), "is no model: it has no specification_version, provider, model_id, generate, stream"),
    "None": (None, "None is no model"),
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_what_is_no_model_is_said(name: str) -> None:
    model, expected = UNKNOWN[name]
    with pytest.raises(AgentError) as caught:
        resolve(model)
    assert caught.value.code == "AGENT_UNKNOWN_MODEL"
    assert expected in str(caught.value)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_missing_key_is_named_before_any_library_is_needed(provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    row = PROVIDERS[provider]
    keys = row.keys if isinstance(row, Direct) else (row.key,) if row.key else ()
    for key in keys:
        monkeypatch.delenv(key, raising=False)
    if not keys:
        assert provider in ("bedrock", "vertex") or (isinstance(row, Chat) and "//localhost:" in row.base_url)
        return
    with pytest.raises(AgentError, match=f"no API key for {provider}: set the environment variable .*{keys[-1]}"):
        resolve(f"{provider}/any")


def test_the_providers_are_those_of_the_library() -> None:
    assert {name for name in PROVIDERS if ALIASES.get(name) != (name,)} == set()


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MISTRAL_API_KEY", "k")
    for module, make in {"openai": "ollama/llama", "pydantic_ai.models": "mistral/small"}.items():
        monkeypatch.setitem(sys.modules, module, None)
        with pytest.raises(AgentError, match=r'pip install "historycompat\[agent\]"'):
            resolve(make)


def test_the_agent_needs_no_client_library() -> None:
    code = "import sys, historycompat.agent; print([m for m in ('openai', 'pydantic_ai', 'anthropic', 'ruamel') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


# Answers of the chat completions API


def chunk(delta: dict[str, Any], reason: str | None = None, **more: Any) -> dict[str, Any]:
    return {"id": "1", "model": "m", "choices": [{"delta": delta, "finish_reason": reason}], **more}


def called(arguments: str, **more: Any) -> dict[str, Any]:
    return {"tool_calls": [{**more, "function": {"name": "weather", "arguments": arguments}}]}


SIGNED_DETAIL = {"type": "reasoning.text", "format": "anthropic-claude-v1", "index": 0}
HIDDEN = {"type": "reasoning.encrypted", "format": "openai-responses-v1", "id": "rs_1", "index": 1, "data": "x"}
GOOGLE = {"google": {"thought_signature": "z"}}
CITED = {"type": "url_citation", "url_citation": {"url": "https://a.example", "title": "A"}}

# Chunks, and what they say; without an end where the last is no AnswerFinish.
CHUNKS: dict[str, tuple[list[dict[str, Any]], list[Any]]] = {
    "arguments in pieces": (
        [
            chunk({"tool_calls": [{"index": 0, "id": "1", "function": {"name": "weather", "arguments": ""}}]}),
            chunk({"tool_calls": [{"index": 0, "function": {"arguments": '{"city": '}}]}),
            chunk({"tool_calls": [{"index": 0, "function": {"arguments": '"Rome"}'}}]}, "tool_calls"),
        ],
        [ToolCall("1", "weather", {"city": "Rome"}), AnswerFinish("tool-calls")],
    ),
    "calls that share an index": (
        [chunk(called("{}", index=0, id="1")), chunk(called("{}", index=0, id="2"), "stop")],
        [ToolCall("1", "weather"), ToolCall("2", "weather"), AnswerFinish("tool-calls")],
    ),
    "calls without index": (
        [chunk(called("{}", id="1")), chunk(called("{}", id="2"), "stop")],
        [ToolCall("1", "weather"), ToolCall("2", "weather"), AnswerFinish("tool-calls")],
    ),
    "no arguments": (
        [chunk(called("", index=0, id="1"), "tool_calls")],
        [ToolCall("1", "weather", {}), AnswerFinish("tool-calls")],
    ),
    "arguments that are no object": (
        [chunk(called("[1]", index=0, id="1")), chunk(called('{"a', index=1, id="2"), "tool_calls")],
        [ToolCall("1", "weather", "[1]"), ToolCall("2", "weather", '{"a'), AnswerFinish("tool-calls")],
    ),
    "a signed call": (
        [chunk(called("{}", index=0, id="1", extra_content=GOOGLE), "tool_calls")],
        [ToolCall("1", "weather", provider_options={"google": {"thoughtSignature": "z"}}), AnswerFinish("tool-calls")],
    ),
    "a refusal": (
        [chunk({"refusal": "I can"}), chunk({"refusal": "not"}, "stop")],
        [TextDelta("I can"), TextDelta("not"), AnswerFinish(provider_metadata={"openai": {"refusal": True}})],
    ),
    "a lost connection": (
        [chunk({"content": "Half"}), chunk(called("{", index=0, id="1"))],
        [TextDelta("Half")],
    ),
    "usage behind the end": (
        [chunk({"content": "a"}, "length"), {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": None}}],
        [TextDelta("a"), AnswerFinish("length", Usage(3, 0))],
    ),
    "reasoning of either name": (
        [chunk({"reasoning": "a"}), chunk({"reasoning_content": "b"}), chunk({"content": "c"}, "stop")],
        [Reasoning("a"), Reasoning("b"), Reasoning(end=True), TextDelta("c"), AnswerFinish()],
    ),
    "reasoning with proofs": (
        [
            chunk({"reasoning": "a", "reasoning_details": [{**SIGNED_DETAIL, "text": "a"}]}),
            chunk({"reasoning": "b", "reasoning_details": [{**SIGNED_DETAIL, "text": "b", "signature": "s"}]}),
            chunk({"reasoning_details": [HIDDEN]}, "stop"),
        ],
        [
            Reasoning("a"),
            Reasoning("b"),
            Reasoning("", {"openrouter": SIGNED_DETAIL, "anthropic": {"signature": "s"}}, end=True),
            Reasoning("", {"openrouter": HIDDEN}, end=True),
            AnswerFinish(),
        ],
    ),
    "citations": (
        [chunk({"content": "a", "annotations": [CITED]}, "stop")],
        [TextDelta("a"), Source("https://a.example", "A"), AnswerFinish()],
    ),
    "a whole completion": (
        [{"id": "1", "model": "m", "choices": [{"message": {"content": "a"}, "finish_reason": "content_filter"}]}],
        [TextDelta("a"), AnswerFinish("content-filter")],
    ),
    "parts of text": ([chunk({"content": [{"type": "text", "text": "a"}]}, "odd")], [TextDelta("a"), AnswerFinish("other")]),
}  # fmt: skip


@pytest.mark.parametrize("name", CHUNKS)
def test_chunks_are_put_together(name: str) -> None:
    chunks, expected = CHUNKS[name]
    answer = ChatAnswer({"x": "y"})
    info, *parts = [*(part for each in chunks for part in answer.feed(each)), *answer.end()]
    assert info == ResponseInfo("1", "m", {"x": "y"})
    assert parts == expected


def test_a_call_without_id_gets_one() -> None:
    answer = ChatAnswer({})
    list(answer.feed(chunk(called("{}", index=0), "tool_calls")))
    call = next(answer.end())
    assert isinstance(call, ToolCall)
    assert call.tool_call_id.startswith("call_")
