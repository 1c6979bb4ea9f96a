"""An error that nothing matches → the rules whose errors are told in the most like words."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from historycompat.reference import refusals
from historycompat.ruleset import Rule

# The least likeness that is worth a look. Six of ten reported refusals that have several wordings, each told by one
# that is left out of the table, find their rule above it; of 38 errors that no history causes (keys, quotas, lengths
# of contexts) three come that near to something. tests/test_explain.py measures both.
NEAR = 0.5
_SHARED = 3  # words that have to be the same at least
_WORD = re.compile(r"[A-Za-z]{3,}|[^\W\d_A-Za-z]+")
_PATTERN_WORD = re.compile(r"(?<![\\A-Za-z])[A-Za-z]{3,}")


class Near(NamedTuple):
    """How near a rule comes, from 0 to 1, and by which of its errors: as it was reported, or as its pattern."""

    likeness: float
    rule: Rule
    said: str


def nearest(texts: Iterable[str], rules: Iterable[Rule], least: float = NEAR) -> list[Near]:
    """The rules that come near to an error, the nearest first."""
    told = [(rule, said, wordset) for rule in rules for said, wordset in errors_of(rule)]
    spread = Counter(word for wordset in {wordset for *_, wordset in told} for word in wordset)
    weights = {word: math.log(1 + len(told) / count) for word, count in spread.items()}
    heard = [frozenset(word.lower() for word in _WORD.findall(text)) for text in texts]
    best: dict[str, Near] = {}
    for rule, said, wordset in told:
        near = Near(max((_likeness(wordset, one, weights) for one in heard), default=0.0), rule, said)
        if near.likeness >= least and (rule.name not in best or near.likeness > best[rule.name].likeness):
            best[rule.name] = near
    return sorted(best.values(), key=lambda near: -near.likeness)


def errors_of(rule: Rule) -> Iterator[tuple[str, frozenset[str]]]:
    """The errors that a rule answers, as they were reported and as its patterns, each with its words."""
    for said in (said for refusal in refusals.of_rule(rule) for said in refusal.says):
        yield said, frozenset(word.lower() for word in _WORD.findall(said))
    for trigger in rule.triggers:
        yield f"/{trigger.pattern}/", frozenset(word.lower() for word in _PATTERN_WORD.findall(trigger.pattern))


def _likeness(told: frozenset[str], heard: frozenset[str], weights: dict[str, float]) -> float:
    """The share of what two errors say together that both say, rare words counting for more."""
    shared = told & heard
    if len(shared) < _SHARED:
        return 0.0
    unknown = max(weights.values())
    both = sum(weights.get(word, unknown) for words in (told, heard) for word in words)
    return 2 * sum(weights[word] for word in shared) / both
