"""Everything that a run gives back, on both paths: a test for each, named after it."""

from __future__ import annotations

import asyncio
import gc
from contextlib import suppress
from typing import Any

import pytest
from agent_runs import OWNER, PATHS, agent, call, generate, stream, weather
from pydantic import BaseModel

from historycompat.agent import Aborted, AgentError, APICallError, Memory
from historycompat.agent.parts import File, Source, TextDelta, ToolCall, ToolResult

PATH = pytest.mark.parametrize("path", PATHS)
TOOL_RUN = ({"reasoning": "hm", **call("weather", {"city": "Rome"}, text="Let me see. ")}, "It is clear.")


def forecast(path: Any) -> Any:
    return stream(agent(*TOOL_RUN, path=path, tools=[weather]), "hi", path)


@PATH
async def test_text_stream(path: Any) -> None:
    assert [piece async for piece in forecast(path).text_stream] == ["Let ", "me ", "see. ", "It ", "is ", "clear."]


@PATH
async def test_full_stream(path: Any) -> None:
    parts = [part async for part in forecast(path).full_stream]
    kinds = list(dict.fromkeys(part.type for part in parts))
    assert kinds == ["step-start", "reasoning", "text-delta", "tool-call", "tool-result", "step-finish", "finish"]
    assert [part.is_continued for part in parts if part.type == "step-finish"] == [True, False]
    assert parts[-1].usage.total_tokens == sum(p.usage.total_tokens for p in parts if p.type == "step-finish")


@PATH
async def test_full_stream_ends_with_the_error(path: Any) -> None:
    refusal = APICallError("no", status=401)
    result = stream(agent(["half an ", refusal], path=path), "hi", path)
    parts = [part async for part in result.full_stream]
    assert {part.type for part in parts} == {"step-start", "text-delta", "error"}
    assert (parts[-1].type, parts[-1].error) == ("error", refusal)  # type: ignore[union-attr]
    assert "".join(part.text for part in parts if isinstance(part, TextDelta)) == "half an "


@PATH
async def test_text(path: Any) -> None:
    assert await forecast(path).text == "Let me see. It is clear."


@PATH
async def test_usage(path: Any) -> None:
    usage = await forecast(path).usage
    assert usage.prompt_tokens == usage.input_tokens > 0
    assert usage.completion_tokens == usage.output_tokens > 0
    assert usage.total_tokens == usage.prompt_tokens + usage.completion_tokens


@PATH
@pytest.mark.parametrize("reason", ["stop", "length", "content-filter", "other"])
async def test_finish_reason(path: Any, reason: str) -> None:
    assert await stream(agent({"text": "x", "finish_reason": reason}, path=path), "hi", path).finish_reason == reason


@PATH
async def test_tool_calls_and_tool_results(path: Any) -> None:
    """Those of the last step; earlier ones are in `steps`."""
    result = stream(agent(*TOOL_RUN, path=path, tools=[weather]), "hi", path, max_steps=1)
    [asked], [told] = await result.tool_calls, await result.tool_results
    assert isinstance(asked, ToolCall)
    assert isinstance(told, ToolResult)
    assert (asked.input, told.output) == ({"city": "Rome"}, {"city": "Rome", "sky": "clear"})
    assert await forecast(path).tool_calls == []


@PATH
async def test_reasoning(path: Any) -> None:
    assert await forecast(path).reasoning == "hm"


@PATH
async def test_steps(path: Any) -> None:
    first, second = await forecast(path).steps
    assert (first.step_type, first.text, first.finish_reason, first.is_continued) == (
        "initial", "Let me see. ", "tool-calls", True,
    )  # fmt: skip
    assert (second.step_type, second.text, second.finish_reason, second.is_continued) == (
        "tool-result", "It is clear.", "stop", False,
    )  # fmt: skip


@PATH
async def test_warnings(path: Any) -> None:
    from historycompat.agent.parts import ResponseInfo

    turn = [ResponseInfo("r1", "m", {}, ("top_k is not supported",)), "hello"]
    assert await stream(agent(turn, path=path), "hi", path).warnings == ["top_k is not supported"]


