"""What hosts, tools and models do that nobody expects: it is stored, told, or refused in clear words."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest
from agent_runs import OWNER, PATHS, agent, call, generate, model_of, said, scripted, stream, weather
from pydantic import BaseModel

from historycompat.agent import AgentError, APICallError, Memory, MemoryOptions, ToolError
from historycompat.agent.parts import AnswerFinish, File, TextDelta, ToolCall, ToolResult
from historycompat.errors import HistoryCompatError

PATH = pytest.mark.parametrize("path", PATHS)
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


# ---- what tools return ----


class Place(BaseModel):
    name: str


@dataclass
class Point:
    x: int


RETURNED: dict[str, tuple[Any, Any]] = {
    "nothing": (None, None),
    "a model": (Place(name="Rome"), {"name": "Rome"}),
    "a dataclass": (Point(1), {"x": 1}),
    "a set": ({1}, [1]),
    "no number": ({"x": float("nan")}, {"x": "NaN"}),
    "an infinity": (float("-inf"), "-Infinity"),
    "a text as bytes": ("é".encode(), "é"),
    "bytes": (b"\xff\x00", "_wA="),
    "a decimal": (Decimal("1.5"), "1.5"),
    "an exception": (ValueError("no"), "no"),
    "keys that are no texts": ({1: 2, None: 3}, {"1": 2, "None": 3}),
    "half a character": ("a\ud800b", "a\ud800b"),
    "a null character": ("a\0b", "a\0b"),
    "a class": (Place, str(Place)),
    "many digits": (2**70, 2**70),
}


@PATH
@pytest.mark.parametrize("name", RETURNED)
async def test_what_a_tool_returns_is_stored_and_sent(path: Any, name: str) -> None:
    returned, expected = RETURNED[name]
    memory, steps = Memory(":memory:"), []

    def tool() -> Any:
        return returned

    ada = agent(call("tool"), "done", "more", path=path, tools=[tool], memory=memory)
    answer = await generate(ada, "hi", path, memory=OWNER, on_step_finish=steps.append)
    assert answer.steps[0].tool_results[0].output == expected
    assert json.loads(steps[0])["tool_results"][0]["output"] == expected
    parts = (await memory.messages("t1"))[-1]["content"]["parts"]
    assert [part["toolInvocation"]["result"] for part in parts if part["type"] == "tool-invocation"] == [expected]
    assert (await generate(ada, "and?", path, memory=OWNER)).text == "more"


def _endless() -> Any:
    endless: list[Any] = []
    endless.append(endless)
    return endless


def _stops() -> Any:
    return next(iter(()))


async def _cancelled() -> Any:
    raise asyncio.CancelledError


async def _pieces() -> AsyncIterator[int]:
    yield 1


async def _not_awaited() -> Any:
    return aiter(_pieces())


FAILS: dict[str, tuple[Callable[[], Any], str]] = {
    "no end": (_endless, "Circular reference"),
    "more digits than Python writes": (lambda: 10**5000, "4300 digits"),
    "StopIteration": (_stops, "StopIteration"),
    "a cancellation of its own": (_cancelled, "was cancelled"),
    "pieces that nobody takes": (_pieces, "tool returned async_generator, which is not awaited"),
    "what it did not await": (_not_awaited, "tool returned async_generator, which is not awaited"),
}


@PATH
@pytest.mark.parametrize("name", FAILS)
async def test_what_a_tool_cannot_return_is_a_failure_of_the_tool(path: Any, name: str) -> None:
    function, words = FAILS[name]
    ada = agent(call("tool"), "done", path=path, tools={"tool": {"execute": function}})
    run = asyncio.wait_for(generate(ada, "hi", path), 5)
    if path == "legacy":
        with pytest.raises(ToolError, match=words):
            await run
    else:
        [failed] = (await run).steps[0].tool_results
        assert failed.is_error
        assert words in failed.output


@PATH
async def test_what_a_hook_puts_in_the_place_of_a_call_is_stored(path: Any) -> None:
    def before(told: Any) -> Any:
        return {"proceed": False, "output": Place(name="Oslo")}

    ada = agent(call("weather", {"city": "Rome"}), "done", path=path, tools=[weather], memory=Memory(":memory:"))
    answer = await generate(ada, "hi", path, memory=OWNER, hooks={"before_tool_call": before})
    assert answer.steps[0].tool_results[0].output == {"name": "Oslo"}


@PATH
async def test_hooks_and_tools_are_given_copies(path: Any) -> None:
    """What they do to them changes neither what the model said nor what it is told."""

    def spoils(told: Any) -> None:
        for each in ("input", "output"):
            told.get(each, {})["city"] = "spoilt"

    def look(city: Any) -> Any:
        seen = dict(city)
        city.clear()
        return {"city": seen}

    tools = {"look": {"parameters": {"type": "object"}, "execute": look}}
    hooks = {"before_tool_call": spoils, "after_tool_call": spoils}
    memory = Memory(":memory:")
    ada = agent(call("look", {"city": {"name": "Rome"}}), "done", path=path, tools=tools, hooks=hooks, memory=memory)
    first = (await generate(ada, "hi", path, memory=OWNER)).steps[0]
    told = {"city": {"name": "Rome"}}
    assert (first.tool_calls[0].input, first.tool_results[0].output) == (told, told)
    [invocation] = [part for part in (await memory.messages("t1"))[1]["content"]["parts"] if "toolInvocation" in part]
    assert (invocation["toolInvocation"]["args"], invocation["toolInvocation"]["result"]) == (told, told)


@PATH
async def test_messages_of_the_caller_stay_as_they_are(path: Any) -> None:
    """Also where they are repaired."""
    refusal = APICallError("messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z]'", status=400)
    asked = {"state": "result", "toolCallId": "a:1", "toolName": "weather", "args": {}, "result": "clear"}
    rows = [
        {"id": "m1", "role": "user", "content": {"format": 2, "parts": [{"type": "text", "text": "hi"}]}},
        {"id": "m2", "role": "assistant", "content": {"parts": [{"type": "tool-invocation", "toolInvocation": asked}]}},
    ]
    before = json.dumps(rows)
    ada = agent(path=path, model=scripted(refusal, "fine", path=path, provider="acme", model_id="large"))
    assert (await generate(ada, rows, path)).text == "fine"
    assert json.dumps(rows) == before


async def test_parameters_of_any_name() -> None:
    def tool(schema: str, model_dump: str, self: int, _x: bool = False) -> Any:
        """Takes names that pydantic has other plans for."""
        return [schema, model_dump, self, _x]

    given = {"schema": "s", "model_dump": "m", "self": 1, "_x": True}
    ada = agent(call("tool", given), "done", path="new", tools=[tool])
    answer = await generate(ada, "hi", "new")
    assert answer.steps[0].tool_results[0].output == ["s", "m", 1, True]
    [spec] = model_of(ada).requests[0].tools
    assert (list(spec.parameters["properties"]), spec.parameters["required"]) == (list(given), list(given)[:3])


@PATH
@pytest.mark.parametrize("hook", ["before_tool_call", "after_tool_call"])
async def test_a_hook_that_is_cancelled_from_within_has_failed(path: Any, hook: str) -> None:
    async def cancelled(told: Any) -> Any:
        raise asyncio.CancelledError

    ada = agent(call("weather", {"city": "Rome"}), "done", path=path, tools=[weather], hooks={hook: cancelled})
    if path == "legacy":
        with pytest.raises(ToolError):
            await generate(ada, "hi", path)
    else:
        [result] = (await generate(ada, "hi", path)).steps[0].tool_results
        assert result.is_error is (hook == "before_tool_call")


@PATH
@pytest.mark.parametrize("callback", ["on_finish", "on_step_finish"])
async def test_a_callback_that_is_cancelled_from_within_has_failed(path: Any, callback: str) -> None:
    async def cancelled(told: Any) -> None:
        raise asyncio.CancelledError

    for run in (generate(agent("x", path=path), "hi", path, **{callback: cancelled}),
                stream(agent("x", path=path), "hi", path, **{callback: cancelled}).answer()):  # fmt: skip
        with pytest.raises(RuntimeError, match="was cancelled"):
            await run


# ---- what models say ----


@PATH
@pytest.mark.parametrize(("slow", "order"), [("Rome", ["Oslo", "Rome"]), ("Oslo", ["Rome", "Oslo"])])
async def test_calls_that_share_an_id_keep_their_own_results(path: Any, slow: str, order: list[str]) -> None:
    async def sky(city: str) -> str:
        await asyncio.sleep(0.02 if city == slow else 0)
        return f"sky of {city}"

    memory = Memory(":memory:")
    turn = {"tool_calls": [{"name": "sky", "input": {"city": city}, "id": "same"} for city in ("Rome", "Oslo")]}
    answer = await generate(agent(turn, "done", path=path, tools=[sky], memory=memory), "hi", path, memory=OWNER)
    assert [result.input["city"] for result in answer.steps[0].tool_results] == order
    parts = (await memory.messages("t1"))[-1]["content"]["parts"]
    calls = [part["toolInvocation"] for part in parts if part["type"] == "tool-invocation"]
    assert [(each["args"]["city"], each["result"]) for each in calls] == [
        ("Rome", "sky of Rome"), ("Oslo", "sky of Oslo"),
    ]  # fmt: skip


@PATH
@pytest.mark.parametrize("written", ['{"city": "Ro', "no JSON", None, 7, {"town": float("nan")}])
async def test_an_input_that_is_none_is_kept(path: Any, written: Any) -> None:
    memory = Memory(":memory:")
    ada = agent([ToolCall("c1", "weather", written)], "done", "more", path=path, tools=[weather], memory=memory)
    if path == "legacy":
        with pytest.raises(AgentError, match="AGENT_TOOL_CALL_INVALID"):
            await generate(ada, "hi", path, memory=OWNER)
    else:
        assert (await generate(ada, "hi", path, memory=OWNER)).steps[0].tool_results[0].is_error
    await generate(ada, "again", path, memory=OWNER)
    assert "output-error" in str(await memory.messages("t1"))


@PATH
async def test_a_tool_beside_one_of_the_provider_goes_on(path: Any) -> None:
    """Of the provider's own calls the result may come with a later answer."""
    turn = [
        ToolCall("s1", "web_search", {"q": "x"}, provider_executed=True),
        ToolCall("c1", "weather", {"city": "Rome"}),
    ]
    assert (await generate(agent(turn, "done", path=path, tools=[weather]), "hi", path)).text == "done"
    alone = [*turn[:1], ToolResult("s1", "web_search", None, {"hits": 1}, provider_executed=True), TextDelta("found")]
    answer = await generate(agent(alone, path=path), "hi", path)
    assert (answer.text, len(answer.steps), answer.tool_results[0].output) == ("found", 1, {"hits": 1})


