"""Checked rules, in the order that they run → their statements, each with what it touches and depends on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from historycompat import ir, ruleset, tree
from historycompat.language.check import resolve
from historycompat.language.checks.recalled import recalled
from historycompat.language.checks.samples import occurs
from historycompat.language.checks.worlds import path_of
from historycompat.language.expressions import codegen
from historycompat.language.lower import lower
from historycompat.language.select import selector
from historycompat.models.patterns import matcher
from historycompat.tree import Expr
from historycompat.verbs import VERBS
from historycompat.verbs.verb import Editor, Effects
from historycompat.view import Hit, View

# What has an order, states or neighbours depends on every message.
STRUCTURE = "message"

_ASKED = frozenset({"$model", "$error"})
_OF_AN_ERROR = (("text",), ("status",))

# Variables that are the same for a message alone, and verbs whose edits at a place depend on nothing around it.
_OWN = frozenset({"message", "model", "error", "position"})
_BY_ITSELF = frozenset({"set", "unset", "replace", "truncate", "coerce", "rename"})


@dataclass(frozen=True, eq=False)
class Entry:
    """A rule in its place among all rules."""

    pack: tree.Pack
    written: tree.Rule
    number: int
    compiled: ir.Rule | None = None
    _woken: dict[tuple[int | None, str], bool] = field(default_factory=dict)

    @cached_property
    def meaning(self) -> ir.Rule:
        return self.compiled or resolve(self.written, self.pack)

    @cached_property
    def made(self) -> ruleset.Rule:
        return lower(self.meaning, matcher)

    @cached_property
    def acts(self) -> tuple[Act, ...]:
        return tuple(Act(self, number) for number in range(len(self.written.do)))

    @cached_property
    def places(self) -> frozenset[str]:
        """The dotted places that its statements edit."""
        return frozenset[str]().union(*(act.touched for act in self.acts))

    def wakes(self, status: int | None, text: str) -> bool:
        """Whether an error wakes it; no status is any."""
        key = (status, text)
        if key not in self._woken:
            self._woken[key] = any(
                (status is None or not trigger.statuses or status in trigger.statuses)
                and occurs(trigger.pattern.text, trigger.pattern.flags, text)
                for trigger in self.meaning.triggers
            )
        return self._woken[key]


@dataclass(frozen=True, eq=False)
class Act:
    """One statement of a rule."""

    entry: Entry
    number: int

    @property
    def written(self) -> tree.Statement:
        return self.entry.written.do[self.number]

    @cached_property
    def meaning(self) -> ir.Statement:
        return self.entry.meaning.statements[self.number]

    @cached_property
    def asks(self) -> frozenset[str]:
        """What its work depends on: the `model`, whether there is an `error`, and the `text` of that."""
        read = [*_expressions((self.entry.meaning.when, self.meaning.target, self.meaning.args))]
        paths = [keys for expr in read for node in expr.walk() if (keys := path_of(node)) and keys[0] in _ASKED]
        return frozenset("text" if keys[1:2] in _OF_AN_ERROR else keys[0][1:] for keys in paths)

    @cached_property
    def sense(self) -> str:
        """The same for statements that do the same, wherever they stand."""
        meaning = self.meaning
        reads = sorted(self.entry.made.variables & {"tools", "params"})
        return repr((meaning.verb, meaning.target, meaning.args, self.entry.meaning.when, reads))

    @cached_property
    def effects(self) -> Effects:
        return VERBS[self.meaning.verb].effects(self.meaning)

    @cached_property
    def glance(self) -> Callable[[View], bool] | None:
        """Whether the statement may do something to a message, from a view of that message alone: it does nothing to it
        among others where this says no. None where its target stands in no message."""
        target = self.meaning.target
        if target.kind in ("prompt", "path"):
            return None
        alone = target.where and codegen.variables(target.where) <= _OWN
        select = selector(replace(target, states=(), exclude=None, where=target.where if alone else None))
        if self.meaning.verb not in _BY_ITSELF or not self.meaning.variables <= _OWN:
            return lambda view: bool(select(view))
        edit = self.entry.made.steps[self.number].edit
        return lambda view: _edits_something(edit, view, select(view))

    @cached_property
    def touched(self) -> frozenset[str]:
        """The dotted places that it edits."""
        return self.effects.writes | self.effects.removes | self.effects.creates

    @cached_property
    def seen(self) -> frozenset[str]:
        """The dotted places that its work depends on."""
        target = self.meaning.target
        structural = target.kind == "message" or target.states or target.part_states or target.exclude
        return self.effects.reads | self.effects.writes | ({STRUCTURE} if structural else frozenset())

    @property
    def place(self) -> tuple[int, int]:
        """Where it stands among all statements: rule, then statement."""
        return self.entry.number, self.number


def _edits_something(edit: Editor, view: View, hits: list[Hit]) -> bool:
    try:
        return any(edit(view, hits)) if hits else False
    except Exception:  # then it fails among others too
        return True


def _expressions(value: Any) -> Iterator[Expr]:
    match value:
        case Expr():
            yield value
        case ir.Target():
            yield from _expressions((value.path, value.where))
        case tuple():
            for item in value:
                yield from _expressions(item)


def in_order(packs: Sequence[tree.Pack], before: Iterable[ir.Rule] = ()) -> list[Entry]:
    """All rules as they run, compiled ones before the packs: one that replaces another takes its place."""
    rules: list[tuple[tree.Pack, tree.Rule, ir.Rule | None]] = [(*recalled(rule), rule) for rule in before]
    for pack in packs:
        for rule in pack.rules:
            at = next((i for i, (_, old, _) in enumerate(rules) if old.name == rule.replaces), None)
            rules[len(rules) if at is None else at : None if at is None else at + 1] = [(pack, rule, None)]
    return [Entry(pack, rule, number, compiled) for number, (pack, rule, compiled) in enumerate(rules)]
