"""The text of an error as somebody pasted it → the rules that answer it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from historycompat.error_patterns import own_words
from historycompat.reference import refusals
from historycompat.ruleset import Rule
from historycompat.runtime.error_view import ErrorView

_ESCAPE_CODES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\^_])")
# What frames a line in a terminal or a mail: box drawings, marks of quotation.
_FRAME = re.compile(r"^[ \t]*(?:[\u2500-\u259f|>][ \t]*)+|[ \t]*[\u2500-\u259f|]+[ \t]*$|[ \t]+$", re.MULTILINE)
# Where a traceback comes to the point, and where one of JavaScript goes on behind it.
_RAISED = re.compile(r"^[ \t]*(?:\w+\.)*\w*(?:Error|Exception)(?: \[\w+\])?: ", re.MULTILINE)
_STACK = re.compile(r"\nat [^\n]*:\d+:\d+\)?(?: \{)?(?=\n|\Z)")


@dataclass(frozen=True, slots=True)
class Answer:
    """A rule that answers an error: the pattern that matches, and the report that tells of it, where there are any.
    `sleeps` says why the rule does not wake all the same."""

    rule: Rule
    pattern: str = ""
    refusal: refusals.Refusal | None = None
    sleeps: str = ""


def read(text: str) -> ErrorView:
    """What a pasted error says: JSON, plain text, a traceback or a log, coloured, framed and wrapped as it may be."""
    value = _json(text)
    if isinstance(value, (dict, list)):
        return own_words(ErrorView.of(value))
    views = [ErrorView.of(variant) for variant in dict.fromkeys(_variants(text))]
    texts = dict.fromkeys(said for view in views for said in view.texts)
    return own_words(ErrorView(next((view.status for view in views if view.status), None), tuple(texts)))


def _variants(text: str) -> Iterator[str]:
    """A text without what a terminal adds: the words of the provider at its end, where they can be told apart; all of
    it as it is; and with its lines joined, at blanks and within words."""
    plain = _ESCAPE_CODES.sub("", text).strip()
    lines = [line.strip() for line in _FRAME.sub("", plain).splitlines()]
    bare = "\n".join(filter(None, lines))
    if raised := [*_RAISED.finditer(bare)]:
        yield " ".join(_STACK.split(bare[raised[-1].end() :], maxsplit=1)[0].split("\n"))
    yield plain
    yield " ".join(bare.split("\n"))
    yield "".join(lines)


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def answers(view: ErrorView, rules: Iterable[Rule]) -> list[Answer]:
    """The rules that answer an error: first those that are known to answer what was reported in these words, the
    longest words first, then the others whose patterns match; those that wake before those that do not."""
    rules = list(rules)
    by_name = {rule.name: rule for rule in rules}
    matched = {rule.name: answer for rule in rules if (answer := _matched(rule, view))}
    found: dict[str, Answer] = {}
    for refusal in refusals.recognised(view.texts, _told(rules)):
        known = [matched.get(name) or Answer(by_name[name]) for name in refusal.rules if name in by_name]
        for answer in sorted(known, key=_is_awake, reverse=True):
            found.setdefault(answer.rule.name, replace(answer, refusal=refusal))
    for answer in sorted(matched.values(), key=_is_awake, reverse=True):
        found.setdefault(answer.rule.name, answer)
    return list(found.values())


def _is_awake(answer: Answer) -> bool:
    return bool(answer.pattern) and not answer.sleeps


def _told(rules: Iterable[Rule]) -> Iterator[refusals.Refusal]:
    """The reported refusals, and those that the tests of other rules repeat."""
    yield from refusals.reported()
    known = {name for refusal in refusals.reported() for name in refusal.rules}
    yield from (refusal for rule in rules if rule.name not in known for refusal in refusals.of_rule(rule))


def _matched(rule: Rule, view: ErrorView) -> Answer | None:
    """The pattern of a rule that an error matches, under its status if possible."""
    anything = ErrorView(None, view.texts)
    triggers = [trigger for trigger in rule.triggers if anything.first_match(trigger)]
    awake = [trigger for trigger in triggers if view.first_match(trigger)]
    for trigger in [*awake, *triggers]:
        statuses = "|".join(map(str, sorted(trigger.statuses)))
        sleeps = "" if awake else f"it waits for status {statuses}, and this is {view.status}"
        return Answer(rule, f"{statuses} /{trigger.pattern}/".lstrip(), sleeps=sleeps)
    return None
