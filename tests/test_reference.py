"""What is generated is what the tables say now: the reference, and the JSON Schema of packs."""

from __future__ import annotations

import dataclasses
import json
import re
import runpy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from ruamel.yaml import YAML
from support import ROOT

from historycompat import tree
from historycompat.codes import CODES
from historycompat.compiling import complaints_about
from historycompat.language import schema, vocabulary
from historycompat.language.fields import OWNERS
from historycompat.language.targets import TARGETS
from historycompat.reference import code_page
from historycompat.rulesets import Ruleset
from historycompat.source import Source

_generate = runpy.run_path(str(ROOT / "docs" / "generate.py"))
generated: Callable[[], Iterator[tuple[Path, str]]] = _generate["generated"]
REFERENCE = ROOT / "docs" / "reference"


def test_generated_files_are_current() -> None:
    files = dict(generated())
    stale = [
        str(path.relative_to(ROOT))
        for path, text in files.items()
        if not path.is_file() or path.read_text("utf-8") != text
    ]
    left = [path for path in (ROOT / "docs" / "reference").rglob("*.md") if path not in files]
    assert not stale, "run python docs/generate.py"
    assert not left


@pytest.mark.parametrize("index", ["README.md", "rules/README.md"])
def test_every_link_of_an_index_leads_to_a_page(index: str) -> None:
    file = REFERENCE / index
    links = re.findall(r"\]\(([^)#]+\.md)\)", file.read_text(encoding="utf-8"))
    assert len(set(links)) > 80
    assert all((file.parent / link).is_file() for link in links)


def test_every_rule_has_a_page_and_stands_in_its_index() -> None:
    index = (REFERENCE / "rules" / "README.md").read_text(encoding="utf-8")
    for rule in Ruleset.builtin():
        page = (REFERENCE / "rules" / f"{rule.name}.md").read_text(encoding="utf-8")
        assert f"({rule.name}.md) (" in index
        for part in ("## What it does", "## For example", "It runs ", "It is ", *rule.meaning.see):
            assert part in page, (rule.name, part)
        assert "## What providers say" in page or rule.triggers
        assert bool(rule.triggers) == ("## What wakes it" in page)
        assert rule.meaning.verified in page


def test_every_state_and_variable_is_shown_at_work() -> None:
    pages_ = [path for kind in ("states", "variables", "targets") for path in (REFERENCE / kind).glob("*.md")]
    assert len(pages_) > 20
    for path in pages_:
        text = path.read_text(encoding="utf-8")
        blocks = re.findall(r"^```diff\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
        assert blocks
        for block in blocks:  # something changes, or is found
            assert re.search(r"^[-+] ", block, re.MULTILINE) or "The finding: " in text, path.name


def test_every_code_is_shown_with_what_is_said_about_it() -> None:
    assert [name for name in CODES if "of which the compiler says" not in code_page(name)] == []


# What a field needs around it.
_AROUND: dict[str, dict[str, Any]] = {
    "pack": {"rules": []},
    "rule": {"name": "example", "do": "drop assistant/reasoning"},
    "test": {"model": "groq/llama", "given": [{"user": "hi"}], "then": "unchanged"},
}


@pytest.mark.parametrize(("owner", "name"), [(owner, name) for owner, fields in OWNERS.items() for name in fields])
def test_every_field_is_shown_as_it_is_written(owner: str, name: str) -> None:
    shown = YAML(typ="safe", pure=True).load(OWNERS[owner][name].example)
    assert name in shown
    pack = _AROUND[owner] | shown
    if owner == "test":
        pack = _AROUND["rule"] | {"on_error": "/no/", "tests": [pack]}
    if owner != "pack":
        pack = {"rules": [pack]}
    pack = json.loads(json.dumps(pack, default=str))
    assert _errors(pack) == []
    _, found = complaints_about(Source("example.yaml", json.dumps(pack)), "yaml")
    assert [one for one in found if one.is_error] == []


def test_every_kind_of_target_is_explained() -> None:
    assert {*TARGETS} == {*vocabulary.STATES, "where", "except"}


def test_the_fields_are_those_that_are_read_and_that_the_schema_knows() -> None:
    assert {*OWNERS["rule"]} == {each.name for each in dataclasses.fields(tree.Rule)} - {"allowances", "span", "spans"}
    for kind, fields in (("rule", OWNERS["rule"]), ("case", OWNERS["test"])):
        assert list(schema.schema()["$defs"][kind]["properties"]) == list(fields)


def _errors(pack: Any) -> list[str]:
    validator = jsonschema.Draft202012Validator(schema.schema())
    validator.check_schema(schema.schema())
    return [error.message for error in validator.iter_errors(pack)]


def _loaded(path: Path) -> Any:
    return json.loads(json.dumps(YAML(typ="safe", pure=True).load(path.read_text(encoding="utf-8")), default=str))


@pytest.mark.parametrize(
    "path",
    [*sorted((ROOT / "builtin_rules").glob("*.yaml")), *sorted((ROOT / "examples").rglob("*.yaml"))],
    ids=lambda p: p.name,
)
def test_the_schema_takes_every_pack(path: Path) -> None:
    assert _errors(_loaded(path)) == []


RULE = {"name": "a", "do": ["drop assistant/reasoning"]}
CASE = {"model": "groq/llama", "given": [{"user": "hi"}], "then": "unchanged"}


def _with(**fields: Any) -> Any:
    return {"language": 1, "rules": [RULE | fields]}


def _testing(**fields: Any) -> Any:
    return _with(tests=[CASE | fields])


@pytest.mark.parametrize(
    "pack",
    [
        {},
        {"rules": [{"name": "a"}]},
        _with(name="Not Kebab"),
        _with(model="groq/"),
        _with(phase="during"),
        _with(do=["dorp assistant/text"]),
        _with(on_error=["400 without slashes"]),
        _testing(givn=[]),
        _testing(then="same"),
        _testing(given=[{"asistant": "hi"}]),
        _testing(given=[{"assistant": [{"cal": "ls"}]}]),
        _testing(given=[{"user": 3}]),
    ],
)
def test_the_schema_refuses(pack: Any) -> None:
    assert _errors(pack)


def test_the_schema_takes_what_is_right() -> None:
    assert _errors(_testing()) == []
    assert _errors(_testing(given=[{"role": "user", "content": []}], then={"report": "x"}, error="text")) == []