@PATH
async def test_nothing_of_a_rejected_answer_is_left_but_its_tokens(path: Any) -> None:
    class Picky:
        id = "picky"

        def process_output_step(self, *, text: str, abort: Any, **_: Any) -> None:
            if text == "no":
                abort("say yes", retry=True)

    ada = agent([File("aGk=", "image/png"), "no"], "yes", path=path, output_processors=[Picky()])
    answer = await generate(ada, "hi", path, max_processor_retries=1)
    assert (answer.text, answer.files, answer.usage.output_tokens) == ("yes", [], 2)


class Odd:
    """A model as somebody may write it."""

    provider = model_id = "odd"

    def __init__(self, path: Any, said: Any) -> None:
        self.specification_version: Any = "v1" if path == "legacy" else "v2"
        self.generate, self.stream = _coroutine(said), said


def _coroutine(said: Any) -> Any:
    async def generate(request: Any) -> Any:
        return said(request)

    return generate


class Stream:
    """Is no iterator itself."""

    def __init__(self, request: Any) -> None:
        pass

    async def __aiter__(self) -> AsyncIterator[Any]:
        yield TextDelta("streamed")
        yield AnswerFinish()


async def _forgot_to_yield(request: Any) -> Any:
    return []


async def _dicts(request: Any) -> AsyncIterator[Any]:
    yield {"type": "text-delta", "text": "x"}


