"""`historycompat chat`: a conversation with a model in the terminal, with its repairs shown as they happen."""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
from collections.abc import AsyncIterator
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
    shown = _Repairs(level=logging.INFO)
    level = log.level
    log.addHandler(shown)
    log.setLevel(logging.INFO)
    try:
        with agent:
            asyncio.run(_talk(agent, model, {"thread": thread, "resource": "cli"}))
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
    finally:
        log.removeHandler(shown)
        log.setLevel(level)


async def _talk(agent: Agent, name: str, memory: MemoryOption) -> None:
    say(Text(f"{visible(name)}. {_HELP}", "dim"))
    model = agent.model
    async for line in _lines():
        command, _, argument = line.partition(" ")
        if command == "/quit":
            return
        if command == "/model" and argument.strip():
            model = _chosen(argument.strip()) or model
        elif line.startswith("/"):
            say(Text(_HELP, "dim"))
        elif line:
            await _answer(agent, line, model, memory)


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


async def _answer(agent: Agent, line: str, model: LanguageModel | str, memory: MemoryOption) -> None:
    """One answer. A model that cannot be reached, or refuses for good, does not end the conversation."""
    try:
        async with agent.stream(line, model=model, memory=memory) as result:
            async for part in result.full_stream:
                _show(part)
    except HistoryCompatError as error:
        say(Text(f"historycompat: {one_line(str(error))}", "bold red"))


def _show(part: Part) -> None:
    told: Any = part
    match part.type:
        case "text-delta":
            write_out(_shown(told.text).encode("utf-8", "backslashreplace"))
        case "tool-call":
            say(Text(f"calls {visible(told.tool_name)} {one_line(str(told.input))}", "cyan"))
        case "tool-result":
            say(Text(f"  {one_line(str(told.output))}", "red" if told.is_error else "cyan"))
        case "repaired":
            say(Text(f"refused: {one_line(str(told.error))}", "yellow"), Text("repaired, and sent again", "yellow"))
        case "finish":
            write_out(b"\n")
        case "tripwire":
            say(Text(f"stopped by {told.processor_id}: {one_line(told.reason)}", "bold red"))
        case "error":
            say(Text(f"historycompat: {one_line(str(told.error))}", "bold red"))


def _shown(text: str) -> str:
    return "\n".join(map(visible, text.split("\n")))


class _Repairs(logging.Handler):
    """Shows each rule that changed something, when it did."""

    def emit(self, record: logging.LogRecord) -> None:
        facts = getattr(record, "historycompat", None)
        if isinstance(facts, dict):
            where = "in what is sent" if facts["phase"] == "before" else "in the stored history"
            say(Text(f"{facts['rule']}: {count(facts['edits'], 'change')} {where}", "yellow"))
