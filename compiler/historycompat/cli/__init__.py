"""The command line: one command a file, in one table; a command is imported when it is asked for."""

from __future__ import annotations

import logging
import os
import sys
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup

from historycompat import __version__
from historycompat.cli.screen import complain, fail
from historycompat.errors import HistoryCompatError, RuleError, did_you_mean

# Each is a module of that name with a function of that name.
COMMANDS = (
    "apply", "repair", "undo", "scan", "formats", "convert", "check", "test", "fmt", "explain", "new", "rules", "chat",
)  # fmt: skip


class _Commands(TyperGroup):
    """The commands of the table."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in COMMANDS:
            advice = did_you_mean(cmd_name, COMMANDS)
            ctx.fail(f'there is no command "{cmd_name}"{f": {advice}" if advice else ""}')
        alone = typer.Typer(add_completion=False, rich_markup_mode=None, context_settings=_SETTINGS)
        alone.command(cmd_name)(getattr(import_module(f"historycompat.cli.{cmd_name}"), cmd_name))
        return typer.main.get_command(alone)


_SETTINGS = {"help_option_names": ["-h", "--help"]}

app = typer.Typer(
    cls=_Commands,
    name="historycompat",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings=_SETTINGS,
    epilog="Exit codes: 0 fine, 1 findings, 2 unusable input or usage.",
)


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
