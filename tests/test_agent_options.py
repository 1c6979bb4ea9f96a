"""Every option of a run, on both paths where both have it: a test for each, named after it."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path as FilePath
from typing import Any

import pytest
from agent_runs import OWNER, PATHS, agent, call, generate, model_of, said, scripted, stream, weather
from pydantic import BaseModel

from historycompat.agent import Aborted, AgentError, Answer, Memory, ToolContext, tool
from historycompat.agent.agent import Agent
from historycompat.agent.errors import APICallError

PATH = pytest.mark.parametrize("path", PATHS)


class Point(BaseModel):
    x: int
    y: int


# ---- messages ----

OWNERS = ("threadId", "resourceId")
MESSAGES: dict[str, Any] = {
    "text": "hi",
    "texts": ["hi"],
    "core": [{"role": "user", "content": "hi"}],
    "canonical": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}],
    "ui": [{"id": "m1", "role": "user", "content": "hi", "parts": [{"type": "text", "text": "hi"}]}],
    "row": [{"id": "m1", "role": "user", "content": {"format": 2, "parts": [{"type": "text", "text": "hi"}]}}],
    "anthropic": [
        {"role": "user", "content": [{"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}}]}
    ],
    "one message": {"role": "user", "content": "hi"},
}


@PATH
@pytest.mark.parametrize("messages", MESSAGES.values(), ids=MESSAGES)
async def test_messages(path: Any, messages: Any) -> None:
    ada = agent("hello", path=path)
    assert (await generate(ada, messages, path)).text == "hello"
    assert said(model_of(ada)) == [("user", "hi")]


@PATH
@pytest.mark.parametrize("messages", [7, [7], [{"text": "hi"}], ["hi", {"role": "user", "content": "x"}]])
async def test_messages_that_are_none(path: Any, messages: Any) -> None:
    with pytest.raises(AgentError, match="AGENT_BAD_MESSAGES"):
        stream(agent("hello", path=path), messages, path)


@PATH
@pytest.mark.parametrize(
    ("messages", "words"),
    [
        ({"model": "x", "messages": [{"role": "user", "content": "hi"}]}, "with model, messages: pass ['messages']"),
        ({"system": "x", "messages": []}, "with system, messages: pass ['messages'] of it alone"),
        ([{"input": "hi"}], "with input: pass ['input'] of it alone"),
        ({"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}, "pass ['contents'] of it alone"),
        ({"prompt": "hi"}, "pass ['prompt'] of it alone, and the rest as options"),
        (["hi", None], "all of one kind, not None"),
        (["hi", {"role": "user", "content": "x"}], "all of one kind, not 'hi'"),
        ([["user", "hi"]], """not ['user', 'hi']: write {"role": "user", "content": "..."}"""),
        ({}, """no format of messages fits {}: write {"role": "user", "content": "..."}"""),
    ],
)
async def test_what_to_write_in_place_of_messages_that_are_none(path: Any, messages: Any, words: str) -> None:
    with pytest.raises(AgentError) as caught:
        stream(agent("hello", path=path), messages, path)
    assert words in str(caught.value)


HISTORY_NAMES = ("agent_run", "chat", "chat_model", "messages_to_dict", "prompt", "thread")
HISTORIES = sorted(
    file for file in (FilePath(__file__).parent / "formats").glob("*/*.json") if file.stem in HISTORY_NAMES
)


@pytest.mark.parametrize("file", HISTORIES, ids=[f"{file.parent.name}-{file.stem}" for file in HISTORIES])
async def test_messages_of_every_format(file: FilePath) -> None:
    """What users and models said arrives, is stored, and is there at the next call."""
    told = json.loads(file.read_text())
    history = [{key: value for key, value in each.items() if key not in OWNERS} for each in told["native"]]
    spoken = [
        part["text"]
        for message in told["canonical"]
        if message["role"] in ("user", "assistant")
        for part in message["content"]
        if part["type"] == "text"
    ]
    ada = agent("one", "two", memory=Memory(":memory:"))
    everything = {**OWNER, "options": {"last_messages": 100}}
    await generate(ada, history, memory=everything)
    await generate(ada, "and now?", memory=everything)
    for request in (0, 1):
        arrived = "\n".join(text for _, text in said(model_of(ada), request))
        assert [text for text in spoken if text.strip() not in arrived] == []


# ---- the options, in the order of the alphabet ----


@PATH
async def test_abort_signal(path: Any) -> None:
    signal, started, stopped = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def slow() -> str:
        started.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            stopped.set()
            raise
        return "never"

    result = stream(agent(call("slow"), path=path, tools=[slow]), "hi", path, abort_signal=signal)
    reader = asyncio.create_task(result.consume())
    await started.wait()
    signal.set()
    await reader
    assert stopped.is_set()
    with pytest.raises(Aborted):
        await result.text


class Scope:
    """As anyio's cancel scopes look."""

    cancel_called = False

    def set(self) -> None:
        self.cancel_called = True


