"""The same conversation in every format: it is read as the same prompt, and repaired to the same prompt."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from historycompat import api, formats
from historycompat.edits import Lineage
from historycompat.formats.format import Format
from historycompat.formats.pairing import identify, is_made

DATA = json.loads((Path(__file__).parent / "same_conversation.json").read_text())
PROMPT: list[Any] = DATA["canonical"]
every_format = pytest.mark.parametrize("kind", formats.FORMATS.values(), ids=lambda kind: kind.name)


def native_of(kind: Format) -> Any:
    return DATA["natives"].get(kind.name) or written(kind, [], PROMPT)


def written(kind: Format, native: Any, prompt: list[Any]) -> Any:
    """A native history with another prompt in it."""
    reading = kind.read(native)
    return kind.write(reading, prompt, reading.tools, reading.params, Lineage())


def common(messages: list[Any]) -> list[Any]:
    """A prompt without what formats may say differently: how many results stand in a message and texts in a row, the
    names of results, whether an output is marked as failed, provider options."""
    prompt: list[Any] = []
    for message in copy.deepcopy(messages):
        message.pop("providerOptions", None)
        parts = message["content"] if isinstance(message["content"], list) else []
        for part in parts:
            part.pop("providerOptions", None)
            if part["type"] == "tool-result":
                part.pop("toolName", None)
                part["output"] = part["output"]["value"]
        if parts and all(part["type"] == "text" for part in parts):
            message["content"] = "\n\n".join(part["text"] for part in parts)
        if message["role"] == "tool":
            prompt += [{"role": "tool", "content": [part]} for part in parts]
        else:
            prompt.append(message)
    return prompt


@every_format
def test_it_is_read_as_the_same_prompt(kind: Format) -> None:
    assert common(kind.read(native_of(kind)).messages) == common(PROMPT)


@every_format
def test_it_is_written_from_the_prompt_and_read_again(kind: Format) -> None:
    assert common(kind.read(written(kind, [], PROMPT)).messages) == common(PROMPT)


def test_every_wire_format_has_its_own_text() -> None:
    assert DATA["natives"].keys() <= formats.FORMATS.keys()


# The strictest on ids, the strictest on pairs and reasoning, and one that takes almost everything.
REFUSES_REASONING = {"openai-chat"}  # these APIs have no field for it there, and refuse unknown ones
TARGETS = ("mistral/mistral-large-latest", "anthropic/claude-sonnet-4-5", "openai/gpt-5")


@every_format
@pytest.mark.parametrize("model", TARGETS)
def test_it_is_repaired_to_the_same_prompt(kind: Format, model: str) -> None:
    """The second result is lost, and the last two user messages stand together."""
    prompt = [*PROMPT[:4], *PROMPT[5:], {"role": "user", "content": [{"type": "text", "text": "Thanks!"}]}]
    canonical = api.apply(prompt, model=model, format="aisdk-v2")
    assert canonical.changed
    native = kind.read(native_of(kind))
    broken = written(kind, native_of(kind), without_second_result(native.messages))
    repaired = api.apply(broken, model=model, format=kind.name)
    assert not repaired.faults
    expected = common(canonical.messages)
    if kind.name in REFUSES_REASONING and not model.startswith("anthropic"):
        expected = without_reasoning(expected)
    assert common(kind.read(repaired.messages).messages) == expected


def without_reasoning(messages: list[Any]) -> list[Any]:
    kept = copy.deepcopy(messages)
    for message in kept:
        if isinstance(message["content"], list):
            message["content"] = [part for part in message["content"] if part["type"] != "reasoning"]
    return kept


def without_second_result(messages: list[Any]) -> list[Any]:
    kept = []
    for message in messages:
        content = message["content"]
        if message["role"] == "tool":
            content = [part for part in content if part["toolCallId"] != "call_2"]
        if content:
            kept.append(message if len(content) == len(message["content"]) else {**message, "content": content})
    return [*kept, {"role": "user", "content": [{"type": "text", "text": "Thanks!"}]}]


@pytest.mark.parametrize("name", ["gemini", "ollama-chat"])
def test_without_ids_the_pairs_are_the_same(name: str) -> None:
    kind = formats.find(name)
    native = without_ids(native_of(kind))
    messages = kind.read(native).messages
    parts = [part for message in messages if isinstance(message["content"], list) for part in message["content"]]
    made = [part["toolCallId"] for part in parts if "toolCallId" in part]
    assert all(map(is_made, made))
    assert made == [made[0], made[1], made[0], made[1]]
    assert "unidentified" not in json.dumps(written(kind, [], messages))


def without_ids(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_ids(inner) for key, inner in value.items() if key not in ("id", "tool_call_id")}
    return [without_ids(inner) for inner in value] if isinstance(value, list) else value


@pytest.mark.parametrize(
    ("turn", "answers", "paired"),
    [
        (["a", "b"], ["b", "a"], [2, 1]),
        (["a", "a"], ["a", "a"], [1, 2]),
        (["a", "b"], ["b"], [2]),
        (["a", "b"], ["wrong", "b"], [1, 2]),
        (["a"], ["a", "a"], [1, 2]),
        ([], ["a"], [1]),
    ],
)
def test_halves_without_ids_pair_by_name_then_by_order(turn: list[str], answers: list[str], paired: list[int]) -> None:
    calls = [{"type": "tool-call", "toolName": name} for name in turn]
    results = [{"type": "tool-result", "toolName": name} for name in answers]
    identify([*calls, *results])
    assert [result["toolCallId"] for result in results] == [f"unidentified_{number}" for number in paired]
