"""What one run knows and shares with hooks, and how one hook is called with it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from historycompat.processors.arguments import Signal
from historycompat.processors.calling import Bound, settled
from historycompat.processors.errors import TripWire
from historycompat.processors.message_list import Checkpoint, MessageList, Row
from historycompat.processors.runner import ProcessorRunner
from historycompat.processors.signals import feedback_row, signal_row


@dataclass(frozen=True, slots=True)
class StepSettings:
    """What `process_input_step` may change for one step."""

    model: Any = None
    tools: Any = None
    tool_choice: Any = None
    active_tools: Any = None
    provider_options: Any = None
    model_settings: Any = None
    structured_output: Any = None
    message_id: str | None = None


@dataclass(eq=False)
class RunState:
    """The fields up to `states` come from the host, and hooks get them as they are.

    `states` holds one dict per processor id; give those of an earlier run to carry them over. `send_signal` says how
    a signal reaches the model; by default it becomes a user row.
    """

    runner: ProcessorRunner
    message_list: MessageList
    agent: Any = None
    request_context: Any = None
    abort_signal: Any = None
    writer: Any = None
    tracing: Any = None
    run_id: str | None = None
    send_signal: Callable[[Signal], Awaitable[None] | None] | None = None
    states: dict[str, dict[str, Any]] = field(default_factory=dict)
    retry_count: int = field(default=0, init=False)
    step_number: int = field(default=0, init=False)
    steps: Sequence[Any] = field(default=(), init=False)
    settings: StepSettings = field(default_factory=StepSettings, init=False)
    rotate_response_message_id: Callable[[], str] | None = field(default=None, init=False)
    _boundary: Checkpoint | None = field(default=None, init=False)
    _feedback: list[Row] = field(default_factory=list, init=False)

    async def call(self, hook: Bound, messages: list[Row], **extra: Any) -> Any:
        """What a hook returns for some rows and the arguments that are its own."""
        return await hook(
            {
                "messages": messages,
                "message_list": self.message_list,
                "state": self.states.setdefault(hook.id, {}),
                "abort_signal": self.abort_signal,
                "retry_count": self.retry_count,
                "request_context": self.request_context,
                "agent": self.agent,
                "writer": self.writer,
                "tracing": self.tracing,
                "run_id": self.run_id,
                "step_number": self.step_number,
                "steps": self.steps,
                "system_messages": list(self.message_list.system_messages),
                "send_signal": self.send,
                "message_id": self.settings.message_id,
                "rotate_response_message_id": self.rotate_response_message_id,
                **extra,
            }
        )

    async def send(self, signal: Signal) -> None:
        """Hand a signal to the host, or add it to the rows."""
        if self.send_signal is None:
            self.message_list.add(signal_row(signal), "input")
        else:
            await settled(self.send_signal(signal))

    # ---- an answer that a processor rejects ----

    def begin_step(self) -> None:
        self._boundary = self.message_list.checkpoint()

    def may_ask_again(self, trip: TripWire) -> bool:
        """Whether a processor asks for another answer, and the host said how often it may."""
        granted = self.runner.max_processor_retries
        return trip.retry and granted is not None and self.retry_count < granted

    def take_back(self, trip: TripWire) -> None:
        """Forget the step's rows, and tell the model why."""
        self.retry_count += 1
        if self._boundary:
            self.message_list.roll_back(self._boundary)
        self._feedback.append(feedback_row(trip))
        self.message_list.system_messages.append(self._feedback[-1])

    def settle(self) -> None:
        """The step went well: its retries are forgiven, and what the model was told about them is forgotten."""
        self.retry_count = 0
        told = set(map(id, self._feedback))
        system = self.message_list.system_messages
        system[:] = [row for row in system if id(row) not in told]
        self._feedback.clear()
