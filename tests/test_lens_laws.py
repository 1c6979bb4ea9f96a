"""Both lens laws, for every format, over histories that its vendor's schema allows and over broken ones.

A history comes from its number alone: `history("gemini", 17)` is that of a failure that names 17.
"""

from __future__ import annotations

import copy
import json
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import jsonschema
import pytest
from lens_laws import comparable, edited, lost, most_lost, refused, rewritten, single_edits
from schema_histories import Maker, damaged
from support import shared

from historycompat import formats
from historycompat.edits import same

HERE = Path(__file__).parent
SCHEMAS = json.loads((HERE / "formats" / "schemas.json").read_text())
MODEST, MANY = 60, 10_000

# Damaged histories of which the order is not kept, though nothing is lost, as the docstrings of their formats say.
RESULTS, STEP = "results of one row stand in the order of its calls", "text behind a call with a result begins a step"
REORDERED = {("ui-message", 2164): RESULTS, ("ui-message", 7167): RESULTS, ("ui-message", 8668): STEP}

every_format = pytest.mark.parametrize("name", formats.FORMATS)


@cache
def schema_of(name: str) -> dict[str, Any]:
    path = HERE / SCHEMAS[name]["schema"]
    found: dict[str, Any] = json.loads((path if path.exists() else shared(SCHEMAS[name]["schema"])).read_text())
    return found


def history(name: str, number: int) -> Any:
    """Every second history is broken, every fourth is a request body."""
    random = Random(f"{name} {number}")
    native: Any = copy.deepcopy(Maker(schema_of(name), random).history())
    if number % 2:
        damaged(native, random)
    return {formats.find(name).spine[0]: native, "model": "x", "x_extra": 1} if number % 4 > 1 else native


def listed(name: str, native: Any) -> list[Any]:
    found: list[Any] = native[formats.find(name).spine[0]] if isinstance(native, dict) else native
    return found


def laws_hold(name: str, number: int) -> None:
    kind, native = formats.find(name), history(name, number)
    before = copy.deepcopy(native)
    reading = kind.read(native)
    assert rewritten(kind, reading) is native
    assert rewritten(kind, reading, list(reading.messages)) is native
    what, edits = Random(number).choice(list(single_edits(reading.messages)))
    messages, lineage = edited(reading, *edits)
    index = edits[0].path[1]
    assert isinstance(index, int)
    if index < len(messages) and isinstance(messages[index], dict) and refused(kind, messages[index]):
        return
    written = rewritten(kind, reading, messages, lineage)
    assert len(lost(listed(name, native), listed(name, written))) <= most_lost(kind, reading, what), what
    assert comparable(kind, kind.read(written).messages) == comparable(kind, messages), what
    assert same(native, before), what


def check(name: str, numbers: range) -> None:
    for number in numbers:
        if (name, number) in REORDERED:
            continue
        try:
            laws_hold(name, number)
        except Exception as error:
            raise AssertionError(f"history({name!r}, {number}): {json.dumps(history(name, number))}") from error


@every_format
def test_the_laws_hold(name: str) -> None:
    check(name, range(MODEST))


@pytest.mark.slow
@every_format
def test_the_laws_hold_for_many(name: str) -> None:
    check(name, range(MODEST, MODEST + MANY))


@every_format
def test_histories_are_what_the_schema_allows(name: str) -> None:
    """Not all that nobody broke are whole: a schema says more than its maker knows of. But whole ones are among them."""
    validator = jsonschema.Draft202012Validator(schema_of(name))
    assert sum(validator.is_valid(listed(name, history(name, number))) for number in range(0, 80, 2)) > 1
