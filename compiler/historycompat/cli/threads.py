"""Files and standard input → the threads in them, one after another, however many there are."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO

from historycompat.cli.histories import UnusableInput, held_in, parse_history, title
from historycompat.formats.detection import Survey
from historycompat.formats.format import Format

_LINES = (".jsonl", ".ndjson")


@dataclass(frozen=True, slots=True)
class Thread:
    """A history with the file and line (from 1) where it begins, or the `problem` that makes it unreadable there."""

    file: str
    line: int
    history: Any = None
    problem: str = ""
    column: int = 1


def threads(name: str, advance: Callable[[int], None]) -> Iterator[Thread]:
    """The threads of a file of JSON lines, or the one history that a JSON file holds; `-` is standard input.

    A file is one of lines where its name says so, or where its first line is a whole value; blank lines are none.
    `advance` is told the bytes as they are read. Raises UnusableInput where the file cannot be read at all.
    """
    with _opened(name) as file:
        start, line = _first_line(file, advance)
        if not line:
            return
        thread = _parsed(name, start, line)
        if thread.problem and not _is_of_lines(name, line):
            rest = file.read()
            advance(len(rest))
            yield _parsed(name, start, line + rest) if rest.strip() else thread
            return
        yield thread
        for number, line in enumerate(file, start + 1):
            advance(len(line))
            if line.strip():
                yield _parsed(name, number, line)


def history_in(record: Any) -> Any:
    """What of a stored record is the history: itself, or the one list or request body in it, where it is no body."""
    key = held_in(record)
    return record if key is None else record[key]


def as_body_of(kind: Format, history: Any) -> Any:
    """A history that a format can read: the bare messages of a record that keeps them under the key of another."""
    if not isinstance(history, dict) or kind.spine[0] in history:
        return history
    return Survey.of(history).messages or history


def _is_of_lines(name: str, line: bytes) -> bool:
    """Whether a file has a value on each line, though the first cannot be read."""
    ends = line.strip()
    return name.lower().endswith(_LINES) or (ends[:1] in (b"[", b"{") and ends[1:].endswith((b"]", b"}")))


def size(name: str) -> int | None:
    """The bytes of a file; None where that is not known."""
    try:
        return os.stat(name).st_size if name != "-" and stat.S_ISREG(os.stat(name).st_mode) else None
    except (OSError, ValueError):
        return None


@contextmanager
def _opened(name: str) -> Iterator[BinaryIO]:
    try:
        if name != "-":
            with open(name, "rb") as file:
                yield file
        elif sys.stdin is None:
            raise UnusableInput("standard input is closed; name a file")
        else:
            yield sys.stdin.buffer
    except FileNotFoundError:
        raise UnusableInput(f"{name}: there is no such file") from None
    except IsADirectoryError:
        raise UnusableInput(f"{name}: this is a directory; name the files in it") from None
    except OSError as error:
        raise UnusableInput(f"{title(name)}: {error.strerror or error}") from None
    except ValueError as error:  # a NUL in the name
        raise UnusableInput(f"{name!r}: {error}") from None


def _first_line(file: BinaryIO, advance: Callable[[int], None]) -> tuple[int, bytes]:
    number = 0
    for number, line in enumerate(file, 1):
        advance(len(line))
        if line.strip():
            return number, line
    return number, b""


def _parsed(name: str, number: int, data: bytes) -> Thread:
    try:
        return Thread(name, number, parse_history(data.rstrip()))
    except UnusableInput as error:
        line = number + max(error.line - 1, 0)
        return Thread(name, line, problem=str(error), column=error.column or 1)
    except MemoryError:
        return Thread(name, number, problem="it is too large for the memory of this machine")
