"""Complaint → the text that an author reads: place, line, caret, and what to write instead."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from historycompat.errors import Complaint
from historycompat.source import Span

WIDTH = 100
_TAB = 4
_CUT = "..."


def render(complaint: Complaint) -> str:
    """One complaint as plain text, without a line break at the end."""
    head = f"{complaint.code} {complaint.message}"
    lines = [f"{complaint.span.place}: {head}", *_excerpt(complaint.span)] if complaint.span else [head]
    if complaint.suggestion:
        gutter = lines[1].index("|") if len(lines) > 1 else 2
        lines.append(" " * gutter + "= " + complaint.suggestion)
    return "\n".join(lines)


def render_all(complaints: Iterable[Complaint]) -> str:
    """All complaints, a blank line between them, and how many there are."""
    complaints = list(complaints)
    errors = sum(complaint.is_error for complaint in complaints)
    counts = [_count(errors, "error"), _count(len(complaints) - errors, "warning")]
    return "\n\n".join([*map(render, complaints), " and ".join(filter(None, counts)) or "no complaints"])


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number > 1)}" if number else ""


def _excerpt(span: Span) -> list[str]:
    """The first line of a span, and a caret under its first character."""
    place = span.place
    line = span.source.line(place.line)
    start = place.column - 1
    end = min(start + max(span.end - span.start, 1), max(len(line), start + 1))
    line, start, end = _window(line, start, end)
    gutter = f"{place.line:>5} | "
    mark = "^" + "~" * (_width(line[start:end]) - 1)
    return [gutter + _shown(line), " " * (len(gutter) - 2) + "| " + " " * _width(line[:start]) + mark]


def _window(line: str, start: int, end: int) -> tuple[str, int, int]:
    """The stretch of a long line around a place, and the place in it."""
    if _width(line) <= WIDTH:
        return line, start, end
    first = 0 if end <= WIDTH * 3 // 4 else max(start - WIDTH // 4, 0)
    last = min(first + WIDTH, len(line))
    head, tail = _CUT if first else "", _CUT if last < len(line) else ""
    shift = len(head) - first
    return head + line[first:last] + tail, start + shift, min(end, last) + shift


def _shown(line: str) -> str:
    """A line without what would move the caret: a tab as blanks, a control character as a box."""
    return "".join(map(_shown_character, line))


def _shown_character(char: str) -> str:
    if char == "\t":
        return " " * _TAB
    return char if _cells(char) or _joins(char) else "\N{REPLACEMENT CHARACTER}"


def _width(text: str) -> int:
    """How many columns a text takes in a terminal."""
    return sum(_TAB if char == "\t" else 0 if _joins(char) else max(_cells(char), 1) for char in text)


def _cells(char: str) -> int:
    if unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp") or char == "\ufeff":
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def _joins(char: str) -> bool:
    """Whether a character takes no column of its own."""
    return unicodedata.category(char) in ("Mn", "Me", "Cf") and char != "\ufeff"