@PATH
@pytest.mark.parametrize("signal", [asyncio.Event, threading.Event, Scope])
async def test_abort_signal_of_every_kind(path: Any, signal: Any) -> None:
    given = signal()
    result = stream(agent(["one ", {"pause": 60, "text": "late"}], path=path), "hi", path, abort_signal=given)
    assert await anext(result.text_stream) == "one "
    result = stream(agent(["one ", {"pause": 60, "text": "late"}], path=path), "hi", path, abort_signal=given)
    given.set()
    with pytest.raises(Aborted):
        await result.text


@PATH
def test_abort_signal_of_another_event_loop(path: Any) -> None:
    """Such an event cannot be waited for there; it is asked."""
    signal = asyncio.Event()

    async def waits() -> None:
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(signal.wait(), 0.001)

    async def run() -> str:
        signal.clear()
        ada = agent(["one ", {"pause": 0.01, "text": "two"}], path=path)
        text = (await generate(ada, "hi", path, abort_signal=signal)).text
        asyncio.get_running_loop().call_later(0.02, signal.set)
        with pytest.raises(Aborted):
            await generate(agent([{"pause": 60, "text": "late"}], path=path), "hi", path, abort_signal=signal)
        return text

    asyncio.run(waits())
    assert asyncio.run(run()) == "one two"


@PATH
async def test_abort_signal_is_never_retried(path: Any) -> None:
    signal = asyncio.Event()
    ada = agent([{"pause": 60, "text": "late"}], path=path)
    asyncio.get_running_loop().call_later(0.02, signal.set)
    with pytest.raises(Aborted):
        await generate(ada, "hi", path, abort_signal=signal, max_retries=5)
    assert len(model_of(ada).requests) == 1


@PATH
async def test_client_tools(path: Any) -> None:
    """The loop stops at the call, and goes on when the client sends the result."""
    ada = agent(call("locate", {"what": "me"}), "You are in Rome.", path=path, memory=Memory(":memory:"))
    parameters = {"type": "object", "properties": {}}
    locate = {"description": "Where somebody is", "parameters": parameters, "execute": lambda **_: "not here"}
    answer = await generate(ada, "Where am I?", path, client_tools={"locate": locate}, memory=OWNER)
    [asked] = answer.tool_calls
    assert (asked.tool_name, asked.input, answer.tool_results, answer.finish_reason) == (
        "locate", {"what": "me"}, [], "tool-calls",
    )  # fmt: skip
    assert [spec.name for spec in model_of(ada).requests[0].tools] == ["locate"]
    result = {"role": "tool", "tool_call_id": asked.tool_call_id, "content": "Rome"}
    assert (await generate(ada, [result], path, memory=OWNER)).text == "You are in Rome."
    results = [
        part for message in model_of(ada).requests[1].prompt if message["role"] == "tool" for part in message["content"]
    ]
    assert [part["toolCallId"] for part in results] == [asked.tool_call_id]


@PATH
async def test_context(path: Any) -> None:
    memory = Memory(":memory:")
    ada = agent("one", "two", path=path, memory=memory)
    await generate(ada, "hi", path, context=[{"role": "user", "content": "It is Monday."}], memory=OWNER)
    assert said(model_of(ada)) == [("user", "It is Monday."), ("user", "hi")]
    await generate(ada, "and now?", path, memory=OWNER)
    assert "It is Monday." not in [text for _, text in said(model_of(ada))]


@PATH
async def test_experimental_output(path: Any) -> None:
    """An object beside tool calls; on the new path the option is `structured_output`."""
    name = "experimental_output" if path == "legacy" else "structured_output"
    ada = agent(call("weather", {"city": "Rome"}), '{"x": 1, "y": 2}', path=path, tools=[weather])
    answer = await generate(ada, "hi", path, **{name: Point})
    assert answer.object == Point(x=1, y=2)
    assert len(answer.steps) == 2
    assert model_of(ada).requests[0].output_schema == Point.model_json_schema()
    assert [spec.name for spec in model_of(ada).requests[0].tools] == ["weather"]


