"""What the original did to prompts, case by case; where we differ on purpose the reason stands beside the case."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
from support import json_lines, shared

from historycompat import Ruleset, apply
from historycompat.code_rules import CompatRule
from historycompat.stamps import origins

DEVIATIONS = {case["id"]: case for case in json_lines(Path(__file__).parent / "recorded" / "prompt_deviations.jsonl")}


def decoded(value: Any) -> Any:
    """JSON cannot say "a function" or "undefined"; the recording writes both as marked objects."""
    if isinstance(value, dict):
        if "$function" in value:
            return lambda: None
        if "$undefined" in value:
            return None
        return {key: decoded(item) for key, item in value.items()}
    return [decoded(item) for item in value] if isinstance(value, list) else value


def code_rule(written: dict[str, Any]) -> CompatRule:
    """The recording's small language for rules in code."""

    def append(prompt: list[Any], model: Any) -> list[Any]:
        text = {"type": "text", "text": f"{written['applyToPrompt'].get('prefix', '')}{model['provider']}"}
        return [*prompt, {"role": "user", "content": [text]}]

    assert written["applyToPrompt"]["op"] == "append-user-text-with-provider"
    return CompatRule(written["name"], apply_to_prompt=append)


def rules_of(case: dict[str, Any]) -> Ruleset:
    rules = Ruleset.builtin() if case["rule"] == "*" else Ruleset.builtin().only(case["rule"])
    extra = [code_rule(rule).compiled("before") for rule in case.get("additionalRules", ())]
    return rules.extend(*(rule for rule in extra if rule))


def test_recorded_prompt_cases() -> None:
    failed, surprises = [], []
    seen = set()
    for case in json_lines(shared("cases/upstream_behaviour.jsonl")):
        if case["kind"] != "prompt":
            continue
        seen.add(case["id"])
        prompt = decoded(case["prompt"])
        kept = copy.deepcopy(prompt)
        outcome = apply(
            prompt,
            model=decoded(case["model"]),
            format="aisdk-v2",
            rules=rules_of(case),
            origin=origins(case["history"]) if "history" in case else None,
        )
        assert prompt == kept, f"{case['id']}: the input was changed"
        assert not outcome.faults, f"{case['id']}: {outcome.faults}"
        deviation = DEVIATIONS.get(case["id"])
        expected = (deviation or case["expect"])["prompt"]
        got = outcome.messages if outcome.changed else None
        if got != expected:
            failed.append((case["id"], expected, got))
        if deviation and deviation["prompt"] == case["expect"]["prompt"]:
            surprises.append(case["id"])
    assert not failed, "\n".join(map(str, failed))
    assert not surprises, f"these deviate no longer: {surprises}"
    assert set(DEVIATIONS) <= seen
    assert len(seen) == 75


@pytest.mark.parametrize("case", DEVIATIONS.values(), ids=list(DEVIATIONS))
def test_every_deviation_has_its_reason(case: dict[str, Any]) -> None:
    assert len(case["reason"].split()) >= 5
