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
from historycompat.formats.detection import Survey, holds_messages

_NO_MESSAGES = "there are no messages in it; a history is a JSON list of messages, or a request body that holds one"
_ONE_MESSAGE = "this is a single message; a history is a list of messages (JSON Lines of them? make a list: jq -s .)"
_NESTED = "the JSON is nested too deeply to be a message history"
# Words that Python's reader takes and JSON does not know, outside of strings.
_NO_JSON = re.compile(r'"(?:[^"\\]|\\.)*"|(NaN|-?Infinity)', re.DOTALL)


_PYTHON = re.compile(r"'|(?:None|True|False)\b")  # where JSON has something else


class UnusableInput(HistoryError):
    """A history cannot be read as JSON; the message says why. `line` and `column` are counted from 1, 0 where the
    place is not known."""

    def __init__(self, message: str, line: int = 0, column: int = 0) -> None:
        super().__init__(message)
        self.line, self.column = line, column


def read_history(name: str) -> Any:
    """The JSON value in a file, or on standard input for `-`. Raises UnusableInput."""
    shown = title(name)
    data = _read_stdin() if name == "-" else _read_file(name)
    if not data.strip():
        raise UnusableInput(f"{shown}: there is nothing in it; a history is a JSON list of messages")
    try:
        return parse_history(data)
    except UnusableInput as error:
        place = f":{error.line}:{error.column}" if error.line else ""
        raise UnusableInput(f"{shown}{place}: {error}", error.line, error.column) from None


def parse_history(data: bytes) -> Any:
    """The JSON value that some bytes spell. Raises UnusableInput, which does not say whose bytes they are."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnusableInput(f"this is not UTF-8 text (byte {error.start}); a history is a JSON file") from None
    try:
        return json.loads(text, object_pairs_hook=_object, parse_float=_float, parse_constant=_constant)
    except json.JSONDecodeError as error:
        raise UnusableInput(f"this is not JSON: {error.msg}{_hint(text, error)}", error.lineno, error.colno) from None
    except _NoJson as error:
        raise UnusableInput(f"{error} is not JSON; write null or a number", *_place(text)) from None
    except RecursionError:
        raise UnusableInput(_NESTED) from None
    except UnusableInput:
        raise
    except ValueError:
        limit = sys.get_int_max_str_digits()
        raise UnusableInput(f"a whole number has more than {limit} digits") from None


def why_none_fits(history: Any) -> str:
    """Why no format was found for a history."""
    survey = Survey.of(history)
    if survey.roles:
        return f"no format fits it ({survey.describe()}); historycompat formats lists those that are known"
    if isinstance(history, dict) and isinstance(history.get("role"), str):
        return _ONE_MESSAGE
    inner = held_in(history)
    return f"{_NO_MESSAGES} (there is one under {json.dumps(inner)}: take it out of there)" if inner else _NO_MESSAGES


def held_in(record: Any) -> str | None:
    """The key of a stored record that holds a message list or a request body, if one alone does; None for a history."""
    if not isinstance(record, dict) or holds_messages(record):
        return None
    inner = [key for key, value in record.items() if _is_history(value)]
    return inner[0] if len(inner) == 1 else None


def _is_history(value: Any) -> bool:
    if isinstance(value, dict):
        return holds_messages(value)
    return isinstance(value, list) and bool(value) and all(isinstance(item, dict) for item in value)


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


def _place(text: str) -> tuple[int, int]:
    """The line and column of the first such word."""
    for match in _NO_JSON.finditer(text):
        if match[1]:
            before = text[: match.start()]
            return before.count("\n") + 1, match.start() - before.rfind("\n")
    return 0, 0


def _hint(text: str, error: json.JSONDecodeError) -> str:
    if error.msg == "Extra data" and text[error.pos] == "{":
        return " (JSON Lines? make a list of the lines first: jq -s .)"
    return " (Python? print it with json.dumps)" if _PYTHON.match(text, error.pos) else ""
