"""`historycompat formats`: the formats of histories with what each cannot keep, and which of them fit a file."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from historycompat import formats as registry
from historycompat.cli.histories import UnusableInput, read_history, title, why_none_fits
from historycompat.cli.screen import count, say
from historycompat.errors import UnknownFormat
from historycompat.formats.detection import Survey

_FILE = "A history, to see which formats fit it; - is standard input. Without it all formats are listed."
_LIMIT = re.compile(r"\b(degraded|refused|refuses|opaque)\b", re.IGNORECASE)
_FIRST = 150  # characters of what a format cannot keep


def formats(
    file: Annotated[str | None, typer.Argument(metavar="FILE", help=_FILE, show_default=False)] = None,
) -> None:
    """List the formats, or those that fit a history.

    The formats go to standard output, with what each cannot keep of what others say; of a history those that fit,
    the likeliest first, with how sure that is. Exit code 2 says that none fits.
    """
    if file is None:
        _list()
    else:
        _show_fitting(file)


def _list() -> None:
    table = _table("name", "format", "cannot keep")
    for name, kind in registry.FORMATS.items():
        table.add_row(Text(name, "bold cyan"), kind.title, Text(_limits(name), "dim"))
    say(table, stderr=False)
    say(Text(count(len(registry.FORMATS), "format"), "green"))


def _table(*columns: str) -> Table:
    table = Table(box=None, header_style="dim", pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(columns[0], no_wrap=True)
    for column in columns[1:]:
        table.add_column(column, overflow="fold")
    return table


def _limits(name: str) -> str:
    """The beginning of what a format's module says of its limits: what is degraded, or else what stays foreign."""
    told = sorted(_sentences(name), key=lambda sentence: "egraded" not in sentence)
    text = " ".join(told).removeprefix("Degraded when written: ")
    return text if len(text) <= _FIRST else f"{text[:_FIRST].rpartition(' ')[0].rstrip(',;')} …"


def _sentences(name: str) -> Iterator[str]:
    module = next(
        module
        for module in vars(registry).values()
        if inspect.ismodule(module) and getattr(module, "FORMAT", None) is registry.FORMATS[name]
    )
    said = " ".join((module.__doc__ or "").replace("`", "").split())
    return (sentence for sentence in re.split(r"(?<=\.) ", said) if _LIMIT.search(sentence))


def _show_fitting(file: str) -> None:
    history = read_history(file)
    try:
        found = registry.detect(history)
    except UnknownFormat:
        raise UnusableInput(f"{title(file)}: {why_none_fits(history)}") from None
    table = _table("name", "format", "sure")
    survey = Survey.of(history)
    for kind in (found.format, *map(registry.find, found.also)):
        table.add_row(Text(kind.name, "bold cyan"), kind.title, f"{kind.detect(survey):.0%}")
    say(table, stderr=False)
