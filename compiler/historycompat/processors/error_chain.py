"""An error → itself and its causes, outermost first, and how long their providers ask to wait."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from email.utils import parsedate_to_datetime
from typing import Any

from historycompat.runtime.error_view import reader

_MOST = 256
_CAUSES = ("__cause__", "cause", "last_error", "original_exception", "exceptions")

# Where clients keep the headers of a response: httpx based ones, AI SDK style ones, botocore.
_HEADERS = (
    ("response_headers",),
    ("headers",),
    ("response", "headers"),
    ("raw_response", "headers"),
    ("response", "ResponseMetadata", "HTTPHeaders"),
)


def chain(error: object) -> Iterator[object]:
    """The error, then what caused it, then what caused that; each once."""
    waiting, seen = deque([error]), set[int]()
    while waiting and len(seen) < _MOST:
        candidate = waiting.popleft()
        if candidate is None or id(candidate) in seen:
            continue
        seen.add(id(candidate))
        yield candidate
        read = reader(candidate)
        for name in _CAUSES:
            cause = read(name)
            waiting.extend(cause if isinstance(cause, list | tuple) else (cause,))


def retry_after_ms(error: object, now: float) -> float | None:
    """The wait in milliseconds that the outermost response with such a header asks for; `now` in epoch seconds."""
    for candidate in chain(error):
        for path in _HEADERS:
            wait = _asked(_follow(candidate, path), now)
            if wait is not None:
                return wait
    return None


def _follow(node: object, path: tuple[str, ...]) -> object:
    for name in path:
        node = reader(node)(name) if node is not None else None
    return node


def _asked(headers: object, now: float) -> float | None:
    if not isinstance(headers, Mapping):
        return None
    values = {str(name).lower(): str(value).strip() for name, value in headers.items()}
    exact = _number(values.get("retry-after-ms"))
    if exact is not None:
        return exact
    text = values.get("retry-after")
    seconds = _number(text)
    if seconds is not None:
        return seconds * 1000
    return _until(text, now)


def _number(text: str | None) -> float | None:
    try:
        return float(text or "")
    except ValueError:
        return None


def _until(text: Any, now: float) -> float | None:
    try:
        return (parsedate_to_datetime(text).timestamp() - now) * 1000
    except (TypeError, ValueError):
        return None
