"""What holds for every rule and every history, whatever they are."""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from typing import Any

import jsonpatch
import pytest
from canonical import SHAPELY, broken_prompts, prompts
from hypothesis import given, settings
from hypothesis import strategies as st
from random_rules import rulesets
from support import ROOT

from historycompat import RuleFault, Ruleset, apply, compile_rules
from historycompat.edits import Edit, replay, same
from historycompat.models.normalise import facts_of, normalise
from historycompat.ruleset import Rule
from historycompat.runtime.interpret import interpret
from historycompat.view import Context, Hit, View

MODELS = (
    "anthropic/claude-sonnet-4-5",
    "anthropic/claude-opus-4-8",
    "bedrock/us.anthropic.claude-sonnet-4-5-v1:0",
    "cerebras/zai-glm-4.7",
    "google/gemini-3-pro",
    "mistral/mistral-large-latest",
    "openai/gpt-5",
    "azure/gpt-5",
    "perplexity/sonar-pro",
    "somebody/something",
)
HISTORIES = prompts() | broken_prompts()
QUICK = settings(max_examples=40)
LONG = settings(max_examples=3_000)


def repaired(history: list[Any], rules: Ruleset, model: Any = MODELS[0], **more: Any) -> Any:
    return apply(history, model=model, format="aisdk-v2", rules=rules, **more)


def rule_by_rule(history: list[Any], rules: Ruleset, model: Any) -> Any:
    """The interpreter alone, without plan and fused passes."""
    context = Context(model=facts_of(normalise(model)))
    return interpret(rules.for_model(model), {"messages": history}, context).root["messages"]


def check_everything(history: list[Any], rules: Ruleset, model: str) -> None:
    kept = copy.deepcopy(history)
    outcome = repaired(history, rules, model)
    assert same(history, kept), "the input was mutated"
    assert same(outcome.messages, rule_by_rule(history, rules, model)), "the fused passes differ from the interpreter"
    assert (outcome.messages is history) == (not outcome.changed) == (not outcome.trace)
    assert_replays(history, outcome)
    assert_shared(history, outcome.messages)
    assert_pairs_stay(history, outcome.messages, model)


def assert_replays(history: list[Any], outcome: Any) -> None:
    edits = [record.edit for record in outcome.trace]
    assert same(replay({"messages": history}, edits)["messages"], outcome.messages)
    patch = [{"op": e.op, "path": e.pointer} | ({} if e.op == "remove" else {"value": e.after}) for e in edits]
    plain = json.loads(json.dumps({"messages": history}))
    assert same(jsonpatch.apply_patch(plain, json.loads(json.dumps(patch)))["messages"], outcome.messages)


def assert_shared(before: list[Any], after: list[Any]) -> None:
    """A message that is equal to one at its own place is that very object."""
    if len(before) == len(after):
        for old, new in zip(before, after, strict=True):
            assert (old is new) or not (isinstance(old, dict) and same(old, new)) or not old


def assert_pairs_stay(before: list[Any], after: list[Any], model: str) -> None:
    """No rule left one half of a pair alone: fewer lonely halves than before, or as many, by kind."""

    def lonely(messages: list[Any]) -> Counter[str]:
        occurrences = View({"messages": messages}, Context()).pairing.occurrences
        return Counter("call" if o.call else "result" for o in occurrences if not (o.call and o.result))

    for kind, count in lonely(after).items():
        assert count <= lonely(before)[kind]


@QUICK
@given(HISTORIES, rulesets, st.sampled_from(MODELS))
def test_any_rules_on_any_history(history: list[Any], rules: Ruleset, model: str) -> None:
    check_everything(history, rules, model)


@pytest.mark.slow
@LONG
@given(HISTORIES, rulesets, st.sampled_from(MODELS))
def test_any_rules_on_any_history_at_length(history: list[Any], rules: Ruleset, model: str) -> None:
    check_everything(history, rules, model)


@QUICK
@given(HISTORIES, rulesets)
def test_rules_run_in_order_each_on_the_output_of_the_one_before(history: list[Any], rules: Ruleset) -> None:
    step_by_step = history
    for name in rules.names:
        step_by_step = repaired(step_by_step, rules.only(name)).messages
    assert same(repaired(history, rules).messages, step_by_step)


@QUICK
@given(HISTORIES, st.sampled_from(MODELS))
def test_the_built_in_rules_change_nothing_the_second_time(history: list[Any], model: str) -> None:
    once = repaired(history, Ruleset.builtin(), model)
    assert not once.faults
    again = repaired(once.messages, Ruleset.builtin(), model)
    assert not again.changed, again.trace


@pytest.mark.slow
@LONG
@given(HISTORIES, st.sampled_from(MODELS))
def test_the_built_in_rules_are_stable_at_length(history: list[Any], model: str) -> None:
    once = repaired(history, Ruleset.builtin(), model)
    assert not once.faults
    assert not repaired(once.messages, Ruleset.builtin(), model).changed


