"""What the original's repairs made of stored rows, case by case; where we differ on purpose the reason stands beside."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support import json_lines, shared

from historycompat import Ruleset, repair
from historycompat.code_rules import CompatRule

DEVIATIONS = {case["id"]: case for case in json_lines(Path(__file__).parent / "recorded" / "error_deviations.jsonl")}

# The repairs that were recorded. What further rules make of the same errors is no question of the recording.
RECORDED = ("anthropic-tool-id-format", "openai-orphan-item-id")

# The count of retries is looked at by the processor, which calls no repair then.
OF_THE_PROCESSOR = {"tool-id/u05-retry-count-1"}

Fix = Callable[[list[Any]], bool]


class Raised(Exception):
    """An error as a client raises it, with what the recording says of it."""

    def __init__(self, message: str, status: int | None, body: str | None) -> None:
        super().__init__(message)
        self.status_code = status
        self.body = body


def raised(written: dict[str, Any]) -> Any:
    """The error of a recording: text, an object, or an exception with its cause."""
    if written["type"] in ("string", "object"):
        return written["value"]
    error = Raised(written["message"], written.get("status"), written.get("body"))
    if "cause" in written:
        error.__cause__ = raised(written["cause"])
    return error


def fix(written: dict[str, Any]) -> Fix:
    """The recording's small language for repairs in code."""

    def replace_first(rows: list[Any]) -> bool:
        row = next(row for row in rows if row["role"] == "assistant")
        row["content"]["parts"] = written["parts"]
        return True

    if written["op"] == "return":
        return lambda rows: bool(written["value"])
    assert written["op"] == "replace-first-assistant-parts"
    return replace_first


def rules_of(case: dict[str, Any]) -> Ruleset:
    rules = Ruleset.builtin().only(*RECORDED)
    for written in case.get("additionalRules", ()):
        patterns = [
            re.compile(each["source"], re.IGNORECASE if "i" in each["flags"] else 0)
            for each in written["errorPatterns"]
        ]
        rule = CompatRule(written["name"], patterns, fix=fix(written["fix"])).compiled("after")
        assert rule is not None
        rules = rules.extend(rule)
    return rules


def repaired(case: dict[str, Any], rows: list[Any]) -> list[Any]:
    """The rows to store, after checks that hold for every case."""
    kept = copy.deepcopy(rows)
    outcome = repair(rows, error=raised(case["error"]), model=None, format="mastra", rules=rules_of(case))
    assert rows == kept, f"{case['id']}: the input was changed"
    assert not outcome.faults, f"{case['id']}: {outcome.faults}"
    assert outcome.changed == (outcome.messages != rows), case["id"]
    assert (outcome.stored is rows) == (outcome.stored == rows), case["id"]
    for old, new in zip(rows, outcome.stored, strict=True):
        assert (new is old) == (new == old), f"{case['id']}: a row that did not change is another object"
    stored: list[Any] = outcome.stored
    return stored


def is_ours(case: dict[str, Any]) -> bool:
    """Whether a case can be put to us: a rule in code without patterns is refused when it is made."""
    patterns = [rule.get("errorPatterns") for rule in case.get("additionalRules", ())]
    return case["kind"] == "error" and case["id"] not in OF_THE_PROCESSOR and all(patterns)


def test_recorded_error_cases() -> None:
    failed, surprises, seen = [], [], set()
    for case in json_lines(shared("cases/upstream_behaviour.jsonl")):
        if not is_ours(case):
            continue
        seen.add(case["id"])
        got = repaired(case, case["messages"])
        deviation = DEVIATIONS.get(case["id"])
        expected = (deviation or case["expect"])["messages"]
        if got != expected:
            failed.append((case["id"], expected, got))
        if deviation and deviation["messages"] == case["expect"]["messages"]:
            surprises.append(case["id"])
        if case.get("repeat"):
            assert (repaired(case, got) is not got) == case["expect"]["secondRetry"], case["id"]
    assert not failed, "\n".join(map(str, failed))
    assert not surprises, f"these deviate no longer: {surprises}"
    assert set(DEVIATIONS) <= seen
    assert len(seen) == 40


@pytest.mark.parametrize("case", DEVIATIONS.values(), ids=list(DEVIATIONS))
def test_every_deviation_has_its_reason(case: dict[str, Any]) -> None:
    assert len(case["reason"].split()) >= 5