@PATH
@pytest.mark.parametrize("lane", ["input_processors", "output_processors", "error_processors"])
async def test_input_output_and_error_processors(path: Any, lane: str) -> None:
    """Each lane of a call takes the place of the agent's."""
    calls: list[str] = []

    class Watcher:
        def __init__(self, name: str) -> None:
            self.id = self.name = name

        def process_input(self, **_: Any) -> None:
            calls.append(self.name)

        def process_output_result(self, **_: Any) -> None:
            calls.append(self.name)

        def process_api_error(self, **_: Any) -> None:
            calls.append(self.name)

    ada = agent(APICallError("no", status=400), "hello", path=path, **{lane: [Watcher("agent's")]})
    with pytest.raises(APICallError):
        await generate(ada, "hi", path, **{lane: [Watcher("call's")]})
    await generate(ada, "hi", path, **{lane: [Watcher("call's")]})
    assert set(calls) == {"call's"}


@PATH
async def test_hooks(path: Any) -> None:
    """Those of a run override the agent's; `proceed: False` skips the call and the hook behind it."""
    seen: list[Any] = []

    def before(told: Any) -> dict[str, Any]:
        seen.append(("before", told["tool_name"], told["input"]))
        return {"proceed": False, "output": "skipped"}

    async def after(told: Any) -> None:
        seen.append(("after", told["tool_name"], told.get("output")))

    ada = agent(
        call("weather", {"city": "Rome"}), "done", call("weather", {"city": "Oslo"}), "done", path=path, tools=[weather],
        hooks={"before_tool_call": lambda told: None, "after_tool_call": after},
    )  # fmt: skip
    first = await generate(ada, "hi", path)
    assert first.steps[0].tool_results[0].output == {"city": "Rome", "sky": "clear"}
    second = await generate(ada, "hi", path, hooks={"beforeToolCall": before})
    assert second.steps[0].tool_results[0].output == "skipped"
    assert seen == [("after", "weather", {"city": "Rome", "sky": "clear"}), ("before", "weather", {"city": "Oslo"})]


@PATH
async def test_instructions(path: Any) -> None:
    ada = agent("a", "b", path=path, instructions=lambda context: f"Speak {context.get('language', 'English')}.")
    await generate(ada, "hi", path, request_context={"language": "Latin"})
    await generate(ada, "hi", path, instructions="Say nothing.")
    assert [said(model_of(ada), n)[0] for n in (0, 1)] == [("system", "Speak Latin."), ("system", "Say nothing.")]


@PATH
async def test_max_processor_retries(path: Any) -> None:
    class Picky:
        id = "picky"

        def process_output_step(self, *, text: str, abort: Any, **_: Any) -> None:
            if text != "three":
                abort(f"not {text}", retry=True)

    ada = agent("one", "two", "three", path=path, output_processors=[Picky()])
    answer = await generate(ada, "hi", path, max_processor_retries=2)
    assert (answer.text, len(answer.steps)) == ("three", 1)
    assert any("not two" in text for _, text in said(model_of(ada)))
    stopped = await generate(agent("one", path=path, output_processors=[Picky()]), "hi", path)
    assert (stopped.finish_reason, stopped.tripwire and stopped.tripwire.reason) == ("other", "not one")


@PATH
async def test_max_retries(path: Any) -> None:
    """2 by default; 0 disables; what will not pass by itself is not tried again."""
    busy = APICallError("busy", status=503)
    assert (await generate(agent(busy, busy, "at last", path=path), "hi", path)).text == "at last"
    for turns, retries, requests in (([busy] * 4, None, 3), ([busy], 0, 1), ([APICallError("no", status=401)], 2, 1)):
        ada = agent(*turns, path=path)
        with pytest.raises(APICallError):
            await generate(ada, "hi", path, **({} if retries is None else {"max_retries": retries}))
        assert len(model_of(ada).requests) == requests


@PATH
@pytest.mark.parametrize(("headers", "least"), [({}, 0.15), ({"retry-after-ms": "100"}, 0.2)])
async def test_max_retries_waits_twice_as_long_each_time(path: Any, headers: dict[str, str], least: float) -> None:
    """0.05 s and 0.1 s here; longer where the provider says so."""
    busy = APICallError("busy", status=429, headers=headers)
    ada = agent(busy, busy, "at last", path=path, retry_delay=0.05)
    begun = time.monotonic()
    assert (await generate(ada, "hi", path)).text == "at last"
    assert least <= time.monotonic() - begun < least + 5


