"""Of the rules that a screen leaves out, none would have done anything: no edit, no report, no fault, no note."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_rules import rulesets
from test_guarantees import HISTORIES, MODELS
from test_lens_laws import history

from historycompat import Ruleset, apply, compile_rules, formats
from historycompat.compiling import lowered
from historycompat.language.check import resolve
from historycompat.language.packs import read_pack
from historycompat.models.normalise import facts_of, normalise
from historycompat.ruleset import Rule
from historycompat.runtime.interpret import interpret
from historycompat.runtime.plan import plan
from historycompat.runtime.screen import Screen
from historycompat.source import Source
from historycompat.verbs.samples import assistant, call, result, text, tool, user
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


class Parts(list[Any]):
    """A list as some libraries make them."""


def deep() -> list[Any]:
    inner: list[Any] = []
    for _ in range(20_000):
        inner = [inner]
    return inner


def lost(holder: dict[str, Any]) -> None:
    raise LookupError("this host has lost its records")


def said(*parts: Any, **more: Any) -> dict[str, Any]:
    return {"messages": [user(text("hi")), assistant(*parts)], "tools": [], "params": {}, **more}


def called(*calls: Any, beside: tuple[Any, ...] = ()) -> dict[str, Any]:
    root = said(*calls, *beside)
    root["messages"].append(tool(*(result(each["toolCallId"], each["toolName"]) for each in calls)))
    return root


FIVE = said(text("hello", providerOptions=5))
TWO_CALLS = called(call("c1", "ls", providerExecuted=False), call("c2", "ls", providerExecuted=False))

# A statement, and a prompt in which it does something that a hasty look at what it needs would miss.
HARD = {
    "a condition raises before it matters what the verb needs": (
        "keep only type, text, providerOptions on assistant/text where length(providerOptions || 'x') > `1`",
        FIVE,
    ),
    "a condition raises on a call that has no equal": (
        "dedupe call where length(input) > `0` by toolCallId",
        called(call("c1", "ls", 5)),
    ),
    "a value to compare raises": (
        "dedupe call by {id: toolCallId, size: length(input)}",
        called(call("c1", "ls", 5)),
    ),
    "a value to compare is without the id where its condition is false": (
        "dedupe call by providerExecuted && toolCallId",
        TWO_CALLS,
    ),
    "members to compare are without the id where their condition is false": (
        "dedupe call by [(providerExecuted && toolCallId) || `null`]",
        TWO_CALLS,
    ),
    "two values to compare have the id in two places": (
        "dedupe call by (input.first && [toolCallId, input.first]) || [input.second, toolCallId]",
        called(call("a", "ls", {"first": "b"}), call("b", "ls", {"second": "a"})),
    ),
    "a condition raises that is the same everywhere": (
        'report "seen" assistant/text where length($error.text || `5`) > `9`',
        said(text("ok")),
    ),
    "a filter finds nulls among what another one leads to": (
        "report \"seen\" path messages[*].content[?type == 'text'].providerOptions[?!never]",
        said(text("ok", providerOptions=None)),
    ),
    "a condition raises on what a path leads to": (
        "keep only t on path messages[*].content[*].input.list[?t] where length(t) > `1`",
        called(call("c1", "ls", {"list": [{"t": 5}]})),
    ),
    "a condition raises on the request": (
        'report "seen" prompt where length(params.stop) > `9`',
        said(text("ok"), params={"stop": 5}),
    ),
    "a filter raises on the request": (
        'report "seen" path tools[?length(name) > `9`]',
        said(text("ok"), tools=[{"name": 5}]),
    ),
    "tools are none": (
        "report \"seen\" assistant/text where length($tools || `[]`) > `9` && text == 'never'",
        said(text("ok"), tools=5),
    ),
    "parameters are none": (
        "report \"seen\" assistant/text where keys($params || `{}`) && text == 'never'",
        said(text("ok"), params=5),
    ),
    "a variable stands behind one that is the same everywhere": (
        "report \"seen\" assistant/text where $model | ($prev.role == 'user')",
        said(text("ok")),
    ),
    "a host raises when it is asked who wrote something": (
        "report \"seen\" assistant/text where $origin.provider && text == 'never'",
        said(text("ok")),
    ),
    "values have more levels than can be compared": (
        'report "seen" assistant/text where providerOptions.a == providerOptions.b',
        said(text("ok", providerOptions={"a": deep(), "b": deep()})),
    ),
    "parts are in a list of a host's own kind": (
        "drop assistant/text where text == 'ok'",
        {"messages": [user(text("hi")), {"role": "assistant", "content": Parts([text("ok")])}]},
    ),
    "parts are under keys": (
        "set seen to `true` on path messages[*].content.*",
        {"messages": [{"role": "user", "content": {"only": text("hi")}}]},
    ),
    "an approval has a number where its call has a text": (
        "map ids unless /^[0-9]+$/ hash 9",
        called(call("5", "ls"), beside=({"type": "tool-approval-request", "toolCallId": 5},)),
    ),
    "a tool has its name where calls have theirs": (
        'map names unless /^[a-z]+$/ replacing /[^a-z]/ with "x"',
        said(text("ok"), tools=[{"toolName": "l s"}]),
    ),
}


def rule_of(statement: str, clauses: str = "") -> Rule:
    """A rule, whatever the checks of the language say against it."""
    pack, _ = read_pack(Source("hard.rules", f"rule hard {{ {clauses} {statement} }}"), kind="rules")
    assert pack is not None
    return lowered(resolve(pack.rules[0], pack))


def lost_context() -> Context:
    context = context_for(MODELS[0])
    context.origin = lost
    return context


@pytest.mark.parametrize("case", HARD)
def test_a_rule_that_does_something_is_awake(case: str) -> None:
    statement, root = HARD[case]
    rule, context = rule_of(statement), lost_context()
    run = interpret((rule,), root, context)
    assert run.records or run.reports or run.faults or context.notes, "the case shows nothing"
    assert 0 in Screen((rule,))(View(root, lost_context()))


def test_a_screen_notes_nothing_itself() -> None:
    statement, root = HARD["a condition raises on the request"]
    rule, context = rule_of(statement, "when `false`"), context_for(MODELS[0])
    interpret((rule,), root, context, screen=Screen((rule,)))
    assert context.notes == []


def test_what_a_host_raises_is_a_fault_of_the_rule_that_asked() -> None:
    rule = rule_of("drop assistant/text", "when $origin.provider == 'x'")
    run = interpret((rule,), said(text("ok")), lost_context(), screen=Screen((rule,)))
    assert [fault.reason for fault in run.faults] == ["this host has lost its records"]


def test_a_value_that_is_too_much_for_fused_rules_is_a_fault_of_one() -> None:
    equal = "drop assistant/text where providerOptions.a == providerOptions.b"
    source = f"rule too-much {{ {equal} }} rule enough {{ drop user/text where text == 'hi' }}"
    rules = compile_rules(source, kind="rules")
    root = said(text("ok", providerOptions={"a": deep(), "b": deep()}))
    outcome = apply(root["messages"], model=MODELS[0], format="aisdk-v2", rules=rules)
    assert ([fault.rule for fault in outcome.faults], outcome.rules) == (["too-much"], ("enough",))


# A statement that a screen leaves out, and a prompt with values that are no plain JSON: they are no fault of the rule.
CALM = {
    "a list of a host's own kind has the functions of its type": (
        "drop user/text where length($messages) > `9` && text == 'never'",
        {"messages": Parts([user(text("hi"))])},
    ),
    "what is no number has none": (
        "drop assistant/text where to_number($message.when) == `9` && text == 'never'",
        {"messages": [{**assistant(text("ok")), "when": date(2026, 1, 1)}]},
    ),
    "values without a hash can be compared": (
        "dedupe call by {id: toolCallId, input: input}",
        called(call("c1", "ls", {"paths": ({"a"},)}), call("c2", "ls", {"paths": ({"a"},)})),
    ),
}


@pytest.mark.parametrize("case", CALM)
def test_a_rule_that_sleeps_does_nothing(case: str) -> None:
    statement, root = CALM[case]
    assert check(Screen((rule_of(statement),)), root, MODELS[0]) == 1


@settings(max_examples=60)
@given(HISTORIES, rulesets, st.sampled_from(MODELS))
def test_any_rules_on_any_history(messages: list[Any], rules: Ruleset, model: str) -> None:
    check(Screen(rules), {"messages": messages, "tools": None, "params": {}}, model)


@pytest.mark.slow
@settings(max_examples=3_000)
@given(HISTORIES, rulesets, st.sampled_from(MODELS))
def test_any_rules_on_any_history_at_length(messages: list[Any], rules: Ruleset, model: str) -> None:
    check(Screen(rules), {"messages": messages, "tools": None, "params": {}}, model)
