"""Checked rules → statements that can be tried on small histories, one by one and all in order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from historycompat import ir, ruleset, tree
from historycompat.edits import Edit, commit
from historycompat.language.check import resolve
from historycompat.language.checks.patterns import shared_model
from historycompat.language.checks.samples import texts
from historycompat.language.lower import lower
from historycompat.models.normalise import ModelRef, facts_of
from historycompat.models.patterns import matcher
from historycompat.regex import compile_regex
from historycompat.verbs import VERBS
from historycompat.verbs.verb import Effects
from historycompat.view import Context, Hit, View

Root = dict[str, Any]
Refs = tuple[ModelRef, ...]

_STRANGER = {"provider": "elsewhere", "model": "elsewhere"}


@dataclass(frozen=True, eq=False)
class Entry:
    """A rule in its place among all rules."""

    pack: tree.Pack
    written: tree.Rule
    number: int

    @cached_property
    def meaning(self) -> ir.Rule:
        return resolve(self.written, self.pack)

    @cached_property
    def made(self) -> ruleset.Rule:
        return lower(self.meaning, matcher)

    @cached_property
    def acts(self) -> tuple[Act, ...]:
        return tuple(Act(self, number) for number in range(len(self.written.do)))


@dataclass(frozen=True, eq=False)
class Act:
    """One statement of a rule."""

    entry: Entry
    number: int

    @property
    def written(self) -> tree.Statement:
        return self.entry.written.do[self.number]

    @property
    def meaning(self) -> ir.Statement:
        return self.entry.meaning.statements[self.number]

    @cached_property
    def effects(self) -> Effects:
        return VERBS[self.meaning.verb].effects(self.meaning)

    @cached_property
    def needs(self) -> frozenset[str] | None:
        """What a history must hold for the statement to select anything, as `_held` names it; None for anything."""
        target = self.meaning.target
        if target.kind in ("prompt", "path"):
            return None
        if target.kind == "message":
            return target.roles or frozenset({"*"})
        types = target.types if target.kind == "part" else {f"tool-{target.kind}"}
        return frozenset(f"{role}/{type_}" for role in target.roles or {"*"} for type_ in types or {"*"})

    @property
    def place(self) -> tuple[int, int]:
        """Where it stands among all statements: rule, then statement."""
        return self.entry.number, self.number


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
        return _wakes(entry.meaning, self.status, self.error)


@dataclass(slots=True)
class Rehearsal:
    """Runs statements in one stage, and remembers what came of it. Histories are told apart by their identity, so they
    are kept."""

    stage: Stage
    context: Context = field(init=False)
    _views: dict[int, View] = field(default_factory=dict)
    _held: dict[int, frozenset[str]] = field(default_factory=dict)
    _after: dict[tuple[Act, int], Root] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.context = self.stage.context()

    def run(self, act: Act, root: Root) -> Root:
        """The history after a statement; the same object where it changes nothing, or fails."""
        key = (act, id(root))
        if key not in self._after:
            if act.needs is not None and act.needs.isdisjoint(self._held_by(root)):
                return root
            self._after[key] = self._edited(act, root)[0]
        return self._after[key]

    def edits(self, act: Act, root: Root) -> list[Edit]:
        return self._edited(act, root)[1]

    def run_all(self, entries: Iterable[Entry], root: Root) -> Root:
        """The history after all statements of the rules that run here, in order."""
        for entry in entries:
            if self.stage.has(entry):
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

    def _held_by(self, root: Root) -> frozenset[str]:
        if id(root) not in self._held:
            self._view(root)
            self._held[id(root)] = _held(root)
        return self._held[id(root)]

    def _view(self, root: Root) -> View:
        if id(root) not in self._views:
            self._views[id(root)] = View(root, self.context)
        return self._views[id(root)]


def _held(root: Root) -> frozenset[str]:
    """The roles, types and pairs of them in a history: `user`, `user/text`, `*/text`, `user/*`, `*/*`, `*`."""
    found = {"*"}
    for message in root["messages"]:
        role, content = message.get("role"), message.get("content")
        found.add(role)
        for part in content if isinstance(content, list) else [{"type": "text"}]:
            type_ = part.get("type") if isinstance(part, dict) else None
            found |= {f"{role}/{type_}", f"*/{type_}", f"{role}/*", "*/*"}
    return frozenset(found)


# ----- where two rules meet


def stage(one: Entry, other: Entry) -> Stage | None:
    """Where two rules run together, before the request if they do; None for wire shapes, which are not rehearsed."""
    phases = {one.meaning.phase, other.meaning.phase}
    if one.meaning.format is not None or other.meaning.format is not None or phases == {"before", "after"}:
        return None
    refs = shared_model(one.written.models, other.written.models)
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
                    if _wakes(one.meaning, status, text) and _wakes(other.meaning, status, text):
                        return status, text
    return None


def _wakes(rule: ir.Rule, status: int | None, text: str) -> bool:
    return any(
        (status is None or not trigger.statuses or status in trigger.statuses)
        and compile_regex(trigger.pattern.text, trigger.pattern.flags).search(text)
        for trigger in rule.triggers
    )


def in_order(packs: Sequence[tree.Pack]) -> list[Entry]:
    """All rules as they run: one that replaces another takes its place."""
    rules: list[tuple[tree.Pack, tree.Rule]] = []
    for pack in packs:
        for rule in pack.rules:
            at = next((i for i, (_, old) in enumerate(rules) if old.name == rule.replaces), None)
            if at is None:
                rules.append((pack, rule))
            else:
                rules[at] = (pack, rule)
    return [Entry(pack, rule, number) for number, (pack, rule) in enumerate(rules)]
