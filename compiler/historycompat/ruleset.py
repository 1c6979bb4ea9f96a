"""Rules ready to run: callables in order, and where each was written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from historycompat import ir
from historycompat.edits import Edit, Finding
from historycompat.source import Place
from historycompat.view import Compute, Hit, Select, View


@dataclass(frozen=True, slots=True)
class Local:
    """The part of a statement that a single pass over the prompt can test: parts of `roles` and `types` for which the
    Python expression `test` (over the part `p`, with the constants `names`) holds. None for roles or types is any."""

    roles: frozenset[str] | None
    types: frozenset[str] | None
    test: str
    names: Mapping[str, Any]
    drops: bool


@dataclass(frozen=True, slots=True)
class Sieve:
    """What a prompt surely has where a statement finds anything; it may have that and be left alone all the same.

    `of` says what must be there:

    - `part`, `message`: one of `roles` and `types` for which all `tests` hold, Python expressions over the message `m`
      with its content `c`, the part `p`, and `late`: whether another message than a system message came before;
    - `item`: a message `m` of a native body, of `role`, for which all `tests` hold, where messages are under `spine`;
    - `places`: any that `select` finds, which does not go through all messages;
    - `last`: a last message of `roles`;
    - `pairs`: calls and results that are not each once and in order;
    - `id`, `name`: one, of a call, a result or a tool, that `is_right` denies.

    `gate` is what must hold beside that, whatever the prompt.
    """

    of: str
    roles: frozenset[str] | None = None
    types: frozenset[str] | None = None
    tests: tuple[str, ...] = ()
    names: Mapping[str, Any] = field(default_factory=dict)
    is_right: Callable[[str], bool] = bool
    spine: str | None = None
    select: Select | None = None
    gate: Compute | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One statement: `select` picks its places on a snapshot, `edit` says what becomes of them."""

    verb: str
    text: str
    place: Place
    variables: frozenset[str]
    select: Select
    edit: Callable[[View, list[Hit]], Any]
    local: Local | None = None


@dataclass(frozen=True, slots=True)
class Trigger:
    """Wakes a rule after an error. `search` looks at one error text and returns the named or numbered groups."""

    statuses: frozenset[int]
    pattern: str
    search: Callable[[str], Mapping[str, Any] | None]


class Rule:
    """A compiled rule. `meaning` is its checked form; everything else is made from it, when it is first needed: of the
    many built-in rules a request needs few."""

    def __init__(
        self,
        meaning: ir.Rule,
        matches: Callable[[Any], bool],
        *,
        steps: Callable[[], tuple[Step, ...]],
        triggers: Callable[[], tuple[Trigger, ...]] = tuple,
        when: Callable[[], Compute | None] = lambda: None,
        sieves: Callable[[], tuple[Sieve, ...] | None] = lambda: None,
        variables: frozenset[str] = frozenset(),
    ) -> None:
        self.meaning = meaning
        self.matches = matches
        self.variables = variables
        self._steps, self._triggers, self._when, self._sieves = steps, triggers, when, sieves

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        return self._steps()

    @cached_property
    def triggers(self) -> tuple[Trigger, ...]:
        return self._triggers()

    @cached_property
    def when(self) -> Compute | None:
        return self._when()

    @cached_property
    def sieves(self) -> tuple[Sieve, ...] | None:
        """A prompt that none of these lets through is one that the rule leaves alone, before a request; None: who
        knows."""
        return self._sieves()

    @property
    def name(self) -> str:
        return self.meaning.name

    def runs(self, phase: str) -> bool:
        """Whether the rule takes part in a phase (`before` or `after`)."""
        return self.meaning.phase in (phase, "both")

    def __repr__(self) -> str:
        return f"<Rule {self.name}>"


@dataclass(frozen=True, slots=True)
class Record:
    """One edit that a rule made: which statement, where it is written, where it edited, and what stood there."""

    rule: str
    statement: str
    place: Place
    edit: Edit

    @property
    def pointer(self) -> str:
        return self.edit.pointer

    @property
    def op(self) -> str:
        return self.edit.op

    @property
    def before(self) -> Any:
        return self.edit.before

    @property
    def after(self) -> Any:
        return self.edit.after


@dataclass(frozen=True, slots=True)
class Report:
    """What a `report` statement found."""

    rule: str
    place: Place
    finding: Finding


@dataclass(frozen=True, slots=True)
class Fault:
    """A rule that failed and was rolled back: the statement, its place, the pointer it was at, and why."""

    rule: str
    statement: str
    place: Place
    reason: str
    pointer: str = ""
