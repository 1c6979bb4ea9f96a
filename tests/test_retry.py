"""The retry flow and its four drivers: one retry, the right error, no cross-talk, nothing left open."""

from __future__ import annotations

import asyncio
import inspect
import random
import threading
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import aclosing, closing
from typing import Any

import pytest

from historycompat.runtime.retry import Flow, acall, astream, attempts, call, stream


class RefusalError(Exception):
    """What the provider here answers to a bad history."""


def prepare(history: list[str]) -> str:
    return " ".join(history)


def repair(error: Exception) -> list[str] | None:
    return ["good"] if "bad" in str(error) else None


class Provider:
    """Refuses prompts that say "bad" or "worse", echoes others as a reply or in chunks, and counts what it was sent.

    `eager` refuses when called, otherwise at the first chunk; `breaks` is the number of chunks after which it fails.
    """

    def __init__(self, *, eager: bool = True, breaks: int | None = None) -> None:
        self.eager, self.breaks = eager, breaks
        self.sent: list[str] = []
        self.open = 0

    def send(self, prompt: str) -> str:
        self.sent.append(prompt)
        if "bad" in prompt or "worse" in prompt:
            raise RefusalError(f"refused: {prompt}")
        return f"reply to {prompt}"

    def stream(self, prompt: str) -> Iterator[str]:
        if self.eager:
            self.send(prompt)
        return self._chunks(prompt)

    def _chunks(self, prompt: str) -> Iterator[str]:
        self.open += 1
        try:
            if not self.eager:
                self.send(prompt)
            for number, chunk in enumerate(f"reply to {prompt}".split()):
                if number == self.breaks:
                    raise RefusalError("bad line")
                yield chunk
        finally:
            self.open -= 1

    async def asend(self, prompt: str) -> str:
        await asyncio.sleep(0)
        return self.send(prompt)

    async def acreate(self, prompt: str) -> AsyncIterator[str]:
        await asyncio.sleep(0)
        if self.eager:
            self.send(prompt)
        return self.agenerate(prompt)

    async def agenerate(self, prompt: str) -> AsyncIterator[str]:
        for chunk in self._chunks(prompt):
            await asyncio.sleep(0)
            yield chunk


async def _all(chunks: AsyncIterator[str]) -> str:
    return " ".join([chunk async for chunk in chunks])


Driver = Callable[[Provider, Flow[str]], Awaitable[str]]


async def _call(provider: Provider, flow: Flow[str]) -> str:
    return call(provider.send, flow)


async def _acall(provider: Provider, flow: Flow[str]) -> str:
    return await acall(provider.asend, flow)


async def _stream(provider: Provider, flow: Flow[str]) -> str:
    return " ".join(stream(provider.stream, flow))


async def _astream(provider: Provider, flow: Flow[str]) -> str:
    return await _all(astream(provider.acreate, flow))


async def _astream_of_generator(provider: Provider, flow: Flow[str]) -> str:
    provider.eager = False
    return await _all(astream(provider.agenerate, flow))


DRIVERS = [_call, _acall, _stream, _astream, _astream_of_generator]
every_driver = pytest.mark.parametrize("driver", DRIVERS, ids=lambda driver: driver.__name__.strip("_"))
lazily_or_not = pytest.mark.parametrize("eager", [True, False], ids=["at the call", "at the first chunk"])


@every_driver
@lazily_or_not
async def test_an_accepted_prompt_is_sent_once(driver: Driver, eager: bool) -> None:
    provider = Provider(eager=eager)
    assert await driver(provider, attempts(["fine"], prepare=prepare, repair=repair)) == "reply to fine"
    assert provider.sent == ["fine"]


@every_driver
@lazily_or_not
async def test_a_refused_prompt_is_repaired_and_sent_once_more(driver: Driver, eager: bool) -> None:
    provider = Provider(eager=eager)
    assert await driver(provider, attempts(["bad"], prepare=prepare, repair=repair)) == "reply to good"
    assert (provider.sent, provider.open) == (["bad", "good"], 0)


@every_driver
@lazily_or_not
async def test_where_nothing_changed_the_error_comes_as_it_was(driver: Driver, eager: bool) -> None:
    provider = Provider(eager=eager)
    with pytest.raises(RefusalError, match="worse") as caught:
        await driver(provider, attempts(["worse"], prepare=prepare, repair=repair))
    assert provider.sent == ["worse"]
    assert caught.value.__context__ is None
    assert traceback.extract_tb(caught.tb)[-1].name == "send"


@every_driver
@lazily_or_not
async def test_a_second_refusal_has_the_first_in_its_context(driver: Driver, eager: bool) -> None:
    provider = Provider(eager=eager)
    with pytest.raises(RefusalError, match="refused: worse") as caught:
        await driver(provider, attempts(["bad"], prepare=prepare, repair=lambda error: ["worse"]))
    assert provider.sent == ["bad", "worse"]
    assert str(caught.value.__context__) == "refused: bad"
    assert caught.value.__cause__ is None
    assert provider.open == 0


