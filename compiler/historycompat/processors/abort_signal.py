"""A host's abort signal → whether it was given, and waits that it ends."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

Sleep = Callable[[float], Awaitable[Any]]

_POLL_SECONDS = 0.05


def aborted(signal: Any) -> bool:
    """Whether an event (asyncio, threading, anyio) is set, or a cancel scope is cancelled. None never is."""
    is_set = getattr(signal, "is_set", None)
    return bool(is_set() if callable(is_set) else getattr(signal, "cancel_called", False))


async def pause(seconds: float, signal: Any, sleep: Sleep = asyncio.sleep) -> bool:
    """Wait, and say whether the wait was not cut short by an abort."""
    if signal is None or seconds <= 0:
        if seconds > 0:
            await sleep(seconds)
        return not aborted(signal)
    waits = [asyncio.ensure_future(sleep(seconds)), asyncio.ensure_future(until_aborted(signal))]
    try:
        done, _ = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        for finished in done:
            finished.result()
        return not aborted(signal)
    finally:
        for each in waits:
            each.cancel()
        await asyncio.gather(*waits, return_exceptions=True)


async def until_aborted(signal: Any) -> None:
    """Wait for an abort."""
    wait = getattr(signal, "wait", None)
    if inspect.iscoroutinefunction(wait):
        with suppress(RuntimeError):  # an event of another event loop can be asked, but not waited for
            await wait()
    while not aborted(signal):
        await asyncio.sleep(_POLL_SECONDS)
