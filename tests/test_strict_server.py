"""The strict server against the recorded refusals, well-formed conversations and its own replies."""

from __future__ import annotations

import json
import re
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strict_server import check, entries, refusals, route
from strict_server.conversation import HISTORY_KEY
from strict_server.expansion import expand
from strict_server.models import matches, version
from strict_server.paths import dotted, select
from support import json_lines, shared

HERE = Path(__file__).with_name("strict_server")
REFUSED = [case for file in sorted((HERE / "cases" / "refused").glob("*.jsonl")) for case in json_lines(file)]
ACCEPTED = list(json_lines(HERE / "cases" / "accepted.jsonl"))
REQUESTS = [case for case in ACCEPTED if isinstance(case["body"], dict)] + [
    {"routes": [case["route"]], "model": case["model"], "body": case["refused"]}
    for case in REFUSED
    if isinstance(case["refused"], dict) and "$repeat" not in json.dumps(case)
]
UNDECIDABLE = tomllib.loads((HERE / "undecidable.toml").read_text(encoding="utf-8"))


def _name(case: dict[str, Any]) -> str:
    return f"{case.get('id') or case['name']} on {case.get('route') or case['model']}"


@pytest.fixture(scope="module")
def catalogue() -> dict[str, Any]:
    return {entry["id"]: entry for entry in json_lines(shared("research/catalog.jsonl"))}


# The table against the recorded cases


@pytest.mark.parametrize("case", REFUSED, ids=_name)
def test_a_recorded_defect_is_refused_first_and_in_the_recorded_words(case: dict[str, Any]) -> None:
    found = refusals(case["route"], expand(case["refused"]), case["model"])
    assert found[0].entry_id == case["id"]
    messages = [refusal.message for refusal in found if refusal.entry_id == case["id"]]
    assert any(re.search(case["error"], message) for message in messages), messages


@pytest.mark.parametrize("case", REFUSED, ids=_name)
def test_its_well_formed_sibling_is_accepted(case: dict[str, Any]) -> None:
    assert refusals(case["route"], expand(case["accepted"]), case["model"]) == []


@pytest.mark.parametrize("case", REFUSED, ids=_name)
def test_the_expected_words_are_those_of_the_catalogue(case: dict[str, Any], catalogue: dict[str, Any]) -> None:
    assert any(re.search(case["error"], error) for error in catalogue[case["id"]]["errors"])


@pytest.mark.parametrize("case", ACCEPTED, ids=_name)
def test_a_well_formed_conversation_is_accepted_everywhere(case: dict[str, Any]) -> None:
    found = {where: refusals(where, expand(case["body"]), case["model"]) for where in case["routes"]}
    assert {where: reasons for where, reasons in found.items() if reasons} == {}


@pytest.mark.parametrize("case", REFUSED, ids=_name)
def test_a_refusal_points_into_the_body(case: dict[str, Any]) -> None:
    written = expand(case["refused"])
    key = HISTORY_KEY.get(route(case["route"]).wire, "messages")
    body = {key: written} if isinstance(written, list) else written
    for refusal in refusals(case["route"], body, case["model"]):
        *around, last = [""] if refusal.pointer == "" else refusal.pointer.split("/")[1:]
        value = body
        for step in around:
            value = value[int(step)] if isinstance(value, list) else value[step]
        assert isinstance(value, dict) or int(last) < len(value)


def test_every_entry_of_the_catalogue_is_covered_or_says_why_not(catalogue: dict[str, Any]) -> None:
    decided = {entry.id for entry in entries()}
    print(f"\n{len(decided)} of {len(catalogue)} entries are decided from a body, by {len(entries())} rows:")
    for identifier in catalogue:
        routes = sorted({str(where) for entry in entries() if entry.id == identifier for where in entry.on})
        print(f"  {identifier:48} {', '.join(routes) or 'not decidable: ' + UNDECIDABLE[identifier]}")
    assert decided | UNDECIDABLE.keys() == catalogue.keys()
    assert decided.isdisjoint(UNDECIDABLE)


def test_every_row_of_the_table_has_a_case() -> None:
    found = [refusals(case["route"], expand(case["refused"]), case["model"]) for case in REFUSED]
    at_work = {id(refusal.entry) for some in found for refusal in some}
    assert [(entry.id, entry.when, entry.args) for entry in entries() if id(entry) not in at_work] == []
    assert {case["id"] for case in REFUSED} == {entry.id for entry in entries()}


