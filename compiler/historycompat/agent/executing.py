"""The tool calls of one answer → their results, each as soon as it is there."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, TypedDict

from historycompat.agent.errors import Aborted, AgentError, words_of
from historycompat.agent.parts import ToolCall, ToolResult
from historycompat.agent.plain import plain
from historycompat.agent.telemetry import Telemetry
from historycompat.agent.tools import Tool, ToolContext
from historycompat.errors import did_you_mean
from historycompat.processors.abort_signal import aborted, until_aborted
from historycompat.processors.calling import settled


class Hooks(TypedDict, total=False):
    """Called around every tool, sync or async, with one mapping of copies: `tool_name`, `input`, `context`, and after
    the call also `output` or `error`. `before_tool_call` may return `{"proceed": False, "output": ...}`: then the tool
    does not run, and `after_tool_call` is not called."""

    before_tool_call: Callable[[Mapping[str, Any]], Any]
    after_tool_call: Callable[[Mapping[str, Any]], Any]


@dataclass(frozen=True, slots=True)
class Executed:
    """A result, and the exception behind it where the tool failed."""

    result: ToolResult
    error: Exception | None = None


async def execute(
    calls: Sequence[ToolCall],
    tools: Mapping[str, Tool],
    hooks: Hooks,
    context_of: Callable[[ToolCall], ToolContext],
    abort_signal: Any,
    telemetry: Telemetry,
) -> AsyncGenerator[Executed, None]:
    """Run calls at once. Raises Aborted when the signal is given; then, or when nobody wants the rest, what still runs
    is cancelled before this ends."""
    running: set[asyncio.Future[Executed]] = {
        asyncio.ensure_future(_traced(call, tools, hooks, context_of(call), telemetry)) for call in calls
    }
    watch = asyncio.ensure_future(until_aborted(abort_signal)) if abort_signal is not None else None
    try:
        while running:
            awaited: set[asyncio.Future[Any]] = {*running, *([watch] if watch else ())}
            await asyncio.wait(awaited, return_when=asyncio.FIRST_COMPLETED)
            for each in [task for task in running if task.done()]:
                running.discard(each)
                yield each.result()
            if aborted(abort_signal):
                raise Aborted
    finally:
        left: list[asyncio.Future[Any]] = [*running, *([watch] if watch else [])]
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)


async def _traced(
    call: ToolCall, tools: Mapping[str, Tool], hooks: Hooks, context: ToolContext, telemetry: Telemetry
) -> Executed:
    facts = {"tool.name": call.tool_name, "tool.call.id": call.tool_call_id}
    with telemetry.span("execute_tool", call.tool_name, facts) as span:
        span.record_input("tool.call.arguments", call.input)
        executed = await _one(call, tools, hooks, context)
        span.record_output("tool.call.result", executed.result.output)
        if executed.error is not None:
            span.fail(executed.error)
    return executed


async def _one(call: ToolCall, tools: Mapping[str, Tool], hooks: Hooks, context: ToolContext) -> Executed:
    told = {"tool_name": call.tool_name, "input": deepcopy(call.input), "context": context}
    try:
        tool = _known(call, tools)
        arguments = tool.arguments(deepcopy(call.input))
        before = hooks.get("before_tool_call")
        verdict = await unless_cancelled(settled(before(told))) if before else None
        if isinstance(verdict, Mapping) and verdict.get("proceed") is False:
            return Executed(_result(call, plain(verdict.get("output"))))
        output = await unless_cancelled(tool.call(arguments, context))
    except Exception as error:
        return await _after(hooks, {**told, "error": error}, Executed(_result(call, _text_of(error), True), error))
    return await _after(hooks, {**told, "output": deepcopy(output)}, Executed(_result(call, output)))


async def unless_cancelled(running: Awaitable[Any]) -> Any:
    """What is awaited. A cancellation that comes from within is a failure like any other."""
    try:
        return await running
    except asyncio.CancelledError as error:
        raise told_from_within(error) from error


def told_from_within(error: BaseException) -> BaseException:
    """The error; for a cancellation that nobody asked this task for, one that says so."""
    task = asyncio.current_task()
    if not isinstance(error, asyncio.CancelledError) or (task is not None and task.cancelling()):
        return error
    return RuntimeError("what the run waited for was cancelled")


async def _after(hooks: Hooks, told: Mapping[str, Any], executed: Executed) -> Executed:
    after = hooks.get("after_tool_call")
    if after is None:
        return executed
    try:
        await unless_cancelled(settled(after(told)))
    except Exception as error:  # the tool has run: what it said is kept beside the fault
        return Executed(executed.result, executed.error or error)
    return executed


def _known(call: ToolCall, tools: Mapping[str, Tool]) -> Tool:
    found = tools.get(call.tool_name)
    if found is None:
        advice = did_you_mean(call.tool_name, tools) or f"there are {', '.join(tools) or 'none'}"
        raise AgentError("AGENT_TOOL_CALL_INVALID", f"the model called {call.tool_name!r}, which is no tool: {advice}")
    return found


def _result(call: ToolCall, output: Any, is_error: bool = False) -> ToolResult:
    return ToolResult(call.tool_call_id, call.tool_name, call.input, output, is_error)


def _text_of(error: Exception) -> str:
    return error.message if isinstance(error, AgentError) else f"{type(error).__name__}: {words_of(error)}"
