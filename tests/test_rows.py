"""What single edits of canonical messages make of stored rows, case by case."""

from __future__ import annotations

import copy
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from support import json_lines

from historycompat import apply, formats, repair
from historycompat.edits import Edit, Lineage, commit
from historycompat.formats.stored import just_after

CASES = {case["name"]: case for case in json_lines(Path(__file__).parent / "rows" / "edits.jsonl")}


def edited(case: dict[str, Any]) -> list[Any]:
    """The rows of a case after its edits."""
    kind = formats.find(case["format"])
    reading = kind.read(case["rows"])
    lineage = Lineage()
    edits = [Edit(op, ("messages", *path), *value) for op, path, *value in copy.deepcopy(case["edits"])]
    root, _ = commit({"messages": reading.messages}, edits, lineage)
    rows: list[Any] = kind.write(reading, root["messages"], None, None, lineage)
    return rows


@pytest.mark.parametrize("name", CASES)
def test_edits_of_rows(name: str) -> None:
    case = CASES[name]
    kept = copy.deepcopy(case["rows"])
    rows = edited(case)
    ids = [row["id"] for row in rows]
    assert len(set(ids)) == len(ids)
    known = [row["id"] for row in kept]
    assert [row if row["id"] in known else {**row, "id": "NEW"} for row in rows] == case["expect"]
    assert case["rows"] == kept


def test_new_rows_have_the_same_id_whenever_they_are_made() -> None:
    case = CASES["a new message is a row of the thread, dated behind the one before it"]
    assert edited(case) == edited(copy.deepcopy(case))


@pytest.mark.parametrize(
    ("date", "later"),
    [
        ("2026-01-01T00:00:00.999Z", "2026-01-01T00:00:01.000Z"),
        ("2026-01-01T02:00:00+02:00", "2026-01-01T00:00:00.001Z"),
        (1767225600000, 1767225600001),
        (datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, 0, 0, 0, 1000, tzinfo=UTC)),
        ("yesterday", "yesterday"),
        (None, None),
    ],
)
def test_just_after(date: Any, later: Any) -> None:
    assert just_after(date) == later


def test_steps_that_a_merge_joins_lose_the_mark_between_them() -> None:
    kind = formats.find("ui-message")
    one, two = {"type": "text", "text": "one", "state": "done"}, {"type": "text", "text": "two"}
    first, second = {"type": "step-start"}, {"type": "step-start"}
    reading = kind.read([{"id": "a", "role": "assistant", "parts": [first, one, second, two]}])
    lineage = Lineage()
    merged = [*reading.messages[0]["content"], *reading.messages[1]["content"]]
    edits = [Edit("replace", ("messages", 0, "content"), merged), Edit("remove", ("messages", 1))]
    root, _ = commit({"messages": reading.messages}, edits, lineage)
    (row,) = kind.write(reading, root["messages"], None, None, lineage)
    assert [part is old for part, old in zip(row["parts"], [first, one, two], strict=True)] == [True] * 3


def text_row(**content: Any) -> dict[str, Any]:
    part = {
        "type": "reasoning",
        "reasoning": "hm",
        "details": [],
        "providerMetadata": {"anthropic": {"signature": "s"}},
    }
    return {
        "id": "a",
        "role": "assistant",
        "content": {"format": 2, "parts": [part, {"type": "text", "text": "x"}], **content},
    }


def test_rules_know_who_wrote_a_row() -> None:
    """The stamp in a row's metadata is what `$origin` reads."""
    user = {"id": "u", "role": "user", "content": {"format": 2, "parts": [{"type": "text", "text": "go on"}]}}
    model = {"provider": "anthropic.messages", "modelId": "claude-sonnet-4-5"}
    foreign = [text_row(metadata={"provider": "kimi.messages"}), user]
    outcome = apply(foreign, model=model, format="mastra")
    assert outcome.messages[0]["content"]["parts"] == [{"type": "text", "text": "x"}]
    assert outcome.messages[1] is user
    own = [text_row(metadata={"provider": "anthropic.messages"}), user]
    assert apply(own, model=model, format="mastra").messages is own


def test_a_new_part_is_not_taken_for_one_that_a_system_row_was_read_from() -> None:
    """A link by the id of an object that is gone would hold for the next object with this id."""
    row = {"id": "s", "role": "system", "content": {"format": 2, "parts": [{"type": "text", "text": "x", "at": 1}]}}
    reading = formats.find("mastra").read([row])
    new = [{"type": "text", "text": "inserted"} for _ in range(1000)]
    assert reading.messages == [{"role": "system", "content": "x"}]
    assert not reading.links.keys() & {id(part) for part in new}


def test_one_error_repairs_every_format_of_rows() -> None:
    """The same poisoned call, told to each format: its id is right in all of them afterwards."""
    call: Any = {"type": "tool-call", "toolCallId": "a.b", "toolName": "t", "input": {}}
    answer = {"type": "tool-result", "toolCallId": "a.b", "toolName": "t", "output": {"type": "text", "value": "ok"}}
    prompt: list[Any] = [{"role": "assistant", "content": [call]}, {"role": "tool", "content": [answer]}]
    for name in ("mastra", "mastra-v1", "ui-message", "ui-message-v4", "core-message", "model-message"):
        kind = formats.find(name)
        reading = kind.read([])
        rows = kind.write(reading, prompt, None, None, Lineage())
        outcome = repair(rows, error="tool_use.id: String should match pattern", model=None, format=name)
        assert kind.read(outcome.stored).messages == [
            {**message, "content": [{**part, "toolCallId": "a_b"} for part in message["content"]]} for message in prompt
        ], name
