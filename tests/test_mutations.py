"""Whatever happens to a rule file: no traceback, no waiting, and a complaint where the mistake is."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from random import Random
from time import perf_counter

import pytest
from mutations import Mutated, mutate
from support import ROOT

from historycompat.compiling import complaints_about
from historycompat.errors import Complaint
from historycompat.language.diagnose import render
from historycompat.language.layout import formatted
from historycompat.language.packs import Kind, read_pack
from historycompat.source import Source

_SECONDS = 1.0
_SHARE = 0.9  # of the files that no longer compile, with a complaint at or next to the mutation


_VERBS = (ROOT / "tests" / "language" / "every_verb.rules").read_text(encoding="utf-8")


def _rules() -> list[str]:
    """Each built-in rule as a YAML file of its own."""
    found: list[str] = []
    for path in sorted((ROOT / "builtin_rules").glob("*.yaml")):
        _, *rules = re.split(r"^(?=  - name: )", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        found += [f"language: 1\nrules:\n{rule}" for rule in rules]
    return found


@cache
def _as_rules(text: str) -> str:
    pack, _ = read_pack(Source("pack.yaml", text), kind="yaml")
    assert pack
    return formatted(pack, "yaml", "rules", drop_tests=True)


def _drawn(rules: list[str], random: Random) -> tuple[str, Kind]:
    """A built-in rule on one of the surfaces, or now and then a rule with every verb."""
    number = random.randrange(2 * len(rules) + 1)
    if number == 2 * len(rules):
        return _VERBS, "rules"
    text = rules[number // 2]
    return (text, "yaml") if number % 2 else (_as_rules(text), "rules")


def _complaints(mutated: Mutated, kind: Kind) -> list[Complaint]:
    begin = perf_counter()
    complaints = complaints_about(Source(f"pack.{kind}", mutated.text), kind)[1]
    seconds = perf_counter() - begin
    if seconds > _SECONDS:  # once more: another process may have had the machine
        begin = perf_counter()
        complaints_about(Source(f"pack.{kind}", mutated.text), kind)
        seconds = min(seconds, perf_counter() - begin)
    assert seconds <= _SECONDS, mutated
    assert all(render(complaint) for complaint in complaints)
    return complaints


def _is_near(complaint: Complaint, mutated: Mutated) -> bool:
    """Whether the place of a complaint is in the lines of the mutation, or the line before or after."""
    if complaint.span is None:
        return False
    source = complaint.span.source
    first, last = (source.place(offset).line for offset in (mutated.start, mutated.end))
    begin, end = (source.place(offset).line for offset in (complaint.span.start, complaint.span.end))
    return begin - 1 <= last and first - 1 <= end


@pytest.mark.parametrize("count", [100, pytest.param(10_000, marks=pytest.mark.slow)])
def test_mutated_rule_files(count: int) -> None:
    random, rules = Random(count), _rules()
    near: Counter[bool] = Counter()
    far: list[str] = []
    for _ in range(count):
        text, kind = _drawn(rules, random)
        mutated = mutate(text, random)
        errors = [complaint for complaint in _complaints(mutated, kind) if complaint.is_error]
        if errors:
            found = any(_is_near(complaint, mutated) for complaint in errors)
            near[found] += 1
            if not found:
                far.append(f"{mutated.how} at {mutated.start}: {render(errors[0])}")
    assert near.total() > count / 4
    assert near[True] >= _SHARE * near.total(), "\n\n".join(far)
