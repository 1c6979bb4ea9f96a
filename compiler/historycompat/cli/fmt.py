"""`historycompat fmt`: rule files in their one canonical form."""

from __future__ import annotations

import difflib
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from historycompat.cli.output import UnusableOutput, write_file
from historycompat.cli.screen import complain, count, fail, say, visible
from historycompat.compiling import UnreadableRules, read_source
from historycompat.errors import RuleError
from historycompat.language.layout import NotFormatted, formatted
from historycompat.language.packs import Kind, read_pack


class Surface(StrEnum):
    """What `--to` takes."""

    YAML = "yaml"
    RULES = "rules"


def fmt(
    files: Annotated[list[str], typer.Argument(help="Rule files: .yaml, .yml or .rules.", metavar="FILE")],
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; show what would change, with exit code 1 if anything.")
    ] = False,
    to: Annotated[
        Surface | None, typer.Option("--to", help="Write the other form, as a new file beside the old one.")
    ] = None,
    drop_tests: Annotated[
        bool, typer.Option("--drop-tests", help="With --to rules: leave out the tests, which are YAML only.")
    ] = False,
) -> None:
    """Write rule files in canonical form.

    Comments stay, above what they are about. A file is written as a whole or not at all, and never with another
    meaning: what was written is read again and compared. A file with mistakes in its syntax is left as it is.
    """
    surface: Kind | None = None if to is None else "yaml" if to is Surface.YAML else "rules"
    outcomes = [_format(file, check, surface, drop_tests) for file in files]
    changed = sum(outcome is True for outcome in outcomes)
    failed = outcomes.count(None)
    what = "would be rewritten" if check else "rewritten"
    say(Text(f"{count(len(files), 'rule file')}: {changed} {what}{f', {failed} not read' if failed else ''}"))
    if failed:
        raise typer.Exit(2)
    if check and changed:
        raise typer.Exit(1)


def _format(file: str, check: bool, to: Kind | None, drop_tests: bool) -> bool | None:
    """Whether there was anything to write; None where the file cannot be formatted."""
    try:
        source, kind = read_source(file)
        pack, complaints = read_pack(source, kind=kind)
        if complaints or pack is None:
            complain(complaints)
            return None
        text = formatted(pack, kind, to, drop_tests=drop_tests)
        target = _target(file, kind, to)
        if target == Path(file) and text == source.text:
            return False
        if check:
            _show(source.text if target == Path(file) else "", text, str(target))
        else:
            _write(target, text, new=target != Path(file))
    except RuleError as error:  # no kind of rule file has such a name
        complain(error.complaints)
    except (UnreadableRules, UnusableOutput, NotFormatted) as error:
        told = error if isinstance(error, UnreadableRules) else f"{file}: {error}"
        fail(told)
    else:
        return True
    return None


def _target(file: str, kind: Kind, to: Kind | None) -> Path:
    path = Path(file)
    return path if to in (None, kind) else path.with_suffix(f".{to}")


def _write(target: Path, text: str, *, new: bool) -> None:
    if new and target.exists():
        raise UnusableOutput(f"{target} exists already; delete it first")
    write_file(target, text.encode())


def _show(before: str, after: str, name: str) -> None:
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), name, f"{name} (formatted)", lineterm="")
    styles = {"+": "green", "-": "red", "@": "cyan"}
    say(*(Text(visible(line), styles.get(line[:1], "")) for line in lines), stderr=False, wrap=False)
