"""The language end to end: every documented example of every verb, and the sample rules on histories written for them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support import json_lines, shared

from historycompat import Ruleset, apply, compile_rules, load_rules, repair
from historycompat.cases import plain
from historycompat.verbs import VERBS

EXAMPLES = [(verb.name, example) for verb in VERBS.values() for example in verb.examples]
SAMPLES = list(json_lines(Path(__file__).parent / "recorded" / "sample_histories.jsonl"))


@pytest.mark.parametrize(("verb", "example"), EXAMPLES, ids=[name for name, _ in EXAMPLES])
def test_verb_example(verb: str, example: Any) -> None:
    rules = compile_rules(f"pack p language 1\nrule example {{\n{example.statement}\n}}", kind="rules")
    before, after = list(example.before), list(example.after)
    outcome = apply(before, model="any/model", format="aisdk-v2", rules=rules)
    assert plain(outcome.messages) == plain(after)
    assert not apply(outcome.messages, model="any/model", format="aisdk-v2", rules=rules).changed


@pytest.fixture(scope="module")
def sample_rules() -> Ruleset:
    return load_rules(shared("design/sample.rules"))


@pytest.mark.parametrize("case", SAMPLES, ids=lambda case: case["rule"])
def test_sample_rule(sample_rules: Ruleset, case: dict[str, Any]) -> None:
    rules = sample_rules.only(case["rule"])
    options: dict[str, Any] = {"model": case["model"], "format": case.get("format", "aisdk-v2"), "rules": rules}
    given = case["given"]
    outcome = repair(given, error=case["error"], **options) if "error" in case else apply(given, **options)
    assert not outcome.faults
    assert plain(outcome.messages) == case["then"]


def test_every_sample_rule_has_its_history(sample_rules: Ruleset) -> None:
    assert {case["rule"] for case in SAMPLES} == set(sample_rules.names)
    assert len(sample_rules) == 25
