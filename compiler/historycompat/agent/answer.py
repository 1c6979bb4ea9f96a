"""What was said in one run, step by step, and all of it together."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from historycompat.agent.parts import (
    NO_USAGE,
    AnswerFinish,
    File,
    FinishReason,
    ModelPart,
    Options,
    Reasoning,
    ResponseInfo,
    Source,
    TextDelta,
    ToolCall,
    ToolResult,
    Usage,
)
from historycompat.agent.plain import json_text
from historycompat.processors.errors import TripWire
from historycompat.processors.message_list import Row


@dataclass(slots=True)
class Response:
    """What providers said of their last answer, and the rows that the run added."""

    id: str | None = None
    model_id: str | None = None
    headers: dict[str, str] = field(default_factory=dict)
    messages: list[Row] = field(default_factory=list)


@dataclass(slots=True)
class Step:
    """One answer of the model, and what its tools returned."""

    step_number: int
    message_id: str
    text: str = ""
    reasoning: str = ""
    tool_calls: list[ToolCall] = field(default_factory=list)
    tool_results: list[ToolResult] = field(default_factory=list)
    files: list[File] = field(default_factory=list)
    sources: list[Source] = field(default_factory=list)
    finish_reason: FinishReason = "unknown"
    usage: Usage = NO_USAGE
    warnings: list[str] = field(default_factory=list)
    response: Response = field(default_factory=Response)
    provider_metadata: Options | None = None
    is_continued: bool = False

    @property
    def step_type(self) -> str:
        return "tool-result" if self.step_number else "initial"

    def begin(self) -> None:
        """Forget an answer that was rejected; its tokens were used, and what the provider said of it stays."""
        self.text = self.reasoning = ""
        self.tool_calls, self.tool_results, self.files, self.sources = [], [], [], []

    def take(self, part: ModelPart) -> None:
        """Add a piece of the model's answer."""
        match part:
            case TextDelta(text=text):
                self.text += text
            case Reasoning(text=text):
                self.reasoning += text
            case ToolCall():
                self.tool_calls.append(part)
            case ToolResult():
                self.tool_results.append(part)
            case File():
                self.files.append(part)
            case Source():
                self.sources.append(part)
            case ResponseInfo():
                self._told(part)
            case AnswerFinish(finish_reason=reason, usage=usage, provider_metadata=metadata):
                self.finish_reason, self.usage, self.provider_metadata = reason, self.usage + usage, metadata

    def _told(self, info: ResponseInfo) -> None:
        self.response.id = info.id or self.response.id
        self.response.model_id = info.model_id or self.response.model_id
        self.response.headers |= info.headers
        self.warnings += info.warnings

    def to_json(self, run_id: str) -> str:
        """The step as a JSON object, in snake_case."""
        told: dict[str, Any] = {"run_id": run_id}
        told |= {name: getattr(self, name) for name in ("step_type", *self.__slots__)}
        told["usage"] = _counted(self.usage)
        return json_text(told)


@dataclass(slots=True)
class Answer:
    """The result of a run; of the steps' members it has the last one's, except where it says otherwise."""

    run_id: str
    steps: list[Step] = field(default_factory=list)
    object: Any = None
    tripwire: TripWire | None = None
    messages: list[Row] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The text of all steps."""
        return "".join(step.text for step in self.steps)

    @property
    def reasoning(self) -> str:
        """The reasoning of all steps."""
        return "".join(step.reasoning for step in self.steps)

    @property
    def usage(self) -> Usage:
        """The sum of all steps."""
        return sum((step.usage for step in self.steps), NO_USAGE)

    @property
    def finish_reason(self) -> FinishReason:
        if self.tripwire:
            return "other"
        return self._last.finish_reason

    @property
    def tool_calls(self) -> list[ToolCall]:
        return self._last.tool_calls

    @property
    def tool_results(self) -> list[ToolResult]:
        return self._last.tool_results

    @property
    def files(self) -> list[File]:
        return [file for step in self.steps for file in step.files]

    @property
    def sources(self) -> list[Source]:
        return [source for step in self.steps for source in step.sources]

    @property
    def warnings(self) -> list[str]:
        """Those of the provider in all steps, and those of the run, such as a memory that could not be written."""
        return [*(warning for step in self.steps for warning in step.warnings), *self.notes]

    @property
    def provider_metadata(self) -> Options | None:
        return self._last.provider_metadata

    @property
    def response(self) -> Response:
        last = self._last.response
        model_id = "tripwire" if self.tripwire and not self.steps else last.model_id
        return Response(last.id, model_id, last.headers, self.messages)

    @property
    def _last(self) -> Step:
        return self.steps[-1] if self.steps else Step(0, "")


def _counted(usage: Usage) -> dict[str, int]:
    return {name: getattr(usage, name) for name in ("input_tokens", "output_tokens", "total_tokens")}
