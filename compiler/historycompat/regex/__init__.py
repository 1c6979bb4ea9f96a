"""Pattern text → a matcher of the RE2 dialect: no backreferences, no lookaround, time linear in the text.

`$` without the flag m is the very end of the text; `\\d \\w \\s \\b` and the flag i know ASCII alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache

from historycompat.regex import shape, verdicts
from historycompat.regex.engines import Search, engine
from historycompat.regex.linear import Spans
from historycompat.regex.problem import Problem, RegexError
from historycompat.regex.syntax import Parser

__all__ = [
    "Match",
    "Problem",
    "Regex",
    "RegexError",
    "cap_text",
    "compile_regex",
    "parsed",
    "problems",
    "required_literal",
    "unknown_group",
]

MESSAGE_LIMIT = 8 * 1024
BODY_LIMIT = 64 * 1024

_REFERENCE = re.compile(r"\\([0-9\\])")

# Line breaks keep `.` from matching across what was left out.
_GAP = "\n[...]\n"


@dataclass(frozen=True, slots=True)
class Match:
    """Where a pattern matched. Group 0 is the whole match; a group that took no part is None."""

    text: str
    slots: Spans
    names: tuple[str | None, ...]

    def span(self, group: int | str = 0) -> tuple[int, int]:
        """Start and end of a group, (-1, -1) where it took no part. Raises IndexError for an unknown group."""
        number = group if isinstance(group, int) else self._number(group)
        start, end = self.slots[2 * number : 2 * number + 2]
        return (-1, -1) if start is None or end is None else (start, end)

    def group(self, group: int | str = 0) -> str | None:
        start, end = self.span(group)
        return None if start < 0 else self.text[start:end]

    def groups(self) -> tuple[str | None, ...]:
        return tuple(self.group(number) for number in range(1, len(self.names) + 1))

    def groupdict(self) -> dict[str, str | None]:
        return {name: self.group(number) for number, name in enumerate(self.names, 1) if name}

    def _number(self, name: str) -> int:
        if name not in self.names:
            raise IndexError(f"there is no group {name!r}")
        return self.names.index(name) + 1


@dataclass(frozen=True)
class Regex:
    """A pattern with its flags, made ready at its first use. Get one with `compile_regex`."""

    pattern: str
    flags: str = ""
    _engine: str | None = None

    def search(self, text: str) -> Match | None:
        """The first match anywhere in a text. Raises RegexError where the pattern is outside the dialect."""
        return self._match(text, self._search(text, 0))

    def fullmatch(self, text: str) -> Match | None:
        """A match of the whole text."""
        return self._match(text, self._whole(text, 0))

    def sub(self, replacement: str, text: str) -> str:
        """The text with every match replaced. In the replacement `\\1` to `\\9` stand for what a group matched (nothing
        where it took no part or does not exist), `\\0` for the whole match and `\\\\` for a backslash."""
        out: list[str] = []
        copied = at = 0
        while at <= len(text) and (slots := self._search(text, at)) is not None:
            start, end = slots[0], slots[1]
            assert start is not None
            assert end is not None
            out += text[copied:start], _expanded(replacement, text, slots)
            copied, at = end, end + (start == end)
        return "".join(out) + text[copied:]

    def _match(self, text: str, slots: Spans | None) -> Match | None:
        return None if slots is None else Match(text, slots, tuple(self._parsed.names))

    @cached_property
    def _parsed(self) -> Parser:
        return parsed(self.pattern, self.flags)

    @cached_property
    def _search(self) -> Search:
        return engine(self._parsed, False, self._engine)

    @cached_property
    def _whole(self) -> Search:
        return engine(self._parsed, True, self._engine)

    def __reduce__(self) -> tuple[object, ...]:
        return compile_regex, (self.pattern, self.flags, self._engine)


def _expanded(replacement: str, text: str, slots: Spans) -> str:
    if "\\" not in replacement:
        return replacement

    def piece(found: re.Match[str]) -> str:
        if found[1] == "\\":
            return "\\"
        span = slots[2 * int(found[1]) : 2 * int(found[1]) + 2]
        return text[slice(*span)] if span and None not in span else ""

    return _REFERENCE.sub(piece, replacement)


@lru_cache(maxsize=2048)
def compile_regex(pattern: str, flags: str = "", _engine: str | None = None) -> Regex:
    """A matcher for a pattern and flags out of `ims`. Nothing is refused here: `problems` tells what would be."""
    return Regex(pattern, flags, _engine)


@lru_cache(maxsize=2048)
def parsed(pattern: str, flags: str = "") -> Parser:
    """A pattern as read. Raises RegexError where it is outside the dialect."""
    return Parser(pattern, flags)


@lru_cache(maxsize=2048)
def problems(pattern: str, flags: str = "") -> tuple[Problem, ...]:
    """What is wrong with a pattern: E301 (refused), W302 (matches everything or nothing), W303 (slow shape)."""
    try:
        return tuple(verdicts.problems(parsed(pattern, flags).root, pattern))
    except RegexError as error:
        return (error.problem,)


def unknown_group(pattern: str, flags: str, replacement: str) -> int | None:
    """The first group that a replacement asks for and the pattern does not have."""
    known = len(parsed(pattern, flags).names)
    asked = (int(number) for number in _REFERENCE.findall(replacement) if number != "\\")
    return next((number for number in asked if number > known), None)


@lru_cache(maxsize=2048)
def required_literal(pattern: str, flags: str = "") -> str | None:
    """The longest text that every match contains, in lower case, to be looked for in `text.lower()` before a search."""
    return shape.literal(parsed(pattern, flags).root)


def cap_text(text: str, limit: int = BODY_LIMIT) -> str:
    """At most `limit` characters of a text: both ends, with a line `[...]` for what was left out."""
    if len(text) <= limit:
        return text
    keep = max(limit - len(_GAP), 0)
    return text[: keep - keep // 2] + _GAP + text[len(text) - keep // 2 :]
