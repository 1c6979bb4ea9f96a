"""Ids and patterns as data: tests/models/*.jsonl, and the recorded cases of the original processor."""

from __future__ import annotations

import string
from enum import StrEnum
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import json_lines, shared

from historycompat.models.normalise import cache_key, normalise
from historycompat.models.patterns import known_providers, matcher, pattern_problem, unknown_provider
from historycompat.models.providers import CLOSED, DEFAULT_MAKER, DOORS, HOSTS, MAKERS
from historycompat.tree import ModelPattern

CASES = Path(__file__).parent / "models"
IDS = [*json_lines(CASES / "conventions.jsonl"), *json_lines(CASES / "ids.jsonl")]
PATTERNS = list(json_lines(CASES / "patterns.jsonl"))
DEVIATIONS = {case["id"]: case for case in json_lines(CASES / "deviations.jsonl")}

# The rules of the original as patterns.
TRANSLATED = {
    "isMaybeAnthropic": "anthropic/",
    "isMaybeCerebras": "cerebras/",
    "isMaybeAzure": "azure/",
    "isMaybeAnthropicWithoutAssistantPrefill": "anthropic/claude >= 4.6",
    "isMaybeGoogleWithoutTrailingModelTurn": "google/gemini >= 3",
}


def pattern(text: str) -> ModelPattern:
    bare = text.removeprefix("not ")
    name, *bounds = bare.split()
    return ModelPattern(name, negated=bare != text, bounds=tuple(zip(bounds[::2], bounds[1::2], strict=True)))


def matches(patterns: list[str], model: Any) -> bool:
    return matcher([pattern(text) for text in patterns])(normalise(model))


@pytest.mark.parametrize("case", IDS, ids=lambda case: str(case["model"]))
def test_an_id_is_read(case: dict[str, Any]) -> None:
    (ref,) = normalise(case["model"])
    assert ref.facts() == {
        "chain": case["chain"].split(" > ") if case["chain"] else [],
        "provider": ref.provider,
        "vendor": case["vendor"],
        "name": case["name"],
        "version": case["version"],
    }
    field = case["model"].get("provider") if isinstance(case["model"], dict) else None
    assert ref.provider == field


@pytest.mark.parametrize("case", PATTERNS, ids=lambda case: ", ".join(case["patterns"]) or "none")
def test_a_pattern_matches(case: dict[str, Any]) -> None:
    models = case["matches"] + case["misses"]
    assert [model for model in models if matches(case["patterns"], model)] == case["matches"]


@pytest.mark.parametrize("case", list(json_lines(CASES / "problems.jsonl")), ids=lambda case: case["pattern"])
def test_a_bad_pattern_is_explained(case: dict[str, Any]) -> None:
    written = pattern(case["pattern"])
    problem = pattern_problem(written)
    assert (problem and list(problem), unknown_provider(written)) == (case["problem"], case["unknown"])


def test_what_the_original_said() -> None:
    """Recorded cases hold, except the listed deviations, which hold as listed."""
    recorded = [
        case
        for case in json_lines(shared("cases/upstream_behaviour.jsonl"))
        if case["kind"] in ("model", "model-match")
    ]
    expected = {case["id"]: DEVIATIONS.get(case["id"], {"got": case["expect"]})["got"] for case in recorded}
    assert {case["id"]: translated(case["rule"], decoded(case["model"])) for case in recorded} == expected
    needless = [
        case["id"] for case in recorded if case["id"] in DEVIATIONS and DEVIATIONS[case["id"]]["got"] == case["expect"]
    ]
    assert not needless
    assert not DEVIATIONS.keys() - {case["id"] for case in recorded}


def translated(rule: str, model: Any) -> bool | str | None:
    if rule in TRANSLATED:
        return matches([TRANSLATED[rule]], model)
    refs = normalise(model)
    if rule == "providerId":
        return next((ref.provider for ref in refs if ref.provider), None)
    families = (link for ref in refs for link in reversed(ref.chain) if link in ("anthropic", "openai", "google"))
    return next(families, None)


