"""Text with the place of every character: where a rule was written, down to the column."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Place:
    """A point in a file as an author reads it. Lines and columns start at 1; columns count characters."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class Source:
    """A whole file: its name as shown to people, and its text."""

    name: str
    text: str = field(repr=False)

    def place(self, offset: int) -> Place:
        """The line and column of a character offset; an offset past the end is the end."""
        offset = min(max(offset, 0), len(self.text))
        line_start = self.text.rfind("\n", 0, offset) + 1
        return Place(self.name, self.text.count("\n", 0, offset) + 1, offset - line_start + 1)

    def line(self, number: int) -> str:
        """The text of a line (from 1) without its line break."""
        lines = self.text.split("\n")
        return lines[number - 1].rstrip("\r") if 0 < number <= len(lines) else ""


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of a file, `start` to `end` (exclusive), in characters."""

    source: Source
    start: int
    end: int

    @property
    def place(self) -> Place:
        return self.source.place(self.start)

    @property
    def text(self) -> str:
        return self.source.text[self.start : self.end]

    def to(self, other: Span) -> Span:
        """From the start of this span to the end of `other`."""
        return Span(self.source, self.start, max(self.end, other.end))


@dataclass(frozen=True, slots=True)
class Fragment:
    """DSL text cut out of a file, e.g. the content of a YAML block scalar.

    `anchors` maps fragment offsets to file offsets: `(fragment_offset, file_offset)` pairs in rising order, each
    valid until the next. A plain stretch of a file needs one anchor; a block scalar one for each line.
    """

    source: Source
    text: str
    anchors: tuple[tuple[int, int], ...] = ((0, 0),)

    @classmethod
    def whole(cls, source: Source) -> Fragment:
        return cls(source, source.text)

    def offset(self, position: int) -> int:
        """The file offset of a position in the fragment."""
        index = max(bisect_right(self.anchors, (position, float("inf"))) - 1, 0)
        at, file_offset = self.anchors[index]
        return file_offset + (position - at)

    def span(self, start: int, end: int) -> Span:
        first = self.offset(start)
        last = self.offset(end - 1) + 1 if end > start else first
        return Span(self.source, first, max(first, last))
