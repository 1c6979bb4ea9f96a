"""What the agent refuses, and how a run may end before its time."""

from __future__ import annotations

from typing import Any, Literal

from historycompat.errors import HistoryCompatError

Code = Literal[
    "AGENT_UNKNOWN_OPTION",
    "AGENT_BAD_OPTION",
    "AGENT_BAD_MESSAGES",
    "AGENT_BAD_TOOL",
    "AGENT_TOOL_NAME_COLLISION",
    "AGENT_UNKNOWN_MODEL",
    "AGENT_BAD_MODEL",
    "AGENT_STREAM_V1_MODEL_NOT_SUPPORTED",
    "AGENT_GENERATE_V1_MODEL_NOT_SUPPORTED",
    "AGENT_STREAM_V2_MODEL_NOT_SUPPORTED",
    "AGENT_GENERATE_V2_MODEL_NOT_SUPPORTED",
    "AGENT_MEMORY_MISSING",
    "AGENT_MEMORY_MISSING_RESOURCE_ID",
    "AGENT_MEMORY_MISSING_THREAD_ID",
    "AGENT_THREAD_OF_ANOTHER_RESOURCE",
    "AGENT_MEMORY_PERSIST_RESPONSE_MESSAGES_FAILED",
    "AGENT_STRUCTURED_OUTPUT_INVALID",
    "AGENT_TOOL_CALL_INVALID",
    "AGENT_TOOL_FAILED",
    "AGENT_ABORTED",
    "AGENT_STREAM_CLOSED",
]


class AgentError(HistoryCompatError):
    """An option, a tool or a run is not as it must be. `code` is stable and names what is wrong.

    `detail` is what the caller may want to have all the same: the result of a run whose messages could not be saved,
    the text that does not fit its schema.
    """

    def __init__(self, code: Code, message: str, *, detail: Any = None) -> None:
        self.code, self.message, self.detail = code, message, detail
        super().__init__(f"{code}: {message}")

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (type(self), self.code, self.message, self.detail)


class ToolError(AgentError):
    """A tool failed on the legacy path, where that ends the run. `__cause__` is what the tool raised."""


class Aborted(AgentError):
    """The abort signal of the run was given."""

    def __init__(self, message: str = "the run was aborted") -> None:
        super().__init__("AGENT_ABORTED", message)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.message,)


class APICallError(HistoryCompatError):
    """A model could not be called, or refused what it was sent.

    `status` is that of HTTP, `body` the text of the answer, `headers` in lower case. `is_retryable` says whether the
    same request may succeed later: by default for 408, 409, 429 and from 500 on, as in the AI SDK.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        body: str | None = None,
        headers: dict[str, str] | None = None,
        is_retryable: bool | None = None,
    ) -> None:
        self.message, self.status, self.body, self.headers = message, status, body, headers or {}
        passing = status is not None and (status in (408, 409, 429) or status >= 500)
        self.is_retryable = passing if is_retryable is None else is_retryable
        super().__init__(message)

    def __reduce__(self) -> tuple[Any, ...]:
        return _api_error, (self.message, self.status, self.body, self.headers, self.is_retryable)


def words_of(error: BaseException) -> str:
    """What an exception says, even of a class that cannot say it."""
    try:
        return str(error)
    except Exception as fault:
        return f"(its text cannot be made: {type(fault).__name__})"


def _again(kind: type[AgentError], code: Code, message: str, detail: Any) -> AgentError:
    return kind(code, message, detail=detail)


def _api_error(message: str, status: Any, body: Any, headers: Any, is_retryable: bool) -> APICallError:
    return APICallError(message, status=status, body=body, headers=headers, is_retryable=is_retryable)
