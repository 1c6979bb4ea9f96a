"""The tool calls of a step → their results, past processors, in the step and in the row of the answer."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from functools import partial

from historycompat.agent.answer import Step
from historycompat.agent.answer_row import AnswerRow
from historycompat.agent.errors import AgentError, ToolError
from historycompat.agent.executing import Executed, execute
from historycompat.agent.parts import ToolCall, ToolResult
from historycompat.agent.plan import Plan
from historycompat.agent.saying import rewriting
from historycompat.agent.tools import Tool, ToolContext
from historycompat.processors.run import Run


async def tool_results(
    plan: Plan, run: Run, row: AnswerRow, steps: Sequence[Step], tools: Mapping[str, Tool]
) -> AsyncGenerator[ToolResult, None]:
    """Run the calls of the last step that can be run here. On the legacy path a failure ends the run, when all have
    ended."""
    failures: list[Executed] = []
    calls = _to_run(steps[-1], tools)
    context_of = partial(_context, plan, run)
    running = execute(calls, tools, plan.hooks, context_of, plan.abort_signal, plan.telemetry)
    async with aclosing(running) as executed:
        async for each in executed:
            failures += [each] if each.error is not None else []
            yield await _settled(run, row, steps, each.result)
    if failures and plan.path == "legacy":
        raise _legacy_failure(failures[0])


def _to_run(step: Step, tools: Mapping[str, Tool]) -> list[ToolCall]:
    """Neither the provider's own, nor the client's, nor those that have a result by now."""
    told = {result.tool_call_id for result in step.tool_results}
    elsewhere = {name for name, tool in tools.items() if tool.function is None}
    waiting = [call for call in step.tool_calls if call.tool_call_id not in told and not call.provider_executed]
    return [call for call in waiting if call.tool_name not in elsewhere]


async def _settled(run: Run, row: AnswerRow, steps: Sequence[Step], result: ToolResult) -> ToolResult:
    """The result as processors leave it."""
    steps[-1].tool_results.append(result)
    row.settle(result)
    name, call_id = result.tool_name, result.tool_call_id
    with rewriting(run, "process_tool_result", *steps):
        await run.process_tool_result(name, call_id, args=result.input, result=result.output)
    same = (each for each in steps[-1].tool_results if (each.tool_call_id, each.input) == (call_id, result.input))
    return next(same, result)


def _context(plan: Plan, run: Run, call: ToolCall) -> ToolContext:
    owners = plan.owners
    return ToolContext(
        call.tool_call_id,
        call.tool_name,
        run.message_list.rows(),
        plan.agent,
        plan.run_id,
        owners.get("threadId"),
        owners.get("resourceId"),
        plan.request_context,
        plan.abort_signal,
    )


def _legacy_failure(failed: Executed) -> Exception:
    error, result = failed.error, failed.result
    if isinstance(error, AgentError):
        return error
    failure = ToolError("AGENT_TOOL_FAILED", f"the tool {result.tool_name} failed: {result.output}", detail=result)
    failure.__cause__ = error
    return failure
