"""Whatever happens to a rule file: no traceback, no waiting, and a complaint where the mistake is."""

from __future__ import annotations

from collections import Counter
from random import Random
from time import perf_counter

import pytest
from mutations import Mutated, mutate
from support import ROOT

from historycompat.compiling import complaints_about
from historycompat.errors import Complaint
from historycompat.language.diagnose import render
from historycompat.language.layout import formatted
from historycompat.language.packs import Kind, kind_of, read_pack
from historycompat.source import Source

_SECONDS = 1.0
_SHARE = 0.9  # of the files that no longer compile, with a complaint at or next to the mutation


def _rules() -> list[tuple[str, Kind]]:
    """Each built-in rule as a file of its own, on both surfaces, and a rule with every verb."""
    found: list[tuple[str, Kind]] = []
    for path in sorted((ROOT / "builtin_rules").glob("*.yaml")):
        pack, _ = read_pack(Source(path.name, path.read_text(encoding="utf-8")), kind="yaml")
        assert pack
        for rule in pack.rules:
            assert rule.span
            alone, _ = read_pack(Source("pack.yaml", f"rules:\n  - {rule.span.text}\n"), kind="yaml")
            assert alone
            found += [(formatted(alone, "yaml"), "yaml"), (formatted(alone, "yaml", "rules", drop_tests=True), "rules")]
    verbs = ROOT / "tests" / "language" / "every_verb.rules"
    return [*found, (verbs.read_text(encoding="utf-8"), kind_of(verbs.name))]


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


@pytest.mark.parametrize("count", [200, pytest.param(10_000, marks=pytest.mark.slow)])
def test_mutated_rule_files(count: int) -> None:
    random, rules = Random(count), _rules()
    near: Counter[bool] = Counter()
    far: list[str] = []
    for _ in range(count):
        text, kind = random.choice(rules)
        mutated = mutate(text, random)
        errors = [complaint for complaint in _complaints(mutated, kind) if complaint.is_error]
        if errors:
            found = any(_is_near(complaint, mutated) for complaint in errors)
            near[found] += 1
            if not found:
                far.append(f"{mutated.how} at {mutated.start}: {render(errors[0])}")
    assert near.total() > count / 4
    assert near[True] >= _SHARE * near.total(), "\n\n".join(far)
