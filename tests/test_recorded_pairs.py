"""The original's repairs outside its processor, case by case, by rules that say the same."""

from __future__ import annotations

import re
from pathlib import Path

from support import json_lines, shared

from historycompat import apply, load_rules
from historycompat.shorthand import plain
from historycompat.stamps import origins

RECORDED = Path(__file__).parent / "recorded"


def test_recorded_pair_cases() -> None:
    rules = load_rules(RECORDED / "pairs.rules")
    cases = [case for case in json_lines(shared("cases/upstream_behaviour.jsonl")) if case["kind"] == "pairs"]
    failed = []
    for case in cases:
        name = re.sub("[A-Z]", lambda letter: f"-{letter[0].lower()}", case["rule"])
        target = case.get("targetProvider")
        outcome = apply(
            case["messages"],
            model={"provider": target, "modelId": "m"} if target else None,
            format="aisdk-v2",
            rules=rules.only(name),
            origin=origins(case["history"]) if "history" in case else None,
        )
        assert not outcome.faults
        if plain(outcome.messages) != case["expect"]:
            failed.append((case["id"], case["expect"], plain(outcome.messages)))
    assert not failed, "\n".join(map(str, failed))
    assert len(cases) == 22