@PATH
async def test_response(path: Any) -> None:
    """The id, model and headers of the last answer, and the rows that the run added."""
    response = await forecast(path).response
    assert response.id
    assert response.model_id == "scripted"
    [row] = response.messages
    assert [part["type"] for part in row["content"]["parts"]] == [
        "step-start", "reasoning", "text", "tool-invocation", "step-start", "text",
    ]  # fmt: skip
    assert row["content"]["metadata"] == {"provider": "scripted", "modelId": "scripted"}


@PATH
async def test_files_and_sources(path: Any) -> None:
    turn = [File("aGk=", "image/png"), Source("https://example.org", "Example"), "hello"]
    result = stream(agent(turn, path=path), "hi", path)
    assert await result.files == [File("aGk=", "image/png")]
    assert await result.sources == [Source("https://example.org", "Example")]


class Point(BaseModel):
    x: int
    y: str


OUTPUT = {"new": "structured_output", "legacy": "output"}


@PATH
async def test_object(path: Any) -> None:
    result = stream(agent('{"x": 1, "y": "two"}', path=path), "hi", path, **{OUTPUT[path]: Point})
    assert await result.object == Point(x=1, y="two")


@PATH
async def test_partial_object_stream(path: Any) -> None:
    result = stream(agent('{"x": 1, "y": "two and three"}', path=path), "hi", path, **{OUTPUT[path]: Point})
    grown = [each async for each in result.partial_object_stream]
    assert grown == [
        {}, {"x": 1}, {"x": 1, "y": "two "}, {"x": 1, "y": "two and "}, {"x": 1, "y": "two and three"},
    ]  # fmt: skip
    with pytest.raises(AgentError, match="there is no object without a schema"):
        _ = stream(agent("x", path=path), "hi", path).partial_object_stream


# ---- readers ----


@PATH
async def test_text_and_both_streams_at_once(path: Any) -> None:
    result = forecast(path)

    async def pieces() -> str:
        return "".join([piece async for piece in result.text_stream])

    async def parts() -> list[str]:
        return [part.type async for part in result.full_stream]

    text, streamed, kinds = await asyncio.gather(result.text, pieces(), parts())
    assert text == streamed == await result.text
    assert kinds[-1] == "finish"
    assert [part.type async for part in result.full_stream] == kinds  # a late reader sees all of it


@PATH
async def test_an_error_reaches_every_waiter(path: Any) -> None:
    result = stream(agent(["half ", APICallError("no", status=401)], path=path), "hi", path)

    async def pieces() -> list[str]:
        return [piece async for piece in result.text_stream]

    waiting = [result.text, result.usage, result.steps, result.finish_reason, result.response, pieces()]
    outcomes = await asyncio.gather(
        *(each if asyncio.iscoroutine(each) else _of(each) for each in waiting), return_exceptions=True
    )
    assert [type(outcome) for outcome in outcomes] == [APICallError] * 6
    with pytest.raises(APICallError):
        await result.text


async def _of(later: Any) -> Any:
    return await later


@PATH
async def test_leaving_early_stops_the_model_call(path: Any) -> None:
    closed = asyncio.Event()

    class Slow:
        specification_version = "v1" if path == "legacy" else "v2"
        provider = model_id = "slow"

        async def generate(self, request: Any) -> Any:
            raise NotImplementedError

        async def stream(self, request: Any) -> Any:
            try:
                while True:
                    yield TextDelta("on and ")
                    await asyncio.sleep(0.001)
            finally:
                closed.set()

    result = stream(agent(path=path, model=Slow()), "hi", path)  # type: ignore[arg-type]
    async for _ in result.text_stream:
        break
    await asyncio.wait_for(closed.wait(), 5)
    with pytest.raises(AgentError, match="AGENT_STREAM_CLOSED"):
        await result.text
    closed.clear()
    async with stream(agent(path=path, model=Slow()), "hi", path) as result:  # type: ignore[arg-type]
        reader = result.text_stream
        assert await anext(reader) == "on and "
    assert closed.is_set()


@PATH
async def test_a_reader_that_leaves_does_not_stop_another(path: Any) -> None:
    result = forecast(path)

    async def impatient() -> None:
        async for _ in result.text_stream:
            return

    text, _ = await asyncio.gather(result.text, impatient())
    assert text == "Let me see. It is clear."


