"""`historycompat convert`: a history in one format in, the same history in another out, and what of it is lost."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer
from rich.padding import Padding
from rich.text import Text

from historycompat import conversion, formats
from historycompat.cli.account import dotted
from historycompat.cli.histories import UnusableInput, read_history, title, why_none_fits
from historycompat.cli.output import to_json, write_file, write_out
from historycompat.cli.screen import count, say, visible
from historycompat.conversion_losses import Loss
from historycompat.edits import Pointer
from historycompat.errors import HistoryError, UnknownFormat

_FILE = "A list of messages, or a whole request body, as JSON; - is standard input."
_FROM = "The format it is in, such as openai-chat; detected where it is absent."
_TO = "The format to write, such as anthropic; historycompat formats lists all."
_PLACES = 3  # of what happened at many


def convert(
    to: Annotated[str, typer.Option("--to", "-t", metavar="FORMAT", help=_TO)],
    file: Annotated[str, typer.Argument(metavar="FILE", help=_FILE, show_default=False)] = "-",
    from_: Annotated[str | None, typer.Option("--from", "-f", metavar="FORMAT", help=_FROM)] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the history to a file instead.")
    ] = None,
) -> None:
    """Write a history in another format.

    The history goes to standard output, what of it is left out or said in another way to standard error. Nothing is
    repaired. Exit code 1 says that something was left out.
    """
    target = formats.find(to)
    source = formats.find(from_) if from_ else None
    history = read_history(file)
    try:
        source = source or formats.detect(history).format
        done = conversion.convert(history, source, target)
    except UnknownFormat:
        raise UnusableInput(f"{title(file)}: {why_none_fits(history)}") from None
    except HistoryError as error:
        raise UnusableInput(f"{title(file)}: {error}") from None
    if output:
        write_file(output, to_json(done.history))
    else:
        write_out(to_json(done.history))
    gone = [loss for loss in done.losses if loss.gone]
    otherwise = [loss for loss in done.losses if not loss.gone]
    _show("left out", gone, "red")
    _show("said in another way", otherwise, "yellow")
    told = (
        f"{count(len(gone), 'thing')} left out, {len(otherwise):,} said in another way" if done.losses else "all of it"
    )
    say(Text(f"Converted from {source.name} to {target.name}: {told}.", "yellow" if gone else "green"))
    if gone:
        raise typer.Exit(1)


def _show(what: str, losses: Iterable[Loss], style: str) -> None:
    """Each thing that happened, with the first of its places."""
    places: dict[str, list[Pointer]] = {}
    for loss in losses:
        places.setdefault(loss.what, []).append(loss.path)
    if places:
        say(Text(what, f"bold {style}"), *(Padding.indent(_line(each, at), 2) for each, at in places.items()), "")


def _line(what: str, paths: list[Pointer]) -> Text:
    places = list(dict.fromkeys(dotted(path) or "the history" for path in paths))
    more = f" and {len(places) - _PLACES:,} more" if len(places) > _PLACES else ""
    shown = ", ".join(places[:_PLACES])
    return Text.assemble((f"{shown}{more}", "magenta"), f"  {visible(what)}")
