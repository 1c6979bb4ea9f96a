"""`historycompat apply`: a broken history in, the repaired one out, with an account of what was done."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from historycompat import api, formats
from historycompat.cli.account import as_data, show_changes, show_rest, show_summary, show_unknown_provider
from historycompat.cli.differences import by_rule
from historycompat.cli.histories import UnusableInput, read_history, title, why_none_fits
from historycompat.cli.output import to_json, write_file, write_out
from historycompat.cli.screen import show_diff
from historycompat.errors import UnknownFormat
from historycompat.rulesets import Ruleset
from historycompat.runtime.outcome import Outcome

_MODEL = "The model that is about to read it, such as anthropic/claude-sonnet-4-5."
_FILE = "A list of messages, or a whole request body, as JSON; - is standard input."
_FORMAT = "The message format, such as openai-chat; detected where it is absent."
_RULES = "A rule file that runs after the built-in rules; may be given again."

_SURE = 0.6  # a format with less sureness was recognised by nothing of its own


def apply(
    model: Annotated[str, typer.Option("--model", "-m", metavar="MODEL", help=_MODEL)],
    file: Annotated[str, typer.Argument(metavar="FILE", help=_FILE, show_default=False)] = "-",
    format_: Annotated[str | None, typer.Option("--format", "-f", metavar="FORMAT", help=_FORMAT)] = None,
    rules: Annotated[list[str] | None, typer.Option("--rules", "-r", metavar="RULES", help=_RULES)] = None,
    diff: Annotated[bool, typer.Option("--diff", help="Print a diff instead of the history.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print history and account as one JSON object.")] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the history to a file instead.")
    ] = None,
) -> None:
    """Repair a history for the model that is about to read it.

    The history goes to standard output, an account of what was done to standard error. Exit code 1 says that
    something is left which no rule could mend.
    """
    if not model.strip():
        raise typer.BadParameter("--model names no model; say which is about to read the history")
    if diff + as_json + (output is not None) > 1:
        raise typer.BadParameter("--diff, --json and --output exclude each other; choose one")
    chosen = formats.find(format_) if format_ else None
    history = read_history(file)
    found = _read_as(history, file) if chosen is None else formats.Detection(chosen, 1.0)
    ruleset = Ruleset.builtin().extend(*rules or ())
    outcome = api.apply(history, model=model, format=found.format.name, rules=ruleset)
    if as_json:
        write_out(to_json(as_data(outcome)))
    else:
        _print(history, outcome, title(file), diff, output)
        _tell(history, outcome, model, ruleset, guessed=found.confidence < _SURE)
    if outcome.faults or outcome.reports:
        raise typer.Exit(1)


def _read_as(history: Any, file: str) -> formats.Detection:
    try:
        return formats.detect(history)
    except UnknownFormat:
        raise UnusableInput(f"{title(file)}: {why_none_fits(history)}") from None


def _print(history: Any, outcome: Outcome, name: str, diff: bool, output: Path | None) -> None:
    repaired = to_json(outcome.messages)
    if diff:
        show_diff(to_json(history), repaired, name)
    elif output:
        write_file(output, repaired)
    else:
        write_out(repaired)


def _tell(history: Any, outcome: Outcome, model: str, ruleset: Ruleset, *, guessed: bool) -> None:
    looked = ruleset.for_model(model)
    show_unknown_provider(model, ruleset)
    show_changes(list(by_rule(history, outcome, model, ruleset)))
    show_rest(outcome)
    show_summary(outcome, model, len(looked), guessed=guessed)
