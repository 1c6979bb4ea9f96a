"""What the formats of frameworks do beyond the laws that hold for every format."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support import json_lines, shared

from historycompat import api, formats
from historycompat.edits import Edit, Lineage, commit

FOLDER = Path(__file__).parent / "formats"
LOST = {
    "role": "tool",
    "content": [
        {
            "type": "tool-result",
            "toolCallId": "toolu_2",
            "toolName": "price",
            "output": {"type": "error-text", "value": "lost"},
        }
    ],
}


def payload(name: str) -> Any:
    return json.loads((FOLDER / name).read_text())["native"]


def edited(name: str, native: Any, *edits: Edit) -> Any:
    kind = formats.find(name)
    reading, lineage = kind.read(native), Lineage()
    root, _ = commit({"messages": reading.messages}, edits, lineage)
    return kind.write(reading, root["messages"], reading.tools, reading.params, lineage)


def test_blocks_of_langchain_that_repeat_a_call_follow_it() -> None:
    native = payload("langchain/messages_to_dict.json")
    written = edited("langchain", native, Edit("replace", ("messages", 2, "content", 2, "toolCallId"), "new_id"))
    old, new = native[2]["data"], written[2]["data"]
    assert new["tool_calls"][0] == {**old["tool_calls"][0], "id": "new_id"}
    assert new["content"][2] == {**old["content"][2], "id": "new_id"}
    kept = [(new["tool_calls"][1], old["tool_calls"][1]), *zip(new["content"][:2], old["content"][:2], strict=True)]
    assert all(one is other for one, other in [*kept, (new["content"][3], old["content"][3])])


def test_a_call_of_langchain_goes_with_the_block_that_repeats_it() -> None:
    native = payload("langchain/messages_to_dict.json")
    written = edited("langchain", native, Edit("remove", ("messages", 2, "content", 3)))
    assert written[2]["data"]["content"] == native[2]["data"]["content"][:3]
    assert written[2]["data"]["tool_calls"] == native[2]["data"]["tool_calls"][:1]


FIELDS = {
    "type": "tool",
    "content": "lost",
    "status": "error",
    "tool_call_id": "toolu_2",
    "name": "price",
}


@pytest.mark.parametrize(
    ("name", "stored"),
    [
        ("messages_to_dict", {"type": "tool", "data": FIELDS}),
        (
            "constructors",
            {
                "lc": 1,
                "type": "constructor",
                "id": ["langchain", "schema", "messages", "ToolMessage"],
                "kwargs": FIELDS,
            },
        ),
        ("fields", FIELDS),
    ],
)
def test_a_new_message_of_langchain_is_stored_as_the_others_are(name: str, stored: Any) -> None:
    written = edited("langchain", payload(f"langchain/{name}.json"), Edit("add", ("messages", 3), LOST))
    assert written[3] == stored


def test_calls_with_one_id_keep_the_blocks_that_repeat_them() -> None:
    native = payload("langchain/constructors.json")
    ids = [Edit("replace", ("messages", 2, "content", position, "toolCallId"), "same") for position in (2, 3)]
    written = edited("langchain", native, *ids)
    content = written[2]["kwargs"]["content"]
    assert [(block["id"], block["name"]) for block in content[2:]] == [("same", "look"), ("same", "price")]
    kind = formats.find("langchain")
    before, after = (kind.read(items).messages[2]["content"] for items in (native, written))
    assert after == [*before[:2], *({**call, "toolCallId": "same"} for call in before[2:])]


def test_a_new_result_in_events_has_the_author_of_the_agent() -> None:
    written = edited("google-adk", payload("google-adk/python_sdk.json"), Edit("add", ("messages", 2), LOST))
    assert written[2]["author"] == "mender"
    assert [part["function_response"]["name"] for part in written[2]["content"]["parts"]] == ["price"]


def test_parts_of_one_request_stay_together_around_an_edited_one() -> None:
    native = payload("pydantic-ai/agent_run.json")
    written = edited("pydantic-ai", native, Edit("replace", ("messages", 3, "content", 0, "toolCallId"), "new_id"))
    assert len(written) == len(native)
    assert written[2]["parts"][0] == {**native[2]["parts"][0], "tool_call_id": "new_id"}
    assert [new is old for new, old in zip(written[2]["parts"], native[2]["parts"], strict=True)] == [False, True, True]
    assert {**written[2], "parts": None} == {**native[2], "parts": None}


@pytest.mark.parametrize(
    ("report", "expected"),
    [
        ("openai-missing-tool-message", {"type": "tool", "tool_call_id": "call_2", "status": "error"}),
        ("anthropic-trailing-space", {"type": "ai", "content": "Hi there"}),
    ],
)
def test_reported_histories_of_langchain_are_repaired(report: str, expected: dict[str, Any]) -> None:
    (found,) = [each for each in json_lines(shared("cases/bug_reports.jsonl")) if each["id"] == report]
    repaired = api.apply(found["messages"], model=f"{found['provider']}/{found['model']}")
    assert any(expected.items() <= message.items() for message in repaired.messages)
    new = [message for message in repaired.messages if not any(message is old for old in found["messages"])]
    assert len(new) == 1
