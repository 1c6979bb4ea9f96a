"""`historycompat chat`: a conversation with a model in the terminal, with its repairs shown as they happen."""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
from collections.abc import AsyncIterator, Coroutine
from contextlib import suppress
from threading import Thread
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from historycompat.cli.output import write_out
from historycompat.cli.screen import count, one_line, say, visible
from historycompat.errors import HistoryCompatError

if TYPE_CHECKING:
    from historycompat.agent import Agent, LanguageModel
    from historycompat.agent.options import MemoryOption
    from historycompat.agent.parts import Part

_HELP = "Write a message, /model NAME to go on with another model, or /quit."


def chat(
    model: Annotated[
        str, typer.Option("--model", "-m", metavar="MODEL", help="provider/model; the default needs no network.")
    ] = "scripted/demo",
    store: Annotated[
        str,
        typer.Option("--store", metavar="URL", help="Keep the conversation: a path, or postgresql://USER@HOST/NAME."),
    ] = ":memory:",
    thread: Annotated[str, typer.Option("--thread", metavar="ID", help="The conversation in the store.")] = "chat",
    instructions: Annotated[
        str | None, typer.Option("--instructions", metavar="TEXT", help="What the model is told first.")
    ] = None,
) -> None:
    """Talk to a model, and switch models in the middle of it.

    The history is made acceptable to each model before it is sent, and repaired where a model refuses it all the same.
    Lines are read from standard input, so that a conversation can be piped in.
    """
    from historycompat.agent import Agent
    from historycompat.agent.models.resolve import resolve

    agent = Agent(model=resolve(model), memory=store, instructions=instructions)
    log = logging.getLogger("historycompat")
    shown = _Log(level=logging.INFO)
    level = log.level
    log.addHandler(shown)
    log.setLevel(logging.INFO)
    try:
        with agent:
            all_well = asyncio.run(_talk(agent, model, {"thread": thread, "resource": "cli"}))
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
    finally:
        log.removeHandler(shown)
        log.setLevel(level)
    if not (all_well or _is_person()):
        raise typer.Exit(1)


def _is_person() -> bool:
    """Whether somebody sits at the keyboard; else a conversation is piped in, and its end says how it went."""
    return sys.stdin is not None and sys.stdin.isatty()


async def _talk(agent: Agent, name: str, memory: MemoryOption) -> bool:
    """The conversation; whether every line of it was followed."""
    say(Text(f"{visible(name)}. {_HELP}", "dim"))
    model, all_well = agent.model, True
    async for line in _lines():
        command, _, argument = line.partition(" ")
        if command == "/quit":
            break
        if command == "/model" and argument.strip():
            chosen = _chosen(argument.strip())
            model, all_well = chosen or model, all_well and chosen is not None
        elif line.startswith("/"):
            say(Text(_HELP, "dim"))
        elif line:
            all_well &= await _until_interrupted(_answer(agent, line, model, memory))
    return all_well


async def _until_interrupted(answer: Coroutine[Any, Any, bool]) -> bool:
    """An answer, which a person may stop; the conversation goes on. An interrupt of a piped one ends the program."""
    if not _is_person():
        return await answer
    task, loop = asyncio.ensure_future(answer), asyncio.get_running_loop()
    before = signal.signal(signal.SIGINT, lambda *_: loop.call_soon_threadsafe(task.cancel))
    try:
        await asyncio.wait({task})
    finally:
        signal.signal(signal.SIGINT, before)
        task.cancel()
    if task.cancelled():
        say(Text("stopped; what was said is kept", "yellow"))
    return task.cancelled() or task.result()


def _chosen(wanted: str) -> LanguageModel | None:
    """The wanted model, if there is one of that name."""
    from historycompat.agent.models.resolve import resolve

    try:
        model = resolve(wanted)
    except HistoryCompatError as error:
        say(Text(one_line(str(error)), "yellow"))
        return None
    say(Text(f"From here on with {visible(wanted)}.", "dim"))
    return model


async def _lines() -> AsyncIterator[str]:
    """What the person writes, line by line; while they think, the event loop goes on."""
    lines: asyncio.Queue[bytes | None] = asyncio.Queue()
    Thread(target=_read, args=(asyncio.get_running_loop(), lines), daemon=True).start()
    while True:
        if sys.stdin and sys.stdin.isatty():
            say(Text("you:", "bold green"))
        line = await lines.get()
        if line is None:
            return
        yield line.decode("utf-8", "replace").strip()


def _read(loop: asyncio.AbstractEventLoop, lines: asyncio.Queue[bytes | None]) -> None:
    """Past Python's buffer, whose lock a thread that waits here would hold when the program ends."""
    if hasattr(signal, "pthread_sigmask"):  # an interrupt is for the loop, which would sleep on if it came here
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    with suppress(RuntimeError):  # the loop has been closed
        with suppress(OSError), open(0, "rb", buffering=0, closefd=False) as keyboard:  # there may be none
            for line in keyboard:
                loop.call_soon_threadsafe(lines.put_nowait, line)
        loop.call_soon_threadsafe(lines.put_nowait, None)


async def _answer(agent: Agent, line: str, model: LanguageModel | str, memory: MemoryOption) -> bool:
    """One answer, and whether it was given and is kept. A model that cannot be reached, or refuses for good, does not
    end the conversation."""
    screen, last = _Screen(), ""
    try:
        async with agent.stream(line, model=model, memory=memory) as result:
            async for part in result.full_stream:
                _show(part, screen)
                last = part.type
        return last == "finish" and not (await result.answer()).notes
    except HistoryCompatError as error:
        screen.fail(error)
        return False
    finally:
        screen.end_line()


class _Screen:
    """What the model says on standard output, all else on lines of its own on standard error."""

    def __init__(self) -> None:
        self._in_line = False

    def write(self, text: str) -> None:
        write_out("\n".join(map(visible, text.split("\n"))).encode("utf-8", "backslashreplace"))
        self._in_line = not text.endswith("\n")

    def tell(self, text: str, style: str) -> None:
        self.end_line()
        say(Text(text, style))

    def fail(self, error: Exception) -> None:
        self.tell(f"historycompat: {one_line(str(error)) or type(error).__name__}", "bold red")

    def end_line(self) -> None:
        if self._in_line:
            self.write("\n")


def _show(part: Part, screen: _Screen) -> None:
    told: Any = part
    match part.type:
        case "text-delta":
            screen.write(told.text)
        case "tool-call":
            screen.tell(f"calls {visible(told.tool_name)} {one_line(str(told.input))}", "cyan")
        case "tool-result":
            screen.tell(f"  {one_line(str(told.output))}", "red" if told.is_error else "cyan")
        case "repaired":
            screen.tell(f"refused: {one_line(str(told.error))}", "yellow")
            screen.tell("repaired, and sent again", "yellow")
        case "tripwire":
            screen.tell(f"stopped by {told.processor_id}: {one_line(told.reason)}", "bold red")
        case "error":
            screen.fail(told.error)


class _Log(logging.Handler):
    """Shows each rule that changed something, when it did, and what went wrong without ending an answer."""

    def emit(self, record: logging.LogRecord) -> None:
        facts = getattr(record, "historycompat", None)
        if isinstance(facts, dict):
            where = "in what is sent" if facts["phase"] == "before" else "in the stored history"
            say(Text(f"{facts['rule']}: {count(facts['edits'], 'change')} {where}", "yellow"))
        elif record.levelno >= logging.WARNING:
            say(Text(one_line(record.getMessage()), "yellow"))
