"""The rows of a run → one answer of the model, past every processor; a refused request is repaired and sent again."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any, get_args

from historycompat.agent.answer import Step
from historycompat.agent.answer_row import AnswerRow
from historycompat.agent.calling import answer_of
from historycompat.agent.errors import Aborted, AgentError
from historycompat.agent.messages import ROWS
from historycompat.agent.models.port import ModelRequest
from historycompat.agent.models.prompts import PROMPT_FORMATS, as_format, prompt_for
from historycompat.agent.parts import AnswerFinish, ModelPart, Part, Repaired, ResponseInfo, Said, ToolCall
from historycompat.agent.plain import plain
from historycompat.agent.plan import Plan
from historycompat.agent.recording import Recording
from historycompat.agent.tools import Tool, tool_table
from historycompat.errors import did_you_mean
from historycompat.processors.abort_signal import aborted
from historycompat.processors.errors import TripWire
from historycompat.processors.run import LLMRequest, Run
from historycompat.processors.run_state import StepSettings

_SAID = get_args(Said)


class Asking:
    """Asks the model of a run, as often as it has steps."""

    def __init__(self, plan: Plan, run: Run, row: AnswerRow, recording: Recording, *, streaming: bool) -> None:
        self._plan, self._run, self._row, self._recording, self._streaming = plan, run, row, recording, streaming

    async def answer(self, step: Step, settings: StepSettings) -> AsyncGenerator[Part, None]:
        """The parts of one answer, which the step and the row take. Only a request that was refused before anything
        came is sent again; an error in the middle of an answer is raised."""
        while True:
            begun = False
            try:
                async with aclosing(self._ask(step, settings)) as parts:
                    async for part in parts:
                        begun = True
                        yield part
                return
            except (TripWire, Aborted):
                raise
            except Exception as error:
                if begun or aborted(self._plan.abort_signal) or not await self._run.process_api_error(error):
                    raise
                await self._recording.save(self._run.states, error)
                yield Repaired(error)

    async def _ask(self, step: Step, settings: StepSettings) -> AsyncGenerator[Part, None]:
        model = settings.model
        request = await self._run.process_llm_request(self._prompt(), model)
        cached = request.response is not None
        chunks: list[ModelPart] = []
        facts = {"provider.name": model.provider, "request.model": model.model_id}
        with self._plan.telemetry.span("chat", model.model_id, facts) as span:
            span.record_input("input.messages", request.prompt)
            async with aclosing(_given(request.response) if cached else self._send(request, settings)) as pieces:
                async for piece in pieces:
                    chunks.append(piece)
                    if (part := await self._take(step, piece)) is not None:
                        yield part
            span.record_output("output.messages", step.text)
            used = step.usage
            span.set({"usage.input_tokens": used.input_tokens, "usage.output_tokens": used.output_tokens})
            span.set({"response.finish_reasons": [step.finish_reason]})
        await self._run.process_llm_response(chunks, warnings=step.warnings, request=request, from_cache=cached)

    def _prompt(self) -> list[Any]:
        """The canonical prompt: system messages, then all rows."""
        message_list = self._run.message_list
        system = [*map(_text_of, message_list.system_messages), *self._recording.system_texts()]
        rows = message_list.rows()
        spoken = as_format(rows, ROWS, PROMPT_FORMATS["v2"]) if rows else []
        return [*({"role": "system", "content": text} for text in system), *spoken]

    def _send(self, request: LLMRequest, settings: StepSettings) -> AsyncGenerator[ModelPart, None]:
        plan, model = self._plan, settings.model
        tools = tool_table(settings.tools)
        active = tools if settings.active_tools is None else settings.active_tools
        sent = ModelRequest(
            prompt=prompt_for(model.specification_version, request.prompt),
            tools=[each.spec for name, each in tools.items() if name in active],
            tool_choice=_known_choice(settings.tool_choice, tools),
            settings=plan.agent.settings_of(settings.model_settings or {}),
            output_schema=(settings.structured_output or {}).get("schema"),
            provider_options=settings.provider_options or {},
            abort_signal=plan.abort_signal,
        )
        return answer_of(
            model, sent, streaming=self._streaming, max_retries=plan.max_retries, retry_delay=plan.retry_delay
        )

    async def _take(self, step: Step, piece: ModelPart) -> Part | None:
        """Add a piece to the step and to the row, unless a processor drops it; what of it the caller sees."""
        if isinstance(piece, ResponseInfo | AnswerFinish):
            step.take(piece)
            return None
        if isinstance(piece, ToolCall):
            piece = replace(piece, input=plain(piece.input))
        passed: Said | None = await self._run.process_output_stream(piece)
        if passed is not None:
            if not isinstance(passed, _SAID):
                what = f"process_output_stream made {passed!r} of a {piece.type}: return a part, or None to drop it"
                raise AgentError("AGENT_BAD_OPTION", what)
            step.take(passed)
            self._row.add(passed)
        return passed


def _known_choice(choice: Any, tools: Mapping[str, Tool]) -> Any:
    name = choice.get("tool_name") if isinstance(choice, Mapping) else None
    if name is not None and name not in tools:
        advice = did_you_mean(name, tools) or f"there are {', '.join(tools) or 'none'}"
        raise AgentError("AGENT_BAD_OPTION", f"tool_choice names {name!r}, which is no tool of this run: {advice}")
    return choice


async def _given(response: Sequence[ModelPart]) -> AsyncGenerator[ModelPart, None]:
    for piece in response:
        yield piece


def _text_of(row: dict[str, Any]) -> str:
    content = row.get("content")
    if isinstance(content, str):
        return content
    parts = content.get("parts", ()) if isinstance(content, dict) else content or ()
    return "\n".join(part["text"] for part in parts if part.get("type") == "text")
