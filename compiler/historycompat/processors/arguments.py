"""What hooks are given, as keyword arguments, and what they may return, as mappings."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NoReturn, Protocol, TypedDict

from historycompat.processors.message_list import MessageList, Row

Prompt = list[dict[str, Any]]


class Abort(Protocol):
    """Stops the run by raising TripWire."""

    def __call__(self, reason: str = "", retry: bool = False, metadata: Any = None) -> NoReturn: ...


class Signal(TypedDict, total=False):
    """A message to the model from the program around it, such as a system reminder."""

    type: str
    tag_name: str
    contents: str
    attributes: dict[str, str]
    metadata: dict[str, Any]


SendSignal = Callable[[Signal], Awaitable[None]]

# ---- what hooks are given ----


class HookArguments(TypedDict):
    """What every hook may ask for. `messages` are the rows the hook is about, `message_list` all of them."""

    messages: list[Row]
    message_list: MessageList
    state: dict[str, Any]
    abort: Abort
    abort_signal: Any
    retry_count: int
    request_context: Any
    agent: Any
    writer: Any
    tracing: Any


class _Step(HookArguments):
    step_number: int
    steps: Sequence[Any]


class InputArguments(HookArguments):
    """Once, before the first step; `messages` are the rows that came with this call."""

    system_messages: list[Row]
    send_signal: SendSignal


class InputStepArguments(_Step):
    """Before each step; `messages` are all rows."""

    run_id: str | None
    message_id: str | None
    rotate_response_message_id: Callable[[], str] | None
    llm_request_stage: Any
    model: Any
    tools: Any
    tool_choice: Any
    active_tools: Any
    provider_options: Any
    model_settings: Any
    structured_output: Any
    system_messages: list[Row]
    send_signal: SendSignal


class LLMRequestArguments(_Step):
    """Before each provider call, with the prompt about to be sent."""

    prompt: Prompt
    model: Any


class LLMResponseArguments(_Step):
    """After the provider's answer, or the replay of a cached one."""

    chunks: Sequence[Any]
    model: Any
    warnings: Any
    request: Any
    raw_response: Any
    from_cache: bool


class OutputStreamArguments(HookArguments):
    """For each chunk of a stream; `stream_parts` are all that the processor saw so far, this one included."""

    part: Any
    stream_parts: Sequence[Any]


class OutputStepArguments(_Step):
    """After each answer, before its tool calls run."""

    finish_reason: str | None
    provider_metadata: Any
    tool_calls: Sequence[Any]
    text: str
    usage: Any
    system_messages: list[Row]


class ToolResultArguments(_Step):
    """After each tool result, which is edited through the message list."""

    tool_name: str
    tool_call_id: str
    args: Any
    result: Any
    provider_executed: bool


class OutputResultArguments(HookArguments):
    """Once, at the end; `messages` are the rows of the answer, `result` has text, usage, finish_reason and steps."""

    result: Any


class APIErrorArguments(_Step):
    """When a provider call failed; `messages` are all rows."""

    error: Any
    model: Any
    message_id: str | None
    rotate_response_message_id: Callable[[], str] | None
    send_signal: SendSignal


# ---- what hooks may return; None is always allowed and changes nothing ----


class InputResult(TypedDict, total=False):
    """Rows that vanish from `messages` are removed, the same objects stay, others replace those of their id."""

    messages: list[Row]
    system_messages: list[Row]


class InputStepResult(InputResult, total=False):
    """`messages` or `message_list`, not both. What is not named stays as it is."""

    message_list: MessageList
    model: Any
    tools: Any
    tool_choice: Any
    active_tools: Any
    provider_options: Any
    model_settings: Any
    structured_output: Any
    message_id: str | None
    retry_count: int


class LLMRequestResult(TypedDict, total=False):
    """`prompt` is sent instead; `response` is a cached answer, so that the provider is not called."""

    prompt: Prompt
    response: Any


class APIErrorResult(TypedDict):
    """Whether to send the request again."""

    retry: bool