async def _silent(request: Any) -> AsyncIterator[Any]:
    for _ in ():
        yield _


@PATH
async def test_a_model_that_keeps_to_the_port_in_its_own_way(path: Any) -> None:
    assert await stream(agent(model=Odd(path, Stream)), "hi", path).text == "streamed"  # type: ignore[arg-type]
    silent = await stream(agent(model=Odd(path, _silent)), "hi", path).answer()  # type: ignore[arg-type]
    assert (silent.text, silent.finish_reason) == ("", "unknown")


@PATH
@pytest.mark.parametrize(
    ("says", "words"), [(_forgot_to_yield, "`async def` with `yield`"), (_dicts, "no part of an answer")]
)
async def test_a_model_that_does_not_is_told(path: Any, says: Any, words: str) -> None:
    with pytest.raises(AgentError, match=f"AGENT_BAD_MODEL: odd/odd: .*{words}"):
        await stream(agent(model=Odd(path, says)), "hi", path).text  # type: ignore[arg-type]


async def _cancelled_stream(request: Any) -> AsyncIterator[Any]:
    yield TextDelta("x")
    raise asyncio.CancelledError


@PATH
@pytest.mark.parametrize("signal", [None, asyncio.Event()])
async def test_a_model_that_is_cancelled_from_within_has_failed(path: Any, signal: Any) -> None:
    """Nobody left, and nobody gave the signal."""
    odd: Any = Odd(path, _cancelled_stream)
    with pytest.raises(RuntimeError, match="was cancelled"):
        await stream(agent(model=odd), "hi", path, abort_signal=signal).text