@PATH
async def test_max_retries_ends_with_an_abort(path: Any) -> None:
    signal = asyncio.Event()
    asyncio.get_running_loop().call_later(0.02, signal.set)
    ada = agent(APICallError("busy", status=503), "late", path=path, retry_delay=60)
    with pytest.raises(Aborted):
        await asyncio.wait_for(generate(ada, "hi", path, abort_signal=signal), 5)


@PATH
@pytest.mark.parametrize("given", [None, 3])
async def test_max_steps(path: Any, given: int | None) -> None:
    """5 by default: answers of the model at most."""
    ada = agent(*[call("weather", {"city": "Rome"})] * 9, path=path, tools=[weather])
    answer = await generate(ada, "hi", path, **({} if given is None else {"max_steps": given}))
    assert len(answer.steps) == len(model_of(ada).requests) == (given or 5)
    assert answer.finish_reason == "tool-calls"
    assert len(answer.tool_results) == 1


@PATH
async def test_memory(path: Any) -> None:
    memory = Memory(":memory:")
    ada = agent("Hello Ada.", "Ada.", path=path, memory=memory)
    thread = {"id": "t1", "title": "Names", "metadata": {"topic": "names"}}
    await generate(ada, "I am Ada.", path, memory={"thread": thread, "resource": "ada"})
    await generate(ada, "Who am I?", path, memory=OWNER)
    assert [text for _, text in said(model_of(ada))] == ["I am Ada.", "Hello Ada.", "Who am I?"]
    with pytest.raises(AgentError, match="AGENT_THREAD_OF_ANOTHER_RESOURCE"):
        await generate(ada, "Who am I?", path, memory={"thread": "t1", "resource": "eve"})


@PATH
async def test_memory_options(path: Any) -> None:
    memory = Memory(":memory:")
    ada = agent(*"abc", path=path, memory=memory)
    for text in ("one", "two"):
        await generate(ada, text, path, memory=OWNER)
    await generate(ada, "three", path, memory={**OWNER, "options": {"lastMessages": 2}})
    assert [text for _, text in said(model_of(ada))] == ["two", "b", "three"]


@PATH
async def test_memory_options_working_memory(path: Any) -> None:
    """The model keeps a text of its own, and sees it in every run of the resource."""
    note = call("update_working_memory", {"memory": "Ada likes trains."})
    ada = agent(note, "Noted.", "By train.", path=path, memory=Memory(":memory:"))
    on = {"working_memory": {"enabled": True}}
    await generate(ada, "I like trains.", path, memory={**OWNER, "options": on})
    await generate(ada, "How do I travel?", path, memory={"thread": "t2", "resource": "ada", "options": on})
    assert "Ada likes trains." in said(model_of(ada))[0][1]


@PATH
async def test_memory_options_generate_title(path: Any) -> None:
    memory = Memory(":memory:")
    ada = agent("Bring a coat.", "Clothes for Oslo", path=path, memory=memory)
    titled = {**OWNER, "options": {"threads": {"generateTitle": True}}}
    await generate(ada, "What do I wear in Oslo?", path, memory=titled)
    thread = await memory.thread("t1")
    assert thread
    assert thread["title"] == "Clothes for Oslo"


@PATH
async def test_memory_options_title_of_a_model_that_is_none(path: Any) -> None:
    ada = agent("x", path=path, memory=Memory(":memory:"))
    titled = {**OWNER, "options": {"threads": {"generate_title": {"model": "anthropc/claude"}}}}
    with pytest.raises(AgentError, match='did you mean "anthropic"'):
        await generate(ada, "hi", path, memory=titled)
    assert model_of(ada).requests == []


@PATH
async def test_memory_options_title_that_an_abort_stops(path: Any) -> None:
    """It is a model call like the others; the answer is there all the same."""
    memory, signal = Memory(":memory:"), asyncio.Event()
    ada = agent("Bring a coat.", [{"pause": 60, "text": "late"}], path=path, memory=memory)
    titled = {**OWNER, "options": {"threads": {"generate_title": True}}}
    asyncio.get_running_loop().call_later(0.05, signal.set)
    run = generate(ada, "What do I wear?", path, memory=titled, abort_signal=signal)
    assert (await asyncio.wait_for(run, 5)).text == "Bring a coat."
    thread = await memory.thread("t1")
    assert thread
    assert (thread["title"], len(await memory.messages("t1"))) == (None, 2)


