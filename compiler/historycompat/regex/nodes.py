"""What a pattern is made of: sets of characters, and the nodes of its tree.

Flags are already resolved in nodes, so that one means the same under any engine: `i` has widened ASCII letters to both
cases, `s` and `m` have chosen what `.`, `^` and `$` stand for. Classes are ASCII, as in RE2
(https://github.com/google/re2/wiki/Syntax).
"""

from __future__ import annotations

from dataclasses import dataclass

LAST = 0x10FFFF

Ranges = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Char:
    """One character out of sorted, disjoint ranges of code points."""

    ranges: Ranges


@dataclass(frozen=True, slots=True)
class Seq:
    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Alt:
    branches: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """A capturing group, numbered from 1 in the order of opening brackets."""

    body: Node
    index: int
    name: str | None


@dataclass(frozen=True, slots=True)
class Repeat:
    """`low` to `high` times (None: without end). `start` and `end` are its offsets in the pattern."""

    body: Node
    low: int
    high: int | None
    lazy: bool
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Assert:
    """A place between characters: `start end line_start line_end word`."""

    kind: str


Node = Char | Seq | Alt | Group | Repeat | Assert


def merged(ranges: list[tuple[int, int]]) -> Ranges:
    """Sorted and joined where they touch."""
    out: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if out and low <= out[-1][1] + 1:
            out[-1] = (out[-1][0], max(out[-1][1], high))
        else:
            out.append((low, high))
    return tuple(out)


def inverted(ranges: Ranges) -> Ranges:
    out, at = [], 0
    for low, high in ranges:
        if at < low:
            out.append((at, low - 1))
        at = high + 1
    return (*out, (at, LAST)) if at <= LAST else tuple(out)


def both_cases(ranges: Ranges) -> Ranges:
    """With the other case of every ASCII letter in them."""
    out = list(ranges)
    for low, high in ranges:
        for first, last, step in ((65, 90, 32), (97, 122, -32)):
            if max(low, first) <= min(high, last):
                out.append((max(low, first) + step, min(high, last) + step))
    return merged(out)


def _set(text: str) -> Ranges:
    return merged([(ord(pair[0]), ord(pair[-1])) for pair in text.split("|")])


DIGIT, WORD, SPACE = _set("0-9"), _set("0-9|A-Z|_|a-z"), _set("\t-\n|\f-\r| ")
NOT_NEWLINE = inverted(((10, 10),))
ANY: Ranges = ((0, LAST),)

CLASSES = {"d": DIGIT, "w": WORD, "s": SPACE} | {"D": inverted(DIGIT), "W": inverted(WORD), "S": inverted(SPACE)}
POSIX = {
    "alnum": _set("0-9|A-Z|a-z"), "alpha": _set("A-Z|a-z"), "digit": DIGIT, "lower": _set("a-z"), "upper": _set("A-Z"),
    "space": _set("\t-\r| "), "punct": _set("!-/|:-@|[-`|{-~"), "xdigit": _set("0-9|A-F|a-f"), "word": WORD,
}  # fmt: skip
