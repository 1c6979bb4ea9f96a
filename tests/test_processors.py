"""The runner: what hooks are given, in which order they run, and what becomes of what they return."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from support import json_lines, shared

from historycompat.processors import (
    LLMRequest,
    MessageList,
    ProcessorRunner,
    Run,
    StepSettings,
    TripWire,
)
from historycompat.processors.protocol import HOOKS, lanes_of

FOLDER = Path(__file__).parent / "processors"


def processor(id_: str = "p", **hooks: Callable[..., Any]) -> Any:
    """A processor with some hooks, given as functions without self."""
    return SimpleNamespace(id=id_, **hooks)


def run_of(rows: Any = (), *, host: dict[str, Any] | None = None, **lanes: Any) -> Run:
    return Run(ProcessorRunner(**lanes), MessageList(rows), **(host or {}))


async def every_pass(run: Run) -> None:
    """A whole call: one step with a tool, a stream and an error."""
    await run.process_input()
    settings = await run.process_input_step(StepSettings(model="m", message_id="a1"), step_number=2, steps=("s",))
    await run.compute_state_signals()
    await run.process_llm_request([{"role": "user", "content": "hi"}], settings.model)
    await run.process_api_error("boom")
    await run.process_output_stream("chunk")
    await run.process_llm_response(["chunk"])
    await run.process_output_step(text="chunk", finish_reason="tool-calls")
    await run.process_tool_result("clock", "c1", args={}, result=10)
    await run.process_output_result({"text": "chunk"})


# ---- what hooks are given ----


async def test_a_hook_gets_all_that_the_table_says() -> None:
    seen: dict[str, frozenset[str]] = {}

    def listening(name: str) -> Callable[..., Any]:
        def hook(**arguments: Any) -> Any:
            seen[name] = frozenset(arguments)
            return arguments.get("part")

        return hook

    both = processor(**{name: listening(name) for name in HOOKS})
    await every_pass(run_of(input=[both], output=[both], error=[both]))
    assert seen == {name: hook.arguments for name, hook in HOOKS.items()}


async def test_a_hook_may_be_async_and_gets_only_what_it_names() -> None:
    seen: list[Any] = []

    async def process_input_step(model: Any, *, step_number: int, steps: Any, message_id: str) -> None:
        await asyncio.sleep(0)
        seen.append((model, step_number, steps, message_id))

    def process_tool_result(*, tool_name: str, result: Any, step_number: int, extra: str = "default") -> None:
        seen.append((tool_name, result, step_number, extra))

    both = processor(process_input_step=process_input_step, process_tool_result=process_tool_result)
    await every_pass(run_of(input=[both], output=[both]))
    assert seen == [("m", 2, ("s",), "a1"), ("clock", 10, 2, "default")]


async def test_the_host_is_handed_through() -> None:
    host = {name: object() for name in ("agent", "request_context", "abort_signal", "writer", "tracing", "run_id")}
    seen: dict[str, Any] = {}
    reader = processor(process_input_step=lambda **arguments: seen.update(arguments))
    await run_of(input=[reader], host=host).process_input_step(StepSettings())
    assert {name: seen[name] for name in host} == host


async def test_hooks_of_one_processor_share_a_state_that_outlives_the_run() -> None:
    def count(state: dict[str, Any]) -> None:
        state["calls"] = state.get("calls", 0) + 1

    names = ("process_input", "process_llm_request", "process_tool_result", "process_api_error")
    one, other = processor("one", **dict.fromkeys(names, count)), processor("other", process_input=count)
    run = run_of(input=[one, other], output=[one])
    await every_pass(run)
    assert run.states == {"one": {"calls": 4}, "other": {"calls": 1}}
    await run_of(input=[one], host={"states": run.states}).process_input()
    assert run.states["one"] == {"calls": 5}


# ---- before the request ----


def appending(text: str, **result: Any) -> Any:
    return processor(text, process_llm_request=lambda prompt: {"prompt": [*prompt, text], **result})


@pytest.mark.parametrize(
    ("processors", "expected"),
    [
        ([], LLMRequest(["p"])),
        ([appending("a"), appending("b")], LLMRequest(["p", "a", "b"])),
        ([appending("a", response=1), appending("b", response=2)], LLMRequest(["p", "a", "b"], 1)),
        ([processor(process_llm_request=lambda: {"response": 0})], LLMRequest(["p"], 0)),
        ([processor(process_llm_request=lambda: {"prompt": []})], LLMRequest([])),
        ([processor(process_llm_request=lambda: {"prompt": None, "response": None})], LLMRequest(["p"])),
        ([processor(process_llm_request=lambda prompt: {})], LLMRequest(["p"])),
        ([processor(process_llm_request=lambda: None), appending("b")], LLMRequest(["p", "b"])),
        (
            [processor(process_llm_request=lambda prompt: SimpleNamespace(prompt=["x", *prompt], trace=()))],
            LLMRequest(["x", "p"]),
        ),
        ([processor(process_llm_request=lambda: SimpleNamespace(response="cached"))], LLMRequest(["p"], "cached")),
        ([processor(process_input=lambda: None), appending("b")], LLMRequest(["p", "b"])),
    ],
)
async def test_the_prompt_is_handed_on_and_the_first_response_counts(processors: Any, expected: LLMRequest) -> None:
    prompt: Any = ["p"]
    assert await run_of(input=processors).process_llm_request(prompt, "m") == expected
    assert prompt == ["p"]


async def test_a_failing_request_hook_fails_the_run() -> None:
    run = run_of(input=[processor(process_llm_request=lambda: 1 / 0)])
    with pytest.raises(ZeroDivisionError):
        await run.process_llm_request([], "m")


async def test_recorded_runner_cases() -> None:
    for case in json_lines(shared("cases/upstream_behaviour.jsonl")):
        if case["kind"] == "runner":
            assert case["inputProcessors"] == []
            request = await run_of().process_llm_request(case["prompt"], case["model"])
            assert (request.prompt is not case["prompt"]) == case["expect"]["changed"]


async def test_a_step_hook_changes_what_the_next_one_sees() -> None:
    def choose(model: str) -> dict[str, Any]:
        return {"model": f"{model}!", "tools": {}, "message_id": "a2", "retry_count": 1}

    def keep(model: str, tools: Any, message_id: str, retry_count: int) -> dict[str, Any]:
        return {"tool_choice": (model, tools, message_id, retry_count)}

    run = run_of(input=[processor("a", process_input_step=choose), processor("b", process_input_step=keep)])
    settings = await run.process_input_step(StepSettings(model="m", active_tools=["t"]))
    assert settings == StepSettings(
        model="m!", tools={}, tool_choice=("m!", {}, "a2", 1), active_tools=["t"], message_id="a2"
    )


async def test_state_signals_are_sent() -> None:
    sent: list[Any] = []
    speaker, silent = (
        processor("a", compute_state_signal=lambda: {"contents": "low <battery>"}),
        processor("b", compute_state_signal=lambda: None),
    )
    assert (
        await run_of(input=[speaker, silent], host={"send_signal": sent.append}).compute_state_signals()
        == sent
        == [{"contents": "low <battery>"}]
    )
    run = run_of(input=[speaker, silent])
    await run.compute_state_signals()
    assert run.message_list[0]["content"]["parts"][0]["text"] == "<signal>low &lt;battery&gt;</signal>"


# ---- rows ----


@pytest.mark.parametrize("case", list(json_lines(FOLDER / "rows.jsonl")), ids=lambda case: case["name"])
async def test_returned_rows(case: dict[str, Any]) -> None:
    rows = MessageList()
    for source, row in case["rows"]:
        rows.add(row, source)
    by_id = {row["id"]: row for row in rows}

    def resolve(item: Any) -> Any:
        if item == "message_list":
            return rows
        if isinstance(item, list):
            return [by_id[row[1:]] if isinstance(row, str) else row for row in item]
        return {name: resolve(value) for name, value in item.items()} if isinstance(item, dict) else item

    editor = processor(**{case["hook"]: lambda: resolve(case["returned"])})
    lane = next(iter(lanes_of(editor)))
    run = Run(ProcessorRunner(**{lane: [editor]}), rows)
    await {
        "process_input": run.process_input,
        "process_input_step": lambda: run.process_input_step(StepSettings()),
        "process_output_step": run.process_output_step,
        "process_output_result": lambda: run.process_output_result({}),
    }[case["hook"]]()
    assert [f"{rows.source_of(row)} {row['text']}" for row in rows] == case["expect"]["rows"]
    assert [row["text"] for row in rows.system_messages] == case["expect"]["system"]
    assert all(row is by_id[row["id"]] for row in rows if row["text"] == row["id"] and row["id"] in by_id)


# ---- errors of the provider ----


def asking(id_: str, log: list[str], **result: Any) -> Any:
    def process_api_error(error: str) -> Any:
        log.append(f"{id_} {error}")
        return result or None

    return processor(id_, process_api_error=process_api_error)


async def test_the_error_pass_goes_through_the_lanes_and_ends_with_the_first_retry() -> None:
    log: list[str] = []
    lanes = {
        "input": [asking("in", log)],
        "output": [asking("out", log, retry=False)],
        "error": [asking("err", log, retry=True), asking("late", log)],
    }
    assert await run_of(**lanes).process_api_error("e")
    assert log == ["in e", "out e", "err e"]


async def test_a_processor_of_several_lanes_is_asked_once() -> None:
    log: list[str] = []
    one, twin = asking("one", log), asking("one", log, retry=True)
    assert not await run_of(input=[one], error=[one, one]).process_api_error("e")
    assert not await run_of(input=[one], error=[twin]).process_api_error("e")
    assert log == ["one e", "one e"]


@pytest.mark.parametrize("result", [SimpleNamespace(retry=True, rule="r"), {"retry": 1}])
async def test_a_retry_may_be_an_object(result: Any) -> None:
    assert await run_of(error=[processor(process_api_error=lambda: result)]).process_api_error("e")


@pytest.mark.parametrize("faulty", [lambda: 1 / 0, lambda: True, lambda: {"again": True}])
async def test_a_processor_that_fails_on_an_error_is_logged_and_skipped(faulty: Any, caplog: Any) -> None:
    run = run_of(error=[processor("faulty", process_api_error=faulty), asking("good", [], retry=True)])
    assert await run.process_api_error("e")
    assert [(record.name, record.levelno) for record in caplog.records] == [("historycompat.processors", logging.ERROR)]
    assert "faulty" in caplog.text


@pytest.mark.parametrize(
    ("lane", "given", "retries"),
    [("error", None, 3), ("input", None, 1), ("output", None, 1), ("error", 5, 5), ("input", 2, 2), ("error", 0, 0)],
)
async def test_a_retry_that_is_asked_for_is_granted_within_the_budget(
    lane: str, given: int | None, retries: int
) -> None:
    log: list[str] = []
    run = run_of(**{lane: [asking("p", log, retry=True)]}, max_processor_retries=given)
    assert [await run.process_api_error(n) for n in range(7)] == [n < retries for n in range(7)]
    assert len(log) == retries, "what cannot be granted is not asked for"


async def test_a_good_answer_restores_the_budget() -> None:
    run = run_of(input=[asking("p", [], retry=True)])
    assert await run.process_api_error("e")
    assert not await run.process_api_error("e")
    assert not await run.process_output_step()
    assert await run.process_api_error("e")


async def test_an_aborted_run_asks_nobody() -> None:
    log: list[str] = []
    signal = asyncio.Event()

    def aborting() -> None:
        signal.set()

    run = run_of(
        error=[processor("a", process_api_error=aborting), asking("b", log, retry=True)], host={"abort_signal": signal}
    )
    assert not await run.process_api_error("e")
    assert not await run.process_api_error("e")
    assert log == []


# ---- trip wires ----


def stopping(hook: str, **how: Any) -> Any:
    told: list[Any] = []

    def stop(abort: Any) -> None:
        abort("enough", **how)

    async def on_violation(*, processor_id: str, message: str, detail: Any) -> None:
        told.append((processor_id, message, detail))

    return processor("guard", **{hook: stop}, on_violation=on_violation, told=told)


@pytest.mark.parametrize("hook", HOOKS)
async def test_every_hook_can_stop_the_run_and_its_processor_is_told(hook: str) -> None:
    guard = stopping(hook, metadata={"score": 1})
    lane = next(iter(lanes_of(guard)))
    with pytest.raises(TripWire) as stopped:
        await every_pass(run_of(**{lane: [guard]}))
    trip = stopped.value
    assert (trip.reason, trip.retry, trip.metadata, trip.processor_id) == ("enough", False, {"score": 1}, "guard")
    assert guard.told == [("guard", "enough", {"score": 1})]


async def test_a_trip_wire_that_a_hook_raises_itself_gets_its_id(caplog: Any) -> None:
    def process_input() -> None:
        raise TripWire("no")

    def on_violation(**rest: Any) -> None:
        raise RuntimeError("cannot tell")

    with pytest.raises(TripWire) as stopped:
        await run_of(input=[processor("mine", process_input=process_input, on_violation=on_violation)]).process_input()
    assert stopped.value.processor_id == "mine"
    assert "cannot tell" in caplog.text


# ---- the answer ----


async def test_a_stream_is_edited_chunk_by_chunk(caplog: Any) -> None:
    seen: list[Any] = []

    async def upper(part: str, stream_parts: list[str]) -> str | None:
        seen.append(list(stream_parts))
        return None if part == "b" else part.upper()

    def breaking(part: str) -> str:
        if part == "C":
            raise RuntimeError("broken")
        return f"{part}."

    run = run_of(
        output=[processor("upper", process_output_stream=upper), processor("breaking", process_output_stream=breaking)]
    )
    assert [await run.process_output_stream(part) for part in "abcd"] == ["A.", None, "C", "D."]
    assert seen == [["a"], ["a", "b"], ["a", "b", "c"], ["a", "b", "c", "d"]]
    assert "broken" in caplog.text


async def test_a_tool_result_is_edited_through_the_message_list() -> None:
    def shorten(message_list: MessageList, result: str) -> None:
        message_list.replace("a", {**message_list[0], "result": result[:3]})

    run = run_of(
        [{"id": "a", "role": "assistant", "result": "a long text"}], output=[processor(process_tool_result=shorten)]
    )
    await run.process_tool_result("t", "c", args={}, result="a long text")
    assert run.message_list[0]["result"] == "a l"


async def test_a_rejected_answer_is_taken_back_and_asked_for_again() -> None:
    def polite(text: str, abort: Any) -> None:
        if text == "Go away":
            abort("be polite", retry=True)

    run = run_of([{"id": "u", "role": "user"}], output=[processor(process_output_step=polite)], max_processor_retries=2)
    rows = run.message_list
    rows.add({"id": "a", "role": "assistant", "parts": ["Hm."]}, "response")
    for attempt in range(3):
        await run.process_input_step(StepSettings())
        rows[1]["parts"].append("Go away")
        rows.add({"id": f"x{attempt}", "role": "assistant"}, "response")
        if attempt == 2:
            break
        assert await run.process_output_step(text="Go away")
        assert [row["id"] for row in rows] == ["u", "a"]
        assert rows[1]["parts"] == ["Hm."]
        assert len(rows.system_messages) == attempt + 1
    assert "be polite" in rows.system_messages[0]["content"]
    with pytest.raises(TripWire, match="be polite"):
        await run.process_output_step(text="Go away")
    assert not await run.process_output_step(text="Welcome")
    assert (run.retry_count, rows.system_messages) == (0, [])


async def test_without_a_given_number_of_retries_a_rejected_answer_ends_the_run() -> None:
    with pytest.raises(TripWire, match="enough"):
        await run_of(output=[stopping("process_output_step", retry=True)]).process_output_step()


# ---- many at once ----


async def test_a_thousand_runs_of_one_runner_do_not_meet() -> None:
    async def process_input(message_list: MessageList, state: dict[str, Any], request_context: int) -> list[Any]:
        state["n"] = request_context
        await asyncio.sleep(0)
        return [{"id": "i", "role": "user", "n": request_context}]

    async def process_llm_request(prompt: list[Any], state: dict[str, Any]) -> dict[str, Any]:
        await asyncio.sleep(0)
        return {"prompt": [*prompt, state["n"]]}

    async def process_api_error(
        error: int, state: dict[str, Any], message_list: MessageList, retry_count: int
    ) -> dict[str, bool]:
        await asyncio.sleep(0)
        message_list.add({"id": "e", "role": "user", "n": error})
        return {"retry": error == state["n"] and retry_count == 0}

    both = processor(
        process_input=process_input, process_llm_request=process_llm_request, process_api_error=process_api_error
    )
    runner = ProcessorRunner(input=[both], error=[both])

    async def one(n: int) -> Any:
        run = Run(runner, MessageList(), request_context=n)
        await run.process_input()
        first = await run.process_llm_request([], "m")
        retried = [await run.process_api_error(n), await run.process_api_error(n)]
        return first.prompt, retried, run.retry_count, [row["n"] for row in run.message_list]

    outcomes = await asyncio.gather(*map(one, range(1000)))
    assert outcomes == [([n], [True, False], 1, [n, n]) for n in range(1000)]