@PATH
async def test_memory_options_semantic_recall(path: Any) -> None:
    """What was said long ago comes back by its meaning; here its meaning is its letters."""

    class Letters:
        name, dimensions = "letters", 26

        async def embed(self, texts: list[str]) -> list[list[float]]:
            return [[1.0 + text.lower().count(chr(97 + n)) for n in range(26)] for text in texts]

    memory = Memory(":memory:", embedder=Letters())
    ada = agent(*"abcd", path=path, memory=memory)
    for text in ("zzz zebra zoo", "hello", "hello again"):
        await generate(ada, text, path, memory=OWNER)
    recall = {"last_messages": 1, "semantic_recall": {"top_k": 1, "message_range": 0, "scope": "thread"}}
    await generate(ada, "zebra zzz?", path, memory={**OWNER, "options": recall})
    assert [text for _, text in said(model_of(ada))] == ["zzz zebra zoo", "c", "zebra zzz?"]


async def test_memory_options_resource_id_and_thread_id_of_old() -> None:
    ada = agent(*"abc", memory=Memory(":memory:"))
    for text in ("one", "two"):
        await generate(ada, text, threadId="t1", resourceId="ada")
    await generate(ada, "three", thread_id="t1", resource_id="ada", memory_options={"last_messages": 2})
    assert [text for _, text in said(model_of(ada))] == ["two", "b", "three"]


@PATH
async def test_model(path: Any) -> None:
    other = scripted("other", path=path, model_id="other")
    answer = await generate(agent("own", path=path), "hi", path, model=other)
    assert (answer.text, answer.response.model_id) == ("other", "other")


@PATH
async def test_on_finish(path: Any) -> None:
    finished: list[Answer] = []
    await stream(agent("hello", path=path), "hi", path, on_finish=finished.append).consume()
    assert [answer.text for answer in finished] == ["hello"]


@PATH
async def test_on_step_finish(path: Any) -> None:
    steps: list[str] = []

    async def note(step: str) -> None:
        steps.append(step)

    ada = agent(call("weather", {"city": "Rome"}), "clear", path=path, tools=[weather])
    await stream(ada, "hi", path, onStepFinish=note).consume()
    first, second = map(json.loads, steps)
    assert (first["finish_reason"], first["is_continued"], second["text"]) == ("tool-calls", True, "clear")
    assert first["tool_results"][0]["output"] == {"city": "Rome", "sky": "clear"}


@pytest.mark.parametrize(
    ("wanted", "text", "made"),
    [
        (Point, '{"x": 1, "y": 2}', Point(x=1, y=2)),
        (list[Point], '{"value": [{"x": 1, "y": 2}]}', [Point(x=1, y=2)]),
        ({"type": "object", "properties": {"x": {"type": "integer"}}}, '{"x": 1}', {"x": 1}),
        ({"type": "array", "items": {"type": "string"}}, '{"value": ["a"]}', ["a"]),
    ],
)
async def test_output(wanted: Any, text: str, made: Any) -> None:
    """An object in place of text and tools; arrays too."""
    pytest.importorskip("jsonschema")
    ada = agent(text, tools=[weather])
    assert (await generate(ada, output=wanted)).object == made
    assert model_of(ada).requests[0].tools == []
    assert model_of(ada).requests[0].output_schema["type"] == "object"  # type: ignore[index]


@pytest.mark.parametrize("text", ["no JSON", '{"x": "a", "y": 2}', "[1, 2]"])
async def test_output_that_does_not_fit(text: str) -> None:
    with pytest.raises(AgentError, match="AGENT_STRUCTURED_OUTPUT_INVALID") as caught:
        await generate(agent(text), output=Point)
    assert caught.value.detail == text


@pytest.mark.parametrize("reason", ["length", "content-filter", "unknown"])
async def test_output_that_was_cut_off(reason: str) -> None:
    """What is whole is an object whatever the provider says of it; what is not is told, and never None."""
    whole = await generate(agent({"text": '{"x": 1, "y": 2}', "finish_reason": reason}), output=Point)
    assert (whole.object, whole.finish_reason) == (Point(x=1, y=2), reason)
    with pytest.raises(AgentError, match="AGENT_STRUCTURED_OUTPUT_INVALID"):
        await generate(agent({"text": '{"x": 1, "y', "finish_reason": reason}), output=Point)


@PATH
async def test_provider_options(path: Any) -> None:
    ada = agent("hello", path=path)
    await generate(ada, "hi", path, provider_options={"openai": {"reasoning_effort": "low"}})
    assert model_of(ada).requests[0].provider_options == {"openai": {"reasoning_effort": "low"}}


