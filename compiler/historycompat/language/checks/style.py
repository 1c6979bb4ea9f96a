"""W801, W802: rules without tests that show them at work and at rest, and rules that do not say why they exist."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from historycompat import tree
from historycompat.errors import Complaint
from historycompat.language.checks.patterns import written
from historycompat.models.normalise import ModelRef, normalise
from historycompat.models.patterns import matcher

# Words that every rule could be called by.
_EMPTY_WORDS = frozenset({
    "a", "an", "and", "bar", "baz", "bug", "change", "check", "compat", "do", "edit", "example", "fix", "fixes", "foo",
    "handle", "hack", "history", "issue", "it", "message", "messages", "misc", "model", "models", "my", "new", "old",
    "patch", "problem", "provider", "quick", "rule", "rules", "sample", "some", "something", "stuff", "temp", "test",
    "the", "thing", "this", "tmp", "todo", "untitled", "update", "v", "workaround", "x", "y", "z",
})  # fmt: skip
_NAMED = 4
_WORD = re.compile(r"[a-z]+")


def missing_tests(rule: tree.Rule, pack: tree.Pack) -> Iterator[Complaint]:
    """W801, as far as it can be told without running them. Tests live in YAML: rules in a text file have none."""
    if pack.source.name.endswith(".rules"):
        return
    cases = [case for case in rule.tests if isinstance(case, dict)]
    firing = [case for case in cases if case.get("then") != "unchanged"]
    if not cases:
        hint = "add `tests` with a case that it repairs and one that it leaves `unchanged`"
        yield Complaint("W801", "no test shows what this rule does", rule.spans.get("name"), hint)
        return
    if not firing:
        hint = "add a case that it repairs: `given` before, `then` after"
        yield Complaint("W801", "no test shows this rule repairing anything", rule.spans.get("tests[0]"), hint)
    if len(firing) == len(cases):
        hint = "add a case with `then: unchanged`, of what is nearly the same and right"
        yield Complaint("W801", "no test shows what this rule leaves alone", rule.spans.get("tests[0]"), hint)
    yield from _untried_models(rule, cases)


def _untried_models(rule: tree.Rule, cases: list[dict[str, Any]]) -> Iterator[Complaint]:
    tried = [normalise(model) for case in cases for model in (case.get("model"), *_others(case))]
    untried = [pattern for pattern in rule.models if not _meets(pattern, tried)]
    if untried:
        names = ", ".join(map(written, untried[:_NAMED])) + " and others" * (len(untried) > _NAMED)
        which = "any of these matches" if len(untried) > 1 else "this matches"
        hint = "add a case with such a `model`, or name it under `also` in one whose outcome it shares"
        yield Complaint("W801", f"no test has a model that {which}: {names}", untried[0].span, hint)


def _others(case: dict[str, Any]) -> list[Any]:
    others = case.get("also")
    return others if isinstance(others, list) else []


def _meets(pattern: tree.ModelPattern, tried: list[tuple[ModelRef, ...]]) -> bool:
    test = matcher((tree.ModelPattern(pattern.text, bounds=pattern.bounds),))
    return any(refs and test(refs) for refs in tried)


def unexplained(rule: tree.Rule, pack: tree.Pack) -> Iterator[Complaint]:
    """W802: what a reader needs to know in a year."""
    absent = [name for name, there in (("because", rule.because), ("see", rule.see)) if not (there and any(there))]
    if absent:
        message = f"{rule.name} does not say {' and '.join(_ASKED[name] for name in absent)}"
        yield Complaint("W802", message, rule.spans.get("name"), f"add {' and '.join(_ADDED[name] for name in absent)}")
    if not {*_WORD.findall(rule.name)} - _EMPTY_WORDS:
        hint = "name it after the provider and what that refuses, as mistral-tool-id-format"
        yield Complaint("W802", f"the name {rule.name} could be any rule's", rule.spans.get("name"), hint)


_ASKED = {"because": "who refuses what", "see": "where that was seen"}
_ADDED = {"because": "`because` with a sentence", "see": "`see` with a link to the report or the documentation"}
