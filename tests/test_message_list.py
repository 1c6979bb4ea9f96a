"""The message list: sources, changes, and its agreement with a plain list."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from historycompat.processors import MessageList


def row(id_: str, text: str = "", role: str = "user") -> dict[str, Any]:
    return {"id": id_, "role": role, "text": text or id_}


def test_a_message_list_knows_its_sources_and_changes() -> None:
    rows = MessageList([row("a"), row("b"), row("c"), row("s", role="system")])
    assert not rows.changed()
    rows[1]["text"] = "edited in place"
    rows.replace("c", {"role": "user", "text": "replaced"})
    rows.add([row("d"), {"role": "user", "text": "no id"}])
    rows.add(row("e", role="assistant"), "response")
    rows.add(row("f"), "context")
    rows.remove("a")
    changes = rows.changed()
    assert [each["text"] for each in changes.edited] == ["edited in place", "replaced"]
    assert [each["text"] for each in changes.added] == ["d", "no id", "e"]
    assert changes.removed == ("a",)
    assert [rows.source_of(each) for each in rows] == ["memory", "memory", "input", "input", "response", "context"]
    assert [each["text"] for each in rows.rows("input", "context")] == ["d", "no id", "f"]
    assert ("c" in rows, row("c") in rows, "a" in rows, 3 in rows) == (True, True, False, False)
    assert [each["id"] for each in rows.system_messages] == ["s"]
    rows.mark_saved()
    assert not rows.changed()


def test_a_row_with_a_known_id_takes_its_place() -> None:
    rows = MessageList([row("a"), row("b")])
    rows.add(row("a", "again"))
    assert [each["text"] for each in rows] == ["again", "b"]
    assert rows.source_of("a") == "input"
    assert rows.changed().edited == (row("a", "again"),)


def test_a_message_list_is_a_list() -> None:
    rows = MessageList([row("a"), row("b"), row("c")])
    rows[0] = row("x")
    rows[1:] = [row("c"), row("y", role="assistant")]
    rows.append(row("z"))
    rows.insert(0, row("w"))
    del rows[-2]
    assert [f"{rows.source_of(each)} {each['id']}" for each in rows] == ["input w", "memory x", "memory c", "input z"]
    rows.reverse()
    assert [each["id"] for each in rows] == ["z", "c", "x", "w"]
    rows[:] = [row("w"), row("s", role="system")]
    assert (rows[:], rows.system_messages) == ([row("w")], [row("s", role="system")])
    assert repr(rows) == "<MessageList of 1 rows>"
    for use in (lambda: rows.insert(0, row("w")), lambda: rows.__setitem__(slice(0, 0), [row("v"), row("v")])):
        with pytest.raises(ValueError, match="is here already: replace that one"):
            use()
    with pytest.raises(ValueError, match="no row of id 'q' is here"):
        rows.remove("q")
    with pytest.raises(IndexError, match="no row 1: there are 1"):
        del rows[1]


IDS = st.sampled_from("abcdefgh")
OPERATIONS = st.lists(
    st.tuples(st.sampled_from(["add", "remove", "edit", "cut", "save", "turn"]), IDS, st.integers(0, 8)), max_size=30
)


@given(OPERATIONS)
def test_a_message_list_agrees_with_a_plain_list(operations: list[tuple[str, str, int]]) -> None:
    rows, plain, saved = MessageList(), [], {}
    point, mark = rows.checkpoint(), []
    for step, (what, id_, at) in enumerate(operations):
        here = [each["id"] for each in plain]
        match what:
            case "add" if id_ not in here:
                rows.insert(at, row(id_, str(step), "assistant"))
                plain.insert(at, row(id_, str(step), "assistant"))
            case "remove" if id_ in here:
                rows.remove(id_)
                del plain[here.index(id_)]
            case "edit" if id_ in here:
                rows[here.index(id_)]["text"] = plain[here.index(id_)]["text"] = str(step)
            case "cut":
                rows[at:] = rows[at + 1 :]
                plain[at:] = plain[at + 1 :]
            case "save":
                rows.mark_saved()
                saved = {each["id"]: dict(each) for each in plain}
            case "turn" if at % 2:
                point, mark = rows.checkpoint(), [dict(each) for each in plain]
            case "turn":
                rows.roll_back(point)
                plain = [dict(each) for each in mark]
    assert list(rows) == plain
    changes = rows.changed()
    assert list(changes.added) == [each for each in plain if each["id"] not in saved]
    assert list(changes.edited) == [each for each in plain if saved.get(each["id"], each) != each]
    assert set(changes.removed) == saved.keys() - {each["id"] for each in plain}
