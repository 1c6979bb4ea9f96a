"""`historycompat scan`: which of many threads a model would refuse, by rule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.text import Text

from historycompat import api, formats
from historycompat.cli.account import show_unknown_provider
from historycompat.cli.histories import UnusableInput, why_none_fits
from historycompat.cli.scan_reports import Finding, JsonReport, Report, SarifReport, TextReport
from historycompat.cli.screen import count, fail, say, visible
from historycompat.cli.threads import Thread, as_body_of, history_in, size, threads
from historycompat.errors import HistoryError, UnknownFormat
from historycompat.rulesets import Ruleset
from historycompat.runtime.outcome import Outcome


class Output(StrEnum):
    """What `--output-format` takes."""

    TEXT = "text"
    JSON = "json"
    SARIF = "sarif"


_REPORTS: dict[Output, Callable[[Ruleset], Report]] = {
    Output.TEXT: TextReport,
    Output.JSON: JsonReport,
    Output.SARIF: SarifReport,
}
_FILES = (
    "JSON Lines with a message list, a request body, or a record with one of them on each line, or a JSON file with "
    "one; - is standard input."
)
_MODEL = "The model that is to read them, such as anthropic/claude-sonnet-4-5."
_FORMAT = "The message format of all threads; detected for each where it is absent."
_RULES = "A rule file that runs after the built-in rules; may be given again."


def scan(
    files: Annotated[list[str], typer.Argument(metavar="FILE", help=_FILES)],
    model: Annotated[str, typer.Option("--model", "-m", metavar="MODEL", help=_MODEL)],
    format_: Annotated[str | None, typer.Option("--format", "-f", metavar="FORMAT", help=_FORMAT)] = None,
    rules: Annotated[list[str] | None, typer.Option("--rules", "-r", metavar="RULES", help=_RULES)] = None,
    output: Annotated[
        Output, typer.Option("--output-format", help="For people, for programs, or for a build server.")
    ] = Output.TEXT,
) -> None:
    """Find the threads that a model would refuse.

    A thread is found where a rule for the model has something to mend or to report before the request, or where it
    cannot be read. Nothing is changed. Exit code 1 says that there are some.
    """
    if not model.strip():
        raise typer.BadParameter("--model names no model; say which is to read the threads")
    if format_ is not None:
        formats.find(format_)
    ruleset = Ruleset.builtin().extend(*rules or ())
    looking = _Scan(model, ruleset, format_)
    report = _REPORTS[output](ruleset)
    with _progress(files, shown=output is Output.TEXT or not Console().is_terminal) as advance:
        unusable = [problem for file in files if (problem := looking.through(file, report, advance))]
    report.end()
    for problem in unusable:
        fail(problem)
    looking.tell()
    if unusable:
        raise typer.Exit(2)
    if looking.refused or looking.unreadable:
        raise typer.Exit(1)


@contextmanager
def _progress(files: list[str], *, shown: bool) -> Iterator[Callable[[int], None]]:
    """A bar on a terminal, which is told the bytes that were read; nothing anywhere else."""
    screen = Console(stderr=True)
    if not (shown and screen.is_terminal):
        yield lambda _: None
        return
    sizes = [size(file) for file in files]
    total = None if None in sizes else sum(filter(None, sizes))
    columns = (TextColumn("scanning"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=screen, transient=True) as bar:
        task = bar.add_task("scanning", total=total)
        yield lambda read: bar.advance(task, read)


@dataclass
class _Scan:
    """A walk through threads, and how many there were of each kind."""

    model: str
    rules: Ruleset
    format: str | None
    read_as: Counter[str] = field(default_factory=Counter)
    refused: int = 0
    unreadable: int = 0
    gone: bool = False  # nobody reads the report any more

    def through(self, file: str, report: Report, advance: Callable[[int], None]) -> str:
        """Report on the threads of a file; why it cannot be read where that is so."""
        if self.gone:
            return ""
        try:
            for thread in threads(file, advance):
                if not report.add(self._findings(thread)):
                    self.gone = True
                    break
        except UnusableInput as error:
            return str(error)
        return ""

    def _findings(self, thread: Thread) -> list[Finding]:
        problem = thread.problem
        if not problem:
            try:
                kind, history = self._read(thread)
                found = _of_outcome(thread, api.apply(history, model=self.model, format=kind, rules=self.rules))
            except UnknownFormat:
                problem = why_none_fits(thread.history)
            except HistoryError as error:
                problem = str(error)
            except RecursionError:
                problem = "it is nested too deeply to be a message history"
            else:
                self.read_as[kind] += 1
                self.refused += bool(found)
                return found
        self.unreadable += 1
        return [Finding(thread.file, thread.line, "unreadable", "unreadable", problem, column=thread.column)]

    def _read(self, thread: Thread) -> tuple[str, Any]:
        history = history_in(thread.history)
        kind = formats.find(self.format) if self.format else formats.detect(history).format
        return kind.name, as_body_of(kind, history)

    def tell(self) -> None:
        """The whole in a sentence."""
        show_unknown_provider(self.model, self.rules)
        total = self.read_as.total() + self.unreadable
        kinds = ", ".join(f"{times:,} {kind}" for kind, times in self.read_as.most_common())
        unread = f", {self.unreadable:,} unreadable" if self.unreadable else ""
        found = f"{visible(self.model)} would refuse {self.refused:,}{unread}"
        style = "yellow" if self.refused or self.unreadable else "green"
        say(Text(f"{count(total, 'thread')}{f' ({kinds})' if kinds else ''}: {found}.", style))


def _of_outcome(thread: Thread, outcome: Outcome) -> list[Finding]:
    """What rules have to mend in a thread, what they report, and which of them failed."""
    place, kind = (thread.file, thread.line), outcome.format
    times = Counter(record.rule for record in outcome.trace)
    first = {record.rule: record.pointer for record in reversed(outcome.trace)}
    edits = [
        Finding(*place, rule, "edit", count(number, "change"), kind, first[rule], times=number)
        for rule, number in times.items()
    ]
    reports = [
        Finding(*place, each.rule, "report", each.finding.text, kind, each.finding.pointer) for each in outcome.reports
    ]
    faults = [Finding(*place, each.rule, "fault", each.reason, kind, each.pointer) for each in outcome.faults]
    return edits + reports + faults
