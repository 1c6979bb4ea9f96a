"""A pack as written → every complaint that the grammar alone cannot make."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from historycompat import tree
from historycompat.errors import Complaint
from historycompat.language.checks import calls, fields, models, operators, regexes, targets, writes
from historycompat.source import Span

Check = Callable[[tree.Rule, tree.Pack], Iterator[Complaint]]

# In the order of their codes.
CHECKS: tuple[Check, ...] = (
    operators.misplaced_not,
    operators.bare_constants,
    operators.bare_lists,
    operators.slashed_patterns,
    fields.read_fields,
    fields.written_keys,
    calls.missing_values,
    calls.unknown_names,
    targets.unplaceable_paths,
    writes.written_values,
    regexes.written_regexes,
    regexes.replacements,
    regexes.fruitless_mappings,
    models.model_patterns,
    targets.phases,
    targets.selections,
    targets.misapplied_verbs,
    targets.complaints_of_verbs,
    targets.self_feeding,
)

# Where a text was read as something else, what is wrong with that adds nothing.
_MISREAD = frozenset({"E202"})
_FOLLOWING = frozenset({"E203", "E205", "W302"})

# The warnings that are decided here, from one rule alone.
_DECIDED = frozenset({"W302", "W303", "W402"})


def run_checks(pack: tree.Pack) -> list[Complaint]:
    """All complaints about a pack, in file order; what a rule allows is left out."""
    return [complaint for rule in pack.rules for complaint in _about(rule, pack)]


def _about(rule: tree.Rule, pack: tree.Pack) -> list[Complaint]:
    allowed = {allowance.code for allowance in rule.allowances}
    found = {replace(complaint, rule=rule.name) for check in CHECKS for complaint in check(rule, pack)}
    misread = [complaint.span for complaint in found if complaint.code in _MISREAD and complaint.span]
    kept = [
        complaint
        for complaint in found
        if (complaint.is_error or complaint.code not in allowed)
        and not (complaint.code in _FOLLOWING and any(_is_inside(complaint.span, span) for span in misread))
    ]
    kept += _unused(rule, {complaint.code for complaint in found})
    return sorted(kept, key=lambda complaint: (complaint.span.start if complaint.span else 0, complaint.code))


def _is_inside(span: Span | None, other: Span) -> bool:
    return span is not None and other.start <= span.start and span.end <= other.end


def _unused(rule: tree.Rule, found: set[str]) -> Iterator[Complaint]:
    """Allowances above a rule that nothing here needs."""
    for allowance in rule.allowances:
        if allowance.code.startswith("E"):
            hint = "take it away, and mend what is wrong"
            message = f"{allowance.code} is an error and cannot be allowed"
            yield Complaint("W803", message, allowance.span, hint, rule.name)
        elif allowance.code in _DECIDED and allowance.code not in found:
            message = f"nothing here needs {allowance.code} allowed"
            yield Complaint("W803", message, allowance.span, "take it away", rule.name)
