"""Many runs at once, in asyncio's debug mode: no cross-talk, no task left behind, the first text at once."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from typing import Any

import pytest
from agent_runs import PATHS, agent, call, scripted, stream

from historycompat.agent import Agent, Memory
from historycompat.agent.parts import TextDelta

PATH = pytest.mark.parametrize("path", PATHS)


@pytest.fixture
async def watched(caplog: pytest.LogCaptureFixture) -> AsyncIterator[None]:
    """Debug mode; at the end no task is left, and asyncio has found nothing to complain of."""
    loop = asyncio.get_running_loop()
    loop.set_debug(True)
    loop.slow_callback_duration = 60
    yield
    await asyncio.sleep(0)
    assert asyncio.all_tasks() == {asyncio.current_task()}
    assert [record.message for record in caplog.records if record.levelno >= logging.WARNING] == []


@PATH
async def test_the_first_text_comes_before_the_model_has_finished(path: Any, watched: None) -> None:
    go_on = asyncio.Event()

    class Waiting:
        specification_version = "v1" if path == "legacy" else "v2"
        provider = model_id = "waiting"

        async def generate(self, request: Any) -> Any:
            raise NotImplementedError

        async def stream(self, request: Any) -> Any:
            yield TextDelta("first")
            await go_on.wait()
            yield TextDelta(" second")

    result = stream(agent(path=path, model=Waiting()), "hi", path)  # type: ignore[arg-type]
    pieces = result.text_stream
    assert await asyncio.wait_for(anext(pieces), 5) == "first"
    go_on.set()
    assert [piece async for piece in pieces] == [" second"]


@PATH
async def test_two_hundred_streams_at_once(path: Any, watched: None) -> None:
    def echo(word: str) -> str:
        """Says it again."""
        return word

    def answer(request: Any) -> Any:
        asked = request.prompt[0]["content"][0]["text"]
        if request.prompt[-1]["role"] == "user":
            return call("echo", {"word": asked})
        part = request.prompt[-1]["content"][0]
        return f"{asked} {part['output']['value'] if path == 'new' else part['result']}"

    model = scripted(*[answer] * 400, path=path)
    ada = Agent(model=model, tools=[echo], memory=Memory(":memory:"))

    async def talk(number: int) -> None:
        result = stream(ada, f"word-{number}", path, memory={"thread": f"t{number}", "resource": f"user-{number}"})
        if number % 10 == 0:  # some leave early
            async with result:
                await anext(result.full_stream)
        elif number % 2:
            assert await result.text == f"word-{number} word-{number}"
        else:
            assert "".join([piece async for piece in result.text_stream]) == f"word-{number} word-{number}"

    await asyncio.gather(*map(talk, range(200)))


@PATH
async def test_an_abort_of_one_run_leaves_the_others_alone(path: Any, watched: None) -> None:
    signals = [asyncio.Event() for _ in range(20)]
    ada = agent(*[["a ", {"pause": 0.05, "text": "b"}]] * 20, path=path)

    async def talk(number: int) -> str:
        result = stream(ada, "hi", path, abort_signal=signals[number])
        if number % 2:
            signals[number].set()
        await result.consume()
        return "aborted" if result._error else await result.text

    ends = await asyncio.gather(*map(talk, range(20)))
    assert ends == ["aborted" if number % 2 else "a b" for number in range(20)]
