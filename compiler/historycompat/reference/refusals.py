"""builtin_rules/refusals.jsonl → what providers are known to say, and what an error has of that."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from historycompat.resources import data_dir
from historycompat.ruleset import Rule

_VARYING = re.compile(r"[\w-]*\d[\w-]*|\.{3}|…")  # ids, numbers, and what a report left out
_SQUEEZED = re.compile(r"[\s'\"`\\]+")
_GAP = 120  # characters that may stand where something varies
_TELLING = 12  # characters that a text has to have in common with an error, for that to say anything


@dataclass(frozen=True, slots=True)
class Refusal:
    """A refusal as it was reported: by whom, under which HTTP statuses, in which words, and which rules answer it, the
    most particular first. `reason` says why a history cannot, or need not, be repaired after it."""

    id: str
    status: tuple[int, ...]
    by: tuple[str, ...]
    says: tuple[str, ...]
    rules: tuple[str, ...]
    threads: int = 0
    reason: str = ""


@cache
def reported() -> tuple[Refusal, ...]:
    """The reported refusals, by name."""
    lines = data_dir("builtin_rules").joinpath("refusals.jsonl").read_text(encoding="utf-8").splitlines()
    return tuple(_refusal(json.loads(line)) for line in lines)


def _refusal(row: dict[str, Any]) -> Refusal:
    lists = {name: tuple(row[name]) for name in ("status", "by", "says", "rules")}
    return Refusal(**(row | lists))


def of_rule(rule: Rule) -> tuple[Refusal, ...]:
    """The refusals that a rule answers: the reported ones in the words that are meant for it, else those that its own
    tests repeat, else the reported ones that it helps to answer."""
    own = tuple(refusal for refusal in reported() if rule.name in refusal.rules)
    meant = (replace(refusal, says=tuple(_meant_for(rule, refusal))) for refusal in own)
    return tuple(refusal for refusal in meant if refusal.says) or _of_tests(rule) or own


def _meant_for(rule: Rule, refusal: Refusal) -> Iterator[str]:
    """Of what a refusal says, what wakes a rule; all of it for the rule that answers it first, or that never sleeps."""
    for said in refusal.says:
        if rule.name == refusal.rules[0] or not rule.triggers or any(t.search(said) is not None for t in rule.triggers):
            yield said


def _of_tests(rule: Rule) -> tuple[Refusal, ...]:
    says: dict[str, None] = {}
    statuses: dict[int, None] = {}
    for case in rule.meaning.tests:
        if isinstance(case, dict) and case.get("error") and case.get("then") != "unchanged":
            error = case["error"] if isinstance(case["error"], dict) else {"message": case["error"]}
            says |= {error["message"]: None} if isinstance(error.get("message"), str) else {}
            statuses |= {error["status"]: None} if isinstance(error.get("status"), int) else {}
    return (Refusal(rule.name, tuple(statuses), (), tuple(says), (rule.name,)),) if says else ()


# ----- what an error has of them


def squeezed(text: str) -> str:
    """A text without all that wrapping, quoting and escaping change: in small letters, with no blanks in it."""
    return _SQUEEZED.sub("", text).lower()


def recognised(texts: Iterable[str], refusals: Iterable[Refusal]) -> list[Refusal]:
    """The refusals whose words stand in an error, those with the most words first, without those that have far fewer.
    What varies from request to request is left open, and how the text is wrapped."""
    within = [squeezed(text) for text in texts]
    lengths = {refusal: max((_length(said, within) for said in refusal.says), default=0) for refusal in refusals}
    most = max(lengths.values(), default=0)
    found = [refusal for refusal, length in lengths.items() if length and length * 2 >= most]
    return sorted(found, key=lambda refusal: -lengths[refusal])


def _length(said: str, within: list[str]) -> int:
    """How many characters a text and an error have in common; 0 where not all of the text is in the error."""
    pieces = fixed_pieces(said)
    length = sum(map(len, pieces))
    return length if length >= _TELLING and any(_stands(pieces, text) for text in within) else 0


@cache
def fixed_pieces(said: str) -> tuple[str, ...]:
    """The pieces of a text that are the same in every error of its kind, squeezed, in their order."""
    return tuple(filter(None, map(squeezed, _VARYING.split(said))))


def _stands(pieces: tuple[str, ...], text: str) -> bool:
    start = text.find(pieces[0])
    while start >= 0:
        if _follows(pieces[1:], text, start + len(pieces[0])):
            return True
        start = text.find(pieces[0], start + 1)
    return False


def _follows(pieces: tuple[str, ...], text: str, at: int) -> bool:
    for piece in pieces:
        found = text.find(piece, at, at + _GAP + len(piece))
        if found < 0:
            return False
        at = found + len(piece)
    return True
