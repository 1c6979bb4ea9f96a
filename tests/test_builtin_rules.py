"""Every built-in rule: its own tests, and what each must tell."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from historycompat import Ruleset
from historycompat.builtin import COMPILED, builtin_rules, compiled_anew, compiled_form, read_sources
from historycompat.cases import Verdict, run_cases
from historycompat.compiling import complaints_about
from historycompat.language.diagnose import render_all
from historycompat.resources import data_dir
from historycompat.ruleset import Rule
from historycompat.source import Source

RULES = list(Ruleset.builtin())
VERDICTS = [verdict for rule in RULES for verdict in run_cases(rule)]


@pytest.mark.parametrize("verdict", VERDICTS, ids=lambda verdict: f"{verdict.rule}: {verdict.case}")
def test_case(verdict: Verdict) -> None:
    assert verdict.passed, f"{verdict.kind}: {verdict.problem}\nexpected {verdict.expected}\ngot      {verdict.got}"


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_rule_is_documented_and_tested_on_both_sides(rule: Rule) -> None:
    meaning = rule.meaning
    assert meaning.because.endswith(".")
    assert meaning.see
    assert all(link.startswith("https://") for link in meaning.see)
    assert date.fromisoformat(meaning.verified)
    sides: set[Any] = {case["then"] == "unchanged" for case in meaning.tests}
    assert sides == {True, False}


def test_the_rules_of_the_original_are_there() -> None:
    assert {
        "strip-foreign-provider-executed-tools",
        "anthropic-tool-id-format",
        "cerebras-strip-reasoning-content",
        "anthropic-strip-empty-signed-reasoning-content",
        "anthropic-strip-foreign-reasoning-content",
        "anthropic-strip-foreign-signed-reasoning",
        "azure-system-reminder-transform",
        "openai-orphan-item-id",
    } <= set(Ruleset.builtin().names)


@pytest.mark.parametrize("file", [f for f in data_dir("builtin_rules").iterdir() if f.name.endswith(".yaml")], ids=str)
def test_file_gets_no_complaint(file: Any) -> None:
    _, complaints = complaints_about(Source(file.name, file.read_text(encoding="utf-8")), "yaml")
    assert not complaints, render_all(complaints)


def test_the_compiled_form_is_current() -> None:
    """If not: python -m historycompat.builtin"""
    assert COMPILED.read_text(encoding="utf-8") == compiled_form()


def test_the_compiled_form_is_what_is_loaded() -> None:
    assert [rule.meaning for rule in builtin_rules()] == [rule.meaning for rule in compiled_anew(read_sources())]
