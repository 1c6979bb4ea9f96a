"""Nodes → what can be said about a pattern without a text: how a backtracking matcher would fare, and the text that
every match contains."""

from __future__ import annotations

import math
from collections.abc import Iterator

from historycompat.regex.nodes import (
    ANY,
    NOT_NEWLINE,
    Alt,
    Assert,
    Char,
    Group,
    Node,
    Ranges,
    Repeat,
    Seq,
    inverted,
    merged,
)

_MANY = 16  # a bounded repetition from here on costs as much as an unbounded one
_MAX_CHOICES = 10  # so many alternatives in a row are tried by brute force


def flat(node: Node) -> Iterator[Node]:
    """The items in a row, groups and sequences taken apart."""
    match node:
        case Seq(items):
            for item in items:
                yield from flat(item)
        case Group(body):
            yield from flat(body)
        case _:
            yield node


def walk(node: Node) -> Iterator[Node]:
    yield node
    match node:
        case Seq(items) | Alt(items):
            for item in items:
                yield from walk(item)
        case Group(body) | Repeat(body):
            yield from walk(body)


def nullable(node: Node) -> bool:
    """Whether it can match the empty text, places between characters aside."""
    match node:
        case Char():
            return False
        case Assert():
            return True
        case Seq(items):
            return all(map(nullable, items))
        case Alt(branches):
            return any(map(nullable, branches))
        case Group(body):
            return nullable(body)
        case Repeat(body, low):
            return low == 0 or nullable(body)


def alphabet(node: Node) -> Ranges:
    """Every character that can stand in a match."""
    return merged([pair for inner in walk(node) if isinstance(inner, Char) for pair in inner.ranges])


def common(a: Ranges, b: Ranges) -> Ranges:
    return inverted(merged([*inverted(a), *inverted(b)]))


# ----- cost


def is_long(node: Node) -> bool:
    return isinstance(node, Repeat) and (node.high is None or node.high >= _MANY)


def is_delimited(body: Node) -> bool:
    """Whether each round of a repeated body has exactly one character that nothing else in the body can be."""
    items = list(flat(body))
    for index, item in enumerate(items):
        if isinstance(item, Char):
            rest = alphabet(Seq((*items[:index], *items[index + 1 :])))
            if not common(item.ranges, rest):
                return True
    return False


def loops(node: Node) -> float:
    """How many repetitions in a row can share out the same text in different ways: the exponent of a backtracking
    matcher's time. Infinite where it is exponential, or where nothing better is known."""
    if _choices(node) > _MAX_CHOICES:
        return math.inf
    match node:
        case Char() | Assert():
            return 0
        case Alt(branches):
            return max(map(loops, branches))
        case Repeat(body):
            return _loops_of_repeat(node, body)
        case _:
            return max((weight for weight, _ in _chains(list(flat(node)))), default=0)


def _loops_of_repeat(node: Repeat, body: Node) -> float:
    if not is_long(node):
        return loops(body) if node.high == 1 or is_delimited(body) or not loops(body) else math.inf
    if all(isinstance(item, (Char, Assert)) for item in flat(body)):
        return 1
    if isinstance(body, Group):
        return _loops_of_repeat(node, body.body)
    if isinstance(body, Alt) and _one_of(body):
        return 1
    return 1 + loops(body) if is_delimited(body) else math.inf


def _one_of(alt: Alt) -> bool:
    return all(isinstance(branch, Char) for branch in alt.branches) and not any(
        common(alphabet(a), alphabet(b)) for i, a in enumerate(alt.branches) for b in alt.branches[i + 1 :]
    )


def _choices(node: Node) -> int:
    match node:
        case Char() | Assert():
            return 0
        case Seq(items):
            return sum(map(_choices, items))
        case Alt(branches):
            return 1 + max(map(_choices, branches))
        case Group(body):
            return _choices(body)
        case Repeat(body, low, high):
            if is_long(node):
                return 0
            return max(high or 1, 1) * _choices(body) + (high or 0) - low


def _chains(items: list[Node]) -> list[tuple[float, Node]]:
    """For each repetition in a row: the most loops on the way up to it that compete for the same text."""
    ends: list[tuple[float, Node]] = []
    at: list[int] = []
    for index, item in enumerate(items):
        own = loops(item)
        if own:
            before = (w for (w, other), i in zip(ends, at, strict=True) if compete(other, item, items[i + 1 : index]))
            ends.append((own + max(before, default=0), item))
            at.append(index)
    return ends


def compete(first: Node, second: Node, between: list[Node]) -> bool:
    """Whether text between two repetitions can be eaten by either of them."""
    shared = common(alphabet(first), alphabet(second))
    return bool(shared) and all(nullable(item) or common(alphabet(item), shared) for item in between)


def exponent(node: Node) -> float:
    """The exponent of a backtracking search: its loops, and the search for a beginning as one more."""
    items = list(flat(node))
    if not items or items[0] == Assert("start"):
        return max(loops(node), 1)
    return max(loops(Seq((Repeat(Char(ANY), 0, None, True, 0, 0), *items))), 1)


# ----- a search


def without_outer_runs(node: Node) -> Node:
    """The same question without `.*` at its ends, which a search does not need. Only for whether, not for where."""
    items: list[Node] = list(node.items) if isinstance(node, Seq) else [node]
    while len(items) > 1 and (needless := _needless(items)):
        del items[:needless]
    items.reverse()
    while len(items) > 1 and (needless := _needless(items)):
        del items[:needless]
    items.reverse()
    return items[0] if len(items) == 1 else Seq(tuple(items))


def _needless(items: list[Node]) -> int:
    """How many items at an end match anywhere: a run, or a run that always reaches the edge that it is tied to."""
    if _is_run(items[0]):
        return 1
    if len(items) > 2 and isinstance(items[0], Assert) and _is_run(items[1]):
        reaches = {"start": ANY, "end": ANY, "line_start": NOT_NEWLINE, "line_end": NOT_NEWLINE}.get(items[0].kind)
        return 2 if alphabet(items[1]) in (ANY, reaches) and reaches else 0
    return 0


def _is_run(node: Node) -> bool:
    return isinstance(node, Repeat) and node.low == 0 and isinstance(node.body, Char)


def literal(node: Node) -> str | None:
    """The longest text that every match contains, in lower case: to be looked for in a text's `.lower()`."""
    runs, run = [""], ""
    for item in _unrolled(node):
        char = _letter(item)
        run = run + char if char else "" if not isinstance(item, Assert) else run
        runs.append(run)
    return max(runs, key=len) or None


def _unrolled(node: Node) -> Iterator[Node]:
    for item in flat(node):
        if isinstance(item, Repeat) and item.low > 0:
            yield from _unrolled(item.body)
            yield Seq(())  # what follows need not follow the first round
        else:
            yield item


def _letter(node: Node) -> str | None:
    if not isinstance(node, Char) or len(node.ranges) not in (1, 2) or any(low != high for low, high in node.ranges):
        return None
    # str.lower() may depend on the neighbours of letters outside ASCII.
    letters = {chr(low).lower() for low, _ in node.ranges}
    char = letters.pop()
    return char if not letters and char.isascii() else None
