"""Merged messages whose contents were strings have a string: some providers take nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from historycompat import apply, compile_rules, formats
from historycompat.edits import Lineage

RULES = compile_rules('pack p language 1\nrule one {\n  merge message user|assistant join "+"\n}', kind="rules")

CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
OTHER = {**CALL, "id": "c2"}
TEXT = {"type": "text", "text": "b"}
IMAGE = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}


def merged(name: str, native: Any) -> Any:
    outcome = apply(native, model="openai/gpt-5", format=name, rules=RULES)
    assert not outcome.faults
    again = apply(outcome.messages, model="openai/gpt-5", format=name, rules=RULES)
    assert again.messages is outcome.messages
    return outcome.messages


def user(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


def assistant(content: Any, **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": content, **more}


@pytest.mark.parametrize(
    ("given", "content"),
    [
        ([user("a"), user("b")], "a+b"),
        ([user("a"), user("b"), user("c")], "a+b+c"),
        ([user(""), user("b")], "b"),
        ([user("a"), user("")], "a"),
        ([user("a"), user([TEXT])], [{"type": "text", "text": "a"}, TEXT]),
        ([user([TEXT]), user("a")], [TEXT, {"type": "text", "text": "a"}]),
        ([user("a"), user([IMAGE])], [{"type": "text", "text": "a"}, IMAGE]),
        ([user("a"), user("b"), user([TEXT])], [{"type": "text", "text": "a+b"}, TEXT]),
        ([assistant("a"), assistant("b")], "a+b"),
        ([assistant("a", tool_calls=[CALL]), assistant("b", tool_calls=[OTHER])], "a+b"),
        ([assistant(None, tool_calls=[CALL]), assistant("b")], "b"),
        ([assistant("a"), assistant(None, tool_calls=[CALL])], "a"),
        ([assistant("a", reasoning_content="r"), assistant("b", reasoning_content="s")], "a+b"),
    ],
)
def test_in_openai_chat(given: list[Any], content: Any) -> None:
    (message,) = merged("openai-chat", given)
    assert message["content"] == content
    calls = [call for each in given for call in each.get("tool_calls", ())]
    assert message.get("tool_calls", []) == calls
    assert all(call is now for call, now in zip(calls, message.get("tool_calls", ()), strict=True))


@pytest.mark.parametrize("name", formats.FORMATS)
def test_in_every_format_that_says_strings(name: str) -> None:
    kind = formats.find(name)
    reading = kind.read([])
    prompt = [user([{"type": "text", "text": text}]) for text in "ab"]
    native = kind.write(reading, prompt, None, None, Lineage())
    out = merged(name, native)
    if any(isinstance(value, str) for value in _contents(native)):
        assert list(_contents(out)) == ["a+b"]
    else:
        assert kind.read(out).messages == [user([{"type": "text", "text": text} for text in "ab"])]


def _contents(native: list[Any]) -> list[Any]:
    """What stands where strings are said: in the message, or in the one part of it that pydantic-ai has."""
    found = []
    for message in native:
        if isinstance(message.get("parts"), list) and "part_kind" in message["parts"][0]:
            message = message["parts"][0]
        found.append(message["content"] if "content" in message and "parts" not in message else None)
    return found
