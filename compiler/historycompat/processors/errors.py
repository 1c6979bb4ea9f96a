"""What a processor may raise on purpose, and what it is told when it breaks its contract."""

from __future__ import annotations

from typing import Any, Literal

from historycompat.errors import HistoryCompatError

Code = Literal[
    "PROCESSOR_WITHOUT_ID",
    "PROCESSOR_WITHOUT_HOOK",
    "PROCESSOR_IN_WRONG_LANE",
    "PROCESSOR_ID_TAKEN",
    "PROCESSOR_ASKS_UNKNOWN_ARGUMENT",
    "PROCESSOR_RETURNED_EXTERNAL_MESSAGE_LIST",
    "PROCESSOR_RETURNED_MESSAGES_AND_MESSAGE_LIST",
    "PROCESSOR_RETURNED_UNKNOWN_FIELD",
    "PROCESSOR_RETURNED_UNKNOWN_VALUE",
]


class ProcessorError(HistoryCompatError):
    """A processor breaks its contract. `code` is stable and names what is wrong."""

    def __init__(self, code: Code, message: str, processor_id: str | None = None) -> None:
        self.code, self.message, self.processor_id = code, message, processor_id
        super().__init__(f"{code}: processor {processor_id}: {message}" if processor_id else f"{code}: {message}")

    def __reduce__(self) -> tuple[type[ProcessorError], tuple[Code, str, str | None]]:
        return type(self), (self.code, self.message, self.processor_id)


class TripWire(HistoryCompatError):
    """A processor stops the run; hooks raise it through their `abort`.

    `retry` asks for another answer instead, which only `process_output_step` can be granted. `metadata` is anything
    that the processor wants the host to see.
    """

    def __init__(
        self, reason: str = "", *, retry: bool = False, metadata: Any = None, processor_id: str | None = None
    ) -> None:
        self.reason, self.retry, self.metadata, self.processor_id = reason, retry, metadata, processor_id
        super().__init__(reason or f"stopped by {processor_id or 'a processor'}")
