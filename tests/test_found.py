"""Faults that fresh eyes found by walking through the promises: each with the smallest case that showed it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from cli_tools import run

from historycompat import CompatRule, Ruleset, apply, compile_rules, load_rules
from historycompat.code_rules import BadRule
from historycompat.errors import UnknownRule
from historycompat.rulesets import DuplicateRule

TAKEN = "mistral-tool-id-format"


def pack(name: str, replaces: str | None = None) -> str:
    rule = {"name": name, "because": "b", "do": ["drop assistant/reasoning"]} | (
        {"replaces": replaces} if replaces else {}
    )
    return json.dumps({"language": 1, "pack": "p", "rules": [rule]})


def test_a_rule_that_replaces_another_compiles_before_that_one_is_there(tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(pack("own-ids", replaces=TAKEN), encoding="utf-8")
    builtin = Ruleset.builtin()
    place = builtin.names.index(TAKEN)
    for alone in (compile_rules(path.read_text(encoding="utf-8")), load_rules(path)):
        assert alone.names == ("own-ids",)
        for joined in (builtin.extend(alone), builtin.override(alone["own-ids"])):
            assert joined.names[place] == "own-ids"
            assert len(joined) == len(builtin)
    assert builtin.extend(path) == builtin.extend(load_rules(path))
    with pytest.raises(UnknownRule, match=TAKEN):
        builtin.without(TAKEN).extend(load_rules(path))


def test_no_two_rules_share_a_name_and_none_is_lost_by_a_replacement() -> None:
    both = compile_rules(pack("one-rule")).extend(compile_rules(pack("other-rule")))
    clash = compile_rules(pack("other-rule", replaces="one-rule"))
    with pytest.raises(DuplicateRule, match="other-rule"):
        both.extend(clash)
    with pytest.raises(DuplicateRule, match="other-rule"):
        both.override(clash["other-rule"])
    again = compile_rules(pack("one-rule", replaces="one-rule"))
    assert both.extend(again).names == both.override(again["one-rule"]).names == ("one-rule", "other-rule")


def test_explain_quotes_what_the_provider_said_and_not_the_kind_of_error() -> None:
    error = {"error": {"message": "Emoji are not permitted in assistant turns", "type": "invalid_request"}}
    page = run(["explain", json.dumps(error)]).out
    assert "> Emoji are not permitted in assistant turns\n" in page
    assert "> invalid_request" not in page


CHAT = [
    {"role": "user", "content": [{"type": "text", "text": "hi"}]},
    {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
    },
    {"role": "tool", "tool_call_id": "a", "content": "r"},
]


@pytest.mark.parametrize("statement", [
    "set role to 'tool' on message user",
    "set role to 'user' on message assistant",
    "set role to 'user' on message tool",
])  # fmt: skip
def test_a_role_under_which_the_parts_cannot_stand_is_a_fault_and_no_exception(statement: str) -> None:
    rules = compile_rules(f"pack p language 1 rule other-role {{ {statement} }}", kind="rules")
    outcome = apply(CHAT, model="x/y", format="openai-chat", rules=rules)
    assert [fault.rule for fault in outcome.faults] == ["other-role"]
    assert outcome.messages is CHAT


@pytest.mark.parametrize("pattern", ["invalid_request", re.compile("invalid_request")])
def test_one_pattern_in_place_of_a_list_is_refused(pattern: Any) -> None:
    with pytest.raises(BadRule, match="error_patterns is a list; write "):
        CompatRule("own-rule", error_patterns=pattern, fix=lambda messages: False)


@pytest.mark.parametrize("pattern", ["(", r"(?=look)ahead", 3])
def test_a_pattern_that_is_none_is_told_when_the_rule_is_made(pattern: Any) -> None:
    with pytest.raises(BadRule, match="own-rule: "):
        CompatRule("own-rule", error_patterns=[pattern], fix=lambda messages: False)
