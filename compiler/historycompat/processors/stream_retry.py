"""An error that may pass by itself → a wait, and a retry."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Any

from historycompat.processors.abort_signal import Sleep, pause
from historycompat.processors.arguments import APIErrorResult
from historycompat.processors.calling import asked, settled
from historycompat.processors.error_chain import chain, retry_after_ms
from historycompat.processors.protocol import HOOKS
from historycompat.processors.transient import client_says_retry, is_refused_for_good, is_transient_stream_error

Match = Callable[[Any], bool]
Delay = float | Callable[..., float | Awaitable[float]]

_ARGUMENTS = HOOKS["process_api_error"].arguments | {"delay_ms"}


@dataclass(frozen=True, slots=True)
class RetryMatcher:
    """Errors that are worth a retry, with their own limit and delay where those are given.

    `match` is called with the error and then with each of its causes, until it says yes. `delay_ms` is a number of
    milliseconds, or a function of the hook's arguments (sync or async, each taken by its name) that tells it.
    `on_retry` is called before the wait with the same arguments and the `delay_ms` that will be waited.
    """

    match: Match
    max_retries: int | None = None
    delay_ms: Delay | None = None
    on_retry: Callable[..., Any] | None = None


class StreamErrorRetry:
    """Asks for a retry where a stream or request failed for a reason that may pass.

    Such are errors of `matchers`, the passing errors of the OpenAI Responses API, and those that the client calls
    retryable; the first matcher that fits decides. With `retry_unknown_errors` all others are retried as well, unless
    the credentials were refused. The wait is `delay_ms` or what the provider asks for in its `retry-after-ms` or
    `retry-after` header, whichever is longer; of the latter at most `max_retry_after_ms`. An abort ends the wait, and
    then there is no retry.
    """

    id = "stream-error-retry-processor"
    name = "Stream Error Retry Processor"

    def __init__(
        self,
        *,
        max_retries: int = 1,
        matchers: Iterable[Match | RetryMatcher] = (),
        retry_unknown_errors: bool = False,
        delay_ms: Delay | None = None,
        max_retry_after_ms: float = 30_000,
        sleep: Sleep = asyncio.sleep,
        clock: Callable[[], float] = time.time,
    ) -> None:
        own = (each if isinstance(each, RetryMatcher) else RetryMatcher(each) for each in matchers)
        self._matchers = (RetryMatcher(is_transient_stream_error), *own, RetryMatcher(client_says_retry))
        self._unknown = RetryMatcher(lambda error: retry_unknown_errors and not is_refused_for_good(error))
        for each in (*self._matchers, RetryMatcher(bool, delay_ms=delay_ms)):
            _asked(each.delay_ms)
            _asked(each.on_retry)
        self._max_retries = max_retries
        self._delay_ms = delay_ms
        self._max_retry_after_ms = max_retry_after_ms
        self._sleep, self._clock = sleep, clock

    async def process_api_error(self, *, error: object, retry_count: int, **rest: Any) -> APIErrorResult | None:
        policy = self._policy(error)
        if policy is None or retry_count >= _either(policy.max_retries, self._max_retries):
            return None
        arguments = {"error": error, "retry_count": retry_count, **rest}
        delay = await self._delay(policy, arguments)
        if policy.on_retry:
            await settled(_call(policy.on_retry, {**arguments, "delay_ms": delay}))
        going_on = await pause(delay / 1000, rest.get("abort_signal"), self._sleep)
        return {"retry": True} if going_on else None

    def _policy(self, error: object) -> RetryMatcher | None:
        for candidate in chain(error):
            for each in self._matchers:
                if each.match(candidate):
                    return each
        return self._unknown if self._unknown.match(error) else None

    async def _delay(self, policy: RetryMatcher, arguments: dict[str, Any]) -> float:
        wanted = _either(policy.delay_ms, self._delay_ms)
        configured = await settled(_call(wanted, arguments)) if callable(wanted) else wanted
        asked_for = retry_after_ms(arguments["error"], self._clock())
        return max(_sane(configured), min(_sane(asked_for), _sane(self._max_retry_after_ms)))


def _either(own: Any, common: Any) -> Any:
    return common if own is None else own


def _sane(milliseconds: Any) -> float:
    """A wait: 0 for what is none, is negative or has no end."""
    number = isinstance(milliseconds, int | float) and math.isfinite(milliseconds)
    return max(0.0, float(milliseconds)) if number else 0.0


def _asked(function: Any) -> frozenset[str]:
    """The arguments that a callback takes. Raises ProcessorError where it needs any other."""
    what = getattr(function, "__name__", "a callback")
    return asked(function, _ARGUMENTS, what, StreamErrorRetry.id) if callable(function) else frozenset()


def _call(function: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    names = _asked(function)
    return function(**{name: value for name, value in arguments.items() if name in names})
