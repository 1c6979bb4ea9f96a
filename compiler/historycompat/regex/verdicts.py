"""Nodes → what is wrong with a pattern that is inside the dialect."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise

from historycompat.regex.linear import Program
from historycompat.regex.nodes import ANY, NOT_NEWLINE, Alt, Assert, Char, Group, Node, Repeat, Seq
from historycompat.regex.problem import Problem
from historycompat.regex.shape import compete, flat, is_delimited, loops, nullable, walk, without_outer_runs
from historycompat.regex.syntax import MAX_COUNT

_NESTED = "give each round a character of its own that ends it, or drop the inner quantifier"


def problems(node: Node, pattern: str) -> Iterator[Problem]:
    """E301 for what could take exponential time or space, W302 and W303 for what can hardly be meant."""
    refused = list(_refused(node))
    if refused:
        yield from refused
        return
    try:
        program = Program(node)
    except OverflowError:
        message = "written out, the counts make this pattern too large"
        yield Problem("E301", message, 0, len(pattern), "use smaller counts")
        return
    if not program.can_match():
        yield Problem("W302", "this matches nothing", 0, len(pattern), "look for text beyond `$` or before `^`")
    elif what := _everything(node):
        yield Problem("W302", f"this matches {what}", 0, len(pattern), "name some text that must be there")
    yield from _slow(without_outer_runs(node))


def _refused(node: Node) -> Iterator[Problem]:
    for repeat in (inner for inner in walk(node) if isinstance(inner, Repeat)):
        many = repeat.high is None or repeat.high > 1
        if many and nullable(repeat.body):
            message = "what is repeated here can be empty"
            yield Problem("E301", message, repeat.start, repeat.end, "take the inner `*` or `?` away")
        elif (
            repeat.high is None
            and not is_delimited(repeat.body)
            and any(isinstance(inner, Repeat) and inner.high is None for inner in walk(repeat.body))
        ):
            message = "a quantifier inside a quantifier can share out the same text in exponentially many ways"
            yield Problem("E301", message, repeat.start, repeat.end, _NESTED)
        elif _product(repeat) > MAX_COUNT:
            message = f"these counts multiply to more than {MAX_COUNT}"
            yield Problem("E301", message, repeat.start, repeat.end, "use smaller counts")


def _product(node: Node) -> int:
    match node:
        case Seq(items) | Alt(items):
            return max(map(_product, items), default=1)
        case Group(body):
            return _product(body)
        case Repeat(body, low, high):
            return max(low, high or 1, 1) * _product(body)
    return 1


def _everything(node: Node) -> str | None:
    items = list(flat(without_outer_runs(node)))
    edges = {item.kind.removeprefix("line_") for item in items if isinstance(item, Assert)}
    rest = [item for item in items if not isinstance(item, Assert)]
    if nullable(node) and (not edges or edges in ({"start"}, {"end"})):
        return "every text"
    if len(rest) != 1 or not edges <= {"start", "end"}:
        return None
    one = rest[0].body if isinstance(rest[0], Repeat) else rest[0]
    if one not in (Char(ANY), Char(NOT_NEWLINE)):
        return None
    unlimited = isinstance(rest[0], Repeat) and rest[0].high is None
    if nullable(rest[0]) and unlimited:
        return "every line of text"
    return "every text but the empty one" if unlimited or not edges else None


def _slow(node: Node) -> Iterator[Problem]:
    if loops(node) == math.inf:
        runs = [inner for inner in walk(node) if isinstance(inner, Repeat)]
        start, end = (runs[0].start, runs[-1].end) if runs else (0, 0)
        hint = "write fewer `|`, `?` and counts in a row"
        yield Problem("W303", "so many alternatives make this slow", start, end, hint)
        return
    runs = [inner for inner in flat(node) if isinstance(inner, Repeat) and loops(inner)]
    for first, second in pairwise(runs):
        items = list(flat(node))
        if compete(first, second, items[items.index(first) + 1 : items.index(second)]):
            message = "these two runs can share out the same text in many ways, which is slow"
            hint = 'say what may not stand between, as in `[^"]*`, or keep the more telling half'
            yield Problem("W303", message, first.start, second.end, hint)
            return
