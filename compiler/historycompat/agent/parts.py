"""What a model says and a run reports, piece by piece: small frozen objects, told apart by `type` or by class."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, TypeAlias

FinishReason = Literal["stop", "length", "content-filter", "tool-calls", "error", "other", "unknown"]
Options = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one answer, or of all answers of a run; 0 where the provider does not tell."""

    input_tokens: int = 0
    output_tokens: int = 0

    @property
    def total_tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    # The names of the legacy path.
    @property
    def prompt_tokens(self) -> int:
        return self.input_tokens

    @property
    def completion_tokens(self) -> int:
        return self.output_tokens

    def __add__(self, other: Usage) -> Usage:
        return Usage(self.input_tokens + other.input_tokens, self.output_tokens + other.output_tokens)


NO_USAGE = Usage()

# ---- what a model says ----


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of text; `provider_options` are those of the text as a whole, and may come with an empty piece."""

    type: ClassVar = "text-delta"
    text: str
    provider_options: Options | None = None


@dataclass(frozen=True, slots=True)
class Reasoning:
    """A piece of reasoning. `provider_options` of its last piece hold what the provider needs to see again, such as
    `{"anthropic": {"signature": ...}}`; with `end` the next piece begins another block."""

    type: ClassVar = "reasoning"
    text: str = ""
    provider_options: Options | None = None
    end: bool = False


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A whole call of a tool. `input` is a JSON object, or the text that the model wrote where it is none."""

    type: ClassVar = "tool-call"
    tool_call_id: str
    tool_name: str
    input: Any = field(default_factory=dict)
    provider_executed: bool = False
    provider_options: Options | None = None


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool returned, or with `is_error` why it failed. The provider's own tools report theirs as well."""

    type: ClassVar = "tool-result"
    tool_call_id: str
    tool_name: str
    input: Any
    output: Any
    is_error: bool = False
    provider_executed: bool = False


@dataclass(frozen=True, slots=True)
class File:
    """A file that the model made: `data` is base64 or a URL."""

    type: ClassVar = "file"
    data: str
    media_type: str


@dataclass(frozen=True, slots=True)
class Source:
    """What the model cites."""

    type: ClassVar = "source"
    url: str
    title: str | None = None
    id: str | None = None


@dataclass(frozen=True, slots=True)
class ResponseInfo:
    """What the provider says of its answer; may come first, or last."""

    type: ClassVar = "response"
    id: str | None = None
    model_id: str | None = None
    headers: dict[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AnswerFinish:
    """The last piece of an answer. An answer without it was cut off."""

    type: ClassVar = "answer-finish"
    finish_reason: FinishReason = "stop"
    usage: Usage = NO_USAGE
    provider_metadata: Options | None = None


Said: TypeAlias = TextDelta | Reasoning | ToolCall | ToolResult | File | Source
ModelPart: TypeAlias = Said | ResponseInfo | AnswerFinish

# ---- what a run adds ----


@dataclass(frozen=True, slots=True)
class StepStart:
    type: ClassVar = "step-start"
    step_number: int
    message_id: str


@dataclass(frozen=True, slots=True)
class Repaired:
    """The provider refused the request, and processors changed something: it is sent again."""

    type: ClassVar = "repaired"
    error: Exception
    rules: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StepFinish:
    type: ClassVar = "step-finish"
    message_id: str
    finish_reason: FinishReason
    usage: Usage
    is_continued: bool


@dataclass(frozen=True, slots=True)
class Finish:
    type: ClassVar = "finish"
    finish_reason: FinishReason
    usage: Usage


@dataclass(frozen=True, slots=True)
class TripWirePart:
    """A processor stopped the run."""

    type: ClassVar = "tripwire"
    reason: str
    processor_id: str | None = None
    metadata: Any = None


@dataclass(frozen=True, slots=True)
class ErrorPart:
    """The run failed; nothing follows."""

    type: ClassVar = "error"
    error: Exception


Part: TypeAlias = StepStart | Said | Repaired | StepFinish | Finish | TripWirePart | ErrorPart
