"""Files and standard input → JSON values: every way that can go wrong has its sentence."""

from __future__ import annotations

import json
import math
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any, NoReturn

from historycompat.cli.output import write_err
from historycompat.errors import HistoryError

_NESTED = "the JSON is nested too deeply to be a message history"
# Words that Python's reader takes and JSON does not know, outside of strings.
_NO_JSON = re.compile(r'"(?:[^"\\]|\\.)*"|(NaN|-?Infinity)', re.DOTALL)


class UnusableInput(HistoryError):
    """A history file cannot be read as JSON; the message says why and where."""


def read_history(name: str) -> Any:
    """The JSON value in a file, or on standard input for `-`. Raises UnusableInput."""
    shown = title(name)
    data = _read_stdin() if name == "-" else _read_file(name)
    if not data.strip():
        raise UnusableInput(f"{shown}: there is nothing in it; a history is a JSON list of messages")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnusableInput(f"{shown}: this is not UTF-8 text (byte {error.start}); a history is a JSON file") from None
    try:
        return json.loads(text, object_pairs_hook=_object, parse_float=_float, parse_constant=_constant)
    except json.JSONDecodeError as error:
        hint = _hint(text, error)
        raise UnusableInput(f"{shown}:{error.lineno}:{error.colno}: this is not JSON: {error.msg}{hint}") from None
    except _NoJson as error:
        raise UnusableInput(f"{shown}{_place(text)}: {error} is not JSON; write null or a number") from None
    except RecursionError:
        raise UnusableInput(f"{shown}: {_NESTED}") from None
    except UnusableInput as error:
        raise UnusableInput(f"{shown}: {error}") from None
    except ValueError:
        limit = sys.get_int_max_str_digits()
        raise UnusableInput(f"{shown}: a whole number has more than {limit} digits") from None


def title(name: str) -> str:
    """What to call a file in a message to people."""
    return "standard input" if name == "-" else name


def _read_stdin() -> bytes:
    if sys.stdin is None:
        raise UnusableInput("standard input is closed; name a file")
    if sys.stdin.isatty():
        write_err(b"reading a history from standard input; end it with Ctrl-D\n")
    return sys.stdin.buffer.read()


def _read_file(name: str) -> bytes:
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
        around = ", ".join(json.dumps(k) for k in found if k != key)
        beside = f" (beside {around})" if around else ""
        raise UnusableInput(f"an object holds the key {json.dumps(key)} twice{beside}; one of the two must go")
    return found


class _NoJson(Exception):
    """A word that Python's reader takes and JSON does not know."""


def _constant(word: str) -> NoReturn:
    raise _NoJson(word)


def _float(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise UnusableInput(f"the number {text[:40]} is too large to be written again")
    return value


def _place(text: str) -> str:
    """The line and column of the first such word."""
    for match in _NO_JSON.finditer(text):
        if match[1]:
            before = text[: match.start()]
            return f":{before.count(chr(10)) + 1}:{match.start() - before.rfind(chr(10))}"
    return ""


def _hint(text: str, error: json.JSONDecodeError) -> str:
    if error.msg == "Extra data" and text[error.pos] == "{":
        return " (JSON Lines? make a list of the lines first: jq -s .)"
    return ""