@PATH
async def test_request_context(path: Any) -> None:
    """It reaches instructions, tools and processors."""
    seen: dict[str, Any] = {}

    class Watcher:
        id = "watcher"

        def process_input(self, *, request_context: Any, **_: Any) -> None:
            seen["processor"] = request_context["user"]

    @tool
    def whoami(context: ToolContext) -> str:
        """Tells who asks."""
        seen["tool"] = context.request_context["user"]
        return "you"

    ada = agent(
        call("whoami"), "done", path=path, tools=[whoami], input_processors=[Watcher()],
        instructions=lambda context: f"You talk to {context['user']}.",
    )  # fmt: skip
    await generate(ada, "hi", path, request_context={"user": "Ada"})
    assert seen == {"processor": "Ada", "tool": "Ada"}
    assert said(model_of(ada))[0] == ("system", "You talk to Ada.")


@PATH
async def test_run_id(path: Any) -> None:
    seen: list[Any] = []

    def note(context: ToolContext) -> str:
        """Notes the run."""
        seen.append(context.run_id)
        return "noted"

    steps: list[str] = []
    ada = agent(call("note"), "done", path=path, tools=[note])
    result = stream(ada, "hi", path, run_id="run-7", on_step_finish=steps.append)
    await result.consume()
    assert (result.run_id, (await result.answer()).run_id, seen) == ("run-7", "run-7", ["run-7"])
    assert [json.loads(step)["run_id"] for step in steps] == ["run-7", "run-7"]
    assert stream(agent("x", path=path), "hi", path).run_id != stream(agent("x", path=path), "hi", path).run_id


@PATH
async def test_what_else_a_tool_is_told(path: Any) -> None:
    told: list[ToolContext] = []

    def note(context: ToolContext) -> str:
        """Notes what it is told."""
        told.append(context)
        return "noted"

    signal = asyncio.Event()
    ada = agent(call("note"), "done", path=path, tools=[note], memory=Memory(":memory:"))
    answer = await generate(ada, "hi", path, memory=OWNER, abort_signal=signal)
    [context] = told
    assert (context.thread_id, context.resource_id, context.agent, context.abort_signal) == ("t1", "ada", ada, signal)
    assert (context.tool_name, context.tool_call_id) == ("note", answer.steps[0].tool_calls[0].tool_call_id)
    assert [row["role"] for row in context.messages] == ["user", "assistant"]


@PATH
@pytest.mark.parametrize("save_per_step", [True, False])
async def test_save_per_step(path: Any, save_per_step: bool, tmp_path: FilePath) -> None:
    store = tmp_path / "chats.db"
    stored: list[int] = []

    async def count() -> str:
        """Counts what another process would find."""
        stored.append(len(await Memory(store).messages("t1")))
        return "counted"

    ada = agent(call("count"), call("count"), "done", path=path, tools=[count], memory=Memory(store))
    await generate(ada, "hi", path, memory=OWNER, save_per_step=save_per_step)
    assert stored == ([1, 2] if save_per_step else [1, 1])


@contextmanager
def spans() -> Iterator[dict[str, Any]]:
    """The spans that end meanwhile, by their names."""
    pytest.importorskip("opentelemetry.sdk")
    from opentelemetry import trace
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter, provider, ended = InMemorySpanExporter(), TracerProvider(), dict[str, Any]()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    current = trace._TRACER_PROVIDER
    trace._TRACER_PROVIDER = provider
    try:
        yield ended
    finally:
        trace._TRACER_PROVIDER = current
        ended.update({span.name: span for span in exporter.get_finished_spans()})


@PATH
@pytest.mark.integration
async def test_telemetry(path: Any) -> None:
    ada = agent(call("weather", {"city": "Rome"}), "clear", path=path, tools=[weather], memory=Memory(":memory:"))
    with spans() as ended:
        result = stream(
            ada, "hi", path, telemetry={"isEnabled": True, "functionId": "forecast"}, run_id="run-7", memory=OWNER
        )
        usage = (await result.steps)[-1].usage
    told = {name: dict(span.attributes) for name, span in ended.items()}
    assert told.keys() == {"invoke_agent agent", "chat scripted", "execute_tool weather"}
    assert {each["gen_ai.function.id"] for each in told.values()} == {"forecast"}
    run, chat = told["invoke_agent agent"], told["chat scripted"]
    assert (run["gen_ai.run.id"], run["gen_ai.conversation.id"]) == ("run-7", "t1")
    assert (chat["gen_ai.usage.input_tokens"], chat["gen_ai.usage.output_tokens"]) == (
        usage.input_tokens, usage.output_tokens,
    )  # fmt: skip
    assert chat["gen_ai.response.finish_reasons"] == ("stop",)
    parents = {span.parent.span_id for name, span in ended.items() if span.parent}
    assert parents == {ended["invoke_agent agent"].context.span_id}


