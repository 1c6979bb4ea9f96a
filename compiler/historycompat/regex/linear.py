"""Nodes → a matcher whose time grows with the text alone, whatever the pattern: the answer where backtracking could
explode and google-re2 is not installed.

A pattern becomes a small program of non-deterministic steps. Whether it occurs is asked of a lazily built
deterministic automaton; where, of a simulation that carries captures along and keeps Perl's priorities
(https://swtch.com/~rsc/regexp/regexp2.html).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from historycompat.regex.nodes import WORD, Alt, Assert, Char, Group, Node, Ranges, Repeat, Seq

MAX_STEPS = 5000
_MAX_CACHED = 10_000

# What stands beside a place: nothing, a line break, a character of a word, or another one.
EDGE, NEWLINE, WORDLY, OTHER = range(4)
_KIND_RANGES: dict[int, Ranges] = {NEWLINE: ((10, 10),), WORDLY: WORD}

Spans = tuple[int | None, ...]


def kind_of(char: str | None) -> int:
    if not char:
        return EDGE
    return NEWLINE if char == "\n" else WORDLY if contains(WORD, ord(char)) else OTHER


def contains(ranges: Ranges, code: int) -> bool:
    return any(low <= code <= high for low, high in ranges)


_HOLDS: dict[str, Callable[[int, int], bool]] = {
    "start": lambda before, after: before == EDGE,
    "end": lambda before, after: after == EDGE,
    "line_start": lambda before, after: before in (EDGE, NEWLINE),
    "line_end": lambda before, after: after in (EDGE, NEWLINE),
    "word": lambda before, after: (before == WORDLY) != (after == WORDLY),
}


class Step(NamedTuple):
    """`char` eats one character of `ranges`; `split` goes on at each of `next` (the first is preferred); `assert` goes
    on where its `kind` holds; `save` notes the place in slot `slot`; `match` is the end."""

    op: str
    next: tuple[int, ...] = ()
    ranges: Ranges = ()
    kind: str = ""
    slot: int = 0


class Program:
    """The steps of a pattern. Raises OverflowError where written-out counts need more than MAX_STEPS of them."""

    def __init__(self, node: Node, groups: int = 0) -> None:
        self.steps: list[Step] = [Step("match")]
        self.slots = 2 * (groups + 1)
        self.start = self._add(Step("save", (self._compile(node, self._add(Step("save", (0,), slot=1))),), slot=0))
        self._forget()

    def _add(self, step: Step) -> int:
        if len(self.steps) >= MAX_STEPS:
            raise OverflowError("the pattern is too large")
        self.steps.append(step)
        return len(self.steps) - 1

    def _compile(self, node: Node, then: int) -> int:
        """The step at which `node`, followed by step `then`, begins."""
        match node:
            case Char(ranges):
                return self._add(Step("char", (then,), ranges))
            case Assert(kind):
                return self._add(Step("assert", (then,), kind=kind))
            case Seq(items):
                for item in reversed(items):
                    then = self._compile(item, then)
                return then
            case Alt(branches):
                return self._add(Step("split", tuple(self._compile(branch, then) for branch in branches)))
            case Group(body, index):
                body_at = self._compile(body, self._add(Step("save", (then,), slot=2 * index + 1)))
                return self._add(Step("save", (body_at,), slot=2 * index))
            case Repeat():
                return self._repeat(node, then)

    def _repeat(self, node: Repeat, then: int) -> int:
        if node.high is None:
            loop = self._add(Step("split"))
            self.steps[loop] = self._choice(self._compile(node.body, loop), then, node.lazy)
            then = loop
        else:
            after = then
            for _ in range(node.high - node.low):
                then = self._add(self._choice(self._compile(node.body, then), after, node.lazy))
        for _ in range(node.low):
            then = self._compile(node.body, then)
        return then

    @staticmethod
    def _choice(into: int, past: int, lazy: bool) -> Step:
        return Step("split", (past, into) if lazy else (into, past))

    def reachable(self, at: int, before: int, after: int) -> Iterator[int]:
        """The `char` and `match` steps that step `at` leads to between two kinds of characters, in order."""
        seen, stack = set(), [at]
        while stack:
            current = stack.pop()
            if current in seen:
                continue
            seen.add(current)
            step = self.steps[current]
            if step.op in ("char", "match"):
                yield current
            elif step.op != "assert" or _HOLDS[step.kind](before, after):
                stack.extend(reversed(step.next))

    def can_match(self) -> bool:
        """Whether any text has a match."""
        todo = [(self.start, before) for before in range(4)]
        seen = set(todo)
        while todo:
            at, before = todo.pop()
            for after in range(4):
                for reached in self.reachable(at, before, after):
                    step = self.steps[reached]
                    if step.op == "match":
                        return True
                    place = (step.next[0], after)
                    if place not in seen and _has_kind(step.ranges, after):
                        seen.add(place)
                        todo.append(place)
        return False

    # ----- whether: a deterministic automaton, built as texts ask for it

    def occurs(self, text: str) -> bool:
        """Whether the pattern matches anywhere in a text."""
        state = self._first
        for char in text:
            state = state[char]
            if state.matched:
                return True
        return state[""].matched

    def _forget(self) -> None:
        self._states: dict[tuple[frozenset[int], int], _State] = {}
        self._cached = 0
        self._first = self._state(frozenset(), EDGE)

    def _state(self, waiting: frozenset[int], before: int) -> _State:
        key = (waiting, before)
        if key not in self._states:
            self._states[key] = _State(self, waiting, before)
        return self._states[key]

    def _follow(self, state: _State, char: str) -> _State:
        self._cached += 1
        if self._cached > _MAX_CACHED:
            self._forget()
        after = kind_of(char)
        going = {to for at in (*state.waiting, self.start) for to in self.reachable(at, state.before, after)}
        if 0 in going:
            return _State(self, frozenset(), after, matched=True)
        return self._state(frozenset(self.steps[at].next[0] for at in going if self._eats(at, char)), after)

    def _eats(self, at: int, char: str) -> bool:
        return char != "" and contains(self.steps[at].ranges, ord(char))

    # ----- where: the same steps with captures

    def search(self, text: str, position: int = 0) -> Spans | None:
        """The slots (start and end of the match and of each group) of the first match at or after a position."""
        waiting: list[tuple[int, Spans]] = []
        found: Spans | None = None
        nothing: Spans = (None,) * self.slots
        before = kind_of(text[position - 1 : position] if position else "")
        for here in range(position, len(text) + 1):
            char = text[here : here + 1]
            after = kind_of(char)
            if found is None:
                waiting.append((self.start, nothing))
            elif not waiting:
                break
            going: list[tuple[int, Spans]] = []
            for at, slots in self._threads(waiting, here, before, after):
                if at == 0:
                    found = slots
                    break
                if self._eats(at, char):
                    going.append((self.steps[at].next[0], slots))
            waiting, before = going, after
        return found

    def _threads(
        self, waiting: list[tuple[int, Spans]], here: int, before: int, after: int
    ) -> Iterator[tuple[int, Spans]]:
        """Like `reachable` from several steps at once, with what each way there has saved."""
        seen, stack = set(), waiting[::-1]
        while stack:
            at, slots = stack.pop()
            if at in seen:
                continue
            seen.add(at)
            step = self.steps[at]
            if step.op in ("char", "match"):
                yield at, slots
                continue
            if step.op == "assert" and not _HOLDS[step.kind](before, after):
                continue
            if step.op == "save":
                slots = (*slots[: step.slot], here, *slots[step.slot + 1 :])
            stack.extend((to, slots) for to in reversed(step.next))


class _State(dict[str, "_State"]):
    """Where the automaton is: the steps it waits at and the kind of character behind it. Maps a character ("" at the
    end of the text) to the next state, filled in at the first question."""

    __slots__ = ("before", "matched", "program", "waiting")

    def __init__(self, program: Program, waiting: frozenset[int], before: int, matched: bool = False) -> None:
        self.program = program
        self.waiting = waiting
        self.before = before
        self.matched = matched

    def __missing__(self, char: str) -> _State:
        following = self[char] = self.program._follow(self, char)
        return following


def _has_kind(ranges: Ranges, kind: int) -> bool:
    if kind == EDGE:
        return False
    if kind in _KIND_RANGES:
        return any(low <= high_k and low_k <= high for low, high in ranges for low_k, high_k in _KIND_RANGES[kind])
    return any(kind_of(chr(code)) == OTHER for low, high in ranges for code in _samples(low, high))


def _samples(low: int, high: int) -> range:
    # No stretch without an OTHER character is longer than the 26 letters.
    return range(low, min(high, low + 26) + 1)
