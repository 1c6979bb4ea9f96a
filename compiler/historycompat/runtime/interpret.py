"""Rules and a prompt → the repaired prompt, with a record of every edit.

This is where the meaning of a ruleset is decided: rules run in order, each on the output of the one before. Whatever
else makes it faster (see `fuse`) must give the same result.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from historycompat.edits import Edit, Finding, commit
from historycompat.errors import NotCarried, RuleFault
from historycompat.pairs import Half
from historycompat.ruleset import Fault, Record, Report, Rule, Step
from historycompat.view import CANONICAL, Context, Hit, Shape, View

Root = dict[str, Any]


class Carrier(Protocol):
    """What the format of a history says about edits: pointer and reason of one that it cannot carry, or None."""

    def refusal(self, before: Root, after: Root) -> tuple[str, str] | None:
        """Of all that a rule changed between two roots."""

    def traceless(self, before: Root, after: Root, edits: Sequence[Edit]) -> tuple[str, str] | None:
        """Of a statement whose edits are nowhere to be seen in the native history."""


@dataclass(slots=True)
class Run:
    """What came of running rules: the new root (the same object if nothing changed) and what was done on the way."""

    root: dict[str, Any]
    records: list[Record] = field(default_factory=list)
    reports: list[Report] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)


def interpret(
    rules: Iterable[Rule],
    root: dict[str, Any],
    context: Context,
    *,
    shape: Shape = CANONICAL,
    carrier: Carrier | None = None,
    raising: bool = False,
    screen: Callable[[View], Container[int]] | None = None,
) -> Run:
    """Run rules in order on `{"messages": [...], ...}` (or a native body with its `shape`).

    A rule that fails is rolled back and noted as a fault; with `raising` it raises RuleFault instead. `screen` tells
    the numbers of the rules that may have something to do; the others are left out.
    """
    run = Run(root)
    view = View(root, context, shape)
    awake = screen(view) if screen else None
    for number, rule in enumerate(rules):
        if _is_without_input(rule, view) or (awake is not None and number not in awake):
            continue
        before, view = view, _run_rule(rule, run, view, carrier, raising)
        if screen and view is not before:
            awake = screen(view)
    return run


def _is_without_input(rule: Rule, view: View) -> bool:
    for name in ("tools", "params"):
        if name in rule.variables and name not in view.root:
            view.context.note(f"{rule.name} was skipped: it reads ${name}, and this history comes without {name}")
            return True
    return False


def _run_rule(rule: Rule, run: Run, view: View, carrier: Carrier | None, raising: bool) -> View:
    """The view behind the rule: the same one if it changed nothing, so that pairs are sought once for many rules."""
    before = view
    records: list[Record] = []
    reports: list[Report] = []
    step: Step | None = None
    try:
        if rule.when is not None and not rule.when(view.root, Hit((), view.root, view)):
            return view
        for step in rule.steps:
            view = _run_step(rule, step, view, records, reports, carrier)
        if view is not before:
            _check_pairs(before, view)
            _check_carried(carrier.refusal(before.root, view.root) if carrier else None)
    except Exception as error:  # a faulty rule must not take the request down with it
        if raising:
            raise RuleFault(f"{rule.name}: {error}") from error
        run.faults.append(_fault(rule, step, error))
        return before
    run.root = view.root
    run.records += records
    run.reports += reports
    return view


def _run_step(
    rule: Rule, step: Step, view: View, records: list[Record], reports: list[Report], carrier: Carrier | None
) -> View:
    hits = step.select(view)
    if not hits:
        return view
    edits: list[Edit] = []
    for outcome in step.edit(view, hits):
        if isinstance(outcome, Finding):
            reports.append(Report(rule.name, step.place, outcome))
        else:
            edits.append(outcome)
    root, made = commit(view.root, edits, view.context.lineage)
    if made and carrier:
        _check_carried(carrier.traceless(view.root, root, made))
    records += (Record(rule.name, step.text, step.place, edit) for edit in made)
    return View(root, view.context, view.shape) if made else view


def _check_carried(refused: tuple[str, str] | None) -> None:
    if refused:
        raise NotCarried(refused[1], refused[0])


def _fault(rule: Rule, step: Step | None, error: Exception) -> Fault:
    reason = str(error) or type(error).__name__
    where = getattr(error, "pointer", "")
    step = step or rule.steps[0]
    return Fault(rule.name, step.text, step.place, reason, where if isinstance(where, str) else "")


def _check_pairs(before: View, after: View) -> None:
    """Raise where a rule left one half of a pair alone."""
    # Halves are counted: one object may stand in a history twice, once paired and once not.
    alone = _lonely(after) - _lonely(before)
    origin = before.context.lineage.origin
    for occurrence in before.pairing.occurrences if alone else ():
        call, result = occurrence.call, occurrence.result
        if call and result:
            for half, other in ((call, result), (result, call)):
                if id(origin(half.part)) in alone:
                    raise RuleFault(f"it would leave {_named(half)} without its {_named(other)}")


def _lonely(view: View) -> Counter[int]:
    """How many halves stand without their other half, by the identity of what they were made from."""
    origin = view.context.lineage.origin
    halves = (o.call or o.result for o in view.pairing.occurrences if not (o.call and o.result))
    return Counter(id(origin(half.part)) for half in halves if half)


def _named(half: Half) -> str:
    return f"{half.part.get('type', 'part')} {half.id!r}"
