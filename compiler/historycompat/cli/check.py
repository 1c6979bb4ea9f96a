"""`historycompat check`: every complaint about rule files."""

from __future__ import annotations

from typing import Annotated

import typer

from historycompat.cli.screen import complain, console
from historycompat.compiling import complaints_about, read_source


def check(
    files: Annotated[list[str], typer.Argument(help="Rule files: .yaml, .yml or .rules.", metavar="FILE...")],
) -> None:
    """Check rule files. Exit code 1 says that there are complaints."""
    total = 0
    for file in files:
        _, complaints = complaints_about(*read_source(file))
        complain(complaints, stderr=False)
        total += len(complaints)
    names = f"{len(files)} rule file{'s' * (len(files) != 1)}"
    found = f"{total} complaint{'s' * (total != 1)}" if total else "no complaints"
    console().print(f"{names}: {found}")
    if total:
        raise typer.Exit(1)
