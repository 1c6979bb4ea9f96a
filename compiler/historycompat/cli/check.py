"""`historycompat check`: every complaint about rule files."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.text import Text

from historycompat.cli.screen import complain, count, fail, say
from historycompat.compiling import UnreadableRules, complaints_about, read_source
from historycompat.errors import RuleError


def check(
    files: Annotated[list[str], typer.Argument(help="Rule files: .yaml, .yml or .rules.", metavar="FILE")],
) -> None:
    """Check rule files.

    Complaints go to standard output, each with its place and what to write instead. Exit code 1 says that there are
    some.
    """
    totals = [_complaints(file) for file in files]
    total = sum(number or 0 for number in totals)
    found = count(total, "complaint") if total else "no complaints"
    unread = f", {count(totals.count(None), 'file')} not read" if None in totals else ""
    say(Text(f"{count(len(files), 'rule file')}: {found}{unread}", "yellow" if total or unread else "green"))
    if None in totals:
        raise typer.Exit(2)
    if total:
        raise typer.Exit(1)


def _complaints(file: str) -> int | None:
    try:
        _, complaints = complaints_about(*read_source(file))
    except UnreadableRules as error:
        fail(error)
        return None
    except RuleError as error:  # no kind of rule file has such a name
        complain(error.complaints)
        return None
    complain(complaints, stderr=False)
    return len(complaints)
