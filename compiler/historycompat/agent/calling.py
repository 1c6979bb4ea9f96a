"""A request → the pieces of the model's answer, with retries of what may pass by itself, until an abort."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Coroutine, Iterable
from contextlib import aclosing
from typing import Any, TypeVar, get_args

from historycompat.agent.errors import Aborted, AgentError
from historycompat.agent.models.port import LanguageModel, ModelRequest
from historycompat.agent.parts import ModelPart
from historycompat.processors.abort_signal import aborted, pause, until_aborted
from historycompat.processors.error_chain import retry_after_ms
from historycompat.processors.transient import client_says_retry

logger = logging.getLogger("historycompat.agent")
Item = TypeVar("Item")

_LONGEST_WAIT = 30.0  # seconds
_END: Any = object()
_PARTS = get_args(ModelPart)


async def answer_of(
    model: LanguageModel, request: ModelRequest, *, streaming: bool, max_retries: int, retry_delay: float
) -> AsyncGenerator[ModelPart, None]:
    """The answer of a model. A request that failed for a passing reason, before anything of the answer came, is sent
    again up to `max_retries` times; the wait, in seconds, doubles. Raises Aborted."""
    for attempt in range(max_retries + 1):
        begun = False
        try:
            async with aclosing(_pieces(model, request, streaming)) as pieces:
                async for piece in pieces:
                    begun = True
                    yield piece
            return
        except Exception as error:
            if begun or attempt == max_retries or isinstance(error, Aborted) or not client_says_retry(error):
                raise
            wait = _wait(error, retry_delay * 2**attempt)
            logger.info("model call failed, again in %.1f s: %s", wait, type(error).__name__)
            if not await pause(wait, request.abort_signal):
                raise Aborted from error


def _wait(error: Exception, delay: float) -> float:
    asked_for = retry_after_ms(error, time.time())
    return max(delay, min((asked_for or 0) / 1000, _LONGEST_WAIT))


async def _pieces(model: LanguageModel, request: ModelRequest, streaming: bool) -> AsyncGenerator[ModelPart, None]:
    if aborted(request.abort_signal):
        raise Aborted
    pieces = _streamed(model, request) if streaming else _at_once(model, request)
    async with aclosing(_until_aborted(pieces, request.abort_signal)) as watched:
        async for piece in watched:
            if not isinstance(piece, _PARTS):
                raise _no_answer(model, f"{piece!r} is no part of an answer, such as TextDelta or AnswerFinish")
            yield piece


def _streamed(model: LanguageModel, request: ModelRequest) -> AsyncIterator[ModelPart]:
    pieces = model.stream(request)
    if isinstance(pieces, AsyncIterable):
        return aiter(pieces)
    if isinstance(pieces, Coroutine):
        pieces.close()
    raise _no_answer(model, "stream returns no async iterator: write `async def` with `yield` in it")


async def _at_once(model: LanguageModel, request: ModelRequest) -> AsyncGenerator[ModelPart, None]:
    pieces: Any = await model.generate(request)
    if not isinstance(pieces, Iterable):
        raise _no_answer(model, f"generate returned {pieces!r}: return a list of model parts")
    for piece in pieces:
        yield piece


def _no_answer(model: LanguageModel, why: str) -> AgentError:
    return AgentError("AGENT_BAD_MODEL", f"{model.provider}/{model.model_id}: {why}")


async def _until_aborted(items: AsyncIterator[Item], signal: Any) -> AsyncGenerator[Item, None]:
    """The items of a stream, which is closed at the end and at an abort."""
    watch = asyncio.ensure_future(until_aborted(signal)) if signal is not None else None
    try:
        while (item := await _next(items, watch)) is not _END:
            yield item
    finally:
        if watch is not None:
            watch.cancel()
        close = getattr(items, "aclose", None)
        if close is not None:
            await close()


async def _next(items: AsyncIterator[Any], watch: asyncio.Future[Any] | None) -> Any:
    """The next item, or _END. Raises Aborted, and drops the item, if the abort comes first."""
    if watch is None:
        return await anext(items, _END)
    if watch.done():  # a model that says the next thing at once would win each time
        raise Aborted
    item = asyncio.ensure_future(anext(items, _END))
    try:
        await asyncio.wait({item, watch}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        if not item.done():
            item.cancel()
            await asyncio.gather(item, return_exceptions=True)
    if item.cancelled() and watch.done():
        raise Aborted
    return item.result()
