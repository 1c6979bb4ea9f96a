"""Nodes → something that searches: google-re2 where it is installed, else the standard library's `re` while the text is
short enough for it, else the linear matcher. All three give the same answers."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, cached_property
from typing import Any

from historycompat.regex import shape
from historycompat.regex.linear import Program, Spans
from historycompat.regex.nodes import Alt, Assert, Char, Group, Node, Ranges, Repeat, Seq, inverted
from historycompat.regex.syntax import Parser

# Steps that backtracking may take, at some ten nanoseconds each, before the linear matcher is the better choice.
_STEPS = 1_000_000

# Finds the first match at or after a position; the slots are start and end of the match and of each group.
Search = Callable[[str, int], Spans | None]

# How the engines spell the places between characters.
_RE2 = {"start": r"\A", "end": r"\z", "line_start": "(?m:^)", "line_end": "(?m:$)", "word": r"\b"}
_RE = _RE2 | {"end": r"\Z"}


def emit(node: Node, places: dict[str, str]) -> str:
    """The pattern in syntax that both engines read alike, without flags."""
    match node:
        case Char(ranges):
            return _emit_char(ranges)
        case Assert(kind):
            return places[kind]
        case Seq(items):
            emitted = ((item, emit(item, places)) for item in items)
            return "".join(f"(?:{text})" if isinstance(item, Alt) else text for item, text in emitted)
        case Alt(branches):
            return "|".join(emit(branch, places) for branch in branches)
        case Group(body):
            return f"({emit(body, places)})"
        case Repeat(body, low, high, lazy):
            count = {(0, None): "*", (1, None): "+", (0, 1): "?"}.get((low, high))
            count = count or f"{{{low},{'' if high is None else high}}}"
            return f"(?:{emit(body, places)}){count}{'?' if lazy else ''}"


def _emit_char(ranges: Ranges) -> str:
    if len(ranges) == 1 and ranges[0][0] == ranges[0][1]:
        return _quoted(ranges[0][0])
    # The shorter form, which also keeps the edges of the surrogates out of the pattern: RE2 cannot be told of them.
    others = inverted(ranges)
    sign, shown = ("^", others) if 0 < len(others) <= len(ranges) or not ranges else ("", ranges)
    return f"[{sign}" + "".join(f"{_quoted(low)}-{_quoted(high)}" for low, high in shown) + "]"


def _quoted(code: int) -> str:
    char = chr(code)
    return char if code > 127 or char.isalnum() or char in "_\n \t\r\f\v" else f"\\x{code:02x}"


@cache
def _re2() -> Any:
    """The module of the optional extra, or None."""
    try:
        import re2
    except ImportError:
        return None
    return re2


def with_re2(node: Node) -> Search | None:
    module = _re2()
    if module is None:
        return None
    options = module.Options()
    options.log_errors = False
    options.max_mem = 64 << 20
    compiled = module.compile(emit(node, _RE2), options)
    standby = Fallback(node)

    def search(text: str, position: int) -> Spans | None:
        try:
            return _slots(compiled.search(text, position))
        except UnicodeEncodeError:  # half a surrogate pair, which RE2 has no way to see
            return standby(text, position)

    return search


class Fallback:
    """Searches without google-re2."""

    def __init__(self, node: Node) -> None:
        self.node = node

    def __call__(self, text: str, position: int) -> Spans | None:
        if self._exponent == 1 or len(text) ** self._exponent <= _STEPS:
            return _slots(self._compiled.search(text, position))
        return self.linearly(text, position)

    def linearly(self, text: str, position: int) -> Spans | None:
        if position == 0 and not self._may_occur(text):
            return None
        return self._program.search(text, position)

    def _may_occur(self, text: str) -> bool:
        return (self._literal is None or self._literal in text.lower()) and self._question.occurs(text)

    @cached_property
    def _exponent(self) -> float:
        return shape.exponent(self.node)

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(emit(self.node, _RE), re.ASCII)

    @cached_property
    def _literal(self) -> str | None:
        return shape.literal(self.node)

    @cached_property
    def _question(self) -> Program:
        return Program(shape.without_outer_runs(self.node))

    @cached_property
    def _program(self) -> Program:
        return Program(self.node, sum(isinstance(inner, Group) for inner in shape.walk(self.node)))


def _slots(found: Any) -> Spans | None:
    if found is None:
        return None
    spans = (found.span(number) for number in range(len(found.groups()) + 1))
    return tuple(None if place < 0 else place for span in spans for place in span)


# The ways to search, by name; without a name the first that is there.
ENGINES: dict[str, Callable[[Node], Search | None]] = {
    "re2": with_re2,
    "re": Fallback,
    "linear": lambda node: Fallback(node).linearly,
}


def engine(parsed: Parser, whole: bool, name: str | None) -> Search:
    node = Seq((Assert("start"), parsed.root, Assert("end"))) if whole else parsed.root
    for candidate in [name] if name else ENGINES:
        search = ENGINES[candidate](node)
        if search is not None:
            return search
    raise ModuleNotFoundError("google-re2 is not installed")
