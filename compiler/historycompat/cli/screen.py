"""Text → a person's screen: colours on a terminal only, and nothing that a file could smuggle in."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from io import StringIO
from itertools import groupby

from rich.console import Console, RenderableType
from rich.text import Text

from historycompat.cli.output import write_err, write_out
from historycompat.errors import MOST_SHOWN, Complaint, more
from historycompat.language.diagnose import render

_LOG_WIDTH = 100  # columns where there is no terminal
_PADDING = re.compile(r" +((?:\x1b\[0m)?)$", re.MULTILINE)  # that tables are filled up with
_DIFF_STYLES = {"+": "green", "-": "red", "@": "cyan"}


def console(*, stderr: bool = True) -> Console:
    """A console that writes nowhere, with the width and colours of the one that the person looks at."""
    real = Console(stderr=stderr)
    return Console(
        file=StringIO(),
        force_terminal=real.is_terminal,
        color_system="auto" if real.color_system else None,
        no_color=real.no_color,
        width=real.width if real.is_terminal else _LOG_WIDTH,
        highlight=False,
        emoji=False,
        markup=False,
    )


def say(*lines: RenderableType, stderr: bool = True, wrap: bool = True) -> None:
    """Show something; without `wrap` long lines run on past the edge, as what may be copied must."""
    screen = console(stderr=stderr)
    with screen.capture() as caught:
        for line in lines:
            screen.print(line, soft_wrap=not wrap)
    shown = _PADDING.sub(r"\1", caught.get())
    (write_err if stderr else write_out)(shown.encode("utf-8", "backslashreplace"))


def fail(message: object) -> None:
    """One clear sentence about why there is no result."""
    say(Text.assemble(("historycompat: ", "bold red"), visible(str(message))), wrap=False)


def complain(complaints: Iterable[Complaint], *, stderr: bool = True) -> None:
    """Complaints with their lines and carets: all, or of each file the first ones and how many more there are."""
    for file, found in groupby(complaints, lambda complaint: complaint.span.source.name if complaint.span else ""):
        of_file = list(found)
        for complaint in of_file[:MOST_SHOWN]:
            text = Text(render(complaint))
            text.highlight_words([complaint.code], "bold red" if complaint.is_error else "bold yellow")
            say(text, "", stderr=stderr, wrap=False)
        for line in more(len(of_file)):
            say(Text(f"{file}: {line}"), "", stderr=stderr, wrap=False)


def visible(text: str) -> str:
    """A text with every character that a terminal would not show, or would obey, as its escape."""
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)


def one_line(text: str) -> str:
    """A text of several lines as one, for wrapping."""
    return visible(" ".join(text.split()))


def count(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' * (number != 1)}"


def show_diff(before: bytes, after: bytes, name: str) -> None:
    """A unified diff of two JSON texts on standard output, coloured on a terminal."""
    old, new = before.decode().split("\n"), after.decode().split("\n")
    lines = difflib.unified_diff(old, new, f"{name} (given)", f"{name} (repaired)", lineterm="")
    if console(stderr=False).is_terminal:
        say(*(Text(visible(line), _DIFF_STYLES.get(line[:1], "")) for line in lines), stderr=False, wrap=False)
    else:
        write_out("".join(f"{line}\n" for line in lines).encode("utf-8", "backslashreplace"))
