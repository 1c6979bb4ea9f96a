"""What the agent asks of a model: the port that every client library is plugged in behind."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias

from historycompat.agent.parts import ModelPart

SpecificationVersion = Literal["v1", "v2"]
Schema: TypeAlias = Mapping[str, Any]
ToolChoice: TypeAlias = Literal["auto", "none", "required"] | Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as models are told of it; `parameters` is the JSON Schema of its input."""

    name: str
    description: str
    parameters: Schema


@dataclass(frozen=True, slots=True)
class Settings:
    """What a caller may set; None leaves it to the provider. `headers` are sent with the HTTP request."""

    temperature: float | None = None
    max_tokens: int | None = None
    top_p: float | None = None
    top_k: int | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    stop_sequences: Sequence[str] | None = None
    seed: int | None = None
    headers: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One request. `prompt` is of format `aisdk-v1` for models of specification v1, `aisdk-v2` for those of v2.

    With `output_schema` the answer's text is JSON that fits it. `tool_choice` is `auto`, `none`, `required` or
    `{"type": "tool", "tool_name": NAME}`.
    """

    prompt: list[Any]
    tools: Sequence[ToolSpec] = ()
    tool_choice: ToolChoice = "auto"
    settings: Settings = Settings()
    output_schema: Schema | None = None
    provider_options: Mapping[str, Any] = field(default_factory=dict)
    abort_signal: Any = None


class LanguageModel(Protocol):
    """A model behind some client library. Both methods raise the errors of that library as they come, or APICallError.

    Neither retries: the agent does. `stream` is closed when nobody wants the rest, and then closes its connection.
    """

    @property
    def specification_version(self) -> SpecificationVersion: ...

    @property
    def provider(self) -> str: ...

    @property
    def model_id(self) -> str: ...

    async def generate(self, request: ModelRequest) -> Sequence[ModelPart]:
        """The whole answer at once, in the same pieces as those of a stream."""

    def stream(self, request: ModelRequest) -> AsyncIterator[ModelPart]:
        """The answer piece by piece, as it is written."""
