"""The rows of an answer, as processors left them → what each of its steps says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from itertools import chain
from typing import Any

from historycompat.agent.answer import Step
from historycompat.agent.messages import whole_rows
from historycompat.agent.parts import File, Reasoning, Said, Source, TextDelta, ToolCall, ToolResult
from historycompat.processors.message_list import MessageList, Row
from historycompat.processors.run import Run

RowPart = dict[str, Any]


@contextmanager
def rewriting(run: Run, hook: str, *steps: Step) -> Iterator[list[Step]]:
    """As `agreeing`, and rows that processors write in a way of their own become rows; see `whole_rows`."""
    whole = whole_rows(run.message_list) if run.runner.hooks(hook) else nullcontext()
    with agreeing(run, hook, *steps) as agreed, whole:
        yield agreed


@contextmanager
def agreeing(run: Run, hook: str, *steps: Step) -> Iterator[list[Step]]:
    """What processors change meanwhile in the rows of the answer, its steps say too. Steps whose rows nobody changed
    stay as they are, with the pieces that the model sent. A step that is taken back is to be taken off the list."""
    agreed = list(steps)
    if not run.runner.hooks(hook):
        yield agreed
        return
    before = _said(agreed, run.message_list)
    try:
        yield agreed
    finally:
        for step, old, new in zip(agreed, before, _said(agreed, run.message_list), strict=False):
            if old != new:
                _tell(step, new)


@contextmanager
def streaming(run: Run, step: Step) -> Iterator[None]:
    """As `agreeing`, around all pieces of an answer, with which the last row and the step grow."""
    if not run.runner.hooks("process_output_stream"):
        yield
        return
    steps = [*run.steps, step]
    before = _said(steps, run.message_list)
    try:
        yield
    finally:
        *earlier, last = _said(steps, run.message_list)
        for each, old, new in zip(steps, before, earlier, strict=False):
            if old != new:
                _tell(each, new)
        if _gist(last) != (step.text, step.reasoning, step.tool_calls, step.files, [each.url for each in step.sources]):
            _tell(step, last)


def _tell(step: Step, said: Sequence[Said]) -> None:
    step.begin()
    for part in said:
        step.take(part)


def _gist(said: Sequence[Said]) -> tuple[Any, ...]:
    """What rows hold as it was said; of results and sources they have their own view."""
    text = "".join(part.text for part in said if isinstance(part, TextDelta))
    reasoning = "".join(part.text for part in said if isinstance(part, Reasoning))
    calls = [part for part in said if isinstance(part, ToolCall)]
    files = [part for part in said if isinstance(part, File)]
    return text, reasoning, calls, files, [part.url for part in said if isinstance(part, Source)]


def _said(steps: Sequence[Step], message_list: MessageList) -> list[list[Said]]:
    """For each step what its row says behind its step-start. In a row of which a processor made other steps, the last
    ones are the last; what stands in a row of its own belongs to the last step."""
    said: list[list[Said]] = [[] for _ in steps]
    for row in message_list.rows("response"):
        if row.get("role") == "assistant" and steps:
            own = [at for at, step in enumerate(steps) if step.message_id == row["id"]] or [len(steps) - 1]
            sections = _sections(row)
            for at, section in enumerate(sections, start=len(own) - len(sections)):
                said[own[max(at, 0)]] += chain.from_iterable(map(_parts_of, section))
    return said


def _sections(row: Row) -> list[list[RowPart]]:
    sections: list[list[RowPart]] = [[]]
    content = row.get("content")
    for part in content.get("parts", ()) if isinstance(content, dict) else ():
        if part.get("type") == "step-start":
            sections.append([])
        else:
            sections[-1].append(part)
    return sections if sections[0] else sections[1:]


def _parts_of(part: RowPart) -> Iterable[Said]:
    match part:
        case {"type": "text", "text": str(text)}:
            yield TextDelta(text)
        case {"type": "reasoning"}:
            yield Reasoning(str(part.get("reasoning") or part.get("text") or ""))
        case {"type": "tool-invocation", "toolInvocation": dict(told)}:
            yield from _of_invocation(told, bool(part.get("providerExecuted")), part.get("providerMetadata"))
        case {"type": "file", "data": str(data)}:
            yield File(data, str(part.get("mimeType") or ""))
        case {"type": "source", "source": dict(cited)}:
            yield Source(str(cited.get("url")), cited.get("title"), cited.get("id"))


def _of_invocation(told: dict[str, Any], provider_executed: bool, options: Any) -> Iterable[Said]:
    call = ToolCall(
        str(told.get("toolCallId")), str(told.get("toolName")), told.get("args"), provider_executed, options
    )
    yield call
    outcome = {"result": "result", "output-error": "errorText"}.get(str(told.get("state")))
    if outcome is not None:
        is_error = outcome == "errorText"
        output = told.get(outcome)
        yield ToolResult(call.tool_call_id, call.tool_name, call.input, output, is_error, provider_executed)