@PATH
async def test_generate_gives_the_same(path: Any) -> None:
    streamed = await forecast(path).answer()
    generated = await generate(agent(*TOOL_RUN, path=path, tools=[weather]), "hi", path)
    for name in ("text", "reasoning", "usage", "finish_reason", "warnings"):
        assert getattr(generated, name) == getattr(streamed, name)
    assert [step.text for step in generated.steps] == [step.text for step in streamed.steps]


async def test_a_result_that_nobody_reads_does_nothing() -> None:
    ada = agent("x")
    stream(ada)
    await asyncio.sleep(0)
    assert ada.model.requests == []  # type: ignore[union-attr]


# ---- readers that come, leave and wait at odd moments ----


class Endless:
    """Says the same until it is closed, which takes its time."""

    provider = model_id = "endless"

    def __init__(self, path: Any) -> None:
        self.specification_version: Any = "v1" if path == "legacy" else "v2"
        self.begun, self.closing = 0, asyncio.Event()

    async def generate(self, request: Any) -> Any:
        raise NotImplementedError

    async def stream(self, request: Any) -> Any:
        self.begun += 1
        try:
            while True:
                yield TextDelta("on and ")
                await asyncio.sleep(0)
        finally:
            self.closing.set()
            await asyncio.sleep(0.01)


class Connection:
    """A stream that nobody closes but who was told to: not a generator, which Python would close by itself."""

    closed = False

    def __aiter__(self) -> Connection:
        return self

    async def __anext__(self) -> TextDelta:
        await asyncio.sleep(0)
        return TextDelta("on and ")

    async def aclose(self) -> None:
        await asyncio.sleep(0)
        self.closed = True


@PATH
@pytest.mark.parametrize("way", ["left", "aborted", "failed"])
async def test_a_run_that_stops_closes_the_stream_of_its_model(path: Any, way: str) -> None:
    model: Any = Endless(path)
    connection = Connection()
    model.stream = lambda request: connection
    signal = asyncio.Event()

    class Fails:
        id = "fails"

        def process_output_stream(self, *, stream_parts: Any, abort: Any, **_: Any) -> Any:
            if way == "failed" and len(stream_parts) == 3:
                abort("enough")
            return stream_parts[-1]

    ada = agent(path=path, model=model, output_processors=[Fails()])
    with suppress(Aborted):
        await _until_it_stops(stream(ada, "hi", path, abort_signal=signal), way, signal)
    assert connection.closed


async def _until_it_stops(result: Any, way: str, signal: asyncio.Event) -> None:
    async with result:
        async for _ in result.text_stream:
            if way == "left":
                return
            if way == "aborted":
                signal.set()


