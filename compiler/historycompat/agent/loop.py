"""A plan → the parts of its run: model calls and tool calls in turn, seen by processors, kept in memory."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from dataclasses import replace
from typing import Any

from historycompat.agent.answer import Answer, Step
from historycompat.agent.answer_row import AnswerRow
from historycompat.agent.asking import Asking
from historycompat.agent.errors import Aborted, AgentError, ToolError
from historycompat.agent.executing import Executed, execute
from historycompat.agent.models.resolve import resolve
from historycompat.agent.parts import Finish, Part, StepFinish, StepStart, ToolCall, ToolResult, TripWirePart
from historycompat.agent.plan import Plan
from historycompat.agent.recording import Recording
from historycompat.agent.telemetry import Span
from historycompat.agent.tools import Tool, ToolContext, tool_table
from historycompat.processors.calling import settled
from historycompat.processors.errors import TripWire
from historycompat.processors.message_list import MessageList
from historycompat.processors.run import Run
from historycompat.processors.run_state import StepSettings

logger = logging.getLogger("historycompat.agent")


class Loop:
    """One run. `parts` may be iterated once; `answer` grows with it, and is whole when it has ended."""

    def __init__(self, plan: Plan, *, streaming: bool) -> None:
        self.plan, self.streaming = plan, streaming
        self.answer = Answer(plan.run_id)
        self._list = MessageList(drops_incomplete_tool_calls=False)
        self._row = AnswerRow(self._list, plan.owners)
        self._recording = Recording(plan.recollection, self._list)
        self._run = Run(
            plan.runner,
            self._list,
            agent=plan.agent,
            request_context=plan.request_context,
            abort_signal=plan.abort_signal,
            run_id=plan.run_id,
        )
        self._asking = Asking(plan, self._run, self._row, self._recording, streaming=streaming)
        self._tools: dict[str, Tool] = plan.tools

    async def parts(self) -> AsyncGenerator[Part, None]:
        """The run. What goes wrong is raised, once all that was said is saved."""
        plan = self.plan
        facts = {"agent.name": plan.agent.name, "conversation.id": plan.owners.get("threadId"), "run.id": plan.run_id}
        with plan.telemetry.span("invoke_agent", plan.agent.name, facts) as span:
            try:
                await self._begin(span)
                async with aclosing(self._steps()) as parts:
                    async for part in parts:
                        yield part
                await self._end(span)
            except TripWire as trip:
                self.answer.tripwire = trip
                yield TripWirePart(trip.reason, trip.processor_id, trip.metadata)
            except BaseException as error:
                await self._keep(error)
                raise
            await self._call_back(plan.on_finish, self.answer)
            yield Finish(self.answer.finish_reason, self.answer.usage)

    # ---- beginning and end ----

    async def _begin(self, span: Span) -> None:
        plan = self.plan
        if instructions := await self._instructions():
            self._list.add({"role": "system", "content": instructions}, "system")
        self._run.states = await self._recording.open(plan.rows)
        self._tools = tool_table(plan.tools, self._recording.tools())
        self._list.add(plan.context, "context")
        self._list.add(plan.rows, "input")
        span.record_input("input.messages", plan.rows)
        await self._run.process_input()
        await self._recording.save(self._run.states)

    async def _instructions(self) -> str | None:
        given = self.plan.instructions
        told = await settled(given(self.plan.request_context)) if callable(given) else given
        if not isinstance(told, str | None):
            raise AgentError("AGENT_BAD_OPTION", f"instructions are a text, or a function that returns one: {told!r}")
        return told

    async def _end(self, span: Span) -> None:
        answer = self.answer
        result = {name: getattr(answer, name) for name in ("text", "usage", "finish_reason", "steps")}
        await self._run.process_output_result(result)
        answer.messages = self._list.rows("response")
        if self.plan.output is not None and all(call.provider_executed for call in answer.tool_calls):
            answer.object = self.plan.output.parse(answer.steps[-1].text)
        span.record_output("output.messages", answer.text)
        try:
            await self._recording.save(self._run.states)
            await self._recording.finish(self.plan.model)
        except Exception as error:
            self._not_saved(error)

    def _not_saved(self, error: Exception) -> None:
        message = f"the answer could not be saved: {error}"
        if not self.streaming:
            raise AgentError("AGENT_MEMORY_PERSIST_RESPONSE_MESSAGES_FAILED", message, detail=self.answer) from error
        logger.error("%s", message, exc_info=error)
        self.answer.notes.append(message)

    async def _keep(self, error: BaseException) -> None:
        """Save what was said so far, whatever ended the run; only the first fault is raised."""
        if isinstance(error, Exception) and not isinstance(error, Aborted):
            self._row.fail(error)
        self.answer.messages = self._list.rows("response")
        saving = asyncio.ensure_future(self._recording.save(self._run.states))
        try:
            await asyncio.shield(saving)
        except asyncio.CancelledError:
            with suppress(Exception):
                await saving
        except Exception as fault:
            logger.error("what was said could not be saved: %s", fault, exc_info=fault)

    async def _call_back(self, callback: Any, *arguments: Any) -> None:
        if callback is not None:
            await settled(callback(*arguments))

    # ---- steps ----

    async def _steps(self) -> AsyncGenerator[Part, None]:
        continuing, number = True, 0
        while continuing and number < self.plan.max_steps:
            step = Step(number, self._row.message_id)
            async with aclosing(self._step(step)) as parts:
                async for part in parts:
                    yield part
            continuing = step.is_continued
            number += 1

    async def _step(self, step: Step) -> AsyncGenerator[Part, None]:
        """One answer and its tool calls; an answer that processors reject is asked for again."""
        yield StepStart(step.step_number, step.message_id)
        rejected = True
        while rejected:
            settings = await self._settings(step)
            step.begin()
            async with aclosing(self._asking.answer(step, settings)) as parts:
                async for part in parts:
                    yield part
            rejected = await self._run.process_output_step(
                finish_reason=step.finish_reason,
                text=step.text,
                tool_calls=step.tool_calls,
                usage=step.usage,
                provider_metadata=step.provider_metadata,
            )
        self.answer.steps.append(step)
        async with aclosing(self._use_tools(step, settings)) as results:
            async for result in results:
                yield result
        step.is_continued = self._goes_on(step)
        step.response.messages = self._list.rows("response")
        yield StepFinish(step.message_id, step.finish_reason, step.usage, step.is_continued)
        if self.plan.save_per_step:
            await self._recording.save(self._run.states)
        if self.plan.on_step_finish is not None:
            await self._call_back(self.plan.on_step_finish, step.to_json(self.plan.run_id))

    async def _settings(self, step: Step) -> StepSettings:
        plan = self.plan
        settings = await self._run.process_input_step(
            StepSettings(
                model=plan.model,
                tools=self._tools,
                tool_choice=plan.tool_choice,
                provider_options=plan.provider_options,
                model_settings=plan.settings,
                structured_output={"schema": plan.output.schema} if plan.output else None,
                message_id=self._row.message_id,
            ),
            step_number=step.step_number,
            steps=self.answer.steps,
            rotate_response_message_id=self._row.rotate,
        )
        await self._run.compute_state_signals()
        settings = replace(settings, model=resolve(settings.model, plan.model.specification_version))
        self._row.message_id = step.message_id = settings.message_id or self._row.message_id
        self._row.begin_step(settings.model.provider, settings.model.model_id)
        return settings

    def _goes_on(self, step: Step) -> bool:
        answered = {result.tool_call_id for result in step.tool_results}
        own = [call.tool_call_id for call in step.tool_calls if not call.provider_executed]
        return bool(own) and answered.issuperset(own) and step.step_number + 1 < self.plan.max_steps

    # ---- tools ----

    async def _use_tools(self, step: Step, settings: StepSettings) -> AsyncGenerator[ToolResult, None]:
        """Run the calls that can be run here. On the legacy path a failure ends the run, when all have ended."""
        tools = tool_table(settings.tools)
        calls = [call for call in step.tool_calls if not call.provider_executed and _runs_here(call, tools)]
        failures: list[Executed] = []
        if not calls:
            return
        running = execute(calls, tools, self.plan.hooks, self._context, self.plan.abort_signal, self.plan.telemetry)
        async with aclosing(running) as executed:
            async for each in executed:
                result = each.result
                step.tool_results.append(result)
                self._row.settle(result)
                yield result
                await self._run.process_tool_result(
                    result.tool_name, result.tool_call_id, args=result.input, result=result.output
                )
                failures += [each] if each.error is not None else []
        if failures and self.plan.path == "legacy":
            raise _legacy_failure(failures[0])

    def _context(self, call: ToolCall) -> ToolContext:
        plan, owners = self.plan, self.plan.owners
        return ToolContext(
            call.tool_call_id,
            call.tool_name,
            self._list.rows(),
            plan.agent,
            plan.run_id,
            owners.get("threadId"),
            owners.get("resourceId"),
            plan.request_context,
            plan.abort_signal,
        )


def _runs_here(call: ToolCall, tools: dict[str, Tool]) -> bool:
    return call.tool_name not in tools or tools[call.tool_name].function is not None


def _legacy_failure(failed: Executed) -> Exception:
    error, result = failed.error, failed.result
    if isinstance(error, AgentError):
        return error
    failure = ToolError("AGENT_TOOL_FAILED", f"the tool {result.tool_name} failed: {result.output}", detail=result)
    failure.__cause__ = error
    return failure
