"""The verbs on cases that are data, the laws that hold for all of them, and their rows."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML
from support import ROOT
from verb_driver import SHAPES, check_laws, run, synthetic_places, unmarked

from historycompat.compiling import compile_source, complaints_about
from historycompat.edits import Edit, same
from historycompat.errors import RuleFault
from historycompat.regex import compile_regex
from historycompat.shorthand import messages
from historycompat.source import Source
from historycompat.verbs import VERBS
from historycompat.verbs.verb import Verb
from historycompat.view import Context, Hit, View

Json = dict[str, Any]


def _cases() -> Iterator[Any]:
    for path in sorted((ROOT / "tests" / "verbs").glob("*.yaml")):
        for case in YAML(typ="safe", pure=True).load(path.read_text(encoding="utf-8")):
            yield pytest.param(path.stem, case, id=f"{path.stem}: {case['name']}")


def _root(case: Json, native: str, short: str) -> Json:
    return case[native] if native in case else {"messages": messages(case[short])}


@pytest.mark.parametrize(("verb", "case"), list(_cases()))
def test_case(verb: str, case: Json) -> None:
    root, shape = _root(case, "root", "given"), SHAPES[case.get("shape", "canonical")]
    target, args, original = case["target"], case.get("args", {}), deepcopy(root)
    if "fault" in case:
        with pytest.raises(RuleFault, match=case["fault"]):
            run(verb, target, args, root, shape)
        assert same(root, original)
        return
    ran = run(verb, target, args, root, shape)
    check_laws(ran, original)
    if case.get("then") == "unchanged":
        assert ran.after.root is root
    else:
        assert unmarked(ran.after.root) == _root(case, "becomes", "then")
    if "synthetic" in case:
        assert synthetic_places(ran.after.root) == case["synthetic"]
    assert [finding.pointer for finding in ran.findings] == case.get("findings", [])
    if case.get("again") != "changes":
        assert run(verb, target, args, ran.after.root, shape).after.root is ran.after.root


def _statements() -> list[Any]:
    rows = YAML(typ="safe", pure=True).load((ROOT / "tests" / "verb_statements.yaml").read_text(encoding="utf-8"))
    return [pytest.param(row, id=row["statement"]) for row in rows]


@pytest.mark.parametrize("row", _statements())
def test_statement(row: Json) -> None:
    source = Source("one.rules", f"pack p language 1\nrule r {{\n{row['statement']}\n}}\n")
    errors = [complaint for complaint in complaints_about(source, "rules")[1] if complaint.is_error]
    if "code" in row:
        assert [complaint.code for complaint in errors] == [row["code"]]
        assert errors[0].span is not None
        assert errors[0].span.place.line == 3
        assert errors[0].suggestion
    else:
        assert errors == []
        assert compile_source(source, "rules")[0].meaning.safety == row["safety"]


def test_table_is_the_language() -> None:
    order = (
        "drop set unset keep rename replace map_ids map_names merge split insert reorder truncate convert move coerce"
        " answer dedupe report"
    )
    assert " ".join(VERBS) == order


@pytest.mark.parametrize("verb", [pytest.param(verb, id=name) for name, verb in VERBS.items()])
def test_row_is_documented(verb: Verb) -> None:
    assert verb.does
    assert verb.doc
    assert len(verb.examples) >= 2
    assert (
        any(not same(list(example.before), list(example.after)) for example in verb.examples) or verb.name == "report"
    )


_IDS = ["a.b", "a:b", "a_b", "c1", "c2", "", None, 7]
_TEXTS = st.sampled_from(["", " ", "a", "long enough to be cut somewhere", "<system-reminder>"])
_PARTS = st.one_of(
    st.builds(lambda text: {"type": "text", "text": text}, _TEXTS),
    st.builds(lambda text: {"type": "reasoning", "text": text, "providerOptions": {"openai": {"itemId": "i"}}}, _TEXTS),
    st.builds(lambda data: {"type": "file", "mediaType": "a/b", "data": data}, _TEXTS),
)
_HALVES = st.builds(
    lambda id_, name: {"toolCallId": id_, "toolName": name}, st.sampled_from(_IDS), st.sampled_from("ab")
)
_CALLS = _HALVES.map(lambda half: {"type": "tool-call", **half, "input": '{"a": 1}'})
_APPROVALS = _HALVES.map(lambda half: {"type": "tool-approval-request", "toolCallId": half["toolCallId"]})
_RESULTS = _HALVES.map(lambda half: {"type": "tool-result", **half, "output": {"type": "text", "value": "ok"}})
_METADATA = st.sampled_from([{}, {}, {"name": "ann"}, {"name": "bob"}, {"providerOptions": {"x": {"y": 1}}}])


def _message(role: str, part: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    return st.builds(
        lambda parts, more: {"role": role, "content": parts, **more}, st.lists(part, max_size=4), _METADATA
    )


def _orderly(message: Json) -> Json:
    """Calls of one message have different ids, and results stand behind them: taking another one apart is a fault."""
    calls = {part["toolCallId"]: part for part in message["content"] if part["type"] == "tool-call"}
    others = [part for part in message["content"] if part["type"] not in ("tool-call", "tool-result")]
    results = [part for part in message["content"] if part["type"] == "tool-result"]
    return {**message, "content": [*others[:2], *calls.values(), *others[2:], *results]}


HISTORIES = st.lists(
    st.one_of(
        st.builds(lambda text: {"role": "system", "content": text}, _TEXTS),
        _message("user", _PARTS),
        _message("assistant", st.one_of(_PARTS, _CALLS, _CALLS, _APPROVALS, _RESULTS)).map(_orderly),
        _message("tool", _RESULTS),
    ),
    max_size=8,
)
_ANYTHING = [case for case in _cases() if "given" in case.values[1] and "fault" not in case.values[1]]


@settings(max_examples=600, deadline=None)
@given(st.sampled_from(_ANYTHING), HISTORIES)
def test_laws_on_any_history(param: Any, history: list[Json]) -> None:
    verb, case = param.values
    root = {"messages": history}
    original = deepcopy(root)
    ran = run(verb, case["target"], case.get("args", {}), root)
    check_laws(ran, original)
    if case.get("again") != "changes":
        assert run(verb, case["target"], case.get("args", {}), ran.after.root).after.root is ran.after.root


_MAPPERS = st.sampled_from(
    [
        {"unless": "^[a-zA-Z0-9_-]+$", "mappers": [{"replacing": "[^a-zA-Z0-9_-]", "with": "_"}]},
        {"unless": "^[a-zA-Z0-9]{9}$", "mappers": [{"hash": 9}]},
        {"unless": "^.{1,3}$", "mappers": [{"shorten": 3}]},
        {
            "unless": "^toolu_[a-z_]{1,20}$",
            "mappers": [{"replacing": "[^a-z]", "with": "_"}, {"shorten": 20}, {"prefix": "toolu_"}],
        },
    ]
)


def _ids(history: list[Json]) -> list[Any]:
    view = View({"messages": history}, Context())
    return [(it.call or it.result).id for it in view.pairing.occurrences]


@settings(max_examples=300, deadline=None)
@given(_MAPPERS, HISTORIES, st.data())
def test_ids_are_injective_right_idempotent_and_prefix_stable(
    args: Json, history: list[Json], data: st.DataObject
) -> None:
    mapped = run("map_ids", {"kind": "prompt"}, args, {"messages": history}).after
    ids = _ids(mapped.messages)
    assert len(ids) == len(set(ids)) == len(_ids(history))
    assert all(compile_regex(args["unless"]).search(id_) for id_ in ids)
    assert run("map_ids", {"kind": "prompt"}, args, mapped.root).after.root is mapped.root
    cut = data.draw(st.integers(0, len(history)))
    prefix = run("map_ids", {"kind": "prompt"}, args, {"messages": history[:cut]}).after
    assert _without_approvals(prefix.messages) == _without_approvals(mapped.messages[:cut])


def _without_approvals(history: list[Json]) -> list[list[Json]]:
    """An approval that stands before its call follows a call that a prefix may not have."""
    contents = [message["content"] if isinstance(message["content"], list) else [] for message in history]
    return [[part for part in content if part["type"] != "tool-approval-request"] for content in contents]


def test_one_id_for_every_call_of_a_long_history() -> None:
    call = {"type": "tool-call", "toolCallId": "x", "toolName": "ls", "input": {}}
    history = [{"role": "assistant", "content": [call]} for _ in range(500)]
    args = {"unless": "^[a-z0-9A-Z]{1,9}$", "mappers": [{"shorten": 9}]}
    assert len(set(_ids(run("map_ids", {"kind": "prompt"}, args, {"messages": history}).after.messages))) == 500


def test_moved_and_merged_parts_are_the_same_objects() -> None:
    first, second = {"type": "text", "text": "a"}, {"type": "text", "text": "b"}
    root = {"messages": [{"role": "user", "content": [first]}, {"role": "user", "content": [second]}]}
    ran = run("merge", {"kind": "message"}, {}, root)
    merged = ran.after.messages[0]
    assert merged["content"][0] is first
    assert merged["content"][1] is second
    assert ran.before.context.lineage.origin(merged) is root["messages"][0]


def test_made_messages_and_parts_know_their_origin() -> None:
    message = {"role": "assistant", "content": [{"type": "text", "text": "a"}, {"type": "reasoning", "text": "b"}]}
    split = run("split", {"kind": "message"}, {"by": "type"}, {"messages": [message]})
    assert [split.before.context.lineage.origin(made) for made in split.after.messages] == [message, message]
    converted = run(
        "convert",
        {"kind": "part", "types": ["reasoning"]},
        {"into": "text", "value": "{text: text}"},
        {"messages": [message]},
    )
    made = converted.after.messages[0]["content"][1]
    assert converted.before.context.lineage.origin(made) is message["content"][1]


def test_what_is_inserted_is_not_shared() -> None:
    literal: Json = {"role": "user", "content": [{"type": "text", "text": "hi"}]}
    edit = VERBS["insert"].build(grain="message", place="end", value=lambda value, hit: literal)
    view = View({"messages": []}, Context())
    [added] = edit(view, [Hit((), view.root, view)])
    assert isinstance(added, Edit)
    assert added.after["content"] is not literal["content"]
