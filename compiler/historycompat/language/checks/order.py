"""W601, W602, W603: statements that work against each other, or in the wrong order.

What verbs declare to read, write, remove and create says which statements can concern each other. Those are run, one
after the other, on small histories that both have something to do with: a warning always has a history that shows it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

from historycompat.language.checks.acts import STRUCTURE, Act, Entry
from historycompat.language.checks.histories import Json, Stock, together
from historycompat.language.checks.rehearsal import Rehearsal, Runner, Stage, stage
from historycompat.verbs import VERBS
from historycompat.verbs.judgement import argument

# How often two statements answer each other before it counts as without end.
_ROUNDS = 3

_ASSIGNING = frozenset({"set", "replace", "truncate"})


def concerns(one: Act, other: Act) -> bool:
    """Whether what the second statement does can change what the first one looks at."""
    return meet(other.touched, one.seen)


# What is read beside a place and stays when something else is taken away.
_STEADY = frozenset({"model", "error", "tools", "params", "origin"})
_IN_PLACE = frozenset(VERBS) - {"merge", "move", "reorder", "dedupe", "split", "answer", "insert"}


def _leaves_at_rest(one: Act, other: Act) -> bool:
    """Whether the second statement only takes away, and the first one looks at each place alone: what is left of its
    places is as it left them."""
    target, taken = one.meaning.target, other.meaning.target.kind
    alone = not (target.states or target.part_states or target.exclude or one.entry.meaning.when)
    alone = alone and one.meaning.verb in _IN_PLACE and one.meaning.variables <= _STEADY
    whole = target.kind in ("part", "call", "result") or (target.kind == taken == "message")
    return other.meaning.verb == "drop" and alone and whole and argument(other.meaning, "fill") is None


@lru_cache(maxsize=16_384)
def meet(touched: frozenset[str], read: frozenset[str]) -> bool:
    """Whether some dotted place of the first may lie in one of the second."""
    return any(_overlap(place, other) for place in touched for other in read)


def _overlap(touched: str, read: str) -> bool:
    """Whether one dotted place may lie in the other."""
    if read == STRUCTURE or touched == STRUCTURE:
        return "prompt" not in (touched.split(".")[0], read.split(".")[0])
    if touched in ("ids", "names"):
        return read in (touched, "part.*") or read.endswith(("toolCallId", "toolName"))
    one, other = touched.split("."), read.split(".")
    if one[0] == other[0] == "path":
        return True  # nothing is known of where two paths meet
    return all(a == b or "*" in (a, b) for a, b in zip(one, other, strict=False))


_OF_A_PHASE = frozenset({"model", "text", "error"})
_OF_A_STAGE = frozenset({"model", "text"})


@dataclass(frozen=True, slots=True)
class Finding:
    """What came of two statements, the earlier one first: a code, and the history and stage that show it. `values` are
    what the two write to one place, where they do."""

    code: str
    earlier: Act
    later: Act
    history: Json
    stage: Stage
    values: tuple[Any, Any] | None = None


@dataclass
class Trial:
    """Tries every two statements of a ruleset that can concern each other."""

    entries: Sequence[Entry]
    _stages: dict[tuple[Entry, Entry], Stage | None] = field(default_factory=dict)
    _rehearsals: dict[Stage, Rehearsal] = field(default_factory=dict)
    _stocks: dict[Act, Stock] = field(default_factory=dict)
    _histories: dict[Act, dict[int, Json]] = field(default_factory=dict)
    _moves: dict[tuple[Act, Runner], dict[int, Json]] = field(default_factory=dict)
    _anywhere: Rehearsal = field(default_factory=lambda: Rehearsal(Stage(())))
    _phases: dict[bool, Rehearsal] = field(default_factory=dict)

    @cached_property
    def acts(self) -> list[Act]:
        return [act for entry in self.entries for act in entry.acts if act.meaning.verb != "report"]

    def pairs(self) -> Iterator[tuple[Act, list[Act]]]:
        """Each statement that is to be checked, with all that come before it."""
        for number, later in enumerate(self.acts):
            if later.entry.compiled is None:
                yield later, self.acts[:number]

    def findings(self) -> Iterator[Finding]:
        for later, before in self.pairs():
            for earlier in before:
                meet = concerns(earlier, later) and not _leaves_at_rest(earlier, later)
                where = self.stage(earlier.entry, later.entry) if meet else None
                found = where and self._tried(earlier, later, where)
                if found:
                    yield found

    def stage(self, one: Entry, other: Entry) -> Stage | None:
        if (one, other) not in self._stages:
            self._stages[one, other] = stage(one, other)
        return self._stages[one, other]

    def rehearsal(self, where: Stage) -> Rehearsal:
        if where not in self._rehearsals:
            self._rehearsals[where] = Rehearsal(where, self._phase(where.error is not None), _OF_A_STAGE)
        return self._rehearsals[where]

    def _phase(self, after: bool) -> Rehearsal:
        if after not in self._phases:
            some = Stage((), None, "" if after else None)
            self._phases[after] = Rehearsal(some, self._anywhere, _OF_A_PHASE)
        return self._phases[after]

    def stock(self, act: Act) -> Stock:
        return self._stocks.setdefault(act, Stock(act.meaning, act.written, act.entry.written))

    def histories(self, act: Act) -> dict[int, Json]:
        """The histories of a statement, by identity: an equal one of another is the same object, and not run again."""
        if act not in self._histories:
            self._histories[act] = self._by_identity(self.stock(act).histories)
        return self._histories[act]

    def _moved(self, act: Act, run: Runner) -> dict[int, Json]:
        """The histories of a statement that it does something to."""
        if (act, run) not in self._moves:
            self._moves[act, run] = {key: root for key, root in self.histories(act).items() if run(root) is not root}
        return self._moves[act, run]

    def _by_identity(self, roots: Iterable[Json]) -> dict[int, Json]:
        return {id(root): root for root in map(self._anywhere.histories.known, roots)}

    def _tried(self, earlier: Act, later: Act, where: Stage) -> Finding | None:
        rehearsal = self.rehearsal(where)
        both = self._by_identity(together(self.stock(earlier), self.stock(later)))
        first, then = rehearsal.runner(earlier), rehearsal.runner(later)
        if not self._shown(earlier, later, self._moved(later, then) | self._moved(earlier, first) | both, rehearsal):
            return None
        # The plainest history that shows it may be one that only the other does something to.
        return self._shown(earlier, later, self.histories(later) | self.histories(earlier) | both, rehearsal)

    def _shown(self, earlier: Act, later: Act, among: dict[int, Json], rehearsal: Rehearsal) -> Finding | None:
        """What the first history that shows anything shows."""
        first, then = rehearsal.runner(earlier), rehearsal.runner(later)
        for root in among.values():
            before = first(root)
            # Most histories end here: the later statement has nothing to do.
            if then(before) is not before and (found := self._found(earlier, later, root, rehearsal)):
                return found
        return None

    def _found(self, earlier: Act, later: Act, history: Json, rehearsal: Rehearsal) -> Finding | None:
        first = rehearsal.run(earlier, history)
        second = rehearsal.run(later, first)
        if second is first or rehearsal.run(earlier, second) is second:
            return None
        if rehearsal.run(earlier, first) is not first:
            return None  # what does not come to rest by itself has a code of its own
        if _endless(earlier, later, second, rehearsal):
            values = _assigned(earlier, later, second, rehearsal)
            return Finding("W601" if values else "W602", earlier, later, history, rehearsal.stage, values)
        undone = self._stays_undone(earlier, history, rehearsal)
        return Finding("W603", earlier, later, history, rehearsal.stage) if undone else None

    def _stays_undone(self, earlier: Act, history: Json, rehearsal: Rehearsal) -> bool:
        """Whether the second run of all rules finds work for the earlier statement: no third rule has done it."""
        root = rehearsal.run_all(self.entries, history)
        for entry in self.entries[: earlier.entry.number + 1]:
            for act in entry.acts if rehearsal.has(entry) else ():
                after = rehearsal.run(act, root)
                if act is earlier:
                    return after is not root
                root = after
        return False


def _endless(earlier: Act, later: Act, root: Json, rehearsal: Rehearsal) -> bool:
    """Whether two statements answer each other again and again."""
    for _ in range(_ROUNDS):
        again = rehearsal.run(earlier, root)
        then = rehearsal.run(later, again)
        if again is root or then is again:
            return False
        root = then
    return True


def _assigned(earlier: Act, later: Act, root: Json, rehearsal: Rehearsal) -> tuple[Any, Any] | None:
    """The values that two statements assign to one place."""
    if not {earlier.meaning.verb, later.meaning.verb} <= _ASSIGNING:
        return None
    mine = {edit.path: edit.after for edit in rehearsal.edits(earlier, root)}
    theirs = {edit.path: edit.after for edit in rehearsal.edits(later, rehearsal.run(earlier, root))}
    return next(((mine[path], theirs[path]) for path in mine if path in theirs), None)
