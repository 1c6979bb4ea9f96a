"""What processors change of an answer or of a step: everybody sees the same of it, or is told why it cannot be."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from agent_runs import OWNER, PATHS, agent, call, generate, model_of, scripted, stream, weather
from pydantic import BaseModel

from historycompat.agent import AgentError, Answer, APICallError, Memory
from historycompat.agent.parts import File, Source, ToolResult
from historycompat.errors import HistoryCompatError
from historycompat.processors.protocol import HOOKS

PATH = pytest.mark.parametrize("path", PATHS)
STREAMED = pytest.mark.parametrize("streamed", [True, False], ids=["streamed", "at once"])
SECRET = "4711"


class Point(BaseModel):
    x: int
    y: str


def processor(hook: str, function: Callable[..., Any]) -> Any:
    """A processor with one hook, which is given everything as one mapping."""

    class Made:
        id = "made"

    def called(self: Any, **given: Any) -> Any:
        return function(given)

    setattr(Made, hook, called)
    return Made()


async def answer_of(streamed: bool, ada: Any, path: Any, **options: Any) -> Answer:
    return await (stream(ada, "hi", path, **options).answer() if streamed else generate(ada, "hi", path, **options))


# ---- rows and answers agree ----


def lane_of(hook: str) -> str:
    return f"{HOOKS[hook].lane}_processors"


def _redacted(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _redacted(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_redacted(each) for each in value]
    return value.replace(SECRET, "***") if isinstance(value, str) else value


def _in_place(given: Any) -> None:
    for row in given["messages"]:
        row["content"]["parts"][:] = _redacted(row["content"]["parts"])


def _through_the_list(given: Any) -> Any:
    for row in given["message_list"].rows("response"):
        given["message_list"].replace(row, _redacted(row))
    return given["message_list"]


WAYS: dict[str, Callable[[Any], Any]] = {
    "edited in place": _in_place,
    "edited through the list": _through_the_list,
    "other rows of the same ids": lambda given: [_redacted(row) for row in given["messages"]],
    "beside system messages": lambda given: {"messages": [_redacted(row) for row in given["messages"]]},
    "rows of other ids": lambda given: [
        {**_redacted(row), "id": f"new {at}"} for at, row in enumerate(given["messages"])
    ],
}
TELLING = (
    {
        "reasoning": f"It is {SECRET}.",
        "text": f"Looking for {SECRET}. ",
        "tool_calls": [{"name": "weather", "input": {"city": SECRET}}],
    },
    [File(SECRET, "image/png"), Source(f"https://example.org/{SECRET}", SECRET), f"Found {SECRET}."],
)


@PATH
@STREAMED
@pytest.mark.parametrize("way", WAYS)
async def test_an_answer_says_what_its_rows_say(path: Any, streamed: bool, way: str) -> None:
    memory, finished = Memory(":memory:"), []
    edits = processor("process_output_result", WAYS[way])
    ada = agent(*TELLING, path=path, tools=[weather], memory=memory, output_processors=[edits])
    answer = await answer_of(streamed, ada, path, memory=OWNER, on_finish=finished.append, save_per_step=streamed)
    assert (answer.text, answer.reasoning) == ("Looking for ***. Found ***.", "It is ***.")
    assert (answer.files, answer.sources) == (
        [File("***", "image/png")], [Source("https://example.org/***", "***", "https://example.org/***")],
    )  # fmt: skip
    assert finished == [answer]
    assert answer.response.messages == answer.messages == answer.steps[-1].response.messages
    seen = (str(answer.steps), str(answer.messages), str(await memory.messages("t1")))
    assert [SECRET in each for each in seen] == [False, False, False]
    if "ids" not in way or "same" in way:
        first, second = answer.steps
        assert (first.text, second.text) == ("Looking for ***. ", "Found ***.")
        assert first.tool_results[0].output == {"city": "***", "sky": "clear"}


@PATH
@STREAMED
@pytest.mark.parametrize("hook", [hook for hook in HOOKS if hook != "process_input"])
async def test_whichever_hook_changes_rows_the_answer_says_the_same(path: Any, streamed: bool, hook: str) -> None:
    """Also the rows of earlier steps, while another is under way."""
    memory = Memory(":memory:")

    def edits(given: Any) -> Any:
        _in_place({"messages": given["message_list"].rows("response")})
        return {"retry": True} if hook == "process_api_error" else given.get("part")

    step = {"text": f"Looking for {SECRET}. ", "tool_calls": [{"name": "weather", "input": {"city": "Rome"}}]}
    turns = (
        [step, APICallError("no", status=400), step, "Done."] if hook == "process_api_error" else [step, step, "Done."]
    )
    ada = agent(*turns, path=path, tools=[weather], memory=memory, **{lane_of(hook): [processor(hook, edits)]})
    answer = await answer_of(streamed, ada, path, memory=OWNER)
    assert len(answer.steps) == 3
    for rows in (answer.messages, await memory.messages("t1")):
        parts = [part for row in rows if row["role"] == "assistant" for part in row["content"]["parts"]]
        assert "".join(part["text"] for part in parts if part["type"] == "text") == answer.text
    assert answer.steps[0].text == "Looking for ***. "


@PATH
@STREAMED
async def test_an_answer_that_is_taken_back_leaves_the_steps_before_it(path: Any, streamed: bool) -> None:
    def picky(given: Any) -> None:
        if given["text"] == "No.":
            given["abort"]("say yes", retry=True)

    step = call("weather", {"city": "Rome"}, text="Looking. ")
    picks = processor("process_output_step", picky)
    ada = agent(step, step, "No.", "Yes.", path=path, tools=[weather], output_processors=[picks])
    answer = await answer_of(streamed, ada, path, max_processor_retries=1)
    assert [step.text for step in answer.steps] == ["Looking. ", "Looking. ", "Yes."]


@PATH
@STREAMED
async def test_an_object_is_that_of_the_rows(path: Any, streamed: bool) -> None:
    ada = agent(
        f'{{"x": 1, "y": "{SECRET}"}}', path=path, output_processors=[processor("process_output_result", _in_place)]
    )
    name = "structured_output" if path == "new" else "output"
    assert (await answer_of(streamed, ada, path, **{name: Point})).object == Point(x=1, y="***")


@PATH
@STREAMED
@pytest.mark.parametrize(
    "row", [{"content": "Blocked."}, {"content": {"parts": [{"type": "text", "text": "Blocked."}]}}]
)
async def test_rows_that_a_processor_wrote_itself(path: Any, streamed: bool, row: Any) -> None:
    memory = Memory(":memory:")
    edits = processor("process_output_result", lambda given: [{"role": "assistant", **row}])
    ada = agent(*TELLING, path=path, tools=[weather], memory=memory, output_processors=[edits])
    answer = await answer_of(streamed, ada, path, memory=OWNER)
    assert (answer.text, [step.text for step in answer.steps], answer.files) == ("Blocked.", ["", "Blocked."], [])
    assert SECRET not in str(await memory.messages("t1"))
    model = scripted("fine", path=path)
    await generate(ada, "again", path, memory=OWNER, model=model, output_processors=[])
    assert "Blocked." in str(model.requests[0].prompt)


@PATH
async def test_a_processor_that_changes_nothing_leaves_the_pieces_of_the_model(path: Any) -> None:
    looks = processor("process_output_result", lambda given: given["messages"])
    turn = [Source("https://example.org"), "x"]
    assert (await generate(agent(turn, path=path, output_processors=[looks]), "hi", path)).sources == [turn[0]]


@PATH
@STREAMED
async def test_a_call_is_run_as_processors_left_it(path: Any, streamed: bool) -> None:
    """Otherwise the row would say one thing, and the tool have done another."""
    asked: list[str] = []

    def delete(file: str) -> str:
        """Deletes a file."""
        asked.append(file)
        return "gone"

    def edits(given: Any) -> None:
        for part in given["messages"][-1]["content"]["parts"]:
            if part["type"] == "tool-invocation":
                part["toolInvocation"] = {**part["toolInvocation"], "args": {"file": "harmless"}}

    ada = agent(
        call("delete", {"file": "/"}), "done", path=path, tools=[delete],
        output_processors=[processor("process_output_step", edits)],
    )  # fmt: skip
    first = (await answer_of(streamed, ada, path)).steps[0]
    assert (asked, first.tool_calls[0].input, first.tool_results[0].input) == (
        ["harmless"],
        *[{"file": "harmless"}] * 2,
    )
    assert "'/'" not in str(model_of(ada).requests[1].prompt)


@PATH
@STREAMED
async def test_a_call_that_processors_take_away_is_not_run(path: Any, streamed: bool) -> None:
    def removes(given: Any) -> None:
        parts = given["messages"][-1]["content"]["parts"]
        parts[:] = [part for part in parts if part["type"] != "tool-invocation"]

    takes_away = processor("process_output_step", removes)
    ada = agent(call("weather", {"city": "Rome"}), path=path, tools=[weather], output_processors=[takes_away])
    answer = await answer_of(streamed, ada, path)
    assert (len(answer.steps), answer.tool_calls, answer.tool_results) == (1, [], [])


@PATH
@STREAMED
async def test_a_call_that_processors_answer_is_not_run(path: Any, streamed: bool) -> None:
    def answers(given: Any) -> None:
        for part in given["messages"][-1]["content"]["parts"]:
            if part["type"] == "tool-invocation":
                part["toolInvocation"] |= {"state": "result", "result": "from the cache"}

    def look() -> str:
        """Must not be called."""
        raise AssertionError

    answered = processor("process_output_step", answers)
    ada = agent(call("look"), "done", path=path, tools=[look], output_processors=[answered])
    answer = await answer_of(streamed, ada, path)
    assert (answer.text, answer.steps[0].tool_results[0].output) == ("done", "from the cache")


@PATH
async def test_a_result_is_shown_as_processors_leave_it(path: Any) -> None:
    memory = Memory(":memory:")

    def redacts(given: Any) -> None:
        for row in given["message_list"].rows("response"):
            for part in row["content"]["parts"]:
                if part["type"] == "tool-invocation":
                    part["toolInvocation"]["result"] = "***"

    def secret() -> str:
        """Tells it."""
        return SECRET

    ada = agent(
        call("secret"), "done", path=path, tools=[secret], memory=memory,
        output_processors=[processor("process_tool_result", redacts)],
    )  # fmt: skip
    result = stream(ada, "hi", path, memory=OWNER)
    parts = [part async for part in result.full_stream]
    assert [part.output for part in parts if isinstance(part, ToolResult)] == ["***"]
    assert (await result.steps)[0].tool_results[0].output == "***"
    assert SECRET not in f"{parts} {model_of(ada).requests} {await memory.messages('t1')}"


# ---- ids of rows ----


@PATH
@pytest.mark.parametrize("way", ["rotated", "named"])
async def test_a_processor_may_begin_another_row(path: Any, way: str) -> None:
    ids: list[str] = []

    def other(given: Any) -> Any:
        ids.append(given["rotate_response_message_id"]() if way == "rotated" else f"row {given['step_number']}")
        return None if way == "rotated" else {"message_id": ids[-1]}

    ada = agent(
        call("weather", {"city": "Rome"}), "done", path=path, tools=[weather],
        input_processors=[processor("process_input_step", other)],
    )  # fmt: skip
    result = stream(ada, "hi", path)
    parts = [part async for part in result.full_stream]
    assert [row["id"] for row in (await result.response).messages] == ids
    assert [part.message_id for part in parts if part.type == "step-start"] == ids
    assert [part.message_id for part in parts if part.type == "step-finish"] == ids
    assert [step.message_id for step in await result.steps] == ids


@PATH
async def test_another_model_has_a_row_and_a_message_id_of_its_own(path: Any) -> None:
    second = scripted("done", path=path, provider="other")
    changes = processor("process_input_step", lambda given: {"model": second} if given["step_number"] else None)
    ada = agent(call("weather", {"city": "Rome"}), path=path, tools=[weather], input_processors=[changes])
    answer = await generate(ada, "hi", path)
    assert [step.message_id for step in answer.steps] == [row["id"] for row in answer.messages]
    assert len(answer.messages) == 2


@PATH
async def test_an_answer_cannot_stand_in_a_row_of_the_user(path: Any) -> None:
    memory = Memory(":memory:")
    takes = processor("process_input_step", lambda given: {"message_id": given["messages"][0]["id"]})
    with pytest.raises(AgentError, match="is that of a row of source input: an answer needs one of its own"):
        await generate(agent("x", path=path, input_processors=[takes], memory=memory), "hi", path, memory=OWNER)
    [row] = await memory.messages("t1")
    assert row["role"] == "user"


# ---- settings of a step ----

NAMED: list[tuple[dict[str, Any], str]] = [
    (
        {"active_tools": ["wether"]},
        "active_tools names 'wether', which is no tool of this step: did you mean \"weather\"",
    ),
    ({"active_tools": "weather"}, "process_input_step: active_tools: Input should be a valid list"),
    ({"active_tools": [], "tool_choice": {"type": "tool", "toolName": "weather"}}, "there are none"),
    ({"tool_choice": {"type": "tool", "toolName": "wether"}}, 'did you mean "weather"'),
    ({"tool_choice": {"type": "tool", "tool_name": "wether"}}, 'did you mean "weather"'),
    ({"tool_choice": "requird"}, 'did you mean "required"'),
    ({"tool_choice": "weather"}, 'for one tool write {"type": "tool", "tool_name": ...}'),
    ({"tool_choice": 7}, "tool_choice: Input should be 'auto', 'none' or 'required', not 7"),
    ({"model_settings": {"temprature": 1}}, 'did you mean "temperature"'),
    ({"model_settings": 7}, "model_settings: Input should be a valid dictionary"),
    ({"provider_options": 7}, "provider_options: Input should be a valid dictionary"),
    ({"structured_output": {"shema": Point}}, 'did you mean "schema"'),
    ({"structured_output": {"schema": 7}}, "no JSON Schema and no pydantic type"),
    ({"message_id": 7}, "message_id: Input should be a valid string"),
]


@PATH
@STREAMED
@pytest.mark.parametrize(("change", "words"), NAMED, ids=[f"{change}" for change, _ in NAMED])
async def test_settings_that_cannot_be(path: Any, streamed: bool, change: dict[str, Any], words: str) -> None:
    changes = processor("process_input_step", lambda given: change)
    ada = agent("x", path=path, tools=[weather], input_processors=[changes])
    with pytest.raises(AgentError) as caught:
        await answer_of(streamed, ada, path)
    assert words in str(caught.value)
    assert model_of(ada).requests == []


@PATH
@pytest.mark.parametrize(
    "choice", ["requird", "weather", {"type": "tool", "toolName": "wether"}, {"type": "tool", "tool_name": "wether"}]
)
async def test_a_choice_of_the_caller_is_checked_alike(path: Any, choice: Any) -> None:
    [words] = {words for change, words in NAMED if change == {"tool_choice": choice}}
    with pytest.raises(AgentError) as caught:
        await generate(agent("x", path=path, tools=[weather]), "hi", path, tool_choice=choice)
    assert words in str(caught.value)


@PATH
async def test_settings_that_a_processor_may_give(path: Any) -> None:
    def capital() -> str:
        """Tells a capital."""
        return "Rome"

    change = {
        "active_tools": ("capital",), "tool_choice": {"type": "tool", "toolName": "capital"},
        "structured_output": {"schema": Point}, "model_settings": {"maxTokens": 9}, "provider_options": None,
    }  # fmt: skip
    changes = processor("process_input_step", lambda given: change)
    ada = agent('{"x": 1, "y": "two"}', path=path, tools=[weather, capital], input_processors=[changes])
    answer = await generate(ada, "hi", path)
    [request] = model_of(ada).requests
    assert [spec.name for spec in request.tools] == ["capital"]
    assert (request.tool_choice, request.settings.max_tokens) == ({"type": "tool", "tool_name": "capital"}, 9)
    assert (request.output_schema, answer.object) == (Point.model_json_schema(), Point(x=1, y="two"))


@PATH
async def test_a_tool_that_is_not_active_is_not_run(path: Any) -> None:
    """Whatever the model makes up."""
    idle = processor("process_input_step", lambda given: {"active_tools": []})
    ada = agent(call("weather", {"city": "Rome"}), "done", path=path, tools=[weather], input_processors=[idle])
    if path == "legacy":
        with pytest.raises(AgentError, match="'weather', which is no tool: there are none"):
            await generate(ada, "hi", path)
    else:
        [result] = (await generate(ada, "hi", path)).steps[0].tool_results
        assert (result.is_error, "which is no tool" in result.output) == (True, True)


# ---- what processors may not do ----

NO_ROWS: list[Any] = [[{}], [{"role": "user"}], [{"role": "user", "content": 7}], [{"role": "zzz", "content": "q"}]]
ROW_HOOKS = ("process_input", "process_input_step", "process_output_step", "process_output_result")


@PATH
@pytest.mark.parametrize("hook", ROW_HOOKS)
@pytest.mark.parametrize("rows", NO_ROWS, ids=str)
async def test_what_is_no_row_leaves_those_that_were_there(path: Any, hook: str, rows: Any) -> None:
    memory = Memory(":memory:")
    breaks = processor(hook, lambda given: rows)
    ada = agent("hello", path=path, memory=memory, **{lane_of(hook): [breaks]})
    with pytest.raises(AgentError, match="AGENT_BAD_MESSAGES"):
        await generate(ada, "hi", path, memory=OWNER)
    kept = str(await memory.messages("t1"))
    assert "'hi'" in kept
    assert ("'hello'" in kept) is ("output" in hook)


REFUSED: list[tuple[str, Any, str]] = [
    ("process_llm_request", {"prompt": "x"}, "process_llm_request made 'x' of the prompt: return a list of messages"),
    ("process_llm_request", {"prompt": [7]}, "process_llm_request made [7] of the prompt"),
    ("process_llm_request", {"response": "hi"}, "process_llm_request gave 'hi' as the answer: return a list of parts"),
    ("process_llm_request", {"response": 7}, "process_llm_request gave 7 as the answer"),
    ("compute_state_signal", "x", 'compute_state_signal returned str: return a signal, {"contents": ...}, or None'),
    ("compute_state_signal", {"content": "x"}, 'did you mean "contents"'),
    (
        "process_tool_result",
        {"result": "x"},
        "process_tool_result returned dict: return None, and edit the message_list",
    ),
    ("process_input_step", {"retry_count": "x"}, "retry_count is a number"),
]


@PATH
@STREAMED
@pytest.mark.parametrize(("hook", "returned", "words"), REFUSED, ids=[f"{hook} {given}" for hook, given, _ in REFUSED])
async def test_what_a_hook_may_not_return(path: Any, streamed: bool, hook: str, returned: Any, words: str) -> None:
    breaks = processor(hook, lambda given: returned)
    ada = agent(call("weather", {"city": "Rome"}), "x", path=path, tools=[weather], **{lane_of(hook): [breaks]})
    with pytest.raises(HistoryCompatError) as caught:
        await answer_of(streamed, ada, path)
    assert words in str(caught.value)


@PATH
@STREAMED
@pytest.mark.parametrize("hook", HOOKS)
async def test_a_cancellation_that_nobody_asked_for_is_a_fault(path: Any, streamed: bool, hook: str) -> None:
    """Such as that of a task that the processor waited for: the caller was not cancelled, and nobody left."""

    async def cancelled(given: Any) -> None:
        raise asyncio.CancelledError

    turns = (
        [APICallError("no", status=400)] if hook == "process_api_error" else [call("weather", {"city": "Rome"}), "x"]
    )
    ada = agent(*turns, path=path, tools=[weather], **{lane_of(hook): [processor(hook, cancelled)]})
    with pytest.raises(RuntimeError, match="what the run waited for was cancelled"):
        await answer_of(streamed, ada, path)


STOPPING = ("process_input_step", "compute_state_signal", "process_llm_request", "process_output_step")


@PATH
@STREAMED
@pytest.mark.parametrize("hook", [*STOPPING, "process_tool_result"])
async def test_the_step_that_a_processor_stops_is_taken_back_and_those_before_it_are_kept(
    path: Any, streamed: bool, hook: str
) -> None:
    """Their tools have run: the next run has to know."""
    memory, calls = Memory(":memory:"), []

    def stops(given: Any) -> None:
        calls.append(hook)
        if len(calls) == 2:
            given["abort"]("enough")

    turns = [call("weather", {"city": city}, text=f"Looking at {city}. ") for city in ("Rome", "Oslo")]
    ada = agent(*turns, path=path, tools=[weather], memory=memory, **{lane_of(hook): [processor(hook, stops)]})
    answer = await answer_of(streamed, ada, path, memory=OWNER)
    assert (answer.text, len(answer.steps), answer.finish_reason) == ("Looking at Rome. ", 1, "other")
    assert answer.tripwire
    assert answer.tripwire.reason == "enough"
    for kept in (answer.messages, await memory.messages("t1")):
        assert [word in str(kept) for word in ("Rome", "'sky': 'clear'", "Oslo")] == [True, True, False]


@PATH
@STREAMED
async def test_of_an_answer_that_a_processor_stops_as_a_whole_nothing_is_kept(path: Any, streamed: bool) -> None:
    memory = Memory(":memory:")
    stops = processor("process_output_result", lambda given: given["abort"]("no"))
    ada = agent("hello", path=path, memory=memory, output_processors=[stops])
    assert (await answer_of(streamed, ada, path, memory=OWNER)).messages == []
    assert [row["role"] for row in await memory.messages("t1")] == ["user"]
