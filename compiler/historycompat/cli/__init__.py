"""The command line: one command a file, in one table."""

from __future__ import annotations

import os
import sys

import typer

from historycompat import __version__
from historycompat.cli.apply import apply
from historycompat.cli.check import check
from historycompat.cli.rules import rules
from historycompat.cli.screen import complain
from historycompat.errors import HistoryCompatError, RuleError

app = typer.Typer(
    name="historycompat",
    help="Repair an LLM message history before, or right after, a provider refuses it.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    epilog="Exit codes: 0 fine, 1 findings, 2 unusable input or usage.",
)

COMMANDS = (apply, check, rules)

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
    """Run the command line. A user's mistake ends in one clear message and exit code 2, a closed pipe in silence."""
    try:
        app()
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except RuleError as error:
        complain(error.complaints)
        sys.exit(2)
    except HistoryCompatError as error:
        typer.echo(f"historycompat: {error}", err=True)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