REPORTERS = {
    "aws-bedrock": "bedrock",
    "azure-openai": "azure",
    "chatgpt-codex": "codex",
    "deepseek (anthropic endpoint)": "deepseek",
    "gemini-compatible gateway": "gemini-gateway",
    "github-copilot": "copilot",
    "llama.cpp": "llamacpp",
    "opencode-zen / litellm": "anthropic-gateway",
    "openrouter (azure)": "anthropic",
    "qwen-dashscope": "dashscope",
}
WIRES = {"openai-chat": "chat", "openai-responses": "responses"}
OF_FRAMEWORKS = ("aisdk-v2", "langchain")


def test_every_bug_report_in_a_wire_format_is_refused_for_its_reason() -> None:
    answers = {}
    for report in json_lines(shared("cases/bug_reports.jsonl")):
        if report["format"] not in OF_FRAMEWORKS:
            wire = WIRES.get(report["format"], report["format"])
            where = f"{REPORTERS.get(report['provider'], report['provider'])}/{wire}"
            body = {HISTORY_KEY.get(wire, "messages"): report["messages"], **report["request"]}
            found = {refusal.entry_id: refusal.status for refusal in refusals(where, body, report["model"])}
            answers[report["id"]] = (report["catalog_id"], report["status"], found.get(report["catalog_id"]))
    assert len(answers) == 45
    assert {name: answer for name, answer in answers.items() if answer[1] != answer[2]} == {}


JUNK: list[Any] = [None, True, 0, -1.5, "", " ", "x", [], {}, ["x"], [None], {"type": "text"}, {"role": "user"}, [[{}]]]


def places_in(value: Any, around: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield around
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from places_in(inner, (*around, key))


@given(data=st.data())
@settings(max_examples=200, deadline=None)
def test_no_body_whatever_breaks_the_check(data: st.DataObject) -> None:
    """A value anywhere in a request is replaced by junk: the answer is a verdict, never an exception."""
    case = data.draw(st.sampled_from(REQUESTS))
    body = {"body": expand(case["body"])}
    *around, last = data.draw(st.sampled_from([place for place in places_in(body) if len(place) > 1]))
    holder: Any = body
    for key in around:
        holder = holder[key]
    holder[last] = data.draw(st.sampled_from(JUNK))
    for refusal in refusals(data.draw(st.sampled_from(case["routes"])), body["body"], case["model"]):
        assert json.loads(json.dumps(refusal.body))


# The small languages of the table


@pytest.mark.parametrize(
    ("model", "pattern", "expected"),
    [
        ("claude-3-5-sonnet-20241022", "claude<4", True),
        ("claude-sonnet-4-20250514", "claude>=4<4.6", True),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude>=4.6", False),
        ("anthropic/claude-opus-4.6", "claude>=4.6", True),
        ("claude-opus-next", "claude>=4.6", True),
        ("claude-opus-next", "claude<4.6", False),
        ("claude-opus-5-5", "claude-opus>=5.5", True),
        ("claude-sonnet-5", "claude-sonnet>=5.5", False),
        ("models/gemini-3.1-pro", "gemini>=3", True),
        ("us.amazon.nova-pro-v1:0", "amazon.nova", True),
        ("accounts/fireworks/models/kimi-k2", "kimi-", True),
        ("gpt-4.1", "claude", False),
    ],
)
def test_model_patterns(model: str, pattern: str, expected: bool) -> None:
    assert matches(model, (pattern,)) is expected


def test_dates_and_sizes_are_not_versions() -> None:
    names = ("claude-sonnet-4-20250514", "deepseek-v3.2", "mistral-large-2407", "gpt-oss-120b", "gemini-2.0-flash-001")
    assert [version(name) for name in names] == [(4, 0), (3, 2), None, None, (2, 0)]


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ("messages.*.role", ["messages.0.role", "messages.1.role", "messages.2.role"]),
        ("messages.*[role=user|tool].content", ["messages.0.content", "messages.2.content"]),
        ("messages.*[role!=user].content", ["messages.1.content", "messages.2.content"]),
        ("messages.*[calls].calls.*.id", ["messages.1.calls.0.id"]),
        ("messages.*[!calls&role=user].name", ["messages.0.name"]),
        ("messages.*.content.*.text", []),
        ("tools.*.name", []),
    ],
)
def test_selectors(selector: str, expected: list[str]) -> None:
    body = {
        "messages": [
            {"role": "user", "content": "Go", "calls": []},
            {"role": "assistant", "content": None, "calls": [{"id": "a"}]},
            {"role": "tool", "content": "ok"},
        ]
    }
    assert [dotted(place.pointer) for place in select(body, selector)] == expected


def test_a_check_is_fast_enough_for_property_tests() -> None:
    case = next(
        case for case in ACCEPTED if case["name"] == "parallel and sequential calls" and "anthropic" in case["routes"]
    )
    start = time.process_time()
    for _ in range(200):
        assert check("anthropic", case["model"], case["body"]) is None
    assert (time.process_time() - start) / 200 < 0.02
