"""Findings → what a person sees on the screen."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from historycompat.errors import Complaint
from historycompat.language.diagnose import render
from historycompat.runtime.outcome import Outcome

_SHOWN = 72  # characters of a value in the table of edits


def console(*, stderr: bool = True) -> Console:
    made = Console(stderr=stderr, highlight=False, emoji=False, markup=False)
    if not made.is_terminal:
        made.width = max(made.width, 160)  # a log has no edge to wrap at
    return made


def complain(complaints: Iterable[Complaint], *, stderr: bool = True) -> None:
    """Every complaint with its line and caret."""
    screen = console(stderr=stderr)
    for complaint in complaints:
        style = "bold red" if complaint.is_error else "bold yellow"
        text = Text(render(complaint))
        text.highlight_words([complaint.code], style)
        screen.print(text, soft_wrap=True)
        screen.print()


def show_outcome(outcome: Outcome, model: str) -> None:
    """What was done to a history: a table of edits, then what no rule could mend."""
    screen = console()
    if outcome.trace:
        screen.print(_edits(outcome))
    for report in outcome.reports:
        screen.print(Text(f"{report.rule}: {report.finding.pointer or 'the request'}: {report.finding.text}", "yellow"))
    for fault in outcome.faults:
        where = f" at {fault.pointer}" if fault.pointer else ""
        screen.print(Text(f"{fault.rule} failed{where} and was rolled back: {fault.reason} ({fault.place})", "red"))
    for note in outcome.notes:
        screen.print(Text(f"note: {note}", "dim"))
    screen.print(_summary(outcome, model), soft_wrap=True)


def _summary(outcome: Outcome, model: str) -> Text:
    kind = outcome.format or "history"
    if not outcome.changed:
        return Text(f"{kind} for {model}: nothing to repair", "green")
    edits = len(outcome.trace)
    rules = ", ".join(outcome.rules)
    first = "" if outcome.first_edit is None else f", first in message {outcome.first_edit}"
    return Text(f"{kind} for {model}: {edits} edit{'s' * (edits != 1)} by {rules}{first}", "green")


def _edits(outcome: Outcome) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("rule", style="cyan", no_wrap=True)
    table.add_column("place", style="magenta", overflow="fold")
    table.add_column("before → after", overflow="fold")
    for record in outcome.trace:
        before = Text("" if record.op == "add" else _brief(record.before), "red")
        after = Text("removed" if record.op == "remove" else _brief(record.after), "green")
        table.add_row(record.rule, record.pointer, Text.assemble(before, " → " if record.op != "add" else "+ ", after))
    return table


def _brief(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    text = text.encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def show_diff(before: bytes, after: bytes, name: str) -> None:
    """A unified diff of two JSON texts on standard output, coloured on a terminal."""
    screen = console(stderr=False)
    for line in _diff_lines(before.decode(), after.decode(), name):
        screen.print(Text(line, _DIFF_STYLES.get(line[:1], "")), soft_wrap=True)


def _diff_lines(before: str, after: str, name: str) -> Sequence[str]:
    old, new = before.splitlines(), after.splitlines()
    return list(difflib.unified_diff(old, new, f"{name} as given", f"{name} repaired", lineterm=""))


_DIFF_STYLES = {"+": "green", "-": "red", "@": "cyan"}
