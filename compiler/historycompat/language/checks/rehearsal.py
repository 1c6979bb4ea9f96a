"""Statements → what comes of them on small histories, one by one and all in order."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from historycompat.edits import Edit, commit
from historycompat.language.checks.acts import Act, Entry
from historycompat.language.checks.known import Histories, Root
from historycompat.language.checks.patterns import shared_model
from historycompat.language.checks.samples import texts
from historycompat.models.normalise import ModelRef, facts_of
from historycompat.view import Context, Hit

Refs = tuple[ModelRef, ...]
Runner = Callable[[Root], Root]

_STRANGER = {"provider": "elsewhere", "model": "elsewhere"}


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
    """Runs statements in one stage, and remembers what came of it. Statements that ask for nothing of what this stage
    `tells` run in a `wider` rehearsal, which is that of several stages."""

    stage: Stage
    wider: Rehearsal | None = None
    tells: frozenset[str] = frozenset()
    context: Context = field(init=False)
    histories: Histories = field(default_factory=Histories)
    _runners: dict[str, Runner] = field(default_factory=dict)
    _glances: dict[str, dict[int, bool]] = field(default_factory=lambda: defaultdict(dict))
    _here: dict[Entry, bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.context = self.stage.context()
        if self.wider:
            self.histories = self.wider.histories

    def has(self, entry: Entry) -> bool:
        if entry not in self._here:
            self._here[entry] = self.stage.has(entry)
        return self._here[entry]

    def run(self, act: Act, root: Root) -> Root:
        """The history after a statement; the same object where it changes nothing, or fails."""
        return self.runner(act)(root)

    def runner(self, act: Act) -> Runner:
        """What `run` does for one statement."""
        if act.sense not in self._runners:
            wider = self.wider if self.tells.isdisjoint(act.asks) else None
            self._runners[act.sense] = wider.runner(act) if wider else self._running(act)
        return self._runners[act.sense]

    def _running(self, act: Act) -> Runner:
        known: dict[int, Root] = {}

        def run(root: Root) -> Root:
            after = known.get(id(root))
            if after is None:
                after = self._edited(act, root)[0] if self._may_select(act, root) else root
                known[id(root)] = after = root if after is root else self.histories.known(after)
            return after

        return run

    def _may_select(self, act: Act, root: Root) -> bool:
        if act.glance is None:
            return True
        known = self._glances[act.sense]
        for message in root["messages"]:
            found = known.get(id(message))
            if found is None:
                found = known[id(message)] = act.glance(self.histories.alone(message, self.context))
            if found:
                return True
        return False

    def edits(self, act: Act, root: Root) -> list[Edit]:
        return self._edited(act, root)[1]

    def run_all(self, entries: Iterable[Entry], root: Root) -> Root:
        """The history after all statements of the rules that run here, in order."""
        for run in self.runners(entries):
            root = run(root)
        return root

    def runners(self, entries: Iterable[Entry]) -> Iterator[Runner]:
        """What `run` does for each statement of the rules that run here, in order."""
        return (self.runner(act) for entry in entries if self.has(entry) for act in entry.acts)

    def _edited(self, act: Act, root: Root) -> tuple[Root, list[Edit]]:
        rule, step = act.entry.made, act.entry.made.steps[act.number]
        view = self.histories.view(root, self.context)
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
