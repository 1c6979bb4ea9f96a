"""What the Python face says to arguments that are easily mistaken."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import pytest

from historycompat import ProviderHistoryCompat, Ruleset, apply
from historycompat.session import Session

HELLO = [{"role": "user", "content": "hi"}]
REPAIRED = [{"role": "assistant", "content": [{"type": "tool_use", "id": "a:b", "name": "x", "input": {}}]}]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: apply(HELLO, model="openai/gpt-5", rules="team.yaml"), "load_rules"),
        (lambda: Ruleset.builtin().extend(["team.yaml"]), "one by one"),
        (lambda: Ruleset.builtin().override("empty-text"), "compiled rule"),  # type: ignore[arg-type]
        (lambda: ProviderHistoryCompat(additional_rules="team.yaml"), "a list of rules"),
        (lambda: ProviderHistoryCompat(rules="team.yaml"), "load_rules"),  # type: ignore[arg-type]
    ],
)
def test_a_wrong_argument_is_told_what_to_write(call: Callable[[], Any], words: str) -> None:
    with pytest.raises(TypeError, match=words):
        call()


@pytest.mark.parametrize("empty", [[], {"messages": []}], ids=["list", "body"])
def test_an_empty_conversation_is_a_conversation(empty: Any) -> None:
    assert apply(empty, model="mistral/mistral-large-latest").format == "openai-chat"


@pytest.mark.parametrize(
    "result",
    [
        lambda: apply(REPAIRED, model="anthropic/claude-sonnet-4-5"),
        lambda: Session(model="anthropic/claude-sonnet-4-5").prepare(REPAIRED),
        lambda: apply(REPAIRED, model="anthropic/claude-sonnet-4-5").trace,
    ],
)
def test_results_go_to_other_processes_with_their_account(result: Callable[[], Any]) -> None:
    given = result()
    told = pickle.loads(pickle.dumps(given))
    assert getattr(told, "trace", told) == getattr(given, "trace", given)
    assert getattr(told, "messages", None) == getattr(given, "messages", None)


def test_rules_go_to_other_processes() -> None:
    rules = list(Ruleset.builtin())
    assert [rule.meaning for rule in pickle.loads(pickle.dumps(rules))] == [rule.meaning for rule in rules]
