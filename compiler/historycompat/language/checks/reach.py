"""W404: statements that an earlier one leaves nothing to do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from historycompat import ir, tree
from historycompat.errors import Complaint
from historycompat.language.checks.acts import Act, Entry
from historycompat.language.checks.histories import Json
from historycompat.language.checks.order import Trial, concerns
from historycompat.language.checks.order_words import named
from historycompat.language.checks.patterns import includes
from historycompat.language.checks.predicates import fixed_by
from historycompat.language.checks.rehearsal import Rehearsal
from historycompat.language.checks.worlds import implies
from historycompat.verbs import VERBS

_AROUND = frozenset({"prev", "next", "message", "messages", "index", "position", "parent"})

# Verbs that do nothing to what they have been applied to already.
_ONCE = frozenset(VERBS) - {"drop", "insert", "convert", "report"}


def unreachable(trial: Trial) -> Iterator[Complaint]:
    """Statements that always find it done. That a rule between them makes new work is found by running them all."""
    for later, before in trial.pairs():
        takers = [act for act in before if _comes_first(act.entry, later.entry) and _leaves_nothing(act, later)]
        earlier = _taking_all(trial, takers, later) if takers else None
        if earlier:
            done = "drops all that this selects" if earlier.meaning.verb == "drop" else "has done this already"
            message = f"nothing is left to do here: {named(earlier, later)} {done}"
            hint = "take this away, or put it before if both are meant"
            yield Complaint("W404", message, later.written.span, hint, later.entry.written.name)


def _comes_first(earlier: Entry, later: Entry) -> bool:
    """Whether the earlier rule runs whenever the later one does."""
    if earlier is later:
        return True
    one, other = earlier.meaning, later.meaning
    if one.format != other.format or (one.when is not None and one.when != other.when):
        return False
    if other.phase == "before":
        runs = one.phase in ("before", "both")
    else:
        runs = one.phase in (other.phase, "both") and {*other.triggers} <= {*one.triggers}
    return runs and includes(earlier.written.models, later.written.models)


def _leaves_nothing(earlier: Act, later: Act) -> bool:
    one, other = earlier.meaning, later.meaning
    if {*one.variables, *other.variables} & _AROUND:
        return False  # what stands around the place may be new
    if one.verb == "drop" and other.verb != "insert" and one.target.exclude is None:
        return _selects(earlier, later, whole_messages=True)
    same = one.verb == other.verb and one.args == other.args and one.verb in _ONCE
    return same and one.target.exclude == other.target.exclude and _selects(earlier, later)


def _selects(earlier: Act, later: Act, *, whole_messages: bool = False) -> bool:
    """Whether the first statement selects everything that the second one does, or the messages around it."""
    wide, narrow = _as_part(earlier.meaning.target), _as_part(later.meaning.target)
    if narrow.kind in ("path", "prompt") or wide.kind in ("path", "prompt"):
        return wide == narrow
    inside = whole_messages and wide.kind == "message" and narrow.kind == "part" and wide.where is None
    if not (wide.kind == narrow.kind or inside) or not {*wide.states} <= {*narrow.states}:
        return False
    if not (_among(narrow.roles, wide.roles) and (inside or _among(narrow.types, wide.types))):
        return False
    written = later.written.target or tree.Target("prompt")
    where = inside or implies(narrow.where, wide.where, fixed_by(written, later.entry.written))
    return where and {*wide.part_states} <= {*narrow.part_states}


def _as_part(target: ir.Target) -> ir.Target:
    """Calls and results are parts, in states of their own."""
    if target.kind in ("call", "result"):
        states = tuple(f"{target.kind}:{state}" for state in target.states)
        return replace(target, kind="part", types=frozenset({f"tool-{target.kind}"}), states=states)
    return target


def _among(narrow: frozenset[str] | None, wide: frozenset[str] | None) -> bool:
    return wide is None or (narrow is not None and narrow <= wide)


def _taking_all(trial: Trial, takers: list[Act], later: Act) -> Act | None:
    """The first of some statements that leaves a later one nothing to do, where no third one makes new work for it."""
    makers = [act for act in trial.acts if act.place < later.place and concerns(later, act)]
    found = trial.stage(later.entry, later.entry)
    if found is None:  # a wire shape, which is not rehearsed
        return next((act for act in takers if all(maker.place <= act.place for maker in makers)), None)
    histories = {key: root for act in (later, *makers) for key, root in trial.histories(act).items()}
    return takers[0] if _is_idle(trial, later, trial.rehearsal(found), histories.values()) else None


def _is_idle(trial: Trial, later: Act, rehearsal: Rehearsal, histories: Iterable[Json]) -> bool:
    """Whether a statement has something to do by itself, and never behind all that comes before it."""
    run = rehearsal.runner(later)
    before = [*rehearsal.runners(trial.entries[: later.entry.number])]
    before += [rehearsal.runner(act) for act in later.entry.acts[: later.number]]
    alone = False
    for history in histories:
        alone = alone or run(history) is not history
        root = history
        for earlier in before:
            root = earlier(root)
        if run(root) is not root:
            return False
    return alone
