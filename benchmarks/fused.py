"""The fused pass against what a person would write for the same rules, and against the jmespath library.

    python benchmarks/fused.py

Gates: at most 1.25 times the handwritten function from 100 messages on; at least 15 times (one rule) and 40 times
(five rules) faster than the jmespath library asked about each part.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jmespath
from compare import ratio
from histories import history

from historycompat import Ruleset, apply, compile_rules

Messages = list[Any]

ONE = {"strip-unsigned": ("reasoning", "!has(providerOptions, 'anthropic')")}
FIVE = ONE | {
    "strip-empty-text": ("text", "text == ''"),
    "strip-remote-images": ("file", "mediaType == 'image/*'"),
    "strip-redacted": ("reasoning", "has(providerOptions.anthropic, 'redactedData')"),
    "strip-drafts": ("text", "providerOptions.agent.draft == `true`"),
}
LIBRARY = {  # the same conditions without our own functions
    "strip-unsigned": "!(providerOptions.anthropic)",
    "strip-redacted": "providerOptions.anthropic.redactedData",
}


def one_by_hand(messages: Messages) -> Messages:
    out = None
    for index, message in enumerate(messages):
        if message["role"] != "assistant":
            continue
        for part in message["content"]:
            if part["type"] == "reasoning" and "anthropic" not in (part.get("providerOptions") or ()):
                kept = [
                    p
                    for p in message["content"]
                    if p["type"] != "reasoning" or "anthropic" in (p.get("providerOptions") or ())
                ]
                if out is None:
                    out = messages[:]
                out[index] = {**message, "content": kept} if kept else None
                break
    return messages if out is None else [message for message in out if message is not None]


def _is_doomed(part: dict[str, Any]) -> bool:
    kind = part["type"]
    if kind == "text":
        if part["text"] == "":
            return True
        options = part.get("providerOptions")
        if options is None:
            return False
        agent = options.get("agent")
        return agent is not None and agent.get("draft") is True
    if kind == "reasoning":
        options = part.get("providerOptions")
        if options is None or "anthropic" not in options:
            return True
        return "redactedData" in options["anthropic"]
    return kind == "file" and part["mediaType"] == "image/*"


def five_by_hand(messages: Messages) -> Messages:
    out = None
    for index, message in enumerate(messages):
        if message["role"] != "assistant":
            continue
        for part in message["content"]:
            if _is_doomed(part):
                kept = [p for p in message["content"] if not _is_doomed(p)]
                if out is None:
                    out = messages[:]
                out[index] = {**message, "content": kept} if kept else None
                break
    return messages if out is None else [message for message in out if message is not None]


def by_library(rules: dict[str, tuple[str, str]]) -> Callable[[Messages], Messages]:
    """Rule by rule, each part of an assistant message asked through the jmespath library."""
    asked = [
        jmespath.compile(f"type == '{kind}' && {LIBRARY.get(name, condition)}")
        for name, (kind, condition) in rules.items()
    ]

    def run(messages: Messages) -> Messages:
        for condition in asked:
            kept_messages = []
            for message in messages:
                if message["role"] == "assistant":
                    content = message["content"]
                    kept = [p for p in content if not condition.search(p)]
                    message = message if len(kept) == len(content) else {**message, "content": kept}
                kept_messages.append(message)
            messages = [message for message in kept_messages if message["content"]]
        return messages

    return run


def compiled(rules: dict[str, tuple[str, str]]) -> Ruleset:
    text = "\n".join(f"rule {name} {{ drop assistant/{kind} where {where} }}" for name, (kind, where) in rules.items())
    return compile_rules(f"pack benchmark language 1\n{text}", kind="rules")


def main() -> None:
    print(f"{'rules':>5} {'history':>12} {'by hand':>8} {'apply':>8} {'library':>8}")
    for rules, by_hand in ((ONE, one_by_hand), (FIVE, five_by_hand)):
        ruleset = compiled(rules)
        (segment,) = ruleset.plan("any/model").segments
        fused = segment.fused
        assert fused is not None
        library = by_library(rules)
        for count in (10, 100, 1000):
            for foreign in (0.0, 0.5):
                given = history(count, foreign=foreign)
                assert fused(given, None) == by_hand(given) == library(given)
                hand = ratio(lambda f=fused, g=given: f(g, None), lambda h=by_hand, g=given: h(g))
                whole = ratio(
                    lambda r=ruleset, g=given: apply(g, model="any/model", format="aisdk-v2", rules=r),
                    lambda h=by_hand, g=given: h(g),
                )
                slow = ratio(lambda x=library, g=given: x(g), lambda f=fused, g=given: f(g, None), pairs=15)
                kind = "clean" if not foreign else "half"
                print(f"{len(rules):>5} {kind:>6} {count:>5} {hand:>7.2f}x {whole:>7.2f}x {slow:>6.0f}x")


if __name__ == "__main__":
    main()
