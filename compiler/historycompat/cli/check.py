"""`historycompat check`: every complaint about rule files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from historycompat.builtin import builtin_rules
from historycompat.cli.check_reports import as_github, as_json, as_sarif
from historycompat.cli.output import UnusableOutput, write_file, write_out
from historycompat.cli.screen import complain, count, fail, say
from historycompat.compiling import UnreadableRules, complaints_about, read_source, warnings_about
from historycompat.errors import Complaint, RuleError
from historycompat.fixes import fixed
from historycompat.language.packs import Kind
from historycompat.source import Source
from historycompat.tree import Pack


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
    """Check rule files, which run in the order given, behind the built-in rules.

    Complaints go to standard output, each with its place and what to write instead. Exit code 1 says that there are
    some. What is only doubtful is told of files without an error.
    """
    found = [_checked(file, fix) for file in files]
    doubts = _doubts([checked.pack for checked in found if checked and checked.pack])
    read = [
        (file, complaint) for file, checked in zip(files, found, strict=True) for complaint in _all(checked, doubts)
    ]
    if output is Output.TEXT:
        complain((complaint for _, complaint in read), stderr=False)
    else:
        write_out(_REPORTS[output](read))
    _summary(len(files) - found.count(None), len(read), found.count(None))
    if None in found:
        raise typer.Exit(2)
    if read:
        raise typer.Exit(1)


def _summary(files: int, total: int, unread: int) -> None:
    found = count(total, "complaint") if total else "no complaints"
    told = [f"{count(files, 'rule file')}: {found}"] if files else []
    told += [f"{count(unread, 'file')} not read"] if unread else []
    say(Text(", ".join(told), "yellow" if total or unread else "green"))


@dataclass(frozen=True, slots=True)
class _Checked:
    """A file that was read: its errors and what else is seen in it alone, and its tree where that has no error."""

    source: Source
    complaints: list[Complaint]
    pack: Pack | None


def _doubts(packs: list[Pack]) -> list[Complaint]:
    """What is doubtful in packs that run together; the built-in ones run first, unless they are what is checked."""
    rules = builtin_rules() if packs else ()
    shipped = {rule.meaning.pack for rule in rules}
    return warnings_about(packs, () if any(pack.name in shipped for pack in packs) else rules)


def _all(checked: _Checked | None, doubts: list[Complaint]) -> list[Complaint]:
    """All that is said of a file, from top to bottom."""
    if checked is None:
        return []
    own = [doubt for doubt in doubts if doubt.span and doubt.span.source is checked.source]
    return sorted([*checked.complaints, *own], key=lambda complaint: complaint.span.start if complaint.span else 0)


def _checked(file: str, fix: bool) -> _Checked | None:
    """What is said of a file by itself, without what was answered; None where it cannot be read."""
    try:
        source, kind = read_source(file)
        if fix:
            source = _fix(file, source, kind)
        pack, complaints = complaints_about(source, kind)
        refused = any(complaint.is_error for complaint in complaints)
        return _Checked(source, complaints, None if refused else pack)
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
        done = f"wrote {text} for {span.text}" if text else f"deleted {span.text}"
        say(Text(f"{span.place}: {complaint.code} {done}", "green"), wrap=False)
    if answered:
        write_file(Path(file), mended.text.encode())
    return mended
