"""Pattern text → nodes: the part of RE2's syntax that every engine reads the same way."""

from __future__ import annotations

from typing import NoReturn

from historycompat.regex.foreign import FOREIGN_ESCAPES, FOREIGN_GROUPS
from historycompat.regex.nodes import (
    ANY,
    CLASSES,
    LAST,
    NOT_NEWLINE,
    POSIX,
    Alt,
    Assert,
    Char,
    Group,
    Node,
    Ranges,
    Repeat,
    Seq,
    both_cases,
    inverted,
    merged,
)
from historycompat.regex.problem import Problem, RegexError

FLAGS = "ims"
MAX_COUNT = 1000  # RE2's own limit for `{n}`
MAX_DEPTH = 50

_CONTROLS = {"a": 7, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}
_ASSERTIONS = {"A": "start", "z": "end", "b": "word"}


class Parser:
    """Reads one pattern. `root` is its node, `names` the group names by number (None where a group has none)."""

    def __init__(self, pattern: str, flags: str = "") -> None:
        self.text = pattern
        self.at = 0
        self.flags = frozenset(flags)
        self.names: list[str | None] = []
        for flag in flags:
            if flag not in FLAGS:
                self.refuse(f"there is no flag `{flag}`", len(pattern), len(pattern), "the flags are i, m and s")
        self.root = self._alternatives(0)
        if self.at < len(pattern):
            self.refuse("this `)` closes nothing", self.at, self.at + 1, "write `\\)` for the character itself")

    def refuse(self, message: str, start: int, end: int, suggestion: str | None = None) -> NoReturn:
        raise RegexError(Problem("E301", message, start, end, suggestion))

    def _alternatives(self, depth: int) -> Node:
        outer = self.flags
        branches = [self._sequence(depth)]
        while self._take("|"):
            branches.append(self._sequence(depth))
        self.flags = outer
        return branches[0] if len(branches) == 1 else Alt(tuple(branches))

    def _sequence(self, depth: int) -> Node:
        items: list[Node] = []
        while self.at < len(self.text) and self.text[self.at] not in "|)":
            start = self.at
            atom = self._atom(depth)
            if atom is not None:
                items.append(self._repeated(atom, start))
        return items[0] if len(items) == 1 else Seq(tuple(items))

    def _take(self, text: str) -> bool:
        found = self.text.startswith(text, self.at)
        self.at += len(text) if found else 0
        return found

    # ----- atoms

    def _atom(self, depth: int) -> Node | None:
        char = self.text[self.at]
        match char:
            case "(":
                return self._group(depth)
            case "[":
                return self._class()
            case "\\":
                return self._escape()
            case ".":
                self.at += 1
                return Char(ANY if "s" in self.flags else NOT_NEWLINE)
            case "^" | "$":
                self.at += 1
                edge = "start" if char == "^" else "end"
                return Assert(f"line_{edge}" if "m" in self.flags else edge)
            case "*" | "+" | "?":
                self.refuse(f"there is nothing for `{char}` to repeat", self.at, self.at + 1, f"write `\\{char}`")
        if char == "{" and self._counts():
            self.refuse("there is nothing for `{` to repeat", self.at, self.at + 1, "write `\\{`")
        self.at += 1
        return self._char(ord(char))

    def _char(self, code: int) -> Char:
        if 0xD800 <= code <= 0xDFFF:
            self.refuse("half of a surrogate pair is no character", self.at - 1, self.at)
        one: Ranges = ((code, code),)
        return Char(both_cases(one) if "i" in self.flags else one)

    def _escape(self) -> Node:
        start = self.at
        self.at += 2
        name = self.text[start + 1 : start + 2]
        if name in _ASSERTIONS:
            return Assert(_ASSERTIONS[name])
        if name in CLASSES:
            return Char(CLASSES[name])
        return self._char(self._escaped(start))

    def _escaped(self, start: int) -> int:
        """The code point of the escape at `start`, whose first two characters are already read."""
        name = self.text[start + 1 : start + 2]
        if not name:
            self.refuse("a backslash at the end escapes nothing", start, start + 1, "write `\\\\` for a backslash")
        if name in _CONTROLS:
            return _CONTROLS[name]
        if name == "x" and (code := self._hexadecimal()) is not None:
            return code
        if name in FOREIGN_ESCAPES:
            self.refuse(FOREIGN_ESCAPES[name][0], start, start + 2, FOREIGN_ESCAPES[name][1])
        if name.isascii() and name.isalnum():
            self.refuse(f"`\\{name}` means nothing", start, start + 2, f"write `{name}` for the letter itself")
        return ord(name)

    def _hexadecimal(self) -> int | None:
        braced = self._take("{")
        end = self.text.find("}", self.at) if braced else self.at + 2
        digits = self.text[self.at : end] if end >= 0 else ""
        known = 1 <= len(digits) <= 6 and all(c in "0123456789abcdefABCDEF" for c in digits)
        if not known or (not braced and len(digits) != 2) or int(digits, 16) > LAST:
            return None
        self.at = end + braced
        return int(digits, 16)

    # ----- groups

    def _group(self, depth: int) -> Node | None:
        start = self.at
        if depth >= MAX_DEPTH:
            self.refuse(f"more than {MAX_DEPTH} groups inside one another", start, start + 1)
        for opening, what, instead in FOREIGN_GROUPS:
            if self.text.startswith(opening, start):
                self.refuse(f"{what} is not in the RE2 dialect", start, start + len(opening), instead)
        outer, index, name = self.flags, 0, None
        self.at += 1
        if self._take("?P<") or self._take("?<"):
            name = self._name(start)
        elif self._take("?"):
            if self._inline_flags(start):
                return None
            index = -1
        if index == 0:
            self.names.append(name)
            index = len(self.names)
        body = self._alternatives(depth + 1)
        self.flags = outer
        if not self._take(")"):
            hint = "add `)`, or write `\\(` for the character itself"
            self.refuse("this `(` is never closed", start, start + 1, hint)
        return body if index < 0 else Group(body, index, name)

    def _name(self, start: int) -> str:
        end = self.text.find(">", self.at)
        name = self.text[self.at : max(end, self.at)]
        if not (name.isascii() and name.isidentifier()):
            self.refuse("a group name is letters, digits and _", start, self.at + len(name), "write `(?P<name>..)`")
        if name in self.names:
            self.refuse(f"there is already a group `{name}`", self.at, end, "give it another name")
        self.at = end + 1
        return name

    def _inline_flags(self, start: int) -> bool:
        """Read `ims-ims` and `:` or `)`; whether the flags hold for the rest of the enclosing group."""
        on = True
        while self.at < len(self.text) and (char := self.text[self.at]) not in ":)":
            self.at += 1
            if char == "-" and on:
                on = False
            elif char in FLAGS:
                self.flags = self.flags | {char} if on else self.flags - {char}
            else:
                opening = self.text[start : self.at]
                self.refuse(f"`{opening}` opens no group", start, self.at, "the flags are i, m and s")
        closed = self._take(")")
        if not closed and not self._take(":"):
            self.refuse("this `(` is never closed", start, start + 1, "add `)`")
        return closed

    # ----- character classes

    def _class(self) -> Char:
        start = self.at
        self.at += 1
        negated = self._take("^")
        ranges: list[tuple[int, int]] = []
        first = True
        while first or not self._take("]"):
            if self.at >= len(self.text):
                hint = "add `]`, or write `\\[` for the character itself"
                self.refuse("this `[` is never closed", start, start + 1, hint)
            first = False
            ranges += self._class_item()
        found = merged(ranges)
        found = both_cases(found) if "i" in self.flags else found
        return Char(inverted(found) if negated else found)

    def _class_item(self) -> Ranges:
        start = self.at
        if self.text.startswith("[:", start):
            return self._posix(start)
        low = self._class_end()
        if not isinstance(low, int):
            return low
        if not self.text.startswith("-", self.at) or self.text[self.at + 1 : self.at + 2] in ("]", ""):
            return ((low, low),)
        self.at += 1
        high = self._class_end()
        if not isinstance(high, int) or high < low:
            hint = "write the lower end first, and `\\-` for a hyphen"
            self.refuse("this range has no characters", start, self.at, hint)
        return ((low, high),)

    def _class_end(self) -> int | Ranges:
        start = self.at
        char = self.text[start]
        if char != "\\":
            self.at += 1
            code = ord(char)
        else:
            self.at += 2
            name = self.text[start + 1 : start + 2]
            if name in CLASSES:
                return CLASSES[name]
            code = self._escaped(start)
        if 0xD800 <= code <= 0xDFFF:
            self.refuse("half of a surrogate pair is no character", start, self.at)
        return code

    def _posix(self, start: int) -> Ranges:
        end = self.text.find(":]", start)
        name = self.text[start + 2 : end] if end >= 0 else ""
        if name not in POSIX:
            known = ", ".join(POSIX)
            self.refuse("this is no class of characters", start, max(end, start) + 2, f"the names are {known}")
        self.at = end + 2
        return POSIX[name]

    def _repeated(self, atom: Node, start: int) -> Node:
        here = self.at
        found = self._quantifier()
        if found is None:
            return atom
        low, high = found
        if isinstance(atom, Assert):
            self.refuse("a place between characters cannot be repeated", start, self.at, "take the quantifier away")
        lazy = self._take("?")
        if self._take("+"):
            plain = self.text[start : self.at - 1]
            self.refuse("a possessive quantifier is not in the RE2 dialect", here, self.at, f"write `{plain}`")
        again = self.at
        if self._quantifier() is not None:
            hint = f"write `(?:{self.text[start:again]})` around the first"
            self.refuse("a quantifier cannot follow a quantifier", again, self.at, hint)
        return Repeat(atom, low, high, lazy, start, again)

    def _quantifier(self) -> tuple[int, int | None] | None:
        for sign, low, high in (("*", 0, None), ("+", 1, None), ("?", 0, 1)):
            if self._take(sign):
                return low, high
        counts = self._counts()
        if counts is None:
            return None
        low, high, end = counts
        if max(low, high or 0) > MAX_COUNT:
            hint = "write `{n,}` or `+`, and check the length elsewhere"
            self.refuse(f"more than {MAX_COUNT} repetitions", self.at, end, hint)
        if high is not None and high < low:
            self.refuse("the larger number comes first", self.at, end, f"write `{{{high},{low}}}`")
        self.at = end
        return low, high

    def _counts(self) -> tuple[int, int | None, int] | None:
        """`{n}`, `{n,}` or `{n,m}` here, and where it ends. Anything else after `{` is text, as in RE2."""
        end = self.text.find("}", self.at)
        if not self.text.startswith("{", self.at) or end < 0:
            return None
        low, comma, high = self.text[self.at + 1 : end].partition(",")
        if comma and not low and high.isdecimal():
            hint = f"write `{{0,{high}}}`, or `\\{{` for the character itself"
            self.refuse("a count needs its lower end", self.at, end + 1, hint)
        if not (low.isascii() and low.isdecimal()) or (high and not (high.isascii() and high.isdecimal())):
            return None
        return int(low), (int(high) if high else None if comma else int(low)), end + 1