def decoded(value: Any) -> Any:
    if isinstance(value, list):
        return [decoded(item) for item in value]
    if isinstance(value, dict):
        if "$function" in value or "$undefined" in value:
            return (lambda: None) if "$function" in value else None
        return {key: decoded(item) for key, item in value.items()}
    return value


class Broken:
    """Raises whatever it is asked."""

    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError(name)


class Name(StrEnum):
    OPUS = "anthropic/claude-opus-5"


def test_objects_are_read_like_mappings() -> None:
    by_attribute = SimpleNamespace(provider="anthropic.messages", model_id="claude-opus-5")
    assert normalise(by_attribute) == normalise({"provider": "anthropic.messages", "modelId": "claude-opus-5"})
    assert normalise([SimpleNamespace(model=by_attribute)]) == normalise(by_attribute)
    assert normalise(Name.OPUS) == normalise("anthropic/claude-opus-5")


def endless() -> list[Any]:
    models: list[Any] = ["anthropic/x"]
    models.extend([models, models])
    return models


def test_what_says_nothing_is_an_unknown_model() -> None:
    unknown: list[Any] = [None, "", 7, b"anthropic/x", {}, [], [None], normalise, object, "x".join]
    for model in unknown:
        assert normalise(model) == (), model
    assert normalise(Broken()) == normalise([Broken()]) == ()


def test_fallbacks_are_read_in_order_and_once() -> None:
    models = ["openai/gpt-5", {"model": "anthropic/claude-opus-5"}, None, {"model": "openai/gpt-5"}]
    assert [ref.vendor for ref in normalise(models)] == ["openai", "anthropic"]
    assert [ref.name for ref in normalise(endless())] == ["x"]


ID = st.one_of(
    st.text(),
    st.text(alphabet=string.ascii_letters + string.digits + "/:.-@*_[]\n", max_size=60),
    st.lists(
        st.sampled_from(
            ["anthropic", "us.", "arn:aws:bedrock:", "models", "/", ":", "claude-", "-4.6", "@2025", "[1m]", "ft:"]
        )
    ).map("".join),
)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ID | st.builds(Broken) | st.binary(),
    lambda inner: (
        st.lists(inner) | st.dictionaries(st.sampled_from(["provider", "modelId", "model_id", "model", "x"]), inner)
    ),
    max_leaves=12,
)


@given(ANYTHING, ANYTHING)
def test_nothing_raises_and_a_key_tells_models_apart(one: Any, other: Any) -> None:
    refs = normalise(one)
    assert all(isinstance(ref.facts()["chain"], list) for ref in refs)
    assert isinstance(matches(["^anthropic/claude-* >= 4", "not openai/"], one), bool)
    assert hash(cache_key(one)) == hash(cache_key(one))
    if cache_key(one) == cache_key(other):
        assert refs == normalise(other)


@given(st.sampled_from([case["model"] for case in IDS if isinstance(case["model"], str)]), st.sampled_from(PATTERNS))
def test_case_makes_no_difference(model: str, case: dict[str, Any]) -> None:
    upper = [text.upper().replace("NOT ", "not ") for text in case["patterns"]]
    assert [ref.facts() for ref in normalise(model.upper())] == [ref.facts() for ref in normalise(model.lower())]
    assert matches(upper, model.upper()) == matches(case["patterns"], model)


@given(st.text(alphabet=string.ascii_lowercase + string.digits + "-.:", max_size=40))
def test_a_long_number_is_no_version(tail: str) -> None:
    (ref,) = normalise(f"anthropic/claude-{tail}")
    assert all(part < 100 for part in ref.version or ())


def test_the_tables_agree() -> None:
    names = [*MAKERS, *HOSTS, *DOORS]
    spellings = [word for table in (MAKERS, HOSTS, DOORS) for text in table.values() for word in text.split()]
    assert len({*names, *spellings}) == len(names) + len(spellings)
    assert known_providers() >= {*names, *spellings}
    assert {*DEFAULT_MAKER.values()} <= {*MAKERS, "alibaba", "nvidia"}
    assert CLOSED.keys() <= {*names}
    assert all(text == text.lower() for text in known_providers())
