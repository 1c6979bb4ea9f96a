"""The handed bug reports: each read in its own format, repaired, and accepted where the server speaks that format."""

from __future__ import annotations

import copy
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from strict_server import check, route
from strict_server.conversation import HISTORY_KEY, READERS
from support import json_lines, shared

from historycompat import apply, repair
from historycompat.edits import same

HERE = Path(__file__).parent / "bug_reports"
ROUTES: dict[str, str] = json.loads((HERE / "routes.json").read_text(encoding="utf-8"))
"""The provider of a report, as it names it → the route of the server that stands for it."""
DEVIATIONS = {case["id"]: case for case in json_lines(HERE / "deviations.jsonl")}
"""Where we repair a report in another way than it expects, and why."""

WIRES = {"openai-chat": "chat", "openai-responses": "responses"}
EVERY_REQUEST = {"anthropic": {"max_tokens": 1000}}
"""What a request cannot do without, and no report mentions."""
NOTES = {"expected_request_after"}

Report = dict[str, Any]


@cache
def reports() -> list[Report]:
    return list(json_lines(shared("cases/bug_reports.jsonl")))


def wire(report: Report) -> str | None:
    """None for a format that no provider reads."""
    name = WIRES.get(report["format"], report["format"])
    return name if name in READERS else None


def key(report: Report) -> str:
    return HISTORY_KEY.get(wire(report) or "", "messages")


def given(report: Report) -> Any:
    """The request of the report; the bare history in a format that no provider reads."""
    if wire(report) is None:
        return report["messages"]
    request = {name: value for name, value in report["request"].items() if name not in NOTES}
    return {**EVERY_REQUEST.get(str(wire(report)), {}), **request, key(report): report["messages"]}


def options(report: Report) -> dict[str, Any]:
    provider = route(ROUTES[report["provider"]]).provider
    return {"model": f"{provider}/{report['model']}", "format": report["format"]}


def refusal(report: Report, request: Any) -> str | None:
    if wire(report) is None:
        return None
    found = check(f"{route(ROUTES[report['provider']]).provider}/{wire(report)}", report["model"], request)
    return found and f"{found.entry_id} at {found.pointer}: {found.message}"


def repaired(report: Report, request: Any) -> Any:
    """What a host sends after the reported error."""
    error = {"status": report["status"], "message": report["error"]}
    outcome = repair(request, error=error, **options(report))
    again = apply(outcome.messages, **options(report))
    assert not outcome.faults + again.faults
    assert outcome.changed or again.changed, "nothing was repaired"
    return again.messages


def like(got: Any, expected: Any) -> bool:
    """Whether a history is the expected one: `<...>` is any words, and a text is the same with and without its part."""
    if isinstance(expected, str) and re.fullmatch(r"<[\w ]+>", expected):
        return bool(_words(got).strip())
    if isinstance(expected, dict) and isinstance(got, dict):
        return got.keys() == expected.keys() and all(like(got[name], expected[name]) for name in expected)
    if isinstance(expected, list) and isinstance(got, list):
        return len(got) == len(expected) and all(map(like, got, expected))
    return bool(_words(got) == _words(expected)) if isinstance(got, list | str) else got == expected


def _words(value: Any) -> str:
    match value:
        case [{"type": "text", "text": str(text)}] | str(text):
            return text
    return json.dumps(value)


def mended(report: Report) -> Any:
    """What the report speaks of: the history as it is sent, or else the whole request."""
    sent, wanted = repaired(report, given(report)), report["expected_after_repair"]["json"]
    return sent[key(report)] if isinstance(wanted, list) and isinstance(sent, dict) else sent


def expected(report: Report) -> Any:
    """The history, or the request, that the report expects; None where it only describes it."""
    wanted = report["expected_after_repair"]["json"]
    return {**given(report), **wanted.get("request", wanted)} if isinstance(wanted, dict) else wanted


def test_every_report_is_repaired_and_accepted() -> None:
    for report in reports():
        kept = copy.deepcopy(given(report))
        request = given(report)
        sent = repaired(report, request)
        assert same(request, kept), report["id"]
        assert refusal(report, sent) is None, (report["id"], refusal(report, sent), sent)
        assert not apply(sent, **options(report)).changed, report["id"]
    assert len(reports()) == 48


def test_every_report_is_accepted_when_it_was_prepared_first() -> None:
    for report in reports():
        sent = apply(given(report), **options(report)).messages
        if refusal(report, sent) is not None:
            sent = repaired(report, sent)
        assert refusal(report, sent) is None, (report["id"], refusal(report, sent), sent)


def test_the_server_refuses_every_report_as_it_came() -> None:
    assert not [report["id"] for report in reports() if wire(report) and refusal(report, given(report)) is None]


def test_every_report_is_repaired_as_it_expects() -> None:
    failed, seen = [], set()
    for report in reports():
        wanted, deviation = expected(report), DEVIATIONS.get(report["id"])
        if wanted is None:
            continue
        if deviation:
            seen.add(report["id"])
            assert not like(deviation["sent"], wanted), f"{report['id']} deviates no longer"
            wanted = deviation["sent"]
        sent = mended(report)
        if not like(sent, wanted):
            failed.append(f"{report['id']}\n  expected {json.dumps(wanted)}\n  sent     {json.dumps(sent)}")
    assert not failed, "\n".join(failed)
    assert set(DEVIATIONS) == seen


@pytest.mark.parametrize("case", DEVIATIONS.values(), ids=list(DEVIATIONS))
def test_every_deviation_has_its_reason(case: dict[str, Any]) -> None:
    assert len(case["reason"].split()) >= 5