@PATH
@pytest.mark.integration
@pytest.mark.parametrize("recorded", [(True, True), (True, False), (False, True), (False, False)])
async def test_telemetry_tells_what_was_said_unless_it_must_not(path: Any, recorded: tuple[bool, bool]) -> None:
    ada = agent(call("weather", {"city": "Rome"}), "clear", path=path, tools=[weather])
    inputs, outputs = recorded
    with spans() as ended:
        await generate(
            ada, "hi", path, telemetry={"is_enabled": True, "record_inputs": inputs, "record_outputs": outputs}
        )
    names = {name for span in ended.values() for name in span.attributes}
    assert {name for name in names if "input.messages" in name or "arguments" in name} == (
        {"gen_ai.input.messages", "gen_ai.tool.call.arguments"} if inputs else set()
    )
    assert {name for name in names if "output.messages" in name or "call.result" in name} == (
        {"gen_ai.output.messages", "gen_ai.tool.call.result"} if outputs else set()
    )


@PATH
@pytest.mark.integration
async def test_telemetry_of_faults_and_repairs(path: Any) -> None:
    def broken() -> str:
        """Breaks."""
        raise ValueError("no")

    refusal = APICallError("messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z]'", status=400)
    asks = {"tool_calls": [{"name": "broken", "id": "a:1"}]}
    ada = agent(path=path, model=scripted(asks, refusal, "ok", path=path, provider="acme"), tools=[broken])
    with spans() as ended:
        result = stream(ada, "hi", path, telemetry={"is_enabled": True})
        await result.consume()
    tool_call, run = ended["execute_tool broken"], ended["invoke_agent agent"]
    assert tool_call.attributes["gen_ai.error.type"] == "ValueError"
    assert [event.name for event in tool_call.events] == ["exception"]
    if path == "legacy":
        assert (run.status.is_ok, [event.name for event in run.events]) == (False, ["exception"])
    else:
        [repair] = [event for event in run.events if event.name != "exception"]
        assert repair.attributes["historycompat.rule"] == "anthropic-tool-id-format"


@pytest.mark.skipif(find_spec("opentelemetry") is not None, reason="OpenTelemetry is installed")
def test_telemetry_without_its_library() -> None:
    with pytest.raises(AgentError, match=r"pip install \"historycompat\[otel\]\""):
        stream(agent("x"), telemetry={"is_enabled": True})


@PATH
async def test_temperature_and_the_other_settings(path: Any) -> None:
    settings = {
        "temperature": 0.5, "max_tokens": 9, "top_p": 0.9, "top_k": 4, "presence_penalty": 0.1, "frequency_penalty": 0.2,
        "stop_sequences": ["END"], "seed": 7, "headers": {"x-team": "blue"},
    }  # fmt: skip
    ada = agent("hello", path=path)
    await generate(ada, "hi", path, **(settings if path == "legacy" else {"model_settings": settings}))
    sent = model_of(ada).requests[0].settings
    assert {name: getattr(sent, name) for name in settings} == settings


@PATH
@pytest.mark.parametrize("choice", ["auto", "none", "required", {"type": "tool", "tool_name": "weather"}])
async def test_tool_choice(path: Any, choice: Any) -> None:
    ada = agent("hello", path=path, tools=[weather])
    await generate(ada, "hi", path, tool_choice=choice)
    assert model_of(ada).requests[0].tool_choice == choice


@PATH
async def test_tool_choice_of_no_tool(path: Any) -> None:
    ada = agent("hello", path=path, tools=[weather])
    with pytest.raises(AgentError, match='"weather"'):
        await generate(ada, "hi", path, tool_choice={"type": "tool", "tool_name": "wether"})


@PATH
async def test_toolsets(path: Any) -> None:
    def capital(country: str) -> str:
        """Tells the capital of a country."""
        return "Rome"

    ada = agent("hello", path=path, tools=[weather])
    await generate(ada, "hi", path, toolsets={"geography": [capital], "more": {"cap": capital}})
    assert [spec.name for spec in model_of(ada).requests[0].tools] == ["weather", "capital", "cap"]
    with pytest.raises(AgentError, match="AGENT_TOOL_NAME_COLLISION"):
        stream(ada, "hi", path, toolsets={"other": {"weather": capital}})


