"""All built-in rules on a prompt that needs none of them, against the handwritten strip of one rule.

    python benchmarks/builtin.py

Gates: at most 8 times the handwritten function on 1,000 messages, and at most twice an empty call for a model that no
rule is about, whether there are 3 rules or 300. Histories in the formats of providers are shown without a gate: reading
them is a part of it, and formats.py has that.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from compare import ratio
from formats import native_history
from fused import one_by_hand
from histories import history

from historycompat import Ruleset, apply, compile_rules, formats

MESSAGES = 1000
CANONICAL = "aisdk-v2"
GATED = ("anthropic/claude-sonnet-4-5", "openai/gpt-5", "deepseek/deepseek-chat")
SHOWN = {
    "openai-chat": "openai/gpt-5",
    "anthropic": "anthropic/claude-sonnet-4-5",
    "gemini": "google/gemini-2.5-pro",
    "openai-responses": "openai/gpt-5",
}


def rows() -> Iterator[tuple[str, float, float | None]]:
    """A name, how many times as long, and what is allowed."""
    clean = history(MESSAGES + 1, foreign=0)  # it ends with a question
    by_hand = partial(one_by_hand, clean)
    for model in GATED:
        yield model, ratio(partial(repaired, clean, model, CANONICAL), by_hand), 8
    for name, model in SHOWN.items():
        native = apply(native_history(formats.find(name)), model=model, format=name).messages
        yield f"{name} for {model}", ratio(partial(repaired, native, model, name), by_hand, pairs=9), None
    nothing = partial(quick, clean, Ruleset(()))
    for count in (3, 300):
        text = "\n".join(f"rule r{number} {{ models acme/m{number} drop user/text }}" for number in range(count))
        others = compile_rules(text, kind="rules")
        yield f"{count} rules about other models", ratio(partial(quick, clean, others), nothing), 2


def repaired(messages: object, model: str, kind: str) -> None:
    if apply(messages, model=model, format=kind).changed:
        raise AssertionError(f"{model}: a history that needs nothing was changed")


def quick(messages: object, rules: Ruleset) -> None:
    apply(messages, model="other/model", format=CANONICAL, rules=rules)


if __name__ == "__main__":
    for name, times, gate in rows():
        verdict = "" if gate is None else f"  {'pass' if times <= gate else 'FAIL'} (at most {gate})"
        print(f"{name:40} {times:8.2f}{verdict}")
