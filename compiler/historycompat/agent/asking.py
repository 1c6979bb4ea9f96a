"""The rows of a run → one answer of the model, past every processor; a refused request is repaired and sent again."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import AbstractContextManager, aclosing
from dataclasses import replace
from typing import Any, get_args

from historycompat.agent.answer import Step
from historycompat.agent.answer_row import AnswerRow
from historycompat.agent.calling import answer_of
from historycompat.agent.errors import Aborted, AgentError
from historycompat.agent.messages import ROWS, complete
from historycompat.agent.models.port import ModelRequest
from historycompat.agent.models.prompts import PROMPT_FORMATS, as_format, prompt_for
from historycompat.agent.parts import AnswerFinish, ModelPart, Part, Repaired, ResponseInfo, Said, ToolCall
from historycompat.agent.plain import plain
from historycompat.agent.plan import Plan
from historycompat.agent.recording import Recording
from historycompat.agent.saying import agreeing, streaming
from historycompat.agent.step_settings import Prepared
from historycompat.processors.errors import TripWire
from historycompat.processors.run import LLMRequest, Run

_SAID = get_args(Said)


class Asking:
    """Asks the model of a run, as often as it has steps."""

    def __init__(self, plan: Plan, run: Run, row: AnswerRow, recording: Recording, *, streaming: bool) -> None:
        self._plan, self._run, self._row, self._recording, self._streaming = plan, run, row, recording, streaming

    async def answer(self, step: Step, asked: Prepared) -> AsyncGenerator[Part, None]:
        """The parts of one answer, which the step and the row take. Only a request that was refused before anything
        came is sent again; an error in the middle of an answer is raised."""
        while True:
            begun = False
            try:
                async with aclosing(self._ask(step, asked)) as parts:
                    async for part in parts:
                        begun = True
                        yield part
                return
            except (TripWire, Aborted):
                raise
            except Exception as error:
                if begun or not await self._repaired(error, step):
                    raise
                await self._recording.save(self._run.states, error)
                yield Repaired(error)

    async def _repaired(self, error: Exception, step: Step) -> bool:
        with self._agreeing("process_api_error", step):
            return await self._run.process_api_error(error)

    def _agreeing(self, hook: str, step: Step) -> AbstractContextManager[list[Step]]:
        return agreeing(self._run, hook, *self._run.steps, step)

    async def _ask(self, step: Step, asked: Prepared) -> AsyncGenerator[Part, None]:
        model = asked.model
        with self._agreeing("process_llm_request", step):
            request = _checked(await self._run.process_llm_request(self._prompt(), model))
        cached = request.response is not None
        chunks: list[ModelPart] = []
        facts = {"provider.name": model.provider, "request.model": model.model_id}
        with self._plan.telemetry.span("chat", model.model_id, facts) as span:
            span.record_input("input.messages", request.prompt)
            said = _given(request.response) if cached else self._send(request, asked)
            with streaming(self._run, step):
                async with aclosing(said) as pieces:
                    async for piece in pieces:
                        chunks.append(piece)
                        if (part := await self._take(step, piece)) is not None:
                            yield part
            span.record_output("output.messages", step.text)
            used = step.usage
            span.set({"usage.input_tokens": used.input_tokens, "usage.output_tokens": used.output_tokens})
            span.set({"response.finish_reasons": [step.finish_reason]})
        with self._agreeing("process_llm_response", step):
            await self._run.process_llm_response(chunks, warnings=step.warnings, request=request, from_cache=cached)

    def _prompt(self) -> list[Any]:
        """The canonical prompt: system messages, then all rows."""
        message_list = self._run.message_list
        complete(message_list)
        system = [*map(_text_of, message_list.system_messages), *self._recording.system_texts()]
        rows = message_list.rows()
        spoken = as_format(rows, ROWS, PROMPT_FORMATS["v2"]) if rows else []
        return [*({"role": "system", "content": text} for text in filter(None, system)), *spoken]

    def _send(self, request: LLMRequest, asked: Prepared) -> AsyncGenerator[ModelPart, None]:
        plan, model = self._plan, asked.model
        sent = ModelRequest(
            prompt=prompt_for(model.specification_version, request.prompt),
            tools=[tool.spec for tool in asked.tools.values()],
            tool_choice=asked.tool_choice,
            settings=asked.settings,
            output_schema=asked.output.schema if asked.output else None,
            provider_options=asked.provider_options,
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
        passed: Said | None = await self._run.process_output_stream(piece)
        if passed is None:
            return None
        if not isinstance(passed, _SAID):
            what = f"process_output_stream made {passed!r} of a {piece.type}: return a part, or None to drop it"
            raise AgentError("AGENT_BAD_OPTION", what)
        if isinstance(passed, ToolCall):
            passed = replace(passed, input=plain(passed.input))
        step.take(passed)
        self._row.add(passed)
        return passed


def _checked(request: LLMRequest) -> LLMRequest:
    """Raises AgentError where processors left something else than a prompt, or gave something else than an answer."""
    if not _is_list_of(dict, request.prompt):
        what = f"process_llm_request made {request.prompt!r} of the prompt: return a list of messages"
        raise AgentError("AGENT_BAD_OPTION", what)
    if request.response is not None and not _is_list_of(get_args(ModelPart), request.response):
        what = f"process_llm_request gave {request.response!r} as the answer: return a list of parts, such as TextDelta"
        raise AgentError("AGENT_BAD_OPTION", what)
    return request


def _is_list_of(kind: Any, given: Any) -> bool:
    return isinstance(given, list | tuple) and all(isinstance(each, kind) for each in given)


async def _given(response: Sequence[ModelPart]) -> AsyncGenerator[ModelPart, None]:
    for piece in response:
        yield piece


def _text_of(row: dict[str, Any]) -> str:
    content = row.get("content")
    if isinstance(content, str):
        return content
    parts = content.get("parts", ()) if isinstance(content, dict) else content or ()
    return "\n".join(part["text"] for part in parts if part.get("type") == "text")
