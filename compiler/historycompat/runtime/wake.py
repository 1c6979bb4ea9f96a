"""An API error and rules → the rules that it wakes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from historycompat.ruleset import Rule
from historycompat.runtime.error_view import ErrorView


def woken(rules: Iterable[Rule], error: ErrorView) -> Iterator[tuple[Rule, dict[str, Any]]]:
    """The rules with a pattern that matches, in order, each with what it reads as `$error`."""
    for rule in rules:
        found = next(filter(None, map(error.first_match, rule.triggers)), None)
        if found is not None:
            yield rule, found