@PATH
async def test_who_comes_while_a_run_is_stopped_does_not_begin_it_again(path: Any) -> None:
    model = Endless(path)
    result = stream(agent(path=path, model=model), "hi", path)  # type: ignore[arg-type]

    async def impatient() -> None:
        pieces = result.text_stream
        await anext(pieces)
        await pieces.aclose()  # type: ignore[attr-defined]

    leaving = asyncio.create_task(impatient())
    await model.closing.wait()
    outcomes = await asyncio.gather(_of(result.text), result.aclose(), leaving, return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [AgentError, type(None), type(None)]
    assert [part.type async for part in result.full_stream][-1] == "error"
    assert model.begun == 1


@PATH
async def test_a_result_that_is_closed_before_it_is_read(path: Any) -> None:
    result = stream(agent("x", path=path), "hi", path)
    await result.aclose()
    await result.aclose()
    assert [part.type async for part in result.full_stream] == ["error"]
    with pytest.raises(AgentError, match="AGENT_STREAM_CLOSED"):
        await result.text


@PATH
@pytest.mark.parametrize("last", ["step-start", "reasoning", "text-delta", "tool-call", "tool-result", "step-finish"])
async def test_a_reader_may_leave_at_any_part(path: Any, last: str) -> None:
    memory = Memory(":memory:")
    result = stream(agent(*TOOL_RUN, path=path, tools=[weather], memory=memory), "hi", path, memory=OWNER)
    async with result:
        async for part in result.full_stream:
            if part.type == last:
                break
    await asyncio.sleep(0.001)  # asyncio closes the stream that was left in a task of its own
    assert asyncio.all_tasks() == {asyncio.current_task()}
    assert (await memory.messages("t1"))[0]["role"] == "user"


@PATH
async def test_who_leaves_at_the_last_part_has_missed_nothing(path: Any) -> None:
    finished: list[Any] = []

    async def note(answer: Any) -> None:
        await asyncio.sleep(0.01)
        finished.append(answer.text)

    async with stream(agent("hello", path=path), "hi", path, on_finish=note) as result:
        async for part in result.full_stream:
            if part.type == "finish":
                break
    assert finished == ["hello"]


@PATH
async def test_a_callback_that_waits_for_its_own_run_is_told(path: Any) -> None:
    held: list[Any] = []

    async def waits(answer: Any) -> None:
        await held[0].text

    held.append(stream(agent("hello", path=path), "hi", path, on_finish=waits))
    with pytest.raises(AgentError, match="cannot wait for the run that calls it"):
        await asyncio.wait_for(held[0].answer(), 5)


@PATH
async def test_a_callback_may_stop_its_own_run(path: Any) -> None:
    held: list[Any] = []

    async def stops(step: str) -> None:
        await held[0].aclose()

    held.append(stream(agent(*TOOL_RUN, path=path, tools=[weather]), "hi", path, on_step_finish=stops))
    with pytest.raises(AgentError, match="AGENT_STREAM_CLOSED"):
        await asyncio.wait_for(held[0].answer(), 5)


@PATH
async def test_a_task_group_that_fails_stops_the_run(path: Any) -> None:
    model = Endless(path)
    result = stream(agent(path=path, model=model), "hi", path)  # type: ignore[arg-type]

    async def fails() -> None:
        await anext(result.text_stream)
        raise ValueError("elsewhere")

    async def both() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(result.consume())
            group.create_task(fails())

    with pytest.raises(ExceptionGroup, match="unhandled errors"):
        await both()
    with pytest.raises(AgentError, match="AGENT_STREAM_CLOSED"):
        await result.text


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_what_ends_the_program_passes_once_what_was_said_is_saved(
    error: type[BaseException], caplog: pytest.LogCaptureFixture
) -> None:
    memory = Memory(":memory:")

    def ends(step: str) -> None:
        raise error("enough")

    async def run() -> None:
        ada = agent("hello", path="new", memory=memory)
        await stream(ada, "hi", "new", memory=OWNER, on_step_finish=ends).text

    with pytest.raises(error, match="enough"):
        asyncio.run(run())
    gc.collect()
    assert caplog.records == []
    assert "hello" in str(asyncio.run(memory.messages("t1")))


@pytest.mark.filterwarnings("error")
def test_a_result_outside_of_an_event_loop() -> None:
    result = stream(agent("x", path="new"), "hi", "new")
    with pytest.raises(RuntimeError, match="no running event loop"):
        result.text.__await__().send(None)
    gc.collect()


def test_one_agent_in_two_event_loops() -> None:
    ada = agent("one", "two", path="new", memory=Memory(":memory:"))
    assert [asyncio.run(generate(ada, "hi", "new", memory=OWNER)).text for _ in range(2)] == ["one", "two"]


def test_a_run_that_goes_on_is_not_read_from_another_event_loop() -> None:
    """Whoever waits there would never be woken."""
    result = stream(agent(["one ", {"pause": 0.2, "text": "two"}], path="new"), "hi", "new")
    refused: list[str] = []

    async def elsewhere() -> None:
        for read in (result.answer, result.consume, result.aclose):
            with pytest.raises(AgentError, match="only in the event loop where it began") as caught:
                await read()
            refused.append(caught.value.code)

    async def both() -> str:
        async with result:
            answer = asyncio.create_task(_of(result.text))
            await asyncio.sleep(0.01)
            await asyncio.to_thread(asyncio.run, elsewhere())
            return str(await answer)

    assert asyncio.run(both()) == "one two"
    assert refused == ["AGENT_BAD_OPTION"] * 3
    assert asyncio.run(_of(result.text)) == "one two"  # what has ended can be read anywhere