@every_driver
async def test_repair_sees_one_error_even_if_it_could_go_on(driver: Driver) -> None:
    seen: list[str] = []

    def always(error: Exception) -> list[str]:
        seen.append(str(error))
        return ["bad"]

    provider = Provider()
    with pytest.raises(RefusalError):
        await driver(provider, attempts(["bad"], prepare=prepare, repair=always))
    assert (provider.sent, seen) == (["bad", "bad"], ["refused: bad"])


@every_driver
async def test_a_failing_repair_shows_the_refusal_as_context(driver: Driver) -> None:
    def broken(error: Exception) -> list[str]:
        raise LookupError("no such thread")

    with pytest.raises(LookupError) as caught:
        await driver(Provider(), attempts(["bad"], prepare=prepare, repair=broken))
    assert str(caught.value.__context__) == "refused: bad"


@every_driver
async def test_an_error_of_prepare_is_no_refusal(driver: Driver) -> None:
    def broken(history: list[str]) -> str:
        raise LookupError("bad conversion")

    provider = Provider()
    with pytest.raises(LookupError):
        await driver(provider, attempts(["bad"], prepare=broken, repair=repair))
    assert provider.sent == []


@every_driver
@pytest.mark.parametrize("interrupt", [KeyboardInterrupt, GeneratorExit, asyncio.CancelledError, SystemExit])
async def test_interrupts_are_no_refusals(driver: Driver, interrupt: type[BaseException]) -> None:
    class Interrupted(Provider):
        def send(self, prompt: str) -> str:
            self.sent.append(prompt)
            raise interrupt("bad")

    provider = Interrupted()
    with pytest.raises(interrupt):
        await driver(provider, attempts(["bad"], prepare=prepare, repair=repair))
    assert (provider.sent, provider.open) == (["bad"], 0)


@pytest.mark.parametrize("driver", [_acall, _astream], ids=["acall", "astream"])
async def test_repair_may_be_asynchronous(driver: Driver) -> None:
    async def arepair(error: Exception) -> list[str] | None:
        await asyncio.sleep(0)
        return repair(error)

    provider = Provider()
    assert await driver(provider, attempts(["bad"], prepare=prepare, repair=arepair)) == "reply to good"
    with pytest.raises(RefusalError, match="worse"):
        await driver(provider, attempts(["worse"], prepare=prepare, repair=arepair))
    assert provider.sent == ["bad", "good", "worse"]


@pytest.mark.parametrize("driver", [_call, _stream], ids=["call", "stream"])
async def test_a_synchronous_driver_says_what_an_asynchronous_repair_needs(driver: Driver) -> None:
    async def arepair(error: Exception) -> list[str] | None:
        return repair(error)

    with pytest.raises(TypeError, match="acall or astream") as caught:
        await driver(Provider(), attempts(["bad"], prepare=prepare, repair=arepair))
    assert isinstance(caught.value.__context__, RefusalError)


async def test_cancelling_an_asynchronous_repair_sends_nothing_more() -> None:
    started = asyncio.Event()

    async def forever(error: Exception) -> list[str]:
        started.set()
        await asyncio.Event().wait()
        raise AssertionError("unreachable")

    provider = Provider()
    task = asyncio.create_task(acall(provider.asend, attempts(["bad"], prepare=prepare, repair=forever)))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert provider.sent == ["bad"]


# Streams


@pytest.mark.parametrize("driver", [_stream, _astream], ids=["stream", "astream"])
async def test_nothing_is_sent_again_after_the_first_chunk(driver: Driver) -> None:
    provider = Provider(breaks=1)
    with pytest.raises(RefusalError, match="bad line"):
        await driver(provider, attempts(["fine"], prepare=prepare, repair=repair))
    assert (provider.sent, provider.open) == (["fine"], 0)


@pytest.mark.parametrize("driver", [_stream, _astream], ids=["stream", "astream"])
async def test_a_failure_instead_of_the_first_chunk_is_a_refusal(driver: Driver) -> None:
    provider = Provider(breaks=0)
    with pytest.raises(RefusalError, match="bad line") as caught:
        await driver(provider, attempts(["fine"], prepare=prepare, repair=repair))
    assert provider.sent == ["fine", "good"]
    assert isinstance(caught.value.__context__, RefusalError)


def test_a_stream_without_chunks() -> None:
    assert list(stream(lambda prompt: [], attempts([], prepare=prepare, repair=repair))) == []


async def test_an_asynchronous_stream_without_chunks() -> None:
    async def nothing(prompt: str) -> AsyncIterator[str]:
        for chunk in ():
            yield chunk

    assert await _all(astream(nothing, attempts([], prepare=prepare, repair=repair))) == ""


