"""E401, W402: model patterns that match nothing, or only what calls itself so."""

from __future__ import annotations

from collections.abc import Iterator

from historycompat import tree
from historycompat.errors import Complaint
from historycompat.models.patterns import pattern_problem, unknown_provider


def model_patterns(rule: tree.Rule, pack: tree.Pack) -> Iterator[Complaint]:
    """The patterns of `models`, one by one."""
    for pattern in rule.models:
        if problem := pattern_problem(pattern):
            yield Complaint("E401", problem[0], pattern.span, problem[1])
        elif hint := unknown_provider(pattern):
            yield Complaint("W402", f"no provider that is known here is named so: {pattern.text}", pattern.span, hint)