# ---- what does not go together ----


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"thread_id": "t1"}, "AGENT_MEMORY_MISSING_RESOURCE_ID: thread 't1' needs its resource too"),
        ({"resource_id": "ada"}, "AGENT_MEMORY_MISSING_THREAD_ID"),
        ({"memory": {"thread": "t1"}}, "AGENT_MEMORY_MISSING_RESOURCE_ID"),
        ({"memory": {"resource": "ada"}}, "AGENT_MEMORY_MISSING_THREAD_ID"),
        ({"memory": {"thread": {"title": "x"}, "resource": "ada"}}, "AGENT_MEMORY_MISSING_THREAD_ID"),
        ({"memory_options": {"last_messages": 3}}, "AGENT_MEMORY_MISSING_THREAD_ID"),
        ({"memory": {**OWNER, "options": {"last_mesages": 3}}}, "last_messages"),
        ({"output": Point, "toolsets": {"a": [weather]}}, "experimental_output gives an object beside tool calls"),
        ({"output": Point, "client_tools": {"a": {}}}, "experimental_output gives an object beside tool calls"),
        ({"output": Point, "experimental_output": Point}, "choose one"),
        ({"output": Point, "on_finish": print}, "on_finish is not called with output"),
        ({"output": Point, "on_step_finish": print}, "on_step_finish is not called with output"),
        ({"output": object()}, "no pydantic type"),
        ({"max_steps": 0}, "max_steps"),
        ({"max_steps": True}, "max_steps"),
        ({"max_retries": -1}, "max_retries"),
        ({"maxStep": 3}, 'did you mean "max_steps"'),
        ({"temprature": 1}, 'did you mean "temperature"'),
        ({"memory": {"tread": "t1"}}, 'did you mean "thread"'),
        ({"tool_choice": "maybe"}, "tool_choice"),
        ({"tool_choice": {"type": "tool", "tool": "x"}}, "tool_name"),
        ({"hooks": {"before": print}}, "there are after_tool_call, before_tool_call"),
        ({"telemetry": {"enabled": True}}, 'did you mean "is_enabled"'),
        ({"model": scripted("x", path="new")}, "AGENT_STREAM_V2_MODEL_NOT_SUPPORTED: .* use agent.stream for it"),
        ({"model": 7}, "AGENT_UNKNOWN_MODEL"),
        ({"model": "anthropc/claude-sonnet-4-5"}, 'did you mean "anthropic"'),
        ({"model": "anthropic:claude-sonnet-4-5"}, "did you mean anthropic/claude-sonnet-4-5?"),
        ({"model": ""}, "AGENT_UNKNOWN_MODEL"),
        ({"model_settings": {"temperature": 1}}, "write each setting as an option"),
        ({"structuredOutput": Point}, "write output, or experimental_output beside tools"),
    ],
)
async def test_what_does_not_go_together(options: dict[str, Any], words: str) -> None:
    with pytest.raises(AgentError, match=words):
        await stream(agent("x", memory=Memory(":memory:")), **options).text


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"temperature": 1}, r'write model_settings=\{"temperature": ...\}'),
        ({"maxTokens": 1}, r'write model_settings=\{"max_tokens": ...\}'),
        ({"threadId": "t1"}, r'write memory=\{"thread": ...\}'),
        ({"output": Point}, "write structured_output"),
    ],
)
async def test_what_is_called_otherwise_on_the_new_path(options: dict[str, Any], words: str) -> None:
    with pytest.raises(AgentError, match=words):
        agent("x", path="new").stream("hi", **options)


async def test_memory_of_an_agent_that_has_none() -> None:
    with pytest.raises(AgentError, match="AGENT_MEMORY_MISSING"):
        stream(agent("x"), memory=OWNER)


@PATH
@pytest.mark.parametrize("run", [stream, generate])
async def test_a_model_of_the_other_path(path: Any, run: Any) -> None:
    other: Any = "legacy" if path == "new" else "new"
    version = "V1" if path == "new" else "V2"
    method = run.__name__ + ("_legacy" if path == "new" else "")
    words = rf"AGENT_{run.__name__.upper()}_{version}_MODEL_NOT_SUPPORTED: .* use agent\.{method} for it"
    with pytest.raises(AgentError, match=words):
        await run(agent("x", path=other), "hi", path)


async def test_the_legacy_path_says_that_it_is_deprecated() -> None:
    ada = Agent(model=scripted("x"))
    with pytest.warns(DeprecationWarning, match=r"use agent\.stream\(messages, model_settings=") as told:
        ada.stream_legacy("hi")
    with pytest.warns(DeprecationWarning, match=r"use agent\.generate\(messages, model_settings=") as told_too:
        await ada.generate_legacy("hi")
    assert {each.filename for each in (*told, *told_too)} == {__file__}
