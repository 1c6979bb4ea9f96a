"""The command line: one command a file, in one table."""

from __future__ import annotations

import logging
import os
import sys

import typer

from historycompat import __version__
from historycompat.cli.apply import apply
from historycompat.cli.chat import chat
from historycompat.cli.check import check
from historycompat.cli.convert import convert
from historycompat.cli.explain import explain
from historycompat.cli.fmt import fmt
from historycompat.cli.formats import formats
from historycompat.cli.new import new
from historycompat.cli.repair import repair
from historycompat.cli.rules import rules
from historycompat.cli.scan import scan
from historycompat.cli.screen import complain, fail
from historycompat.cli.test import test
from historycompat.cli.undo import undo
from historycompat.errors import HistoryCompatError, RuleError

COMMANDS = (apply, repair, undo, scan, formats, convert, check, test, fmt, explain, new, rules, chat)

app = typer.Typer(
    name="historycompat",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 fine, 1 findings, 2 unusable input or usage.",
)

for command in COMMANDS:
    app.command()(command)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"historycompat {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(False, "--version", callback=_show_version, is_eager=True, help="Show the version."),
) -> None:
    """Repair an LLM message history before, or right after, a provider refuses it."""


def main() -> None:
    """Run the command line. A user's mistake ends in one clear message and exit code 2."""
    logging.getLogger("historycompat").addHandler(logging.NullHandler())  # the account says it already, and better
    try:
        app(prog_name="historycompat")
    except RuleError as error:
        complain(error.complaints)
    except HistoryCompatError as error:
        fail(error)
    except OSError as error:  # the help or the version had nowhere to go
        fail(f"standard output: {error.strerror}")
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    except RecursionError:
        fail("the input is nested too deeply")
    except MemoryError:
        fail("the input is too large for the memory of this machine")
    sys.exit(2)
