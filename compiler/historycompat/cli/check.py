"""`historycompat check`: every complaint about rule files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from historycompat.cli.check_reports import as_github, as_json, as_sarif
from historycompat.cli.output import UnusableOutput, write_file, write_out
from historycompat.cli.screen import complain, count, fail, say
from historycompat.compiling import UnreadableRules, complaints_about, read_source
from historycompat.errors import Complaint, RuleError
from historycompat.fixes import fixed
from historycompat.language.packs import Kind
from historycompat.source import Source


class Output(StrEnum):
    """What `--output-format` takes."""

    TEXT = "text"
    JSON = "json"
    GITHUB = "github"
    SARIF = "sarif"


_REPORTS: dict[Output, Callable[[Sequence[tuple[str, Complaint]]], bytes]] = {
    Output.JSON: as_json,
    Output.GITHUB: as_github,
    Output.SARIF: as_sarif,
}


def check(
    files: Annotated[list[str], typer.Argument(help="Rule files: .yaml, .yml or .rules.", metavar="FILE")],
    output: Annotated[
        Output, typer.Option("--output-format", help="For people, for programs, or for a build server.")
    ] = Output.TEXT,
    fix: Annotated[
        bool, typer.Option("--fix", help="Write what is certainly meant into the files; complain about the rest.")
    ] = False,
) -> None:
    """Check rule files.

    Complaints go to standard output, each with its place and what to write instead. Exit code 1 says that there are
    some.
    """
    found = [_complaints(file, fix) for file in files]
    read = [(file, complaint) for file, complaints in zip(files, found, strict=True) for complaint in complaints or ()]
    if output is Output.TEXT:
        complain((complaint for _, complaint in read), stderr=False)
    else:
        write_out(_REPORTS[output](read))
    _summary(len(files), len(read), found.count(None))
    if None in found:
        raise typer.Exit(2)
    if read:
        raise typer.Exit(1)


def _summary(files: int, total: int, unread: int) -> None:
    found = count(total, "complaint") if total else "no complaints"
    rest = f", {count(unread, 'file')} not read" if unread else ""
    say(Text(f"{count(files, 'rule file')}: {found}{rest}", "yellow" if total or unread else "green"))


def _complaints(file: str, fix: bool) -> list[Complaint] | None:
    """The complaints about a file, those that were answered left out; None where it cannot be read."""
    try:
        source, kind = read_source(file)
        if fix:
            source = _fix(file, source, kind)
        return complaints_about(source, kind)[1]
    except (UnreadableRules, UnusableOutput) as error:
        fail(error)
    except RuleError as error:  # no kind of rule file has such a name
        complain(error.complaints)
    return None


def _fix(file: str, source: Source, kind: Kind) -> Source:
    mended, answered = fixed(source, kind)
    for complaint in answered:
        assert complaint.fix
        span, text = complaint.fix
        say(Text(f"{span.place}: {complaint.code} wrote {text} for {span.text}", "green"), wrap=False)
    if answered:
        write_file(Path(file), mended.text.encode())
    return mended
