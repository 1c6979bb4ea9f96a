"""One logical call of a model: hooks called in order, and what they return put to effect.

run = Run(runner, MessageList(history), agent=agent)
await run.process_input()
settings = await run.process_input_step(StepSettings(model=model))
request = await run.process_llm_request(prompt, settings.model)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from historycompat.processors.abort_signal import aborted
from historycompat.processors.arguments import Prompt, Signal
from historycompat.processors.calling import Bound, logger
from historycompat.processors.errors import TripWire
from historycompat.processors.message_list import Row, Source
from historycompat.processors.returns import member, nothing, signal_of, take_rows, take_step
from historycompat.processors.run_state import RunState, StepSettings

_SETTINGS = tuple(each.name for each in fields(StepSettings))


@dataclass(frozen=True, slots=True)
class LLMRequest:
    """What to send; with a `response`, a cached answer, nothing is."""

    prompt: Prompt
    response: Any = None


@dataclass(eq=False)
class Run(RunState):
    """One logical call: each method is one pass over the processors that have its hook.

    A hook stops the run by raising TripWire, through `abort`. Its other exceptions pass through, except where a method
    says otherwise, and so does ProcessorError where a hook returns what it may not.
    """

    _parts: dict[str, list[Any]] = field(default_factory=dict, init=False)

    async def process_input(self) -> None:
        """Once, before the first step."""
        for hook in self.runner.hooks("process_input"):
            rows = self.message_list.rows("input")
            await self._rows(hook, rows, "input")

    async def process_input_step(
        self,
        settings: StepSettings,
        *,
        step_number: int = 0,
        steps: Sequence[Any] = (),
        rotate_response_message_id: Callable[[], str] | None = None,
        llm_request_stage: Any = None,
    ) -> StepSettings:
        """Before each step: the settings to use. A rejected answer is taken back to where this was called."""
        self.settings, self.step_number, self.steps = settings, step_number, steps
        self.rotate_response_message_id = rotate_response_message_id
        for hook in self.runner.hooks("process_input_step"):
            rows = self.message_list.rows()
            given = {name: getattr(self.settings, name) for name in _SETTINGS}
            returned = await self.call(hook, rows, llm_request_stage=llm_request_stage, **given)
            changes = take_step(returned, hook, self.message_list, rows)
            self.retry_count = changes.pop("retry_count", self.retry_count)
            self.settings = replace(self.settings, **changes)
        self.begin_step()
        return self.settings

    async def compute_state_signals(self) -> list[Signal]:
        """Before each step: the signals that processors have for the model, sent already."""
        signals = []
        for hook in self.runner.hooks("compute_state_signal"):
            signal = signal_of(await self.call(hook, self.message_list.rows()), hook)
            if signal is not None:
                await self.send(signal)
                signals.append(signal)
        return signals

    async def process_llm_request(self, prompt: Prompt, model: Any) -> LLMRequest:
        """Before each provider call. Each processor sees the prompt of the one before, also once there is a response;
        the first response is the one. None of it is stored."""
        self.settings = replace(self.settings, model=model)
        response = None
        for hook in self.runner.hooks("process_llm_request"):
            returned = await self.call(hook, self.message_list.rows(), prompt=prompt, model=model)
            new = member(returned, hook, "prompt", ("response",))
            prompt = prompt if new is None else new
            if response is None:
                response = member(returned, hook, "response", ("prompt",))
        return LLMRequest(prompt, response)

    async def process_llm_response(
        self,
        chunks: Sequence[Any] = (),
        *,
        warnings: Any = None,
        request: Any = None,
        raw_response: Any = None,
        from_cache: bool = False,
    ) -> None:
        """After the provider's answer, or the replay of a cached one."""
        for hook in self.runner.hooks("process_llm_response"):
            await self.call(
                hook,
                self.message_list.rows(),
                chunks=chunks,
                model=self.settings.model,
                warnings=warnings,
                request=request,
                raw_response=raw_response,
                from_cache=from_cache,
            )

    async def process_output_stream(self, part: Any) -> Any:
        """For each chunk: what to pass on, or None. A processor that fails is logged, and the chunk passes."""
        for hook in self.runner.hooks("process_output_stream"):
            parts = self._parts.setdefault(hook.id, [])
            parts.append(part)
            try:
                part = await self.call(hook, self.message_list.rows(), part=part, stream_parts=parts)
            except TripWire:
                raise
            except Exception:
                logger.exception("processor %s failed on a chunk, which passes", hook.id)
            if part is None:
                return None
        return part

    async def process_output_step(
        self,
        *,
        finish_reason: str | None = None,
        text: str = "",
        tool_calls: Sequence[Any] = (),
        usage: Any = None,
        provider_metadata: Any = None,
    ) -> bool:
        """After each answer, before its tools run: whether to ask the model again.

        That is so where a processor rejects the answer with `abort(reason, retry=True)` and `max_processor_retries`
        was given and is not used up: then the rows are those at the beginning of the step, and a system message tells
        the model the reason.
        """
        answer = {
            "finish_reason": finish_reason,
            "text": text,
            "tool_calls": tool_calls,
            "usage": usage,
            "provider_metadata": provider_metadata,
        }
        try:
            for hook in self.runner.hooks("process_output_step"):
                rows = self.message_list.rows()
                await self._rows(hook, rows, "response", **answer)
        except TripWire as trip:
            if not self.may_ask_again(trip):
                raise
            self.take_back(trip)
            return True
        self.settle()
        return False

    async def process_tool_result(
        self, tool_name: str, tool_call_id: str, *, args: Any, result: Any, provider_executed: bool = False
    ) -> None:
        """After each tool result."""
        for hook in self.runner.hooks("process_tool_result"):
            returned = await self.call(
                hook,
                self.message_list.rows(),
                tool_name=tool_name,
                tool_call_id=tool_call_id,
                args=args,
                result=result,
                provider_executed=provider_executed,
            )
            nothing(returned, hook, self.message_list)

    async def process_output_result(self, result: Any) -> None:
        """Once, at the end."""
        for hook in self.runner.hooks("process_output_result"):
            await self._rows(hook, self.message_list.rows("response"), "response", result=result)

    async def process_api_error(self, error: object) -> bool:
        """When a provider call failed: whether to send it again.

        The first processor that asks for it is the last one called, and the caller must follow it. No processor is
        called when the run was aborted or its retries are used up, since nothing could come of it. An exception of a
        processor is logged, and the next one is asked.
        """
        if self.retry_count >= self.runner.retry_limit:
            return False
        for hook in self.runner.hooks("process_api_error"):
            if aborted(self.abort_signal):
                return False
            if await self._asks_retry(hook, error):
                self.retry_count += 1
                return True
        return False

    async def _asks_retry(self, hook: Bound, error: object) -> bool:
        try:
            returned = await self.call(hook, self.message_list.rows(), error=error, model=self.settings.model)
            return bool(member(returned, hook, "retry"))
        except TripWire:
            raise
        except Exception:
            logger.exception("processor %s failed on an API error", hook.id)
            return False

    async def _rows(self, hook: Bound, rows: list[Row], source: Source, **extra: Any) -> None:
        take_rows(await self.call(hook, rows, **extra), hook, self.message_list, rows, source)