@PATH
async def test_a_model_that_returns_no_list_is_told(path: Any) -> None:
    with pytest.raises(AgentError, match="AGENT_BAD_MODEL: odd/odd: generate returned None"):
        await generate(agent(model=Odd(path, lambda request: None)), "hi", path)  # type: ignore[arg-type]


# ---- what hosts give ----


IMAGES: dict[str, dict[str, Any]] = {
    "CoreMessage": {"type": "image", "image": PNG, "mimeType": "image/png"},
    "CoreMessage without a type": {"type": "image", "image": PNG},
    "ModelMessage": {"type": "file", "data": PNG, "mediaType": "image/png"},
    "OpenAI": {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}},
    "Anthropic": {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
}


@PATH
@pytest.mark.parametrize("name", IMAGES)
async def test_images_of_every_format_reach_the_model(path: Any, name: str) -> None:
    ada = agent("nice", path=path)
    await generate(ada, [{"role": "user", "content": [{"type": "text", "text": "see"}, IMAGES[name]]}], path)
    sent = model_of(ada).requests[0].prompt[0]["content"][1]
    assert sent["image" if path == "legacy" else "data"] == PNG


@PATH
async def test_a_signature_comes_back_unchanged_from_the_store(path: Any) -> None:
    signed = {"text": "hm hm", "provider_options": {"anthropic": {"signature": "c2ln"}}}
    model = scripted(
        {"reasoning": signed, "text": "a"}, "b", path=path, provider="anthropic", model_id="claude-opus-4-1"
    )
    ada = agent(path=path, model=model, memory=Memory(":memory:"))
    await generate(ada, "hi", path, memory=OWNER)
    await generate(ada, "more", path, memory=OWNER)
    sent = model.requests[1].prompt[1]["content"][0]
    assert (sent["type"], sent["text"]) == ("reasoning", "hm hm")
    assert (sent if path == "legacy" else sent["providerOptions"]["anthropic"])["signature"] == "c2ln"


class Context(Mapping[Any, Any]):
    """A mapping that only its host can make."""

    def __init__(self, user: str, *, notes: list[str]) -> None:
        self.values_, self.notes = {"user": user, 7: "seven"}, notes

    def __getitem__(self, key: Any) -> Any:
        return self.values_[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.values_)

    def __len__(self) -> int:
        return len(self.values_)


