"""A rule file → the same with one mistake in it, as authors and editors make them, and where that stands."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

_TOKEN = re.compile(r"[\w-]+|[^\w\s]")
_LINE = re.compile(r"[^\n]*\n")
_SCALAR = re.compile(r"(?:- |: )(\S[^\n]*)")
_JUNK = "{}[]()'\"`/|\\:;,.!?*&#@$%^~<>=+- \t\n\u00e9\u200b\u201cxX0"
_STRUCTURES = (
    "[x, y]",
    "{a: b}",
    "- x",
    "*alias",
    "&anchor x",
    "!tag x",
    "|-",
    ">-",
    "null",
    "'",
    '"',
    "? x",
    "[",
    "{",
)


@dataclass(frozen=True)
class Mutated:
    """The text after, and the stretch of it that is not as it was."""

    text: str
    start: int
    end: int
    how: str


def mutate(text: str, random: Random) -> Mutated:
    """One mutation of a text that is not empty, drawn from all kinds."""
    kind = random.choice(tuple(_KINDS))
    start, end, new = _KINDS[kind](text, random)
    return Mutated(text[:start] + new + text[end:], start, start + len(new), kind)


Change = tuple[int, int, str]


def _byte(text: str, random: Random) -> Change:
    at = random.randrange(len(text))
    return random.choice(((at, at + 1, ""), (at, at, random.choice(_JUNK)), (at, at + 1, random.choice(_JUNK))))


def _token(text: str, random: Random) -> Change:
    found = list(_TOKEN.finditer(text))
    at = random.randrange(len(found) - 1)
    one, other = found[at], found[at + 1]
    word = one[0]
    return random.choice(
        (
            (one.start(), one.end(), ""),
            (one.start(), one.end(), f"{word} {word}"),
            (one.start(), other.end(), other[0] + text[one.end() : other.start()] + word),
            (one.start(), one.end(), random.choice(found)[0]),
            (one.start(), one.end(), _misspelt(word, random)),
        )
    )


def _misspelt(word: str, random: Random) -> str:
    at = random.randrange(len(word))
    return random.choice((word[:at] + word[at + 1 :], word[: at + 1] + word[at:], word[:at] + "q" + word[at + 1 :]))


def _line(text: str, random: Random) -> Change:
    found = list(_LINE.finditer(text))
    at = random.randrange(len(found) - 1)
    one, other = found[at], found[at + 1]
    return random.choice(
        (
            (one.start(), one.end(), ""),
            (one.start(), one.end(), one[0] + one[0]),
            (one.start(), other.end(), other[0] + one[0]),
            (one.start(), one.end(), " " + one[0]),
            (one.start(), one.end(), one[0].removeprefix("  ")),
            (one.end() - 1, one.end(), " "),
        )
    )


def _structure(text: str, random: Random) -> Change:
    found = random.choice(list(_SCALAR.finditer(text)) or [re.match("", text)])
    assert found
    start, end = found.span(1) if found.lastindex else (0, 0)
    return random.choice(((start, end, random.choice(_STRUCTURES)), (start, start, random.choice(_STRUCTURES) + " ")))


_KINDS: dict[str, Callable[[str, Random], Change]] = {
    "byte": _byte,
    "token": _token,
    "line": _line,
    "structure": _structure,
}
