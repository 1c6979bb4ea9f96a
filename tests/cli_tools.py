"""What the tests of the command line share: it runs as a process of its own, as people run it."""

from __future__ import annotations

import fcntl
import os
import shlex
import signal
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import warm_cli
from support import ROOT

DATA = Path(__file__).parent / "cli"
MODULE = (sys.executable, "-m", "historycompat")
SCRIPT = Path(sys.executable).parent / "historycompat"


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str


def environment(**more: str) -> dict[str, str]:
    """A plain environment: what colours and widens the screen of whoever runs the tests is not in it, nor what makes
    every start compile the program anew."""
    unwanted = (
        "COLUMNS",
        "LINES",
        "NO_COLOR",
        "FORCE_COLOR",
        "CLICOLOR",
        "CLICOLOR_FORCE",
        "TTY_COMPATIBLE",
        "PYTHONDONTWRITEBYTECODE",
    )
    kept = {key: value for key, value in os.environ.items() if key not in unwanted}
    return kept | {"PYTHONPATH": str(ROOT / "compiler"), "TERM": "xterm-256color"} | more


def start(arguments: Sequence[str], *, program: Sequence[str] = MODULE, **options: Any) -> subprocess.Popen[bytes]:
    options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
    options.setdefault("env", environment())
    return subprocess.Popen([*program, *arguments], **options)


def takes_interrupts() -> None:
    """For `preexec_fn`: what a shell starts in the background would ignore them."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def run(line: str | Sequence[str], *, given: bytes | None = None, **options: Any) -> Ran:
    """The command line `historycompat LINE`, run to its end; with a program or an environment in a new interpreter."""
    arguments = shlex.split(line) if isinstance(line, str) else line
    if not options.keys() - {"cwd"}:
        code, out, err = warm_cli.run(arguments, given or b"", options.get("cwd", Path.cwd()), environment())
        return Ran(code, out.decode(), err.decode())
    if given is not None:
        options["stdin"] = subprocess.PIPE
    with start(arguments, **options) as process:
        out, err = process.communicate(given, timeout=300)
    return Ran(process.returncode, (out or b"").decode(), (err or b"").decode())


@contextmanager
def terminal(columns: int) -> Iterator[tuple[int, int]]:
    """A terminal of that width: the end that a person looks at, and the end that a program writes to."""
    person, program = os.openpty()
    fcntl.ioctl(program, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    try:
        yield person, program
    finally:
        os.close(person)


def on_terminal(line: str, columns: int, *, stream: str = "stderr", **options: Any) -> str:
    """What a person sees of one stream in a terminal, colours as `‹1;31›`."""
    with terminal(columns) as (person, program), start(shlex.split(line), **{stream: program}, **options) as process:
        os.close(program)
        seen = b"".join(iter(lambda: _read(person), b""))
        process.communicate(timeout=60)
    return seen.decode().replace("\r\n", "\n").replace("\x1b[", "‹").replace("‹0m", "‹›")


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65536)
    except OSError:  # the program has closed its end
        return b""
