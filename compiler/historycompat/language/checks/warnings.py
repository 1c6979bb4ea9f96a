"""The packs of a ruleset, in order → what is right and still doubtful, in each rule and between them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from historycompat import ir, tree
from historycompat.errors import Complaint
from historycompat.language.checks import Check, loose, patterns, predicates, promises, style
from historycompat.language.checks.acts import in_order
from historycompat.language.checks.order import Trial
from historycompat.language.checks.order_words import order_complaints
from historycompat.language.checks.reach import unreachable

# Of one rule alone, in the order of their codes.
OF_A_RULE: tuple[Check, ...] = (
    predicates.constant_conditions,
    predicates.tested_by_truth,
    patterns.redundant_patterns,
    promises.unstable_prefixes,
    promises.claimed_safety,
    style.missing_tests,
    style.unexplained,
)

# What is decided here. Whether W801 is needed is known only where the tests are run.
_DECIDED = frozenset({"W208", "W209", "W304", "W403", "W404", "W601", "W602", "W603", "W701", "W702", "W802"})


def ruleset_warnings(packs: Sequence[tree.Pack], before: Iterable[ir.Rule] = ()) -> list[Complaint]:
    """Warnings about the rules of some packs that run together, in this order, without what their rules allow.

    None of the packs may have an E-complaint. What `run_checks` warns of is not said again. Sorted by pack, then by
    place. `before` are compiled rules that run first; nothing is said of how they get on with each other.
    """
    entries = in_order(packs, before)
    trial = Trial(entries)
    between = [*loose.loose_triggers(entries), *unreachable(trial), *order_complaints(trial)]
    return [complaint for pack in packs for complaint in _of_pack(pack, between)]


def _of_pack(pack: tree.Pack, between: Iterable[Complaint]) -> list[Complaint]:
    found = [c for c in between if c.span and c.span.source is pack.source]
    for rule in pack.rules:
        found += {replace(complaint, rule=rule.name) for check in OF_A_RULE for complaint in check(rule, pack)}
    kept = [complaint for rule in pack.rules for complaint in _allowed(rule, found)]
    return sorted(kept, key=_place)


def _place(complaint: Complaint) -> tuple[int, str, str]:
    return complaint.span.start if complaint.span else 0, complaint.code, complaint.message


def _allowed(rule: tree.Rule, found: list[Complaint]) -> Iterator[Complaint]:
    """What is left of the complaints about a rule, and its allowances that nothing needs."""
    allowed = {allowance.code for allowance in rule.allowances}
    own = [complaint for complaint in found if complaint.rule == rule.name]
    yield from (complaint for complaint in own if complaint.code not in allowed)
    needed = {complaint.code for complaint in own}
    for allowance in rule.allowances:
        if allowance.code in _DECIDED - needed:
            message = f"nothing here needs {allowance.code} allowed"
            yield Complaint("W803", message, allowance.span, "take it away", rule.name)
