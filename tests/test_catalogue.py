"""Every refusal the field knows: which rule answers it, and the strict server's word that the repaired history is accepted.

The server's table was written from the reported refusals, the rules from the same reports, neither from the other.
"""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
from strict_server import refusals, route
from strict_server.expansion import expand
from support import json_lines, shared

from historycompat import Ruleset, apply, repair
from historycompat.edits import same

HERE = Path(__file__).parent
FATES = {row["entry"]: row for file in sorted((HERE / "catalogue").glob("*.jsonl")) for row in json_lines(file)}
REFUSED = [
    case
    for file in sorted((HERE / "strict_server" / "cases" / "refused").glob("*.jsonl"))
    for case in json_lines(file)
    if FATES.get(case["id"], {}).get("by") == "rule"
]
ACCEPTED = list(json_lines(HERE / "strict_server" / "cases" / "accepted.jsonl"))
GOOD = [
    {"name": case["name"], "model": case["model"], "body": expand(body), "routes": speaking}
    for case, body, routes in [
        *((case, case["body"], case["routes"]) for case in ACCEPTED),
        *(({**case, "name": case["id"]}, case["accepted"], [case["route"]]) for case in REFUSED if "accepted" in case),
    ]
    if (speaking := [where for where in routes if route(where).wire != "cohere-v1"])  # a retired body no format reads
]
DEMANDED = {(row["rule"], where) for row in json_lines(HERE / "demanded.jsonl") for where in row["targets"]}
"""What a rule does to a history that the server accepts on a route, because an entry of the catalogue demands it."""

FORMATS = {"chat": "openai-chat", "responses": "openai-responses", "ollama": "ollama-chat"}


def target(where: str, model: str) -> dict[str, Any]:
    """The model and format of a route of the server, as a host would give them."""
    way = route(where)
    return {"model": f"{way.provider}/{model}", "format": FORMATS.get(way.wire, way.wire)}


def mended(history: Any, where: str, model: str) -> tuple[Any, list[Any], set[str]]:
    """A history after what a host does: repair, send, and after a refusal repair and send once more."""
    options = target(where, model)
    first = apply(history, **options)
    left, fired = refusals(where, first.messages, model), set(first.rules)
    if not left:
        return first.messages, left, fired
    error = {"status": left[0].status, "message": left[0].message}
    second = repair(first.messages, error=error, **options)
    again = apply(second.messages, **options)
    return again.messages, refusals(where, again.messages, model), fired | set(second.rules) | set(again.rules)


def name(case: dict[str, Any]) -> str:
    return f"{case.get('id') or case['name']} on {case.get('route') or case['model']}"


@pytest.mark.parametrize("case", REFUSED, ids=name)
def test_a_refused_history_is_accepted_once_repaired(case: dict[str, Any]) -> None:
    given = expand(case["refused"])
    kept = copy.deepcopy(given)
    history, left, fired = mended(given, case["route"], case["model"])
    assert not left, f"after {sorted(fired)}: {left[0].entry_id} at {left[0].pointer}: {left[0].message}\n{history}"
    assert same(given, kept)
    assert fired & set(FATES[case["id"]]["rules"]), f"{sorted(fired)} answered, not {FATES[case['id']]['rules']}"
    again = apply(history, **target(case["route"], case["model"]))
    assert not again.changed, f"a second run changes it again: {[(r.rule, r.pointer) for r in again.trace]}"


@pytest.mark.parametrize("case", GOOD, ids=name)
def test_a_good_history_stays_as_it_is(case: dict[str, Any]) -> None:
    for where in case["routes"]:
        outcome = apply(case["body"], **target(where, case["model"]))
        assert not refusals(where, outcome.messages, case["model"]), (where, outcome.rules)
        if not refusals(where, case["body"], case["model"]):
            assert not {rule for rule in outcome.rules if (rule, where) not in DEMANDED}


def test_what_changes_an_accepted_history_is_demanded_by_an_entry() -> None:
    for row in json_lines(HERE / "demanded.jsonl"):
        assert row["rule"] in FATES[row["entry"]]["rules"], row
        assert len(row["reason"].split()) > 9


def test_every_entry_has_its_fate() -> None:
    entries = {entry["id"]: entry for entry in json_lines(shared("research/catalog.jsonl"))}
    assert set(FATES) == set(entries)
    known = set(Ruleset.builtin().names)
    for fate in FATES.values():
        assert fate["by"] in ("rule", "report", "out-of-reach")
        assert set(fate["rules"]) <= known, fate
        assert fate["rules"] if fate["by"] != "out-of-reach" else len(fate["reason"].split()) > 4
    top = [entry_id for entry_id, entry in entries.items() if entry["rank"] <= 70]
    assert not [entry_id for entry_id in top if FATES[entry_id]["by"] != "rule"]
