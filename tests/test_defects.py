"""Random conversations with random defects, and those that once went wrong: repaired, accepted, and nothing said is lost."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest
from defects import defective
from hypothesis import given, settings
from hypothesis import strategies as st
from strict_server import Refusal, check, refusals, route
from strict_server.expansion import expand
from support import json_lines

from historycompat import apply, repair
from historycompat.conversion import convert
from historycompat.edits import same
from historycompat.formats import FORMATS, find
from historycompat.formats.format import Format

WIRES = {"chat": "openai-chat", "responses": "openai-responses", "ollama": "ollama-chat"}
NAMES = {"bedrock-invoke": "bedrock"}
"""What a host calls a provider of the server, where the names differ."""


class Target(NamedTuple):
    route: str
    model: str

    @property
    def options(self) -> dict[str, str]:
        way = route(self.route)
        return {
            "model": f"{NAMES.get(way.provider, way.provider)}/{self.model}",
            "format": WIRES.get(way.wire, way.wire),
        }


TARGETS = [
    Target("openai/chat", "gpt-4.1"),
    Target("openai/responses", "gpt-5.5"),
    Target("azure/chat", "gpt-4o"),
    Target("azure/responses", "gpt-5.2"),
    Target("copilot/chat", "gpt-4.1"),
    Target("google/gemini", "gemini-2.5-pro"),
    Target("google/gemini", "gemini-3-pro"),
    Target("google/chat", "gemini-2.5-pro"),
    Target("mistral/chat", "mistral-large-latest"),
    Target("deepseek/chat", "deepseek-v3"),
    Target("deepseek/chat", "deepseek-v4-pro"),
    Target("dashscope/chat", "qwen3-max"),
    Target("moonshot/chat", "kimi-k2"),
    Target("zai/chat", "glm-4.6"),
    Target("xai/chat", "grok-4"),
    Target("groq/chat", "llama-3.3-70b-versatile"),
    Target("cerebras/chat", "qwen-3-32b"),
    Target("fireworks/chat", "deepseek-v3"),
    Target("perplexity/chat", "sonar"),
    Target("minimax/chat", "MiniMax-M2"),
    Target("minimax/anthropic", "MiniMax-M2"),
    Target("anthropic/anthropic", "claude-sonnet-4-5"),
    Target("anthropic/anthropic", "claude-opus-4-8"),
    Target("anthropic/anthropic", "claude-opus-5-5"),
    Target("vertex/anthropic", "claude-sonnet-4-5"),
    Target("bedrock-invoke/anthropic", "anthropic.claude-3-haiku-20240307-v1:0"),
    Target("bedrock/bedrock", "us.anthropic.claude-sonnet-4-5-20250929-v1:0"),
    Target("bedrock/bedrock", "amazon.nova-pro-v1:0"),
    Target("vllm/chat", "Qwen/Qwen3.5-27B"),
    Target("vllm/chat", "mistralai/Mistral-7B-Instruct-v0.3"),
    Target("llamacpp/chat", "gemma-3-27b-it"),
    Target("ollama/ollama", "llama3.3"),
    Target("cohere/chat", "command-a-03-2025"),
    Target("copilot/anthropic", "claude-sonnet-4.5"),
    Target("copilot/chat", "gemini-3-pro"),
    Target("deepseek/anthropic", "deepseek-v4-pro"),
    Target("moonshot/chat", "kimi-k2-thinking"),
    Target("siliconflow/chat", "Qwen/Qwen3-32B"),
    Target("volcengine/chat", "doubao-1.5-pro"),
    Target("together/chat", "meta-llama/Llama-3.3-70B"),
    Target("openrouter/chat", "anthropic/claude-sonnet-4.5"),
    Target("ollama/chat", "qwen3-32b"),
    Target("llamacpp/chat", "qwen3-32b"),
    Target("bedrock/bedrock", "openai.gpt-oss-120b-1:0"),
    Target("bedrock/bedrock", "us.anthropic.claude-opus-4-6-v1"),
    Target("google/gemini", "gemma-3-27b-it"),
    Target("google/chat", "gemini-3-pro"),
    Target("anthropic/anthropic", "claude-fable-5-1"),
    Target("copilot/responses", "gpt-5.2"),
]

DEMANDED = {
    (row["rule"], where) for row in json_lines(Path(__file__).parent / "demanded.jsonl") for where in row["targets"]
}
"""What a rule does to a history that the server accepts on a route, because an entry of the catalogue demands it."""

FOUND = [case for file in sorted((Path(__file__).parent / "defects").glob("*.jsonl")) for case in json_lines(file)]


def quietly(outcome: Any) -> Any:
    assert not outcome.faults, f"faults: {outcome.faults}"
    return outcome.messages


def refusal(history: Any, to: Target) -> Refusal | None:
    return check(to.route, to.model, history)


def as_a_host(history: Any, to: Target) -> tuple[Any, list[str]]:
    """What a host sends in the end, and the rules that did it: prepared, and after a refusal repaired and prepared again."""
    first = apply(history, **to.options)
    sent, rules = quietly(first), [*first.rules]
    refused = refusal(sent, to)
    if refused is not None:
        second = repair(sent, error={"status": refused.status, "message": refused.message}, **to.options)
        third = apply(quietly(second), **to.options)
        sent = quietly(third)
        rules += [f"({refused.message})", *second.rules, *third.rules]
    return sent, rules


def unheard(said: list[str], history: Any) -> list[str]:
    written = json.dumps(history, ensure_ascii=False)
    return [text for text in said if text not in written]


def holds(history: Any, said: list[str], to: Target) -> None:
    """Everything that is promised of a history in front of this target."""
    kept = copy.deepcopy(history)
    sent, rules = as_a_host(history, to)
    assert same(history, kept), "the input was changed"
    refused = refusal(sent, to)
    assert refused is None, f"{refused.entry_id} at {refused.pointer}: {refused.message}\nafter {rules}\n{sent}"
    assert not unheard(said, sent), f"lost {unheard(said, sent)} after {rules}\n{sent}"
    again = apply(sent, **to.options)
    assert not again.faults, again.faults
    assert not again.changed, f"changed again by {again.rules} after {rules}\n{sent}"


def check_random(random: Random, defects: int) -> None:
    to = random.choice(TARGETS)
    request = defective(random, route(to.route).wire, defects)
    try:
        holds(request.body, request.said, to)
    except AssertionError as error:
        raise AssertionError(f"{to} {request.defects}: {error}\ngiven {json.dumps(request.body)}") from None


RANDOMS = st.randoms(use_true_random=False)


@given(RANDOMS)
@settings(max_examples=150)
def test_defects_are_repaired(random: Random) -> None:
    check_random(random, random.randrange(1, 5))


@given(RANDOMS)
@settings(max_examples=50)
def test_a_good_conversation_of_any_models_is_accepted(random: Random) -> None:
    check_random(random, 0)


@given(st.sampled_from(TARGETS), RANDOMS)
@settings(max_examples=300)
def test_what_is_well_formed_and_accepted_comes_back_as_it_is(to: Target, random: Random) -> None:
    body = defective(random, route(to.route).wire, 0).body
    if not refusals(to.route, body, to.model):
        outcome = apply(body, **to.options)
        unwanted = {rule for rule in outcome.rules if (rule, to.route) not in DEMANDED}
        assert not unwanted, f"{to}: {unwanted}\ngiven {json.dumps(body)}"
        assert outcome.rules or outcome.messages is body


@given(st.sampled_from(TARGETS), st.sampled_from([*FORMATS.values()]), RANDOMS)
@settings(max_examples=200)
def test_nor_is_it_changed_in_another_format(to: Target, into: Format, random: Random) -> None:
    body, source = defective(random, route(to.route).wire, 0).body, find(to.options["format"])
    if refusals(to.route, body, to.model) or apply(body, **to.options).changed:
        return
    there = convert(body, source, into)
    if not any(loss.gone for loss in there.losses if loss.path[0] in ("messages", "tools")):
        outcome = apply(there.history, model=to.options["model"], format=into.name)
        assert not outcome.changed, f"{to}, {into.name}: {outcome.rules}\ngiven {json.dumps(there.history)}"


def test_most_defects_are_refused_as_they_come() -> None:
    entries, refused = set(), 0
    for seed in range(600):
        random = Random(seed)
        to = random.choice(TARGETS)
        found = refusals(to.route, defective(random, route(to.route).wire, 3).body, to.model)
        entries |= {refusal.entry_id for refusal in found}
        refused += bool(found)
    assert refused > 300
    assert len(entries) > 60


@pytest.mark.slow
@given(RANDOMS)
@settings(max_examples=10_000)
def test_many_defects_are_repaired(random: Random) -> None:
    check_random(random, random.randrange(1, 5))


@pytest.mark.parametrize("case", FOUND, ids=lambda case: str(case["name"]))
def test_what_once_went_wrong(case: dict[str, Any]) -> None:
    holds(expand(case["body"]), case.get("said", []), Target(case["route"], case["model"]))
