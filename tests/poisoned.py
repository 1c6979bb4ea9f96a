"""Histories that a provider refuses, as several tests and the processes that they start need them."""

from __future__ import annotations

import copy
from typing import Any

# A gateway's name for a model: which rules it needs is only told by the refusal.
ALIAS = "team-alias"

FOREIGN_ID = "functions.bash:0"
ANTHROPIC: list[dict[str, Any]] = [
    {"role": "user", "content": "list the files"},
    {"role": "assistant", "content": [{"type": "tool_use", "id": FOREIGN_ID, "name": "bash", "input": {}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": FOREIGN_ID, "content": "a.py"}]},
    {"role": "assistant", "content": "There is a.py."},
    {"role": "user", "content": "open it"},
]
OPENAI: list[dict[str, Any]] = [
    {"role": "user", "content": "list the files"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": FOREIGN_ID, "type": "function", "function": {"name": "bash", "arguments": "{}"}}],
    },
    {"role": "tool", "tool_call_id": FOREIGN_ID, "content": "a.py"},
    {"role": "assistant", "content": "There is a.py."},
    {"role": "user", "content": "open it"},
]


def anthropic_history(question: str = "open it", foreign: str = FOREIGN_ID) -> list[dict[str, Any]]:
    """A history of its own, so that nothing is shared, with a question and an id that tell it from any other."""
    history = copy.deepcopy(ANTHROPIC)
    history[-1]["content"] = question
    history[1]["content"][0]["id"] = history[2]["content"][0]["tool_use_id"] = foreign
    return history


def openai_history(question: str = "open it", foreign: str = FOREIGN_ID) -> list[dict[str, Any]]:
    history = copy.deepcopy(OPENAI)
    history[-1]["content"] = question
    history[1]["tool_calls"][0]["id"] = history[2]["tool_call_id"] = foreign
    return history