@PATH
async def test_the_request_context_is_the_very_object(path: Any) -> None:
    class Notes:
        id = "notes"

        def process_input(self, *, request_context: Any, **_: Any) -> None:
            request_context.notes.append(request_context["user"])

    context = Context("Ada", notes=[])
    await generate(agent("x", path=path, input_processors=[Notes()]), "hi", path, request_context=context)
    assert context.notes == ["Ada"]


@PATH
async def test_instructions_may_be_asynchronous_and_are_not_made_unasked(path: Any) -> None:
    async def instructions(context: Any) -> str:
        return f"You talk to {context['user']}."

    ada = agent("a", "b", path=path, instructions=instructions)
    await generate(ada, "hi", path, request_context={"user": "Ada"})
    await generate(ada, "hi", path, instructions="Be brief.")  # where the function would fail
    assert [said(model_of(ada), at)[0][1] for at in (0, 1)] == ["You talk to Ada.", "Be brief."]


@PATH
async def test_memory_options_as_an_object(path: Any) -> None:
    ada = agent("a", "b", path=path, memory=Memory(":memory:"))
    for text in ("one", "two"):
        await generate(ada, text, path, memory={**OWNER, "options": MemoryOptions(last_messages=0)})
    assert said(model_of(ada)) == [("user", "two")]


@PATH
@pytest.mark.parametrize(
    ("messages", "options", "words"),
    [
        ("", {}, "AGENT_BAD_MESSAGES: there is no message to answer"),
        ([], {}, "AGENT_BAD_MESSAGES: there is no message to answer"),
        ("hi", {"abort_signal": 7}, "abort_signal is an asyncio.Event or a cancel scope, not 7"),
        ("hi", {"request_context": 7}, "request_context"),
    ],
)
async def test_what_no_run_can_use_is_refused_at_once(path: Any, messages: Any, options: Any, words: str) -> None:
    with pytest.raises(AgentError, match=words):
        stream(agent("x", path=path), messages, path, **options)


@PATH
@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"model": "anthropc/x"}, 'did you mean "anthropic"'),
        ({"model": 7}, "7 is no model"),
        ({"tools": [7]}, "a tool is"),
    ],
)
async def test_what_a_processor_puts_in_place_is_checked(path: Any, change: Any, words: str) -> None:
    class Changes:
        id = "changes"

        def process_input_step(self, **_: Any) -> Any:
            return change

    with pytest.raises(AgentError, match=words):
        await generate(agent("x", path=path, input_processors=[Changes()]), "hi", path)


@PATH
async def test_a_piece_that_a_processor_makes_is_a_piece(path: Any) -> None:
    class Makes:
        id = "makes"

        def process_output_stream(self, *, part: Any, **_: Any) -> Any:
            return {"type": "text-delta", "text": "x"}

    with pytest.raises(AgentError, match="return a part, or None to drop it"):
        await stream(agent("x", path=path, output_processors=[Makes()]), "hi", path).text


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"compat": 7}, "compat is True, False or a ProviderHistoryCompat, not 7"),
        ({"memory": 7}, "a memory needs a store, or the path or URL of one, not 7"),
        ({"max_processor_retries": "x"}, "max_processor_retries"),
        ({"max_processor_retries": -1}, "max_processor_retries"),
        ({"input_processors": [7]}, "PROCESSOR_WITHOUT_ID"),
        ({"hooks": {"before": print}}, "an agent has no option hooks.before"),
        ({"tools": 7}, "tools are a list"),
    ],
)
def test_what_no_agent_can_be_made_of(facts: dict[str, Any], words: str) -> None:
    with pytest.raises(HistoryCompatError, match=words):
        agent("x", **facts)


@PATH
async def test_processors_of_a_call_that_are_none(path: Any) -> None:
    with pytest.raises(HistoryCompatError, match="PROCESSOR_WITHOUT_ID"):
        stream(agent("x", path=path), "hi", path, input_processors=[7])


@PATH
@pytest.mark.parametrize("instructions", [7, lambda context: 7])
async def test_instructions_that_are_no_text(path: Any, instructions: Any) -> None:
    with pytest.raises(AgentError, match="instructions are a text"):
        await generate(agent("x", path=path, instructions=instructions), "hi", path)
