"""What a processor is: an id and at least one hook, each called with keyword arguments.

    class Redactor:
        id = "redactor"

        def process_llm_request(self, *, prompt, **rest):
            return {"prompt": [redacted(message) for message in prompt]}

A hook may be `async`. It names the arguments that it wants; the others need no `**rest`, though type checkers ask for
it. Every hook may call `abort`, and every hook of a processor gets the same `state` during one run.
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias, TypeVar, Unpack

from historycompat.processors.arguments import (
    APIErrorArguments,
    APIErrorResult,
    HookArguments,
    InputArguments,
    InputResult,
    InputStepArguments,
    InputStepResult,
    LLMRequestArguments,
    LLMRequestResult,
    LLMResponseArguments,
    OutputResultArguments,
    OutputStepArguments,
    OutputStreamArguments,
    Prompt,
    Signal,
    ToolResultArguments,
)
from historycompat.processors.message_list import MessageList, Row

Lane = Literal["input", "output", "error"]
Result = TypeVar("Result")
Maybe: TypeAlias = Result | Awaitable[Result | None] | None


class HasPrompt(Protocol):
    """An object in place of LLMRequestResult."""

    @property
    def prompt(self) -> Prompt | None: ...


class HasRetry(Protocol):
    """An object in place of APIErrorResult."""

    @property
    def retry(self) -> bool: ...


Rows = MessageList | list[Row] | InputResult


class Processor(Protocol):
    """What all processors have; `id` names their state and appears in errors and logs."""

    @property
    def id(self) -> str: ...


class ProcessesInput(Processor, Protocol):
    def process_input(self, **arguments: Unpack[InputArguments]) -> Maybe[Rows]: ...


class ProcessesInputStep(Processor, Protocol):
    def process_input_step(
        self, **arguments: Unpack[InputStepArguments]
    ) -> Maybe[MessageList | list[Row] | InputStepResult]: ...


class ComputesStateSignal(Processor, Protocol):
    """Called before each step; the signal that it returns is sent to the model."""

    def compute_state_signal(self, **arguments: Unpack[HookArguments]) -> Maybe[Signal]: ...


class ProcessesLLMRequest(Processor, Protocol):
    def process_llm_request(self, **arguments: Unpack[LLMRequestArguments]) -> Maybe[LLMRequestResult | HasPrompt]: ...


class ProcessesLLMResponse(Processor, Protocol):
    def process_llm_response(self, **arguments: Unpack[LLMResponseArguments]) -> Awaitable[None] | None: ...


class ProcessesOutputStream(Processor, Protocol):
    """Returns the chunk, another one in its place, or None to drop it. An exception lets the chunk pass."""

    def process_output_stream(self, **arguments: Unpack[OutputStreamArguments]) -> Any: ...


class ProcessesOutputStep(Processor, Protocol):
    """`abort(..., retry=True)` asks the model for another answer."""

    def process_output_step(self, **arguments: Unpack[OutputStepArguments]) -> Maybe[Rows]: ...


class ProcessesToolResult(Processor, Protocol):
    def process_tool_result(self, **arguments: Unpack[ToolResultArguments]) -> Awaitable[None] | None: ...


class ProcessesOutputResult(Processor, Protocol):
    def process_output_result(self, **arguments: Unpack[OutputResultArguments]) -> Maybe[Rows]: ...


class ProcessesAPIError(Processor, Protocol):
    """Repairs the stored rows and asks for a retry. An exception is logged, and the next processor is asked."""

    def process_api_error(self, **arguments: Unpack[APIErrorArguments]) -> Maybe[APIErrorResult | HasRetry]: ...


class ReportsViolations(Processor, Protocol):
    """Told of every TripWire that a hook of this processor raised."""

    def on_violation(self, *, processor_id: str, message: str, detail: Any) -> Awaitable[None] | None: ...


# ---- the table ----


@dataclass(frozen=True, slots=True)
class Hook:
    """One hook: its name, the lane it makes a processor a member of, and the names of its arguments."""

    name: str
    lane: Lane
    arguments: frozenset[str]


def _hooks(rows: Mapping[str, tuple[Lane, type]]) -> dict[str, Hook]:
    return {name: Hook(name, lane, frozenset(given.__annotations__)) for name, (lane, given) in rows.items()}


HOOKS = _hooks(
    {
        "process_input": ("input", InputArguments),
        "process_input_step": ("input", InputStepArguments),
        "compute_state_signal": ("input", HookArguments),
        "process_llm_request": ("input", LLMRequestArguments),
        "process_llm_response": ("input", LLMResponseArguments),
        "process_output_stream": ("output", OutputStreamArguments),
        "process_output_step": ("output", OutputStepArguments),
        "process_tool_result": ("output", ToolResultArguments),
        "process_output_result": ("output", OutputResultArguments),
        "process_api_error": ("error", APIErrorArguments),
    }
)


def hooks_of(processor: object) -> tuple[Hook, ...]:
    """The hooks that an object has, in the order in which a run may call them."""
    return tuple(hook for hook in HOOKS.values() if callable(getattr(processor, hook.name, None)))


def lanes_of(processor: object) -> frozenset[Lane]:
    """The lanes that a processor belongs to: `input`, `output`, `error`."""
    return frozenset(hook.lane for hook in hooks_of(processor))