class Breakdown(Exception):
    """Something in a verb that nobody foresaw."""


def failing(rules: Ruleset, at: int) -> Ruleset:
    """The same rules, of which one edits half of the history and then fails."""

    def edit(view: View, hits: list[Hit]) -> Any:
        yield from (Edit("remove", view.path(index)) for index in range(len(view.messages) // 2))
        raise Breakdown("no more")

    broken = list(rules)
    rule = broken[at]
    step = replace(rule.steps[-1], edit=edit, select=lambda view: [Hit((), view.root, view)], local=None)
    broken[at] = Rule(rule.meaning, rule.matches, steps=lambda: (*rule.steps, step), variables=rule.variables)
    return Ruleset(broken)


@QUICK
@given(HISTORIES, rulesets, st.data())
def test_a_rule_that_fails_is_as_if_it_had_not_run(history: list[Any], rules: Ruleset, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(rules) - 1))
    name = rules.names[at]
    outcome = repaired(history, failing(rules, at))
    assert same(outcome.messages, repaired(history, rules.without(name)).messages)
    assert [fault.reason for fault in outcome.faults if fault.rule == name][:1] == ["no more"]
    assert name not in outcome.rules
    with pytest.raises(RuleFault, match="no more"):
        repaired(history, failing(rules, at), errors="raise")


def test_a_rule_that_would_leave_half_a_pair_alone_is_rolled_back() -> None:
    pair = [
        {"role": "assistant", "content": [{"type": "tool-call", "toolCallId": "c", "toolName": "ls", "input": {}}]},
        {"role": "tool", "content": [{"type": "tool-result", "toolCallId": "c", "toolName": "ls", "output": {}}]},
    ]
    rules = compile_rules("pack p language 1\nrule cut { set toolCallId to 'other' on tool/tool-result }", kind="rules")
    outcome = repaired(pair, rules)
    assert outcome.messages is pair
    assert "without its" in outcome.faults[0].reason


def words(messages: list[Any]) -> Counter[str]:
    """Everything that a person or a model said, word by word."""
    said: list[str] = []
    for message in messages:
        if not isinstance(message, dict) or message.get("role") not in ("user", "assistant", "system"):
            continue
        content = message.get("content")
        parts = content if isinstance(content, list) else [{"type": "text", "text": content}]
        for part in parts:
            if isinstance(part, dict) and part.get("type") == "text" and isinstance(part.get("text"), str):
                said += part["text"].split()
    return Counter(said)


@QUICK
@given(prompts() | broken_prompts(damages=SHAPELY), st.sampled_from(MODELS))
def test_safe_rules_lose_no_word(history: list[Any], model: str) -> None:
    safe = [rule.name for rule in Ruleset.builtin() if rule.meaning.safety == "safe"]
    assert safe
    after = words(repaired(history, Ruleset.builtin().only(*safe), model).messages)
    assert not words(history) - after


@QUICK
@given(prompts() | broken_prompts(damages=SHAPELY), rulesets, st.sampled_from(MODELS))
def test_no_rule_that_counts_as_safe_loses_a_word(history: list[Any], rules: Ruleset, model: str) -> None:
    safe = [rule.name for rule in rules if rule.meaning.safety == "safe"]
    after = words(repaired(history, rules.only(*safe), model).messages)
    assert not words(history) - after


STABLE = ("anthropic-tool-id-format", "mistral-tool-id-format", "cerebras-strip-reasoning-content")


@QUICK
@given(HISTORIES, st.sampled_from(STABLE), st.data())
def test_prefix_stable_rules(history: list[Any], name: str, data: st.DataObject) -> None:
    rules = Ruleset.builtin().only(name)
    model = {"a": MODELS[0], "m": MODELS[5], "c": MODELS[3]}[name[0]]
    cut = data.draw(st.integers(0, len(history)))
    whole, part = repaired(history, rules, model).messages, repaired(history[:cut], rules, model).messages
    assert same(whole[: len(part)], part)


def test_the_same_under_any_hash_seed() -> None:
    program = (
        "import json, sys; sys.path[:0] = ['compiler', 'tests']\n"
        "from historycompat import apply\n"
        "h = json.load(open('tests/recorded/long_thread.json'))\n"
        "for m in ('anthropic/claude-sonnet-4-5', 'mistral/mistral-large-latest', 'bedrock/amazon.nova-pro-v1:0'):\n"
        "    o = apply(h, model=m)\n"
        "    print(json.dumps([o.messages, [[r.rule, r.pointer, r.before, r.after] for r in o.trace]]))\n"
    )
    runs = {
        subprocess.run(
            [sys.executable, "-c", program],
            cwd=ROOT,
            env=os.environ | {"PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for seed in ("0", "1", "4242")
    }
    assert len(runs) == 1
    assert len(runs.pop()) > 2000
