"""Files and standard input → JSON values, and back: every way that can go wrong has its sentence."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any, NoReturn

from historycompat.errors import HistoryError


class UnusableInput(HistoryError):
    """A history file cannot be read as JSON; the message says why and where."""


def read_history(name: str) -> Any:
    """The JSON value in a file, or on standard input for `-`. Raises UnusableInput."""
    data = _read_bytes(name)
    shown = "standard input" if name == "-" else name
    if not data.strip():
        raise UnusableInput(f"{shown}: there is nothing in it; a history is a JSON list of messages")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnusableInput(f"{shown}: this is not UTF-8 text (byte {error.start}); a history is a JSON file") from None
    try:
        return json.loads(text, object_pairs_hook=_object, parse_constant=_constant)
    except json.JSONDecodeError as error:
        raise UnusableInput(f"{shown}:{error.lineno}:{error.colno}: this is not JSON: {error.msg}") from None
    except RecursionError:
        raise UnusableInput(f"{shown}: the JSON is nested too deeply to be a message history") from None
    except UnusableInput as error:
        raise UnusableInput(f"{shown}: {error}") from None
    except ValueError as error:  # an integer with more digits than Python converts
        raise UnusableInput(f"{shown}: {error}") from None


def _read_bytes(name: str) -> bytes:
    if name == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(name).read_bytes()
    except FileNotFoundError:
        raise UnusableInput(f"{name}: there is no such file") from None
    except IsADirectoryError:
        raise UnusableInput(f"{name}: this is a directory; name a JSON file in it") from None
    except OSError as error:
        raise UnusableInput(f"{name}: {error.strerror or error}") from None
    except ValueError as error:  # a NUL in the name
        raise UnusableInput(f"{name!r}: {error}") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        key = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        around = ", ".join(repr(k) for k in found if k != key) or "nothing else"
        raise UnusableInput(f"an object holds the key {key!r} twice (beside {around}); one of the two must go")
    return found


def _constant(word: str) -> NoReturn:
    raise UnusableInput(f"{word} is not JSON; write null or a number")


def to_json(value: Any, *, indent: int | None = 2) -> bytes:
    """JSON as UTF-8. A lone surrogate, which UTF-8 cannot hold, is written as its `\\uXXXX` escape."""
    return json.dumps(value, ensure_ascii=False, indent=indent).encode("utf-8", "backslashreplace")


def write_out(data: bytes) -> None:
    sys.stdout.flush()
    sys.stdout.buffer.write(data + b"\n")
    sys.stdout.buffer.flush()


def write_file(path: Path, data: bytes) -> None:
    """Write a file as a whole or not at all. Raises UnusableInput."""
    try:
        folder = path.resolve().parent
        with tempfile.NamedTemporaryFile(dir=folder, prefix=f".{path.name}.", delete=False) as scratch:
            scratch.write(data + b"\n")
        if path.exists():
            os.chmod(scratch.name, path.stat().st_mode & 0o7777)
        else:
            os.chmod(scratch.name, 0o666 & ~_umask())
        os.replace(scratch.name, path)
    except OSError as error:
        raise UnusableInput(f"{path}: {error.strerror or error}") from None


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
