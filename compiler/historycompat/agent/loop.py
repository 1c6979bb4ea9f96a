"""A plan → the parts of its run: model calls and tool calls in turn, seen by processors, kept in memory."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from typing import Any

from historycompat.agent.answer import Answer, Step
from historycompat.agent.answer_row import AnswerRow
from historycompat.agent.asking import Asking
from historycompat.agent.errors import Aborted, AgentError
from historycompat.agent.executing import told_from_within, unless_cancelled
from historycompat.agent.parts import Finish, Part, StepFinish, StepStart, TripWirePart
from historycompat.agent.plan import Plan
from historycompat.agent.recording import Recording
from historycompat.agent.saying import rewriting
from historycompat.agent.step_settings import Prepared, prepared, settings_of
from historycompat.agent.telemetry import Span
from historycompat.agent.tool_step import tool_results
from historycompat.agent.tools import Tool, tool_table
from historycompat.processors.calling import settled
from historycompat.processors.errors import TripWire
from historycompat.processors.message_list import Checkpoint, MessageList
from historycompat.processors.run import Run

logger = logging.getLogger("historycompat.agent")


class Loop:
    """One run. `parts` may be iterated once; `answer` grows with it, and is whole when it has ended."""

    def __init__(self, plan: Plan, *, streaming: bool) -> None:
        self.plan, self.streaming = plan, streaming
        self.answer = Answer(plan.run_id)
        self._list = MessageList(drops_incomplete_tool_calls=False)
        self._row = AnswerRow(self._list, plan.owners)
        self._recording = Recording(plan, self._list)
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
        self._output = plan.output
        self._step_began: Checkpoint | None = None

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
                await self._stopped(trip)
                yield TripWirePart(trip.reason, trip.processor_id, trip.metadata)
            except BaseException as error:
                fault = told_from_within(error)
                await self._keep(fault)
                if fault is error:
                    raise
                raise fault from error
            await self._call_back(plan.on_finish, self.answer)
            yield Finish(self.answer.finish_reason, self.answer.usage)

    # ---- beginning and end ----

    async def _begin(self, span: Span) -> None:
        plan = self.plan
        self._run.states = await self._recording.open(plan.rows)
        self._list.add(plan.context, "context")
        self._list.add(plan.rows, "input")
        if instructions := await self._instructions():
            self._list.add({"role": "system", "content": instructions}, "system")
        self._tools = tool_table(plan.tools, self._recording.tools())
        span.record_input("input.messages", plan.rows)
        with rewriting(self._run, "process_input"):
            await self._run.process_input()
        await self._recording.save(self._run.states)

    async def _instructions(self) -> str | None:
        given = self.plan.instructions
        told = await settled(given(self.plan.request_context)) if callable(given) else given
        if not isinstance(told, str | None):
            raise AgentError("AGENT_BAD_OPTION", f"instructions are a text, or a function that returns one: {told!r}")
        return told

    async def _end(self, span: Span) -> None:
        answer, self._step_began = self.answer, None
        result = {name: getattr(answer, name) for name in ("text", "usage", "finish_reason", "steps")}
        with rewriting(self._run, "process_output_result", *answer.steps):
            await self._run.process_output_result(result)
        answer.messages = self._list.rows("response")
        for step in answer.steps:
            told = {row["id"] for row in step.response.messages}
            step.response.messages = [row for row in answer.messages if row["id"] in told]
        answer.steps[-1].response.messages = answer.messages
        if self._output is not None and all(call.provider_executed for call in answer.tool_calls):
            answer.object = self._output.parse(answer.steps[-1].text)
        span.record_output("output.messages", answer.text)
        await self._save_answer()
        await self._recording.finish()

    async def _stopped(self, trip: TripWire) -> None:
        """The step that a processor stopped is taken back, and what was said before it is kept; of a whole answer that
        a processor stopped, nothing is."""
        self.answer.tripwire = trip
        if self._step_began is not None:
            self._list.roll_back(self._step_began)
            del self.answer.steps[self._run.step_number :]
            self.answer.messages = self._list.rows("response")
            await self._save_answer()

    async def _save_answer(self) -> None:
        try:
            await self._recording.save(self._run.states)
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
            await unless_cancelled(settled(callback(*arguments)))

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
        asked = await self._prepared(step)
        yield StepStart(step.step_number, step.message_id)
        while True:
            async with aclosing(self._asking.answer(step, asked)) as parts:
                async for part in parts:
                    yield part
            if not await self._rejected(step):
                break
            asked = await self._prepared(step)
        self.answer.steps.append(step)
        async with aclosing(tool_results(self.plan, self._run, self._row, self.answer.steps, asked.tools)) as results:
            async for result in results:
                yield result
        step.is_continued = self._goes_on(step)
        step.response.messages = self._list.rows("response")
        yield StepFinish(step.message_id, step.finish_reason, step.usage, step.is_continued)
        if self.plan.save_per_step:
            await self._recording.save(self._run.states)
        if self.plan.on_step_finish is not None:
            await self._call_back(self.plan.on_step_finish, step.to_json(self.plan.run_id))

    async def _prepared(self, step: Step) -> Prepared:
        plan, message_id = self.plan, self._row.message_id
        self._step_began = self._list.checkpoint()
        with rewriting(self._run, "process_input_step", *self.answer.steps):
            settings = await self._run.process_input_step(
                settings_of(plan, self._tools, message_id),
                step_number=step.step_number,
                steps=self.answer.steps,
                rotate_response_message_id=self._row.rotate,
            )
            await self._run.compute_state_signals()
        asked = prepared(plan, settings)
        if asked.message_id not in (None, message_id):
            self._row.go_on_in(asked.message_id)
        self._row.begin_step(asked.model.provider, asked.model.model_id)
        step.begin()
        step.message_id, self._output = self._row.message_id, asked.output
        return asked

    async def _rejected(self, step: Step) -> bool:
        with rewriting(self._run, "process_output_step", *self.answer.steps, step) as agreed:
            rejected = await self._run.process_output_step(
                finish_reason=step.finish_reason,
                text=step.text,
                tool_calls=step.tool_calls,
                usage=step.usage,
                provider_metadata=step.provider_metadata,
            )
            if rejected:
                agreed.pop()
        return rejected

    def _goes_on(self, step: Step) -> bool:
        answered = {result.tool_call_id for result in step.tool_results}
        own = [call.tool_call_id for call in step.tool_calls if not call.provider_executed]
        return bool(own) and answered.issuperset(own) and step.step_number + 1 < self.plan.max_steps
