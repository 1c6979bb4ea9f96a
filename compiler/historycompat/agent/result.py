"""The parts of a run → a result that any number of readers may wait for, in any order."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator
from contextlib import aclosing
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from historycompat.agent.answer import Answer, Response, Step
from historycompat.agent.errors import AgentError
from historycompat.agent.loop import Loop
from historycompat.agent.parts import (
    ErrorPart,
    File,
    FinishReason,
    Options,
    Part,
    Source,
    TextDelta,
    ToolCall,
    ToolResult,
    Usage,
)
from historycompat.agent.structured import Output
from historycompat.processors.errors import TripWire

Value = TypeVar("Value")


class Later(Generic[Value]):
    """A value of the finished run: `await` it, as often as you like."""

    def __init__(self, result: StreamResult, read: Callable[[Answer], Value]) -> None:
        self._result, self._read = result, read

    def __await__(self) -> Generator[Any, None, Value]:
        return self._value().__await__()

    async def _value(self) -> Value:
        return self._read(await self._result.answer())


class StreamResult:
    """A run under way. It begins when it is first read or awaited, and every reader sees all of it.

    An error of the run reaches everybody who waits: `full_stream` ends with a part of type `error`, all else raises
    it. Once every reader of a stream has left before the end, and nobody awaits a value, the run is stopped: the
    model's connection is closed, running tools are cancelled, and what was said is saved. `async with` does so too.
    """

    def __init__(self, loop: Loop) -> None:
        self._loop = loop
        self._output: Output | None = loop.plan.output
        self.run_id = loop.plan.run_id
        self._parts: list[Part] = []
        self._error: BaseException | None = None
        self._ended = False
        self._task: asyncio.Task[None] | None = None
        self._news = asyncio.Event()
        self._readers = 0
        self.text: Later[str] = Later(self, lambda answer: answer.text)
        self.reasoning: Later[str] = Later(self, lambda answer: answer.reasoning)
        self.usage: Later[Usage] = Later(self, lambda answer: answer.usage)
        self.finish_reason: Later[FinishReason] = Later(self, lambda answer: answer.finish_reason)
        self.tool_calls: Later[list[ToolCall]] = Later(self, lambda answer: answer.tool_calls)
        self.tool_results: Later[list[ToolResult]] = Later(self, lambda answer: answer.tool_results)
        self.files: Later[list[File]] = Later(self, lambda answer: answer.files)
        self.sources: Later[list[Source]] = Later(self, lambda answer: answer.sources)
        self.steps: Later[list[Step]] = Later(self, lambda answer: answer.steps)
        self.warnings: Later[list[str]] = Later(self, lambda answer: answer.warnings)
        self.response: Later[Response] = Later(self, lambda answer: answer.response)
        self.provider_metadata: Later[Options | None] = Later(self, lambda answer: answer.provider_metadata)
        self.tripwire: Later[TripWire | None] = Later(self, lambda answer: answer.tripwire)
        self.object: Later[Any] = Later(self, lambda answer: answer.object)

    # ---- reading ----

    @property
    def full_stream(self) -> AsyncIterator[Part]:
        """Every part, from the first one on."""
        return self._read(raising=False)

    @property
    def text_stream(self) -> AsyncIterator[str]:
        """The text, piece by piece."""
        return self._text_pieces()

    @property
    def partial_object_stream(self) -> AsyncIterator[Any]:
        """The object as it grows, as plain JSON, each time that it has grown. Raises AgentError without a schema."""
        if self._output is None:
            raise AgentError("AGENT_BAD_OPTION", "there is no object without a schema: pass output=...")
        return self._objects(self._output)

    async def answer(self) -> Answer:
        """All of it, once the run has ended. Raises what ended it, or AgentError where it was stopped."""
        self._start()
        self._readers += 1
        try:
            while not self._ended:
                self._refuse_own_task()
                await self._news.wait()
        finally:
            await self._leave()
        if self._error is not None:
            raise self._error
        return self._loop.answer

    async def consume(self) -> None:
        """Let the run go to its end, for its callbacks and its memory; an error stays with those who read."""
        async for _ in self.full_stream:
            pass

    async def _text_pieces(self) -> AsyncIterator[str]:
        async with aclosing(self._read()) as parts:
            async for part in parts:
                if isinstance(part, TextDelta) and part.text:
                    yield part.text

    async def _objects(self, output: Output) -> AsyncIterator[Any]:
        text, last = "", None
        async with aclosing(self._read()) as parts:
            async for part in parts:
                if isinstance(part, TextDelta):
                    text += part.text
                    grown = output.partial(text)
                    if grown is not None and grown != last:
                        yield grown
                        last = grown
                elif part.type == "step-start":
                    text, last = "", None

    async def _read(self, *, raising: bool = True) -> AsyncGenerator[Part, None]:
        self._start()
        self._readers += 1
        seen = 0
        try:
            while True:
                while seen < len(self._parts):
                    seen += 1
                    yield self._parts[seen - 1]
                if self._ended:
                    break
                self._refuse_own_task()
                await self._news.wait()
            if self._error is not None and (raising or not isinstance(self._error, Exception)):
                raise self._error
        finally:
            await self._leave()

    # ---- the run ----

    def _start(self) -> None:
        self._refuse_other_loop()
        if self._task is None and not self._ended:
            self._task = asyncio.get_running_loop().create_task(self._pump())
            self._task.add_done_callback(_retrieved)

    def _refuse_other_loop(self) -> None:
        """What waits in another event loop would never be woken."""
        if self._task and not self._ended and self._task.get_loop() is not asyncio.get_running_loop():
            message = "a run that goes on can be read only in the event loop where it began"
            raise AgentError("AGENT_BAD_OPTION", message)

    def _refuse_own_task(self) -> None:
        """A callback or processor that waits for its own run would wait for ever."""
        if self._task is asyncio.current_task():
            message = "a callback cannot wait for the run that calls it: on_finish(answer) is given all that was said"
            raise AgentError("AGENT_BAD_OPTION", message)

    async def _pump(self) -> None:
        try:
            async with aclosing(self._loop.parts()) as parts:
                async for part in parts:
                    self._tell(part)
        except asyncio.CancelledError:
            self._fail(AgentError("AGENT_STREAM_CLOSED", "the stream was left before its end, which stopped the run"))
        except Exception as error:
            self._fail(error)
        except BaseException as error:  # such as KeyboardInterrupt, which ends the event loop
            self._error = error
            raise
        finally:
            self._ended = True
            self._announce()

    def _fail(self, error: Exception) -> None:
        self._error = error
        self._tell(ErrorPart(error))

    def _tell(self, part: Part) -> None:
        self._parts.append(part)
        self._announce()

    def _announce(self) -> None:
        self._news.set()
        self._news = asyncio.Event()

    async def _leave(self) -> None:
        self._readers -= 1
        if not self._readers and not self._ended:
            await self.aclose()

    async def aclose(self) -> None:
        """Stop the run, if it goes on, and wait until everything is closed."""
        self._refuse_other_loop()
        task = self._task
        if task is None:
            if not self._ended:
                self._ended = True
                self._fail(AgentError("AGENT_STREAM_CLOSED", "the result was closed before it was read"))
        elif not task.done():
            if not task.cancelling():
                task.cancel()
            if task is not asyncio.current_task():
                await asyncio.wait({task})

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._ended:
            await self.aclose()


def _retrieved(task: asyncio.Task[None]) -> None:
    """Whoever reads is told what ended the run: asyncio need not say so too."""
    if not task.cancelled():
        task.exception()
