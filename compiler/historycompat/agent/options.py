"""What a caller may pass to a run, on each path, and the check of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, InstanceOf, TypeAdapter, ValidationError
from pydantic.alias_generators import to_camel, to_snake
from typing_extensions import TypedDict

from historycompat.agent.errors import AgentError, Code
from historycompat.agent.memory.options import MemoryOptions
from historycompat.errors import did_you_mean

Count = Annotated[int, Field(ge=0, strict=True)]
CONFIG = ConfigDict(extra="forbid", alias_generator=to_camel, populate_by_name=True, arbitrary_types_allowed=True)


class ChosenTool(TypedDict):
    __pydantic_config__ = CONFIG  # type: ignore[misc]
    type: Literal["tool"]
    tool_name: str


ToolChoiceOption = Literal["auto", "none", "required"] | ChosenTool


class ThreadOption(TypedDict, total=False):
    """A thread by its id, with what to note of it."""

    __pydantic_config__ = CONFIG  # type: ignore[misc]
    id: str
    title: str | None
    metadata: dict[str, Any] | None


class MemoryOption(TypedDict, total=False):
    """Where the conversation is kept: both `thread` and `resource`, its owner, are needed."""

    __pydantic_config__ = CONFIG  # type: ignore[misc]
    thread: str | ThreadOption
    resource: str
    options: MemoryOptions | Mapping[str, Any]


class TelemetryOption(TypedDict, total=False):
    __pydantic_config__ = CONFIG  # type: ignore[misc]
    is_enabled: bool
    record_inputs: bool
    record_outputs: bool
    function_id: str | None


class HooksOption(TypedDict, total=False):
    __pydantic_config__ = CONFIG  # type: ignore[misc]
    before_tool_call: Callable[..., Any] | None
    after_tool_call: Callable[..., Any] | None


class ModelSettings(TypedDict, total=False):
    """What the model is told; None leaves it to the provider."""

    __pydantic_config__ = CONFIG  # type: ignore[misc]
    temperature: float | None
    max_tokens: Annotated[int, Field(ge=1, strict=True)] | None
    top_p: float | None
    top_k: int | None
    presence_penalty: float | None
    frequency_penalty: float | None
    stop_sequences: list[str] | None
    seed: int | None
    headers: Mapping[str, str] | None


class RunOptions(TypedDict, total=False):
    """What both paths take; see Agent.stream."""

    __pydantic_config__ = CONFIG  # type: ignore[misc]
    abort_signal: Any
    context: Any
    instructions: str | None
    model: Any
    memory: MemoryOption | None
    max_steps: Annotated[int, Field(ge=1, strict=True)]
    max_retries: Count
    on_finish: Callable[..., Any] | None
    on_step_finish: Callable[..., Any] | None
    telemetry: TelemetryOption | None
    tool_choice: ToolChoiceOption | None
    toolsets: Mapping[str, Any] | None
    client_tools: Any
    hooks: HooksOption | None
    save_per_step: bool
    provider_options: Mapping[str, Mapping[str, Any]] | None
    run_id: str | None
    request_context: InstanceOf[Mapping[Any, Any]] | None  # the very object: processors may write to it
    input_processors: list[Any] | None
    output_processors: list[Any] | None
    error_processors: list[Any] | None
    max_processor_retries: Count | None


class StreamOptions(RunOptions, total=False):
    """What `stream` and `generate` take."""

    __pydantic_config__ = CONFIG  # type: ignore[misc]
    model_settings: ModelSettings | None
    structured_output: Any


class LegacyOptions(RunOptions, ModelSettings, total=False):
    """What `stream_legacy` and `generate_legacy` take. The last three are deprecated forms of `memory`."""

    __pydantic_config__ = CONFIG  # type: ignore[misc]
    output: Any
    experimental_output: Any
    memory_options: MemoryOptions | Mapping[str, Any] | None
    resource_id: str | None
    thread_id: str | None


class WantedOutput(TypedDict):
    __pydantic_config__ = CONFIG  # type: ignore[misc]
    schema: Any


class ProcessedSettings(TypedDict, total=False):
    """What `process_input_step` may make of settings; None is the default of each."""

    __pydantic_config__ = CONFIG  # type: ignore[misc]
    tool_choice: ToolChoiceOption | None
    active_tools: list[str] | None
    provider_options: Mapping[str, Mapping[str, Any]] | None
    model_settings: ModelSettings | None
    structured_output: WantedOutput | None
    message_id: str | None


@cache
def _adapter(kind: type) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def checked(given: Mapping[str, Any], kind: type, what: str) -> dict[str, Any]:
    """Options with their names in snake_case. Raises AgentError for an unknown name or a value that cannot be."""
    try:
        return dict(_adapter(kind).validate_python(dict(given)))
    except ValidationError as error:
        first = next((each for each in error.errors() if each["type"] == "extra_forbidden"), error.errors()[0])
        raise _refusal(first, kind, what) from None


def _refusal(error: Any, kind: type, what: str) -> AgentError:
    # The names of the classes in a union are among the steps of the place.
    steps = [each for each in error["loc"] if isinstance(each, str) and each[:1].islower()]
    place = ".".join(each for each in steps if "[" not in each and each != "str")
    if error["type"] != "extra_forbidden":
        code: Code = "AGENT_BAD_OPTION"
        return AgentError(code, f"{what}: {place}: {error['msg']}, not {error['input']!r}{_advice(place, error)}")
    name = str(error["loc"][-1])
    known = _names(kind, error["loc"][:-1])
    advice = _ON_THIS_PATH.get((kind, to_snake(name))) or did_you_mean(name, known) or f"there are {', '.join(known)}"
    return AgentError("AGENT_UNKNOWN_OPTION", f"{what} has no option {place}: {advice}")


def _advice(place: str, error: Any) -> str:
    """What a text that is none of the known ones was meant to be."""
    given, known = error["input"], re.findall("'([^']+)'", error.get("ctx", {}).get("expected", ""))
    hint = did_you_mean(given, known) if isinstance(given, str) and known else None
    if hint is None and place == "tool_choice":
        hint = 'for one tool write {"type": "tool", "tool_name": ...}'
    return f": {hint}" if hint else ""


_NESTED: dict[str, type] = {
    "memory": MemoryOption,
    "thread": ThreadOption,
    "telemetry": TelemetryOption,
    "hooks": HooksOption,
    "model_settings": ModelSettings,
    "tool_choice": ChosenTool,
    "structured_output": WantedOutput,
}


def _names(kind: type, path: Iterable[Any]) -> list[str]:
    for each in path:
        kind = _NESTED.get(str(each), kind)
    return sorted(name for name in kind.__annotations__ if not name.startswith("__"))


# What an option of one path is called on the other.
_ON_THIS_PATH: dict[tuple[type, str], str] = {
    **{(StreamOptions, name): f'write model_settings={{"{name}": ...}}' for name in _names(ModelSettings, ())},
    (StreamOptions, "output"): "write structured_output",
    (StreamOptions, "experimental_output"): "write structured_output",
    (StreamOptions, "memory_options"): 'write memory={"options": ...}',
    (StreamOptions, "thread_id"): 'write memory={"thread": ...}',
    (StreamOptions, "resource_id"): 'write memory={"resource": ...}',
    (LegacyOptions, "model_settings"): "write each setting as an option: temperature=...",
    (LegacyOptions, "structured_output"): "write output, or experimental_output beside tools",
}
