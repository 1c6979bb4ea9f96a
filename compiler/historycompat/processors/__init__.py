"""Programs that look at a conversation on its way to a model and back, and what runs them."""

from historycompat.processors.errors import ProcessorError, TripWire
from historycompat.processors.message_list import Changes, MessageList
from historycompat.processors.prefill import PrefillErrorHandler
from historycompat.processors.run import LLMRequest, Run
from historycompat.processors.run_state import StepSettings
from historycompat.processors.runner import ProcessorRunner
from historycompat.processors.stream_retry import RetryMatcher, StreamErrorRetry
from historycompat.processors.trailing_guard import TrailingAssistantGuard
from historycompat.processors.transient import is_bad_request

__all__ = [
    "Changes",
    "LLMRequest",
    "MessageList",
    "PrefillErrorHandler",
    "ProcessorError",
    "ProcessorRunner",
    "RetryMatcher",
    "Run",
    "StepSettings",
    "StreamErrorRetry",
    "TrailingAssistantGuard",
    "TripWire",
    "is_bad_request",
]
