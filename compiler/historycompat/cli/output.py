"""Bytes → standard output, standard error and files: as a whole, or one sentence about why not."""

from __future__ import annotations

import json
import os
import stat
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from historycompat.errors import HistoryCompatError

_STDOUT, _STDERR = 1, 2


class UnusableOutput(HistoryCompatError):
    """What was asked for cannot be written where it was asked for."""


def to_json(value: Any) -> bytes:
    """JSON as UTF-8, with a line break at its end. A lone surrogate, which UTF-8 cannot hold, becomes its escape."""
    return f"{json.dumps(value, ensure_ascii=False, indent=2)}\n".encode("utf-8", "backslashreplace")


def write_out(data: bytes) -> bool:
    """Write to standard output; whether anybody still reads it: one who has gone away has seen enough. Raises
    UnusableOutput."""
    if sys.stdout is None:
        raise UnusableOutput("standard output is closed; name a file with --output")
    try:
        _write(_STDOUT, data)
    except BrokenPipeError:
        return False
    except OSError as error:
        raise UnusableOutput(f"standard output: {error.strerror}") from None
    return True


def write_err(data: bytes) -> None:
    """Write to standard error, as far as anybody is there to read it."""
    if sys.stderr is not None:
        with suppress(OSError):
            _write(_STDERR, data)


def _write(descriptor: int, data: bytes) -> None:
    # Past Python's buffers: what cannot be written must not be tried again when the interpreter ends.
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def write_file(path: Path, data: bytes) -> None:
    """Write a file as a whole or not at all; a device or pipe is written to. Raises UnusableOutput."""
    try:
        mode = _mode(path)
        if mode is not None and not stat.S_ISREG(mode):
            path.write_bytes(data)
        else:
            _replace(Path(os.path.realpath(path)), data, 0o666 & ~_umask() if mode is None else stat.S_IMODE(mode))
    except OSError as error:
        raise UnusableOutput(f"{path}: {_reason(error, path)}") from None
    except ValueError as error:  # a NUL in the name
        raise UnusableOutput(f"{str(path)!r}: {error}") from None


def _replace(target: Path, data: bytes, mode: int) -> None:
    descriptor, scratch = tempfile.mkstemp(dir=target.parent, prefix=".historycompat-")
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
        os.chmod(scratch, mode)
        os.replace(scratch, target)
    except BaseException:
        os.unlink(scratch)
        raise


def _mode(path: Path) -> int | None:
    try:
        return path.stat().st_mode
    except FileNotFoundError:
        return None


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _reason(error: OSError, path: Path) -> str:
    if isinstance(error, FileNotFoundError):
        return f"there is no folder {path.parent}"
    if isinstance(error, IsADirectoryError):
        return "this is a directory; name a file in it"
    return error.strerror or str(error)
