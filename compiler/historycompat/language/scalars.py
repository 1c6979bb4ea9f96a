"""A YAML scalar as written → where in the file each stretch of its text stands."""

from __future__ import annotations

import re
from collections.abc import Iterator

Anchors = tuple[tuple[int, int], ...]

_BREAK = r"(?:\r\n|\r|\n)"
_FOLD = rf"(?P<fold>[ \t]*{_BREAK}(?:[ \t]*{_BREAK})*[ \t]*)"
_JOIN = rf"\\(?P<join>{_BREAK}(?:[ \t]*{_BREAK})*[ \t]*)"
_CODE = r"\\(?P<code>x..|u....|U........|.)"

# What a scalar is made of, by its style: runs that stand for themselves, folded line breaks, escapes.
_PIECES = {
    None: re.compile(rf"{_FOLD}|(?P<run>[ \t]*[^ \t\r\n]+|[ \t]+)"),
    "'": re.compile(rf"(?P<quote>'')|{_FOLD}|(?P<run>[ \t]*[^ \t\r\n']+|[ \t]+)"),
    '"': re.compile(rf"{_JOIN}|{_CODE}|{_FOLD}|(?P<run>[ \t]*[^ \t\r\n\\]+|[ \t]+)"),
}


def anchors(raw: str, style: str | None, value: str, start: int) -> Anchors:
    """Pairs of an offset in `value`, the scalar's text, and the offset in the file of the same character.

    `raw` is the scalar as the file holds it from `start` on. Exact for all styles but the folded one (`>`), whose
    only anchor is its start.
    """
    match style:
        case "|":
            return _block(raw, value, start)
        case ">":
            return ((0, start),)
    inner, first = (raw[1:-1], start + 1) if style else (raw, start)
    offset, found = 0, []
    for piece in _PIECES[style].finditer(inner):
        found.append((offset, first + piece.start()))
        offset += _length(piece)
    return tuple(found) or ((0, first),)


def _length(piece: re.Match[str]) -> int:
    """How many characters of the text a piece stands for: n line breaks are a space, or n - 1 breaks."""
    match piece.lastgroup:
        case "fold":
            return max(_breaks(piece), 1)
        case "join":
            return _breaks(piece)
        case "quote" | "code":
            return 1
    return len(piece[0])


def _breaks(piece: re.Match[str]) -> int:
    return len(re.findall(_BREAK, piece[0])) - 1


def _block(raw: str, value: str, start: int) -> Anchors:
    """One anchor a line: the lines of a literal block are those of its text, less the indentation."""
    found, offset, indent = [], 0, 0
    for (begin, line), text in zip(_lines(raw), value.split("\n"), strict=False):
        indent = indent or (len(line) - len(text) if text else 0)
        found.append((offset, start + begin + min(indent, len(line))))
        offset += len(text) + 1
    return tuple(found) or ((0, start),)


def _lines(raw: str) -> Iterator[tuple[int, str]]:
    """Where each line behind the header of a block starts, and the line."""
    begin = 0
    for end in re.finditer(_BREAK, raw):
        if begin:
            yield begin, raw[begin : end.start()]
        begin = end.end()
    if begin:
        yield begin, raw[begin:]
