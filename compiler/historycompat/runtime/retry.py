"""A history and a way to repair it → at most two requests, as a generator without I/O and four drivers.

    flow = attempts(history, prepare=to_prompt, repair=mend)
    reply = call(client.send, flow)

The generator yields what to send. It is closed when the reply has come, or has the error thrown into it, and then
either yields what to send instead or raises. What it knows lives in the generator: one flow is one logical call, so
that concurrent calls cannot disturb each other. Only an `Exception` is a refusal: cancellation, interrupts and the
closing of a generator pass through at once.
"""

from __future__ import annotations

import inspect
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Awaitable,
    Callable,
    Generator,
    Iterable,
    Iterator,
)
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeVar

History = TypeVar("History")
Prompt = TypeVar("Prompt")
Reply = TypeVar("Reply")
Chunk = TypeVar("Chunk")


@dataclass(frozen=True, slots=True)
class Pending:
    """What a flow yields where `repair` is asynchronous: to be awaited, and its result sent back."""

    repaired: Awaitable[Any]


Flow = Generator[Prompt | Pending, Any, None]


def attempts(
    history: History,
    *,
    prepare: Callable[[History], Prompt],
    repair: Callable[[Exception], History | Awaitable[History | None] | None],
) -> Flow[Prompt]:
    """The requests of one logical call: the first one, and after a refusal that `repair` can mend exactly one more.

    `prepare` makes the prompt of a history and runs before either request. `repair` is given the error and returns
    the repaired history, or None if it changed nothing: then the error is raised as it came. An error of the second
    request is raised with the first one in its context.
    """
    prompt = prepare(history)
    try:
        yield prompt
        return
    except Exception as error:
        repaired = repair(error)
        if inspect.isawaitable(repaired):
            repaired = yield Pending(repaired)
        if repaired is None:
            raise
    yield prepare(repaired)


# Each driver retries inside the handler of the first error: that makes it the context of the second one.


def call(send: Callable[[Prompt], Reply], flow: Flow[Prompt]) -> Reply:
    """The reply of `send`, which raises where it is refused."""
    return _call(send, flow, _ready(next(flow)))


def _call(send: Callable[[Prompt], Reply], flow: Flow[Prompt], prompt: Prompt) -> Reply:
    try:
        reply = send(prompt)
    except Exception as error:
        return _call(send, flow, _ready(flow.throw(error)))
    flow.close()
    return reply


async def acall(send: Callable[[Prompt], Awaitable[Reply]], flow: Flow[Prompt]) -> Reply:
    """`call` for an asynchronous `send`; `repair` may be asynchronous too."""
    return await _acall(send, flow, await _settled(flow, next(flow)))


async def _acall(send: Callable[[Prompt], Awaitable[Reply]], flow: Flow[Prompt], prompt: Prompt) -> Reply:
    try:
        reply = await send(prompt)
    except Exception as error:
        return await _acall(send, flow, await _settled(flow, flow.throw(error)))
    flow.close()
    return reply


def stream(send: Callable[[Prompt], Iterable[Chunk]], flow: Flow[Prompt]) -> Generator[Chunk, None, None]:
    """The chunks of what `send` returns, which may refuse when called or when the first chunk is asked for.

    After the first chunk nothing is sent again. Nothing is sent before a chunk is asked for. Leaving early (`close()`)
    closes the inner stream, and so does its end.
    """
    source, chunks, head = _opened(send, flow, _ready(next(flow)))
    try:
        yield from head
        yield from chunks
    finally:
        _close(chunks, source)


def _opened(
    send: Callable[[Prompt], Iterable[Chunk]], flow: Flow[Prompt], prompt: Prompt
) -> tuple[Iterable[Chunk], Iterator[Chunk], list[Chunk]]:
    source: Iterable[Chunk] = ()
    chunks: Iterator[Chunk] = iter(())
    try:
        source = send(prompt)
        chunks = iter(source)
        head = list(islice(chunks, 1))
    except BaseException as error:
        with suppress(Exception):  # the refusal tells more than what a refused stream says when it is closed
            _close(chunks, source)
        if not isinstance(error, Exception):
            raise
        return _opened(send, flow, _ready(flow.throw(error)))
    flow.close()
    return source, chunks, head


async def astream(
    send: Callable[[Prompt], AsyncIterable[Chunk] | Awaitable[AsyncIterable[Chunk]]], flow: Flow[Prompt]
) -> AsyncGenerator[Chunk, None]:
    """`stream` for an asynchronous iterable, or for what gives one when awaited; `repair` may be asynchronous too."""
    source, chunks, head = await _aopened(send, flow, await _settled(flow, next(flow)))
    try:
        for chunk in head:
            yield chunk
        async for chunk in chunks:
            yield chunk
    finally:
        await _aclose(chunks, source)


async def _aopened(
    send: Callable[[Prompt], AsyncIterable[Chunk] | Awaitable[AsyncIterable[Chunk]]], flow: Flow[Prompt], prompt: Prompt
) -> tuple[AsyncIterable[Chunk], AsyncIterator[Chunk], list[Chunk]]:
    source: Any = None
    chunks: Any = None
    try:
        source = send(prompt)
        if not hasattr(source, "__aiter__"):
            source = await source
        chunks = aiter(source)
        head = await _head(chunks)
    except BaseException as error:
        with suppress(Exception):
            await _aclose(chunks, source)
        if not isinstance(error, Exception):
            raise
        return await _aopened(send, flow, await _settled(flow, flow.throw(error)))
    flow.close()
    return source, chunks, head


async def _head(chunks: AsyncIterator[Chunk]) -> list[Chunk]:
    async for chunk in chunks:
        return [chunk]
    return []


def _ready(step: Prompt | Pending) -> Prompt:
    if isinstance(step, Pending):
        if inspect.iscoroutine(step.repaired):
            step.repaired.close()
        raise TypeError("an asynchronous repair needs an asynchronous driver: acall or astream")
    return step


async def _settled(flow: Flow[Prompt], step: Prompt | Pending) -> Prompt:
    while isinstance(step, Pending):
        step = flow.send(await step.repaired)
    return step


def _close(*streams: object) -> None:
    for each in _distinct(streams):
        close = getattr(each, "close", None)
        if close is not None:
            close()


async def _aclose(*streams: object) -> None:
    for each in _distinct(streams):
        close = getattr(each, "aclose", None) or getattr(each, "close", None)
        if close is not None and inspect.isawaitable(closed := close()):
            await closed


def _distinct(streams: Iterable[object]) -> Iterable[object]:
    return {id(each): each for each in streams}.values()
