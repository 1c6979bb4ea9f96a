"""What the Python face says to arguments that are easily mistaken."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from historycompat import ProviderHistoryCompat, Ruleset, apply

HELLO = [{"role": "user", "content": "hi"}]


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
