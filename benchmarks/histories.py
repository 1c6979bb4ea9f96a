"""Histories to measure on: four messages a turn, reasoning signed by Anthropic or by somebody else."""

from __future__ import annotations

import json
import random
from typing import Any

_WORDS = [
    "the",
    "agent",
    "reads",
    "a",
    "file",
    "and",
    "says",
    "what",
    "it",
    "found",
    "before",
    "it",
    "calls",
    "the",
    "next",
    "tool",
    "with",
    "another",
    "path",
]


def history(count: int, *, foreign: float, seed: int = 1) -> list[Any]:
    """`count` canonical messages in which a share of the reasoning parts is `foreign`."""
    random_ = random.Random(seed)
    messages: list[Any] = []
    while len(messages) < count:
        messages += _turn(random_, len(messages), foreign)
    # Through JSON once, so that keys are shared and values are not, as a decoder leaves them.
    return json.loads(json.dumps(messages[:count]))  # type: ignore[no-any-return]


def _turn(random_: random.Random, number: int, foreign: float) -> list[Any]:
    call = {"toolCallId": f"toolu_{number:08x}", "toolName": random_.choice(["read", "search", "bash"])}
    output = {"type": "text", "value": _text(random_)}
    return [
        {"role": "user", "content": [_said(random_) for _ in range(random_.choice((1, 2, 2)))]},
        {
            "role": "assistant",
            "content": [
                _thought(random_, foreign),
                *([_said(random_)] if random_.random() < 0.67 else []),
                {"type": "tool-call", **call, "input": {"path": _text(random_, 40)}},
            ],
        },
        {"role": "tool", "content": [{"type": "tool-result", **call, "output": output}]},
        {
            "role": "assistant",
            "content": [*([_thought(random_, foreign)] if random_.random() < 0.33 else []), _said(random_)],
        },
    ]


def _said(random_: random.Random) -> dict[str, Any]:
    return {"type": "text", "text": _text(random_)}


def _thought(random_: random.Random, foreign: float) -> dict[str, Any]:
    part: dict[str, Any] = {"type": "reasoning", "text": _text(random_)}
    if random_.random() >= foreign:
        return {**part, "providerOptions": {"anthropic": {"signature": f"{random_.getrandbits(512):x}"}}}
    if random_.random() < 0.75:
        return {**part, "providerOptions": {"openai": {"itemId": f"rs_{random_.getrandbits(64):x}"}}}
    return part


def _text(random_: random.Random, length: int = 600) -> str:
    words: list[str] = []
    while sum(map(len, words)) + len(words) < length:
        words.append(random_.choice(_WORDS))
    return " ".join(words)
