"""Warnings: rulesets with one planted defect each, and clean ones beside them, for every code; and what packs share."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest
import random_rules
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from language_tools import DATA, fragment, golden
from random_expressions import Source as RandomValues
from random_syntax import Syntax
from support import ROOT, json_lines

from historycompat.codes import CODES
from historycompat.errors import Complaint
from historycompat.language import parse
from historycompat.language.check import check
from historycompat.language.checks import patterns, run_checks
from historycompat.language.checks.acts import Entry, in_order
from historycompat.language.checks.order import Finding, Trial
from historycompat.language.checks.samples import contained, texts
from historycompat.language.checks.warnings import ruleset_warnings
from historycompat.language.checks.worlds import decided, examples
from historycompat.language.diagnose import render, render_all
from historycompat.language.expressions.closures import compute
from historycompat.language.expressions.values import truthy
from historycompat.language.packs import kind_of, read_pack
from historycompat.models.normalise import normalise
from historycompat.models.patterns import matcher
from historycompat.regex import compile_regex
from historycompat.runtime.interpret import interpret
from historycompat.source import Source
from historycompat.tree import Expr, ModelPattern, Pack

FILES = sorted(path for path in (DATA / "warnings").glob("*/*") if path.suffix in (".rules", ".yaml"))
IDS = [f"{path.parent.name}-{path.name}" for path in FILES]

# Decided by the checks of one rule as written, and shown there.
ELSEWHERE = {"W302", "W303", "W402"}

# True of many rules of a line or two: nobody says why they exist, and merging moves the prefix.
ASIDE = {"W701", "W802"}


def rulesets(path: Path) -> Iterator[tuple[str, str]]:
    """The rulesets of a file by their titles: each begins behind a line `# === title`."""
    _, *pieces = re.split(r"^# === (.+)\n", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    yield from zip(pieces[::2], pieces[1::2], strict=True)


def pack_of(text: str, name: str = "x.rules") -> Pack:
    pack, complaints = read_pack(Source(name, text), kind=kind_of(name))
    assert pack is not None
    assert render_all([*complaints, *run_checks(pack)]) == "no complaints"
    return pack


def warnings(text: str, name: str, code: str) -> list[Complaint]:
    found = ruleset_warnings([pack_of(text, name)])
    return [complaint for complaint in found if complaint.code == code or complaint.code not in ASIDE]


@pytest.mark.parametrize("path", FILES, ids=IDS)
def test_planted_defects_are_found_and_clean_rules_are_left_alone(path: Path) -> None:
    code, planted = path.parent.name, path.stem == "planted"
    found = {title: warnings(text, path.name, code) for title, text in rulesets(path)}
    assert len(found) >= 10
    if planted:
        shown = "\n\n".join(f"=== {title}\n{render_all(complaints)}" for title, complaints in found.items())
        golden(f"warnings/{code}/{path.stem}.txt", shown + "\n")
    codes = {title: {complaint.code for complaint in complaints} for title, complaints in found.items()}
    assert codes == {title: {code} if planted else set() for title in found}
    assert all(c.suggestion and c.span and c.rule for complaints in found.values() for c in complaints)


def test_every_code_has_both_files() -> None:
    codes = {code for code in CODES if code.startswith("W")} - ELSEWHERE
    assert {(path.parent.name, path.stem) for path in FILES} == {(c, n) for c in codes for n in ("planted", "clean")}


@pytest.mark.parametrize("code", sorted({path.parent.name for path in FILES} - {"W803"}))
def test_the_examples_of_a_code(code: str) -> None:
    found = [
        {
            complaint.code
            for complaint in ruleset_warnings([pack_of(text, "x.yaml" if "language:" in text else "x.rules")])
        }
        for text in (CODES[code].bad_example, CODES[code].good_example)
    ]
    assert [code in codes for codes in found] == [True, False]


# ----- what is said of order is so: the interpreter shows it


def order_findings(path: Path) -> Iterator[tuple[str, list[Entry], Finding]]:
    for title, text in rulesets(path):
        entries = in_order([pack_of(text, path.name)])
        yield from ((title, entries, finding) for finding in Trial(entries).findings())


@pytest.mark.parametrize("code", ["W601", "W602", "W603"])
def test_the_history_of_a_finding_shows_it(code: str) -> None:
    for title, entries, finding in order_findings(DATA / "warnings" / code / "planted.rules"):
        assert finding.code == code, title
        assert _works_again(finding, entries), title


def _works_again(finding: Finding, entries: list[Entry]) -> bool:
    """Whether a second run of all rules finds work for the earlier of two; where both undo each other, of these two."""
    concerned = entries if finding.code == "W603" else [finding.earlier.entry, finding.later.entry]
    rules = [entry.made for entry in dict.fromkeys(concerned) if finding.stage.has(entry)]
    first = interpret(rules, finding.history, finding.stage.context())
    again = interpret(rules, first.root, finding.stage.context())
    return finding.earlier.entry.written.name in {record.rule for record in again.records} or bool(first.faults)


# ----- several packs


def test_packs_run_one_behind_the_other() -> None:
    merging = pack_of("rule merging { merge message user|assistant }", "one.rules")
    dropping = pack_of("rule dropping { drop assistant/reasoning }", "two.rules")
    assert _order_of([dropping, merging]) == []
    (complaint,) = _order_of([merging, dropping])
    assert complaint.span is not None
    assert complaint.span.source is dropping.source
    assert "merging (one.rules:1)" in complaint.message


def test_a_rule_that_replaces_another_runs_in_its_place() -> None:
    first = pack_of(
        "rule old { drop assistant/text where text == 'x' }\nrule merging { merge message assistant }", "a.rules"
    )
    second = pack_of("rule new { replaces old drop assistant/reasoning }", "b.rules")
    assert _order_of([first, second]) == []
    assert [entry.written.name for entry in in_order([first, second])] == ["new", "merging"]


SHIPPED = """
rule on-a-host { models bedrock/ merge message user|assistant }
rule by-a-maker { models anthropic/ merge message assistant }
rule elsewhere { models openai/ merge message user|assistant }
"""
EVERYWHERE = "rule everywhere { set text to 'Look.' on user/text:first where text == 'hello' }"


@pytest.mark.parametrize(
    ("shipped", "own", "concerned", "hint"),
    [
        (SHIPPED, "models anthropic/ drop user/file", "by-a-maker (90_x.rules:3), whose", "on_empty fill"),
        (SHIPPED, "models bedrock/ drop user/file", "on-a-host (90_x.rules:2)", "on_empty fill"),
        (SHIPPED, "models openai/ drop user/file", "elsewhere (90_x.rules:4), whose", "on_empty fill"),
        (SHIPPED, 'models anthropic/ drop user/file on_empty fill "(a file)"', "", ""),
        (SHIPPED, "models anthropic/ drop message user where blank(content)", "by-a-maker", "let this pack run first"),
        (SHIPPED + EVERYWHERE, "models openai/ drop user/file", "elsewhere (90_x.rules:4) and everywhere", "let this"),
        (EVERYWHERE, "models openai/ drop message user where blank(content)", "", ""),
    ],
)
def test_what_runs_behind_shipped_rules(shipped: str, own: str, concerned: str, hint: str) -> None:
    """A statement draws one complaint for all of them, about models on the hosts that its own rule names."""
    meanings, _ = check(pack_of(shipped, "90_x.rules"))
    found = ruleset_warnings([pack_of(f"rule own {{ {own} }}")], meanings)
    told = [complaint for complaint in found if complaint.code.startswith("W6")]
    assert [complaint.code for complaint in told] == (["W603"] if concerned else [])
    for complaint in told:
        assert concerned in complaint.message
        assert complaint.suggestion
        assert complaint.suggestion.startswith("keep the message" if "fill" in hint else hint)


def test_an_allowance_holds_for_the_rule_below_it() -> None:
    rules = "rule a { drop assistant/reasoning where type == 'reasoning' }\n"
    allowed = pack_of(f"# allow: W208 generated\n{rules}{rules.replace('a {', 'b {')}", "x.rules")
    assert [c.rule for c in ruleset_warnings([allowed]) if c.code == "W208"] == ["b"]


def _order_of(packs: list[Pack]) -> list[Complaint]:
    return [complaint for complaint in ruleset_warnings(packs) if complaint.code in ("W404", "W601", "W602", "W603")]


# ----- whatever compiles can be warned of, and what is said of order is true


@settings(max_examples=25, deadline=None)
@given(st.lists(random_rules.statements, min_size=2, max_size=4))
def test_findings_about_random_rules_are_true(statements: list[str]) -> None:
    text = "\n".join(f"rule r-{number} {{ {statement} }}" for number, statement in enumerate(statements))
    pack, _ = read_pack(Source("x.rules", text), kind="rules")
    assume(pack is not None and check(pack)[0])
    assert pack is not None
    assert all(render(complaint) for complaint in ruleset_warnings([pack]))
    entries = in_order([pack])
    for finding in Trial(entries).findings():
        assert _works_again(finding, entries)


def test_any_condition_can_be_warned_of() -> None:
    checked = 0
    for seed in range(150):
        text = f"rule x {{ drop assistant/text where {Syntax(seed).expression()} }}\nrule y {{ merge message user }}"
        pack, _ = read_pack(Source("x.rules", text), kind="rules")
        if pack is not None and check(pack)[0]:
            checked += 1
            assert all(render(complaint) for complaint in ruleset_warnings([pack]))
    assert checked > 10


# ----- what verdicts rest on


CONDITIONS = (
    "text == 'a' && text == 'b'", "text == 'a' || text != 'a'", "blank(text) && text == ''", "!has(a, 'b') && a.b",
    "type(a) == 'object' || type(a) == 'string'", "has(a, 'b') || a.b == `null`", "a.b == 'x' && !a",
    "contains(['a', 'b'], text) && text == 'c'", "$index == `0` && $index == `1`", "`true`", "!(`[]`)",
)  # fmt: skip
VERDICTS = (False, True, None, False, None, True, False, False, False, True, True)


@pytest.mark.parametrize(("text", "verdict"), list(zip(CONDITIONS, VERDICTS, strict=True)))
def test_verdicts_on_conditions(text: str, verdict: bool | None) -> None:
    assert decided(expression(text), {}) is verdict


def test_a_verdict_holds_for_any_value() -> None:
    decisive = 0
    for seed in range(400):
        values = RandomValues(seed)
        condition = expression(values.expression())
        verdict = decided(condition, {})
        decisive += verdict is not None
        for _ in range(20 if verdict is not None else 0):
            value = values.data()
            try:
                outcome = truthy(compute(condition)(value if isinstance(value, dict) else {}, None))  # type: ignore[arg-type]
            except ValueError:
                continue
            assert outcome is verdict, (condition, value)
    assert decisive > 5


def expression(text: str) -> Expr:
    return parse.expression(fragment(text))


def test_examples_hold() -> None:
    condition = expression(
        "!has(providerOptions, 'a') && (text == 'x' || matches(text, '^b+$')) && length(name || '') > `3`"
    )
    found = examples(condition, {("@", "type"): ["text"]}, 5)
    assert len(found) == 5
    assert all(truthy(compute(condition)(value, None)) for value in found)  # type: ignore[arg-type]


PATTERNS = ("abc", "a|b", "(tool|call)_id.*invalid", r"tool_use\.id: [^:]*invalid", "[0-9]{2,}x?", r"^\s*end$", "a.b+")


@pytest.mark.parametrize("pattern", PATTERNS)
def test_samples_match(pattern: str) -> None:
    made = texts(pattern, "i")
    assert len(made) > 1
    assert all(compile_regex(pattern, "i").search(text) for text in made)


def test_what_a_pattern_contains() -> None:
    assert contained(("tool_use id is invalid", ""), ("invalid", ""))
    assert contained(("(user|tool) roles must alternate", "i"), ("roles? must", "i"))
    assert not contained(("invalid", ""), ("tool_use id is invalid", ""))
    assert not contained(("tool.*invalid", ""), ("tool_use.*invalid", ""))
    assert not contained(("invalid", "i"), ("invalid", ""))
    assert not contained(("invalid", ""), ("^invalid", ""))


PATTERNS_OF_MODELS = [
    ModelPattern(text, False, bounds)
    for text, bounds in (
        *(
            (text, ())
            for text in ("anthropic/", "claude/", "^anthropic/", "bedrock/", "google/", "vertex/", "openai/gpt")
        ),
        *((text, ()) for text in ("*/gpt-oss", "google/gemini-*-image", "anthropic/claude-opus", "mistral/", "groq/")),
        ("anthropic/claude", ((">=", "4"),)),
        ("anthropic/claude", ((">", "4"), ("<", "4.6"))),
        ("anthropic/claude", (("<=", "4"),)),
        ("anthropic/claude-opus", ((">=", "4.6"),)),
        ("google/gemini", (("<", "3"),)),
    )
]


def test_what_model_patterns_say_of_each_other() -> None:
    """Against every model id of the corpus: what covers another pattern matches more, what two share matches both."""
    refs = [normalise(line["model"]) for line in json_lines(ROOT / "tests" / "models" / "ids.jsonl")]
    tests = {pattern: matcher((pattern,)) for pattern in PATTERNS_OF_MODELS}
    matched = {
        pattern: {at for at, found in enumerate(refs) if found and test(found)} for pattern, test in tests.items()
    }
    covering = 0
    for one, other in product(PATTERNS_OF_MODELS, repeat=2):
        if patterns.covers(one, other):
            covering += one != other
            assert matched[other] <= matched[one], (one, other)
        shared = patterns.shared_model((one,), (other,))
        assert shared is None or (tests[one](shared) and tests[other](shared))
        if patterns.includes((one,), (other,)):
            assert matched[other] <= matched[one], (one, other)
    assert covering > 10
