"""The command line, run in this process as a person would run it."""

from __future__ import annotations

import sys
from dataclasses import dataclass

import pytest

from historycompat.cli import main


@dataclass(frozen=True)
class Ran:
    """What a command wrote and its exit code."""

    code: int
    out: str
    err: str


def run(capfd: pytest.CaptureFixture[str], *arguments: str) -> Ran:
    """Run `historycompat` with these arguments."""
    before, sys.argv = sys.argv, ["historycompat", *arguments]
    capfd.readouterr()
    try:
        with pytest.raises(SystemExit) as exit_:
            main()
    finally:
        sys.argv = before
    out, err = capfd.readouterr()
    return Ran(int(exit_.value.code or 0), out, err)
