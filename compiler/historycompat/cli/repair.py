"""`historycompat repair`: a history and the error that refused it in, the repaired one out or back into its store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from historycompat import api, formats
from historycompat.cli.account import show_changes, show_rest
from historycompat.cli.differences import by_rule
from historycompat.cli.histories import UnusableInput, read_history, title, why_none_fits
from historycompat.cli.output import to_json, write_file, write_out
from historycompat.cli.pasted import pasted
from historycompat.cli.screen import count, say, visible
from historycompat.errors import HistoryError, UnknownFormat
from historycompat.reference.answers import read
from historycompat.rulesets import Ruleset
from historycompat.runtime.error_view import ErrorView, capped
from historycompat.runtime.outcome import Outcome
from historycompat.runtime.wake import woken
from historycompat.store import open_store

_MODEL = "The model that refused it, such as anthropic/claude-sonnet-4-5."
_ERROR = "What the provider said: the text, or @FILE to read it from a file; @- is standard input."
_FILE = "A list of messages, or a whole request body, as JSON; - (or nothing) is standard input."
_STORE = "A store instead of a file: a path, sqlite:///PATH or postgresql://USER@HOST/NAME."
_FORMAT = f"The message format, where it is not to be detected: {', '.join(formats.FORMATS)}."
_RULES = "A rule file that runs after the built-in rules; may be given again."
_NOTE = 200  # characters of the error that the store keeps beside the repair


def repair(
    model: Annotated[str, typer.Option("--model", "-m", metavar="MODEL", help=_MODEL)],
    error: Annotated[str, typer.Option("--error", "-e", metavar="TEXT|@FILE", help=_ERROR)],
    file: Annotated[str | None, typer.Argument(metavar="FILE", help=_FILE, show_default=False)] = None,
    store: Annotated[str | None, typer.Option("--store", metavar="URL", help=_STORE)] = None,
    thread: Annotated[str | None, typer.Option("--thread", metavar="ID", help="The history in the store.")] = None,
    format_: Annotated[str | None, typer.Option("--format", "-f", metavar="FORMAT", help=_FORMAT)] = None,
    rules: Annotated[list[str] | None, typer.Option("--rules", "-r", metavar="RULES", help=_RULES)] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be done.")] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the history to a file instead.")
    ] = None,
) -> None:
    """Repair a refused history by the rules that its error wakes.

    The history of a file goes to standard output, that of a store back into it; an account of what was done goes to
    standard error. Exit code 1 says that the error is not mended, or that something is left.
    """
    _check(model, file, store, thread, output, dry_run)
    if error in ("-", "@-") and store is None and file in (None, "-"):
        raise typer.BadParameter("standard input cannot be the error and the history; name a file for one of them")
    refusal = _Refusal(model, _error(error), Ruleset.builtin().extend(*rules or ()), format_)
    if store is not None and thread is not None:
        outcome = _in_store(refusal, store, thread, dry_run)
    else:
        outcome = _in_file(refusal, file or "-", output, dry_run)
    if not outcome.changed or outcome.faults or outcome.reports:
        raise typer.Exit(1)


def _check(
    model: str, file: str | None, store: str | None, thread: str | None, output: Path | None, dry_run: bool
) -> None:
    if not model.strip():
        raise typer.BadParameter("--model names no model; say which refused the history")
    if (store is None) != (thread is None):
        raise typer.BadParameter("--store and --thread go together: the store, and which of its histories")
    if store is not None and (file is not None or output is not None):
        raise typer.BadParameter("with --store the history is read from the store and written to it; name no file")
    if dry_run and output is not None:
        raise typer.BadParameter("--dry-run writes nothing; leave --output away")


def _error(given: str) -> str:
    text = pasted(given)
    if not text.strip():
        raise UnusableInput("--error says nothing; give the text that the provider answered with")
    return text


@dataclass(frozen=True, slots=True)
class _Refusal:
    model: str
    error: str
    rules: Ruleset
    format: str | None

    @property
    def view(self) -> ErrorView:
        return read(self.error)

    def mend(self, history: Any, name: str) -> Outcome:
        if self.format is not None:
            formats.find(self.format)
        try:
            return api.repair(history, error=self.view, model=self.model, format=self.format, rules=self.rules)
        except UnknownFormat:
            raise UnusableInput(f"{name}: {why_none_fits(history)}") from None
        except HistoryError as error:
            raise UnusableInput(f"{name}: {error}") from None

    def woken(self) -> list[str]:
        return [rule.name for rule, _ in woken(self.rules.reactive(self.model), self.view)]

    def tell(self, history: Any, outcome: Outcome) -> None:
        show_changes(list(by_rule(history, outcome, self.model, self.rules)))
        show_rest(outcome)
        if outcome.changed:
            done = f"Repaired for {visible(self.model)} by {count(len(outcome.rules), 'rule')}; read as"
            say(Text(f"{done} {outcome.format}.", "green"))
        elif names := self.woken():
            say(Text(f"Not repaired: the error wakes {', '.join(names)}, but nothing was found to change.", "yellow"))
        else:
            listening = count(len(self.rules.reactive(self.model)), "rule")
            say(Text(f"Not repaired: of {listening} for {visible(self.model)} none knows this error.", "yellow"))


def _in_file(refusal: _Refusal, file: str, output: Path | None, dry_run: bool) -> Outcome:
    history = read_history(file)
    outcome = refusal.mend(history, title(file))
    if output is not None:
        write_file(output, to_json(outcome.messages))
    elif not dry_run:
        write_out(to_json(outcome.messages))
    refusal.tell(history, outcome)
    return outcome


def _in_store(refusal: _Refusal, url: str, thread: str, dry_run: bool) -> Outcome:
    with open_store(url, must_exist=True) as store:
        revision, history = store.load(thread)
        outcome = refusal.mend(history, f'history "{thread}"')
        lasting = [name for name in outcome.rules if refusal.rules[name].meaning.persist]
        saved = None
        if outcome.stored is not history and not dry_run:
            note = capped(f"{refusal.model} refused it: {' '.join(refusal.error.split())}", _NOTE)
            saved = store.replace(thread, revision, outcome.stored, note=note, rules=lasting)
    refusal.tell(history, outcome)
    if outcome.changed:
        _tell_saved(saved, outcome.stored is not history, [name for name in outcome.rules if name not in lasting])
    return outcome


def _tell_saved(revision: int | None, lasts: bool, passing: Sequence[str]) -> None:
    if passing:
        say(Text(f"note: for the repeated request only, and never saved: {', '.join(passing)}", "dim"))
    if revision is not None:
        say(Text(f"Saved as revision {revision}; historycompat undo takes it back.", "green"))
    else:
        say(Text("Nothing was saved." if lasts else "There is nothing to save.", "yellow"))
