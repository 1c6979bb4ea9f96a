"""`historycompat undo`: the last repair of a stored history, taken back."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.text import Text

from historycompat.cli.screen import say, visible
from historycompat.store import open_store


def undo(
    store: Annotated[
        str, typer.Option("--store", metavar="URL", help="A path, sqlite:///PATH or postgresql://USER@HOST/NAME.")
    ],
    thread: Annotated[str, typer.Option("--thread", metavar="ID", help="The history in the store.")],
) -> None:
    """Take the last repair of a stored history back.

    What was said since then stays. Nothing is written where the repaired places have changed in the meantime.
    """
    with open_store(store, must_exist=True) as opened:
        revision = opened.undo(thread)
        undone = next(repair for repair in opened.history_of(thread) if repair.undone_by == revision)
    by = f" by {visible(', '.join(undone.rules))}" if undone.rules else ""
    when = f"{undone.at:%Y-%m-%d %H:%M} UTC"
    say(Text(f"Undone: the repair of {when}{by}; saved as revision {revision}.", "green"))
    if undone.note:
        say(Text(f"Its reason was: {visible(undone.note)}", "dim"))
