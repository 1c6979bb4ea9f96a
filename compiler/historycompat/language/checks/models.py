"""E401, W402: model patterns that match nothing, or only what calls itself so."""

from __future__ import annotations

from collections.abc import Iterator

from historycompat import tree
from historycompat.errors import Complaint
from historycompat.models.patterns import pattern_problem, unknown_provider, with_provider
from historycompat.source import Span


def model_patterns(rule: tree.Rule, pack: tree.Pack) -> Iterator[Complaint]:
    """The patterns of `models`, one by one."""
    for pattern in rule.models:
        if problem := pattern_problem(pattern):
            yield Complaint("E401", problem[0], pattern.span, problem[1], fix=_with_provider(pattern))
        elif (hint := unknown_provider(pattern)) and _speaks_for(rule, pattern, pack):
            yield Complaint("W402", f"no provider that is known here is named so: {pattern.text}", pattern.span, hint)


def _with_provider(pattern: tree.ModelPattern) -> tuple[Span, str] | None:
    meant, span = with_provider(pattern), pattern.span
    if meant is None or span is None or pattern.text not in span.text:
        return None
    start = span.start + span.text.index(pattern.text)
    return Span(span.source, start, start + len(pattern.text)), meant


def _speaks_for(rule: tree.Rule, pattern: tree.ModelPattern, pack: tree.Pack) -> bool:
    """Whether an unknown name is complained about here: once in a pack, and nowhere else where a rule allows it."""
    users = [other for other in pack.rules if any(_host(own) == _host(pattern) for own in other.models)]
    allowing = [other for other in users if any(allowance.code == "W402" for allowance in other.allowances)]
    return rule in (allowing or users[:1])


def _host(pattern: tree.ModelPattern) -> str:
    return pattern.text.lower().removeprefix("^").partition("/")[0]
