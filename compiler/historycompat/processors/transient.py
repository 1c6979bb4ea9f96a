"""An error → whether it may pass by itself."""

from __future__ import annotations

from collections.abc import Iterator

from historycompat.processors.error_chain import chain
from historycompat.runtime.error_view import ErrorView, reader

# Words in the code or type of an error in a stream of the OpenAI Responses API.
_PASSING_CODES = (
    "rate_limit",
    "server_error",
    "internal_error",
    "timeout",
    "temporarily_unavailable",
    "service_unavailable",
    "overloaded",
)
_PASSING_WORDS = "you can retry your request"
_PASSING_STATUSES = frozenset({408, 409, 429})
_REFUSED_CODES = frozenset(
    {"access_denied", "authentication_error", "forbidden", "invalid_api_key", "permission_denied"}
)
_REFUSED_STATUSES = frozenset({401, 403})


def is_transient_stream_error(error: object) -> bool:
    """Whether an error event of the OpenAI Responses API, or what a client made of one, tells of a passing fault."""
    return any(map(_passes, _payloads(error)))


def is_bad_request(error: object) -> bool:
    """Whether the status is 400: a matcher for providers that answer so when overloaded. Allow it one retry."""
    return ErrorView.of(error).status == 400


def client_says_retry(error: object) -> bool:
    """Whether an error carries `is_retryable`, and it is true. An exception with a status that carries none is judged
    as the AI SDK judges its own: 408, 409, 429 and from 500 on."""
    verdict = reader(error)("is_retryable")
    if isinstance(verdict, bool) or not isinstance(error, BaseException):
        return verdict is True
    view = ErrorView.of(error)
    if view.retryable is not None or view.status is None:
        return view.retryable is True
    return view.status in _PASSING_STATUSES or view.status >= 500


def is_refused_for_good(error: object) -> bool:
    """Whether credentials were refused, anywhere in the error: status 401 or 403, or a code that says so."""
    view = ErrorView.of(error)
    if view.status in _REFUSED_STATUSES or any(text.lower() in _REFUSED_CODES for text in view.texts):
        return True
    return any(reader(each)(name) in _REFUSED_STATUSES for each in chain(error) for name in ("status_code", "status"))


def _payloads(error: object) -> Iterator[object]:
    read = reader(error)
    kind = read("type")
    if kind == "error":
        yield error if read("error") is None else read("error")
    elif kind == "response.failed":
        yield reader(read("response"))("error")
    elif isinstance(error, BaseException) and read("status_code") is None:
        yield read("body")


def _passes(payload: object) -> bool:
    read = reader(payload)
    code = next((text for name in ("code", "type") if isinstance(text := read(name), str)), "").lower()
    message = read("message")
    return any(word in code for word in _PASSING_CODES) or (
        isinstance(message, str) and _PASSING_WORDS in message.lower()
    )
