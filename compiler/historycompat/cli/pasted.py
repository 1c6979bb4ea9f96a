"""An error as it is given on the command line, in a file or on standard input → its text."""

from __future__ import annotations

import codecs
import sys
from pathlib import Path

from historycompat.cli.output import write_err
from historycompat.errors import HistoryCompatError

_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)  # what PowerShell writes


class UnreadableText(HistoryCompatError):
    """What was given is no text, or there is none."""


def pasted(given: str) -> str:
    """The text itself, what is in the file for `@FILE`, what comes on standard input for `-`. Raises UnreadableText."""
    if given in ("-", "@-"):
        return _text(_stdin(), "standard input")
    return read_text(given[1:]) if given.startswith("@") else given


def read_text(file: str) -> str:
    """The text of a file. Raises UnreadableText."""
    try:
        return _text(Path(file).read_bytes(), file)
    except FileNotFoundError:
        raise UnreadableText(f"{file}: there is no such file") from None
    except OSError as error:
        raise UnreadableText(f"{file}: {error.strerror or error}") from None
    except ValueError as error:  # a NUL in the name
        raise UnreadableText(f"{file!r}: {error}") from None


def _stdin() -> bytes:
    if sys.stdin is None:
        raise UnreadableText("standard input is closed; name a file")
    if sys.stdin.isatty():
        write_err(b"paste the error, and end it with Ctrl-D\n")
    return sys.stdin.buffer.read()


def _text(data: bytes, name: str) -> str:
    try:
        text = data.decode("utf-16" if data.startswith(_UTF16) else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableText(f"{name}: this is not text in UTF-8 (byte {error.start})") from None
    if "\0" in text:
        raise UnreadableText(f"{name}: this is a binary file, not the text of an error (byte {text.index(chr(0))})")
    if not text.strip():
        raise UnreadableText(f"{name}: there is nothing in it")
    return text
