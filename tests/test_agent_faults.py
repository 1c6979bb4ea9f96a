"""Faults in tools, processors, callbacks, models and stores: told to whoever waits, and nothing lost that was said."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path as FilePath
from typing import Any

import pytest
from agent_runs import OWNER, PATHS, agent, call, generate, model_of, said, scripted, stream, weather

from historycompat import ProviderHistoryCompat, Ruleset
from historycompat.agent import Aborted, AgentError, APICallError, Memory, ToolError, tool
from historycompat.errors import StoreError
from historycompat.processors.protocol import HOOKS
from historycompat.store import SqliteStore

PATH = pytest.mark.parametrize("path", PATHS)
REFUSED_ID = APICallError(
    "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'", status=400
)


def broken(city: str) -> str:
    """Breaks."""
    raise ValueError(f"no station in {city}")


def stored(memory: Memory) -> Any:
    async def texts() -> list[str]:
        rows = await memory.messages("t1")
        return [part.get("text") or part["type"] for row in rows for part in row["content"]["parts"]]

    return texts()


# ---- tools ----


async def test_a_tool_that_fails_tells_the_model() -> None:
    ada = agent(call("broken", {"city": "Rome"}), "Sorry.", path="new", tools=[broken])
    answer = await generate(ada, "hi", "new")
    [result] = answer.steps[0].tool_results
    assert (result.is_error, result.output, answer.text) == (True, "ValueError: no station in Rome", "Sorry.")
    [sent] = [
        part for message in model_of(ada).requests[1].prompt if message["role"] == "tool" for part in message["content"]
    ]
    assert sent["output"] == {"type": "error-text", "value": "ValueError: no station in Rome"}


async def test_a_tool_that_fails_ends_the_run_on_the_legacy_path() -> None:
    memory = Memory(":memory:")
    turn = {
        "tool_calls": [{"name": "broken", "input": {"city": "Rome"}}, {"name": "weather", "input": {"city": "Oslo"}}]
    }
    ada = agent(turn, "Sorry.", tools=[broken, weather], memory=memory)
    with pytest.raises(ToolError, match="the tool broken failed: ValueError: no station in Rome") as caught:
        await generate(ada, "hi", memory=OWNER)
    assert isinstance(caught.value.__cause__, ValueError)
    assert await stored(memory) == ["hi", "step-start", "tool-invocation", "tool-invocation", "error"]
    await generate(ada, "And now?", memory=OWNER)
    results = [
        part for message in model_of(ada).requests[1].prompt if message["role"] == "tool" for part in message["content"]
    ]
    assert len(results) == 2


@pytest.mark.parametrize(
    ("turn", "words"),
    [
        (call("wether", {"city": "Rome"}), 'did you mean "weather"'),
        (call("weather", {"town": "Rome"}), "city: Field required"),
        (call("weather", {"city": 7}), "city: Input should be a valid string"),
    ],
)
async def test_a_call_that_cannot_be(turn: Any, words: str) -> None:
    """The model is told; on the legacy path it ends the run."""
    told = await generate(agent(turn, "Sorry.", path="new", tools=[weather]), "hi", "new")
    assert words in told.steps[0].tool_results[0].output
    with pytest.raises(AgentError, match="AGENT_TOOL_CALL_INVALID"):
        await generate(agent(turn, tools=[weather]))


@PATH
@pytest.mark.parametrize("hook", ["before_tool_call", "after_tool_call"])
async def test_a_hook_that_fails(path: Any, hook: str) -> None:
    def fails(told: Any) -> None:
        raise RuntimeError("no")

    ada = agent(call("weather", {"city": "Rome"}), "done", path=path, tools=[weather], hooks={hook: fails})
    if path == "legacy":
        with pytest.raises(ToolError, match="AGENT_TOOL_FAILED"):
            await generate(ada, "hi", path)
    else:
        answer = await generate(ada, "hi", path)
        assert answer.steps[0].tool_results[0].is_error is (hook == "before_tool_call")


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (lambda: tool(lambda x: x), "does not say what x is"),
        (lambda: tool(eval("lambda *args: 1")), "a model passes each argument by its name"),
        (lambda: tool(name="no spaces")(weather), "no name that providers take"),
        (lambda: agent("x", tools=[weather, tool(name="weather")(broken)]), "AGENT_TOOL_NAME_COLLISION"),
        (lambda: agent("x", tools=["weather"]), "a tool is a function"),
        (lambda: agent("x", tools=weather), "tools are a list"),
        (lambda: agent("x", tools={"a": {"parametrs": {}}}), "a tool has no 'parametrs'"),
        (lambda: tool(_with_socket), "no JSON Schema can be made"),
    ],
)
def test_a_function_that_is_no_tool(made: Any, words: str) -> None:
    with pytest.raises(AgentError, match=words):
        made()


def _with_socket(given: asyncio.Event) -> None:
    """Takes what no model can write."""


@PATH
async def test_tools_run_at_once(path: Any) -> None:
    met = asyncio.Barrier(3)

    async def meet(name: str) -> str:
        """Waits for the others."""
        await asyncio.wait_for(met.wait(), 5)
        return name

    turn = {"tool_calls": [{"name": "meet", "input": {"name": name}} for name in "abc"]}
    answer = await generate(agent(turn, "done", path=path, tools=[meet]), "hi", path)
    assert {result.output for result in answer.steps[0].tool_results} == set("abc")


# ---- processors ----


@PATH
@pytest.mark.parametrize("hook", ["process_input", "process_input_step", "process_llm_request", "process_output_step"])
async def test_a_processor_that_fails_ends_the_run(path: Any, hook: str) -> None:
    class Broken:
        id = "broken"

    def fails(self: Any, **_: Any) -> None:
        raise RuntimeError("out of order")

    setattr(Broken, hook, fails)
    lane = "output_processors" if "output" in hook else "input_processors"
    memory = Memory(":memory:")
    ada = agent("hello", path=path, memory=memory, **{lane: [Broken()]})
    result = stream(ada, "hi", path, memory=OWNER)
    parts = [part async for part in result.full_stream]
    assert (parts[-1].type, str(parts[-1].error)) == ("error", "out of order")  # type: ignore[union-attr]
    with pytest.raises(RuntimeError, match="out of order"):
        await result.text
    assert (await stored(memory))[0] == "hi"


@PATH
async def test_a_processor_that_stops_the_run(path: Any) -> None:
    class Guard:
        id = "guard"

        def process_input(self, *, abort: Any, **_: Any) -> None:
            abort("not here", metadata={"rule": 7})

    finished: list[Any] = []
    result = stream(agent("x", path=path, input_processors=[Guard()]), "hi", path, on_finish=finished.append)
    parts = [part async for part in result.full_stream]
    assert [part.type for part in parts] == ["tripwire", "finish"]
    assert (await result.text, await result.finish_reason, (await result.response).model_id) == (
        "",
        "other",
        "tripwire",
    )
    trip = await result.tripwire
    assert trip
    assert (trip.reason, trip.metadata, trip.processor_id) == ("not here", {"rule": 7}, "guard")
    assert len(finished) == 1


@PATH
async def test_every_hook_of_the_processor_interface_is_called(path: Any) -> None:
    called: list[str] = []

    class Watcher:
        id = "watcher"

    def watching(name: str) -> Any:
        def watch(self: Any, **arguments: Any) -> Any:
            called.append(name)
            return arguments.get("part")

        return watch

    for hook in HOOKS:
        setattr(Watcher, hook, watching(hook))
    refusal = APICallError("teapot", status=418)
    watcher = Watcher()
    lanes = {f"{lane}_processors": [watcher] for lane in ("input", "output", "error")}
    ada = agent(call("weather", {"city": "Rome"}), "clear", refusal, path=path, tools=[weather], **lanes)
    await stream(ada, "hi", path).text
    with pytest.raises(APICallError):
        await stream(ada, "hi", path).text
    assert list(dict.fromkeys(called)) == [
        "process_input", "process_input_step", "compute_state_signal", "process_llm_request", "process_output_stream",
        "process_llm_response", "process_output_step", "process_tool_result", "process_output_result",
        "process_api_error",
    ]  # fmt: skip


@PATH
async def test_a_cached_answer_calls_no_model(path: Any) -> None:
    from historycompat.agent.parts import AnswerFinish, TextDelta

    class Cache:
        id = "cache"

        def process_llm_request(self, **_: Any) -> Any:
            return {"response": [TextDelta("cached"), AnswerFinish()]}

    ada = agent("fresh", path=path, input_processors=[Cache()])
    assert await stream(ada, "hi", path).text == "cached"
    assert model_of(ada).requests == []


# ---- callbacks ----


@PATH
@pytest.mark.parametrize("callback", ["on_finish", "on_step_finish"])
async def test_a_callback_that_fails(path: Any, callback: str) -> None:
    """Whoever waits is told; what was said is in memory by then, or is saved then."""

    def fails(told: Any) -> None:
        raise RuntimeError("no paper")

    memory = Memory(":memory:")
    ada = agent("hello", path=path, memory=memory)
    with pytest.raises(RuntimeError, match="no paper"):
        await generate(ada, "hi", path, memory=OWNER, **{callback: fails})
    assert (await stored(memory))[:3] == ["hi", "step-start", "hello"]


# ---- models ----


@PATH
async def test_what_was_said_before_a_fault_is_kept(path: Any) -> None:
    memory = Memory(":memory:")
    ada = agent(["half an ans", ConnectionError("gone")], "again", path=path, memory=memory)
    with pytest.raises(ConnectionError):
        await stream(ada, "hi", path, memory=OWNER).text
    assert await stored(memory) == ["hi", "step-start", "half an ans", "error"]
    await generate(ada, "go on", path, memory=OWNER)
    assert said(model_of(ada)) == [("user", "hi"), ("assistant", "half an ans"), ("user", "go on")]


class Mute(Exception):
    """Fails once more when it is asked what it says."""

    def __str__(self) -> str:
        raise RuntimeError("no words")


@PATH
async def test_what_was_said_before_a_fault_without_words_is_kept(path: Any) -> None:
    memory = Memory(":memory:")
    with pytest.raises(Mute):
        await stream(agent(["half an ans", Mute()], path=path, memory=memory), "hi", path, memory=OWNER).text
    assert await stored(memory) == ["hi", "step-start", "half an ans", "error"]


@PATH
async def test_a_tool_that_fails_without_words(path: Any) -> None:
    def mute() -> None:
        """Says nothing."""
        raise Mute

    ada = agent(call("mute"), "Sorry.", path=path, tools=[mute])
    if path == "legacy":
        with pytest.raises(ToolError, match=r"the tool mute failed: Mute: \(its text cannot be made: Runtime"):
            await generate(ada, "hi", path)
    else:
        assert (await generate(ada, "hi", path)).text == "Sorry."


@PATH
async def test_what_the_user_said_is_kept_whatever_ends_the_run_at_its_beginning(path: Any) -> None:
    def update_working_memory(memory: str) -> str:
        """Has the name of another tool."""
        return memory

    def fails(context: Any) -> str:
        raise ValueError("no instructions")

    clash = {"tools": [update_working_memory]}
    for facts, error in (({"instructions": fails}, ValueError), (clash, AgentError)):
        memory = Memory(":memory:", options={"working_memory": {"enabled": True}})
        with pytest.raises(error):
            await generate(agent("x", path=path, memory=memory, **facts), "hi", path, memory=OWNER)
        assert await stored(memory) == ["hi"]


@PATH
async def test_what_was_said_before_an_abort_is_kept(path: Any) -> None:
    memory, signal = Memory(":memory:"), asyncio.Event()
    ada = agent(["half", {"pause": 30, "text": "late"}], path=path, memory=memory)
    result = stream(ada, "hi", path, memory=OWNER, abort_signal=signal)
    first = await anext(result.text_stream)
    signal.set()
    with pytest.raises(Aborted):
        await result.text
    assert first == "half"
    assert await stored(memory) == ["hi", "step-start", "half"]


@PATH
async def test_what_was_said_before_the_reader_left_is_kept(path: Any) -> None:
    memory = Memory(":memory:")
    ada = agent(["half ", {"pause": 30, "text": "late"}], path=path, memory=memory)
    async with stream(ada, "hi", path, memory=OWNER) as result:
        async for _ in result.text_stream:
            break
    assert await stored(memory) == ["hi", "step-start", "half "]


@PATH
async def test_a_refusal_is_repaired_once_and_saved(path: Any) -> None:
    memory = Memory(":memory:")
    asks = {"tool_calls": [{"name": "weather", "input": {"city": "Rome"}, "id": "call:1"}]}
    first = scripted(asks, "clear", path=path, provider="moonshotai", model_id="kimi-k2")
    ada = agent(path=path, model=first, tools=[weather], memory=memory)
    await generate(ada, "hi", path, memory=OWNER)
    other = scripted(REFUSED_ID, "fine", "fine too", path=path, provider="acme", model_id="large")
    result = stream(ada, "and now?", path, memory=OWNER, model=other)
    assert [part.type async for part in result.full_stream if part.type in ("repaired", "error", "text-delta")] == [
        "repaired", "text-delta",
    ]  # fmt: skip
    assert "call:1" not in str(await memory.messages("t1"))
    await generate(ada, "more", path, memory=OWNER, model=other)
    assert len(other.requests) == 3


@PATH
@pytest.mark.parametrize("fault", [APICallError("busy", status=503), REFUSED_ID], ids=["may pass", "could be repaired"])
async def test_an_answer_that_has_begun_is_not_asked_for_again(path: Any, fault: Exception) -> None:
    """Otherwise what it began with would be said twice."""
    ada = agent(["half an ans", fault], "another", path=path, compat=True)
    history = [
        {"role": "user", "content": "hi"},
        {
            "role": "assistant",
            "tool_calls": [{"id": "a:1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "a:1", "content": "clear"},
    ]
    parts = [part async for part in stream(ada, history, path).full_stream]
    heard = [part.text for part in parts if part.type == "text-delta"]
    assert (parts[-1].type, parts[-1].error) == ("error", fault)  # type: ignore[union-attr]
    assert ("".join(heard), len(model_of(ada).requests)) == ("half an ans", 1)


ONE_RULE = ProviderHistoryCompat(rules=Ruleset.builtin().only("anthropic-tool-id-format"))


@PATH
async def test_a_refused_prefill_goes_on_with_a_reminder(path: Any) -> None:
    refusal = APICallError("This model does not support assistant message prefill.", status=400)
    ada = agent(refusal, "And so on.", path=path, compat=ONE_RULE)
    history = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "Once upon"}]
    assert (await generate(ada, history, path)).text == "And so on."
    assert "continue" in said(model_of(ada))[-1][1]


@PATH
async def test_a_model_that_takes_no_turn_of_its_own_last_is_told_to_continue(path: Any) -> None:
    memory = Memory(":memory:")
    model = scripted("And so on.", path=path, provider="google", model_id="gemini-3-pro")
    history = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "Once upon"}]
    await generate(agent(path=path, model=model, memory=memory, compat=ONE_RULE), history, path, memory=OWNER)
    assert said(model)[-1] == ("user", "Continue.")
    assert await stored(memory) == ["hi", "Once upon", "step-start", "And so on."]


@PATH
async def test_a_refusal_that_no_rule_knows(path: Any) -> None:
    refusal = APICallError("the moon is full", status=400)
    ada = agent(refusal, "never", path=path)
    with pytest.raises(APICallError) as caught:
        await generate(ada, "hi", path)
    assert caught.value is refusal
    assert len(model_of(ada).requests) == 1


@PATH
async def test_a_refusal_is_not_repaired_twice(path: Any) -> None:
    asks = {
        "role": "assistant",
        "content": [{"type": "tool-call", "toolCallId": "a:b", "toolName": "weather", "input": {}}],
    }
    told = {
        "role": "tool",
        "content": [
            {
                "type": "tool-result",
                "toolCallId": "a:b",
                "toolName": "weather",
                "output": {"type": "text", "value": "x"},
            }
        ],
    }
    history = [{"role": "user", "content": [{"type": "text", "text": "hi"}]}, asks, told]
    ada = agent(path=path, model=scripted(REFUSED_ID, REFUSED_ID, "no", path=path, provider="acme", model_id="large"))
    with pytest.raises(APICallError):
        await generate(ada, history, path)
    assert len(model_of(ada).requests) == 2


# ---- stores ----


class Failing(SqliteStore):
    """A store whose writes fail from some moment on."""

    fails = False

    def replace(self, *arguments: Any, **more: Any) -> int:
        if self.fails:
            raise StoreError("the disk is full")
        return super().replace(*arguments, **more)

    def create(self, *arguments: Any, **more: Any) -> int:
        if self.fails:
            raise StoreError("the disk is full")
        return super().create(*arguments, **more)


@PATH
async def test_a_store_that_fails_at_the_end(path: Any, tmp_path: FilePath, caplog: pytest.LogCaptureFixture) -> None:
    """`generate` raises, with the answer; a stream has been read by then, logs it and says so in its warnings."""
    store = Failing(tmp_path / "chats.db")

    def full(step: str) -> None:
        store.fails = True

    finished: list[Any] = []
    ada = agent("hello", "hello", path=path, memory=Memory(store))
    with pytest.raises(AgentError, match="AGENT_MEMORY_PERSIST_RESPONSE_MESSAGES_FAILED") as caught:
        await generate(ada, "hi", path, memory=OWNER, on_step_finish=full)
    assert caught.value.detail.text == "hello"
    store.fails = False
    with caplog.at_level(logging.ERROR, "historycompat.agent"):
        result = stream(ada, "hi", path, memory=OWNER, on_step_finish=full, on_finish=finished.append)
        assert await result.text == "hello"
    assert await result.warnings == ["the answer could not be saved: the disk is full"]
    assert len(finished) == 1
    assert any("the disk is full" in record.message for record in caplog.records)


@PATH
async def test_what_somebody_else_edits_meanwhile_is_not_written_over(path: Any, tmp_path: FilePath) -> None:
    store = SqliteStore(tmp_path / "chats.db")

    def correct() -> str:
        """Corrects what was said, as an editor of the conversation may."""
        revision, document = store.load("t1")
        document["messages"][0]["content"]["parts"][0]["text"] = "corrected"
        store.replace("t1", revision, document)
        return "done"

    ada = agent(call("correct"), "fine", path=path, tools=[correct], memory=Memory(store))
    await generate(ada, "hi", path, memory=OWNER, save_per_step=True)
    assert await stored(ada.memory) == ["corrected", "step-start", "tool-invocation", "step-start", "fine"]


@PATH
async def test_a_store_that_fails_at_the_beginning(path: Any, tmp_path: FilePath) -> None:
    store = Failing(tmp_path / "chats.db")
    store.fails = True
    ada = agent("hello", path=path, memory=Memory(store))
    with pytest.raises(StoreError, match="the disk is full"):
        await generate(ada, "hi", path, memory=OWNER)
    assert model_of(ada).requests == []


@PATH
async def test_the_first_fault_is_the_one_that_is_told(path: Any, tmp_path: FilePath) -> None:
    store = Failing(tmp_path / "chats.db")

    class Breaks:
        id = "breaks"

        def process_output_step(self, **_: Any) -> None:
            store.fails = True
            raise RuntimeError("first")

    ada = agent("hello", path=path, memory=Memory(store), output_processors=[Breaks()])
    with pytest.raises(RuntimeError, match="first"):
        await generate(ada, "hi", path, memory=OWNER)
