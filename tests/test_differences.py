"""Two histories → the changes that a person is shown: none where they are equal, each where it was made."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from historycompat import Ruleset, apply
from historycompat.cli.account import dotted
from historycompat.cli.differences import by_rule, differences
from historycompat.edits import same

HI: dict[str, Any] = {"role": "user", "content": "hi"}
THERE: dict[str, Any] = {"role": "user", "content": "there"}
HELLO: dict[str, Any] = {"role": "assistant", "content": [{"type": "text", "text": "hello"}]}
BRIEF: dict[str, Any] = {"role": "system", "content": "Be brief."}

CASES: dict[str, tuple[Any, Any, list[str]]] = {
    "equal": ([HI, HELLO], copy.deepcopy([HI, HELLO]), []),
    "moved": ([HI, BRIEF, HELLO], [BRIEF, HI, HELLO], ["add [0]", "remove [1]"]),
    "merged": ([HI, THERE, HELLO], [{**HI, "content": "hi there"}, HELLO], ["replace [0].content", "remove [1]"]),
    "added behind": ([HI], [HI, HELLO], ["add [1]"]),
    "behind a new message": ([HI, HELLO], [BRIEF, HI, {**HELLO, "content": []}], ["add [0]", "remove [1].content[0]"]),
    "another kind": ([HI], [{**HI, "role": "tool"}], ["replace [0]"]),
    "a key gone, one new": ({"a": 1, "b": 2}, {"b": 2, "c": 3}, ["remove a", "add c"]),
    "types count": ([1, True], [1, 1], ["replace [1]"]),
    "one value several times": ([1, 1, 1], [1, 1], ["remove [2]"]),
    "a list for a text": ({"content": "hi"}, {"content": ["hi"]}, ["replace content"]),
}


@pytest.mark.parametrize(("old", "new", "expected"), CASES.values(), ids=CASES)
def test_cases(old: Any, new: Any, expected: list[str]) -> None:
    assert [f"{change.op} {dotted(change.path)}" for change in differences(old, new)] == expected


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.text("ab", max_size=2),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["role", "type", "a"]), inner, max_size=3)
    ),
    max_leaves=12,
)


@given(JSON, JSON)
def test_there_are_none_exactly_where_two_values_are_equal(old: Any, new: Any) -> None:
    assert (list(differences(old, new)) == []) == same(old, new)
    assert list(differences(old, copy.deepcopy(old))) == []


@given(JSON, JSON)
def test_what_is_said_to_have_been_there_was_there(old: Any, new: Any) -> None:
    for change in differences(old, new):
        value = new if change.op == "add" else old
        for step in change.path:
            value = value[step]
        assert same(value, change.after if change.op == "add" else change.before)


def test_every_rule_that_did_something_has_its_changes() -> None:
    call = {"type": "tool_use", "id": "a.b", "name": "ls", "input": {}}
    history = [HI, {"role": "assistant", "content": [{"type": "text", "text": ""}, call]}, THERE]
    rules = Ruleset.builtin()
    outcome = apply(history, model="anthropic/claude-sonnet-4-5")
    chapters = list(by_rule(history, outcome, "anthropic/claude-sonnet-4-5", rules))
    assert tuple(rule.name for rule, _ in chapters) == outcome.rules
    assert all(changes for _, changes in chapters)
    assert len(outcome.rules) == 3


def test_ten_thousand_messages_of_which_every_other_changed_are_compared_one_by_one() -> None:
    """Comparing each with each would take minutes."""
    old: list[Any] = [{"role": "user", "content": str(index)} for index in range(20_000)]
    new = [{**each, "content": "x"} if index % 2 else each for index, each in enumerate(old)]
    assert [dotted(change.path) for change in differences(old, new)] == [f"[{n}].content" for n in range(1, 20_000, 2)]
    assert len(list(differences(old, copy.deepcopy(new)))) == 10_000