def test_a_stream_sends_nothing_before_it_is_read() -> None:
    provider = Provider()
    chunks = stream(provider.stream, attempts(["fine"], prepare=prepare, repair=repair))
    assert provider.sent == []
    assert (next(chunks), provider.sent) == ("reply", ["fine"])
    chunks.close()


@lazily_or_not
def test_an_abandoned_stream_closes_the_inner_one(eager: bool) -> None:
    provider = Provider(eager=eager)
    with closing(stream(provider.stream, attempts(["bad"], prepare=prepare, repair=repair))) as chunks:
        assert (next(chunks), provider.open) == ("reply", 1)
    assert provider.open == 0


@lazily_or_not
async def test_an_abandoned_asynchronous_stream_closes_the_inner_one(eager: bool) -> None:
    provider = Provider(eager=eager)
    async with aclosing(astream(provider.acreate, attempts(["bad"], prepare=prepare, repair=repair))) as chunks:
        assert (await anext(chunks), provider.open) == ("reply", 1)
    assert provider.open == 0


async def test_a_cancelled_stream_closes_the_inner_one() -> None:
    closed, waiting = asyncio.Event(), asyncio.Event()

    async def slow(prompt: str) -> AsyncIterator[str]:
        try:
            yield "one"
            waiting.set()
            await asyncio.Event().wait()
        finally:
            closed.set()

    task = asyncio.create_task(_all(astream(slow, attempts(["fine"], prepare=prepare, repair=repair))))
    await waiting.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert closed.is_set()


class Recorded:
    """A stream object as client libraries have them: an iterator made on demand, and a method that closes."""

    def __init__(self, *, fails: bool = False) -> None:
        self.fails, self.closed = fails, 0

    def __iter__(self) -> Iterator[str]:
        if self.fails:
            raise RefusalError("bad")
        yield from ("one", "two")

    async def __aiter__(self) -> AsyncIterator[str]:
        for chunk in self:
            yield chunk

    def close(self) -> None:
        self.closed += 1


class Awaited(Recorded):
    async def close(self) -> None:  # type: ignore[override]
        self.closed += 1


def test_stream_objects_are_closed_once() -> None:
    streams = [Recorded(fails=True), Recorded()]
    remaining = iter(streams)
    assert list(stream(lambda prompt: next(remaining), attempts(["x"], prepare=prepare, repair=repair))) == [
        "one",
        "two",
    ]
    assert [one.closed for one in streams] == [1, 1]


@pytest.mark.parametrize("kind", [Recorded, Awaited])
async def test_asynchronous_stream_objects_are_closed_once(kind: type[Recorded]) -> None:
    streams = [kind(fails=True), kind()]
    remaining = iter(streams)
    assert (
        await _all(astream(lambda prompt: next(remaining), attempts(["x"], prepare=prepare, repair=repair)))
        == "one two"
    )
    assert [one.closed for one in streams] == [1, 1]


def test_what_closing_a_refused_stream_raises_hides_nothing() -> None:
    class Broken(Recorded):
        def close(self) -> None:
            raise OSError("already gone")

    with pytest.raises(RefusalError, match="bad"):
        list(stream(lambda prompt: Broken(fails=True), attempts(["x"], prepare=prepare, repair=lambda error: None)))


# Concurrency


async def test_a_thousand_concurrent_calls_do_not_mix() -> None:
    rng = random.Random(7)

    async def send(prompt: str) -> str:
        await asyncio.sleep(rng.random() / 1000)
        if prompt.startswith("bad"):
            raise RefusalError(prompt)
        return prompt

    def mend(error: Exception) -> list[str]:
        return [str(error).replace("bad", "good")]

    histories = [[rng.choice(["bad", "fine"]) + f"-{number}"] for number in range(1000)]
    replies = await asyncio.gather(
        *(acall(send, attempts(history, prepare=prepare, repair=mend)) for history in histories)
    )
    assert replies == [prepare(history).replace("bad", "good") for history in histories]


def test_threads_do_not_mix() -> None:
    replies: dict[int, str] = {}

    def work(number: int) -> None:
        provider = Provider()
        for _ in range(50):
            replies[number] = call(
                provider.send, attempts(["bad"], prepare=prepare, repair=lambda error: [f"good {number}"])
            )

    threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert replies == {number: f"reply to good {number}" for number in range(16)}


def test_the_flow_is_a_plain_generator() -> None:
    flow: Any = attempts(["bad"], prepare=prepare, repair=repair)
    assert inspect.isgenerator(flow)
    assert next(flow) == "bad"
    assert flow.throw(RefusalError("bad")) == "good"
    with pytest.raises(RefusalError, match="again"):
        flow.throw(RefusalError("again"))
