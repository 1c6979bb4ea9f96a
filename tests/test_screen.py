"""Of the rules that a screen leaves out, none would have done anything: no edit, no report, no fault, no note."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_rules import rulesets
from test_guarantees import HISTORIES, MODELS
from test_lens_laws import history

from historycompat import Ruleset, formats
from historycompat.models.normalise import facts_of, normalise
from historycompat.ruleset import Rule
from historycompat.runtime.interpret import interpret
from historycompat.runtime.plan import plan
from historycompat.runtime.screen import Screen
from historycompat.view import CANONICAL, Context, Shape, View

TARGETS = (
    "anthropic/claude-sonnet-4-5", "anthropic/claude-opus-4-6", "openai/gpt-5", "openai/o1-mini", "google/gemini-3-pro",
    "mistral/mistral-large-latest", "deepseek/deepseek-reasoner", "bedrock/anthropic.claude-sonnet-4", "bedrock/amazon.nova-pro",
    "groq/llama-3.3", "cohere/command-r", "vllm/google/gemma-3", "moonshot/kimi-k2", "zai/glm-4.6", "nobody/x",
)  # fmt: skip


def context_for(model: str) -> Context:
    return Context(model=facts_of(normalise(model)), given_model=model)


def check(screen: Screen, root: dict[str, Any], model: str, shape: Shape = CANONICAL) -> int:
    """How many rules the screen leaves out, none of which does anything."""
    awake = screen(View(root, context_for(model), shape))
    asleep = [rule for number, rule in enumerate(screen.rules) if number not in awake]
    for rule in asleep:
        context = context_for(model)
        run = interpret((rule,), root, context, shape=shape)
        did = (run.root is not root, run.records, run.reports, run.faults, _notes(rule, context))
        assert did == (False, [], [], [], []), f"{rule.name}: {root}"
    return len(asleep)


def _notes(rule: Rule, context: Context) -> list[str]:
    """What a rule noted, without that its input was missing: the interpreter says so in any case."""
    return [note for note in context.notes if not note.startswith(f"{rule.name} was skipped")]


def check_history(name: str, number: int) -> int:
    kind, native = formats.find(name), history(name, number)
    model = TARGETS[number % len(TARGETS)]
    rules = plan(rule for rule in Ruleset.builtin().for_model(model) if rule.runs("before"))
    reading = kind.read(native)
    root = {"messages": reading.messages, "tools": reading.tools, "params": reading.params}
    left_out = sum(check(segment.screen, root, model) for segment in rules.segments)
    if name in rules.wire:
        left_out += check(rules.wire[name], kind.wrap(native), model, kind.shape)
    return left_out


@pytest.mark.parametrize("name", formats.FORMATS)
def test_built_in_rules_on_histories_of_every_format(name: str) -> None:
    assert sum(check_history(name, number) for number in range(20)) > 20


@pytest.mark.slow
@pytest.mark.parametrize("name", formats.FORMATS)
def test_built_in_rules_on_many_histories(name: str) -> None:
    assert sum(check_history(name, number) for number in range(20, 1_000)) > 1_000


@settings(max_examples=60)
@given(HISTORIES, rulesets, st.sampled_from(MODELS))
def test_any_rules_on_any_history(messages: list[Any], rules: Ruleset, model: str) -> None:
    check(Screen(rules), {"messages": messages, "tools": None, "params": {}}, model)


@pytest.mark.slow
@settings(max_examples=3_000)
@given(HISTORIES, rulesets, st.sampled_from(MODELS))
def test_any_rules_on_any_history_at_length(messages: list[Any], rules: Ruleset, model: str) -> None:
    check(Screen(rules), {"messages": messages, "tools": None, "params": {}}, model)
