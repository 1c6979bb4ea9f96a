"""A refusal of a trailing model turn → a reminder to continue, and a retry."""

from __future__ import annotations

import re
from typing import Any

from historycompat.processors.arguments import APIErrorResult, SendSignal, Signal
from historycompat.runtime.error_view import ErrorView

# Anthropic, Qwen and Gemini 3, in this order. The words are those of the providers' error messages.
_REFUSALS = re.compile(
    r"does not support assistant message prefill"
    r"|assistant response prefill is incompatible with enable[_\s-]?thinking"
    r"|requests ending with a model turn are not supported",
    re.IGNORECASE,
)


class PrefillErrorHandler:
    """Sends a system reminder where a provider refuses to go on from an assistant message, once in a row.

    It is enough that any text of the error says so. The reminder is sent whatever the last row is.
    """

    id = "prefill-error-handler"
    name = "Prefill Error Handler"

    async def process_api_error(
        self, *, error: object, retry_count: int, send_signal: SendSignal, **rest: Any
    ) -> APIErrorResult | None:
        if retry_count > 0 or not any(map(_REFUSALS.search, ErrorView.of(error).texts)):
            return None
        await send_signal(_reminder())
        return {"retry": True}


def _reminder() -> Signal:
    return {
        "type": "reactive",
        "tag_name": "system-reminder",
        "contents": "continue",
        "attributes": {"type": "anthropic-prefill-processor-retry"},
        "metadata": {"message": "Continuing after prefill error"},
    }
