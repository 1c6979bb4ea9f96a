"""Checked rules → statements that can be tried on small histories, one by one and all in order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from historycompat import ir, ruleset, tree
from historycompat.edits import Edit, commit
from historycompat.language.check import resolve
from historycompat.language.checks.patterns import shared_model
from historycompat.language.checks.recalled import recalled
from historycompat.language.checks.samples import texts
from historycompat.language.checks.worlds import path_of
from historycompat.language.lower import lower
from historycompat.language.select import selector
from historycompat.models.normalise import ModelRef, facts_of
from historycompat.models.patterns import matcher
from historycompat.regex import compile_regex
from historycompat.tree import Expr
from historycompat.verbs import VERBS
from historycompat.verbs.verb import Effects
from historycompat.view import Context, Hit, Select, View

Root = dict[str, Any]
Refs = tuple[ModelRef, ...]

_STRANGER = {"provider": "elsewhere", "model": "elsewhere"}


_ASKED = frozenset({"$model", "$error"})
_OF_AN_ERROR = (("text",), ("status",))


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

    def wakes(self, status: int | None, text: str) -> bool:
        """Whether an error wakes it; no status is any."""
        key = (status, text)
        if key not in self._woken:
            self._woken[key] = any(
                (status is None or not trigger.statuses or status in trigger.statuses)
                and compile_regex(trigger.pattern.text, trigger.pattern.flags).search(text) is not None
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
    def glance(self) -> Select | None:
        """Selects in a message alone at least what the statement selects in it among others; None where its target
        stands in no message."""
        target = self.meaning.target
        if target.kind in ("prompt", "path"):
            return None
        alone = target.where and not any(node.kind == "variable" for node in target.where.walk())
        return selector(replace(target, states=(), exclude=None, where=target.where if alone else None))

    @property
    def place(self) -> tuple[int, int]:
        """Where it stands among all statements: rule, then statement."""
        return self.entry.number, self.number


def _expressions(value: Any) -> Iterator[Expr]:
    match value:
        case Expr():
            yield value
        case ir.Target():
            yield from _expressions((value.path, value.where))
        case tuple():
            for item in value:
                yield from _expressions(item)


@dataclass(frozen=True, slots=True)
class Stage:
    """What rules are rehearsed for: a model, and the error that woke them (None: before the request)."""

    refs: Refs
    status: int | None = None
    error: str | None = None

    def context(self) -> Context:
        # Nobody knows who wrote these histories; a rule that asks is told of a stranger.
        context = Context(model=facts_of(self.refs), origin=lambda holder: dict(_STRANGER))
        if self.error is not None:
            context.error = {"status": self.status, "text": self.error, "groups": {}}
        return context

    def has(self, entry: Entry) -> bool:
        """Whether a rule runs here."""
        if entry.meaning.format is not None or not entry.made.matches(self.refs):
            return False
        if self.error is None:
            return entry.meaning.phase in ("before", "both")
        return entry.wakes(self.status, self.error)


@dataclass(slots=True)
class Rehearsal:
    """Runs statements in one stage, and remembers what came of it. Histories are told apart by their identity, so they
    are kept: equal ones are one object. Statements that ask for nothing of what this stage `tells` run in a `wider`
    rehearsal, which is that of several stages."""

    stage: Stage
    wider: Rehearsal | None = None
    tells: frozenset[str] = frozenset()
    context: Context = field(init=False)
    _known: dict[str, Root] = field(default_factory=dict)
    _messages: dict[str, Any] = field(default_factory=dict)
    _views: dict[int, View] = field(default_factory=dict)
    _alone: dict[int, View] = field(default_factory=dict)
    _after: dict[tuple[str, int], Root] = field(default_factory=dict)
    _glances: dict[tuple[str, int], bool] = field(default_factory=dict)
    _here: dict[Entry, bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.context = self.stage.context()
        if self.wider:
            self._known, self._messages = self.wider._known, self.wider._messages

    def known(self, root: Root) -> Root:
        """The first history that was equal to this one; equal messages of all histories are one object too."""
        text = repr(root)
        if text not in self._known:
            messages = [self._messages.setdefault(repr(message), message) for message in root["messages"]]
            self._known[text] = {**root, "messages": messages}
        return self._known[text]

    def has(self, entry: Entry) -> bool:
        if entry not in self._here:
            self._here[entry] = self.stage.has(entry)
        return self._here[entry]

    def run(self, act: Act, root: Root) -> Root:
        """The history after a statement; the same object where it changes nothing, or fails."""
        return self.of(act).after(act, root)

    def of(self, act: Act) -> Rehearsal:
        """The widest rehearsal that a statement runs in."""
        return self.wider.of(act) if self.wider and self.tells.isdisjoint(act.asks) else self

    def after(self, act: Act, root: Root) -> Root:
        key = (act.sense, id(root))
        after = self._after.get(key)
        if after is None:
            after = self._edited(act, root)[0] if self._may_select(act, root) else root
            self._after[key] = after = root if after is root else self.known(after)
        return after

    def _may_select(self, act: Act, root: Root) -> bool:
        return act.glance is None or any(self._may_select_in(act, message) for message in root["messages"])

    def _may_select_in(self, act: Act, message: Any) -> bool:
        key = (act.sense, id(message))
        found = self._glances.get(key)
        if found is None:
            view = self._alone.setdefault(id(message), View({"messages": [message]}, self.context))
            assert act.glance
            found = self._glances[key] = bool(act.glance(view))
        return found

    def edits(self, act: Act, root: Root) -> list[Edit]:
        return self._edited(act, root)[1]

    def run_all(self, entries: Iterable[Entry], root: Root) -> Root:
        """The history after all statements of the rules that run here, in order."""
        for entry in entries:
            if self.has(entry):
                for act in entry.acts:
                    root = self.run(act, root)
        return root

    def _edited(self, act: Act, root: Root) -> tuple[Root, list[Edit]]:
        rule, step = act.entry.made, act.entry.made.steps[act.number]
        view = self._view(root)
        if any(name in rule.variables and name not in root for name in ("tools", "params")):
            return root, []
        if rule.when is not None and not rule.when(root, Hit((), root, view)):
            return root, []
        try:
            hits = step.select(view)
            edits = [edit for edit in step.edit(view, hits) if isinstance(edit, Edit)] if hits else []
            new, made = commit(root, edits, self.context.lineage) if edits else (root, [])
        except Exception:  # whatever a rule fails with, it is rolled back
            return root, []
        return (new, made) if made else (root, [])

    def _view(self, root: Root) -> View:
        if id(root) not in self._views:
            self._views[id(root)] = View(root, self.context)
        return self._views[id(root)]


# ----- where two rules meet


def stage(one: Entry, other: Entry) -> Stage | None:
    """Where two rules run together, before the request if they do; None for wire shapes, which are not rehearsed.

    Compiled rules name hosts of every kind: they meet another rule on the ones that this one names.
    """
    phases = {one.meaning.phase, other.meaning.phase}
    if one.meaning.format is not None or other.meaning.format is not None or phases == {"before", "after"}:
        return None
    hosts = other.written.models if one.compiled else ()
    refs = shared_model(one.written.models, other.written.models, hosts)
    if refs is None or "after" not in phases:
        return Stage(refs) if refs else None
    found = _shared_error(one, other)
    return Stage(refs, *found) if found else None


def _shared_error(one: Entry, other: Entry) -> tuple[int | None, str] | None:
    """An error that wakes both rules."""
    for rule in (one.meaning, other.meaning):
        for trigger in rule.triggers:
            for text in texts(trigger.pattern.text, trigger.pattern.flags)[:4]:
                for status in (*sorted(trigger.statuses), None):
                    if one.wakes(status, text) and other.wakes(status, text):
                        return status, text
    return None


def in_order(packs: Sequence[tree.Pack], before: Iterable[ir.Rule] = ()) -> list[Entry]:
    """All rules as they run, compiled ones before the packs: one that replaces another takes its place."""
    rules: list[tuple[tree.Pack, tree.Rule, ir.Rule | None]] = [(*recalled(rule), rule) for rule in before]
    for pack in packs:
        for rule in pack.rules:
            at = next((i for i, (_, old, _) in enumerate(rules) if old.name == rule.replaces), None)
            rules[len(rules) if at is None else at : None if at is None else at + 1] = [(pack, rule, None)]
    return [Entry(pack, rule, number, compiled) for number, (pack, rule, compiled) in enumerate(rules)]
