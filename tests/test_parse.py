"""Fragment → tree: what is read, where it stands, and what is said about mistakes."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from random import Random
from typing import Any

import jmespath_library
import pytest
from language_tools import DATA, fragment, golden, shown, spans, written
from random_syntax import Syntax
from random_text import damaged
from support import shared

from historycompat import tree
from historycompat.errors import RuleError
from historycompat.language import grammar, parse
from historycompat.source import Source

pytestmark = pytest.mark.filterwarnings("ignore:deprecated string literal syntax:PendingDeprecationWarning")


def _rules(name: str) -> tree.Pack:
    return parse.rules_file(Source(name, (DATA / name).read_text(encoding="utf-8")))


# ----- what is read -----


def test_every_verb_and_clause() -> None:
    pack = _rules("every_verb.rules")
    lines = [f"pack {pack.name} language {pack.language}"]
    for rule in pack.rules:
        lines += ["", written(tree.Rule(**{**_values(rule), "do": ()})), *map(written, rule.do)]
    golden("every_verb.golden", "\n".join(lines) + "\n")


def _values(rule: tree.Rule) -> dict[str, Any]:
    return {name: getattr(rule, name) for name in rule.__dataclass_fields__}


def test_every_verb_of_the_grammar_is_among_the_examples() -> None:
    used = {statement.verb for rule in _rules("every_verb.rules").rules for statement in rule.do}
    alternatives = {rule.expansion[0].name for rule in grammar.parser().rules if rule.origin.name == "statement"}
    assert used == alternatives


def test_the_draft_rules_parse_whole() -> None:
    path = shared("design/sample.rules")
    pack = parse.rules_file(Source(path.name, path.read_text(encoding="utf-8")))
    assert (pack.name, len(pack.rules)) == ("sample", 25)


def test_a_file_without_header_has_its_own_name() -> None:
    assert parse.rules_file(Source("some/where/mine.rules", "rule a { drop call }")).name == "mine"


def test_an_empty_file_is_refused() -> None:
    with pytest.raises(RuleError, match="E105 this file holds no rules"):
        parse.rules_file(Source("mine.rules", "\ufeff# nothing yet\n"))


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("start", ["", "\ufeff"])
def test_line_ends_and_byte_order_marks_change_nothing(start: str, end: str) -> None:
    text = (DATA / "every_verb.rules").read_text(encoding="utf-8")
    pack = parse.rules_file(Source("every_verb.rules", start + text.replace("\n", end)))
    assert pack == _rules("every_verb.rules")
    assert [rule.allowances for rule in pack.rules] == [rule.allowances for rule in _rules("every_verb.rules").rules]


# ----- JMESPath, exactly -----


def _compliance() -> list[Path]:
    return sorted(shared("cases/jmespath_compliance").glob("*.json"))


def test_the_compliance_suite_gives_the_library_s_trees() -> None:
    wrong, count = [], 0
    for path in _compliance():
        for group in json.loads(path.read_text(encoding="utf-8")):
            for case in group["cases"]:
                text, count = case["expression"], count + 1
                expected = None if case.get("error") == "syntax" else jmespath_library.parsed(text)
                if _expression_or_none(text) != expected:
                    wrong.append(text)
    assert (wrong, count) == ([], 908)


def _expression_or_none(text: str) -> tree.Expr | None:
    try:
        return parse.expression(fragment(text))
    except RuleError:
        return None


@pytest.mark.parametrize("count", [500, pytest.param(10_000, marks=pytest.mark.slow)])
def test_random_expressions_give_the_library_s_trees(count: int) -> None:
    syntax = Syntax(count)
    for _ in range(count):
        text = syntax.expression()
        assert parse.expression(fragment(text)) == jmespath_library.parsed(text), text


def test_variables() -> None:
    found = parse.expression(fragment("$messages[-1].role"))
    assert [(e.value, e.span.text) for e in found.walk() if e.kind == "variable" and e.span] == [
        ("messages", "$messages")
    ]


# ----- exact places -----

# Nodes whose own text is not an expression of its own, or not the same one: pieces of chains.
_PIECES = frozenset(
    {"projection", "filter_projection", "value_projection", "flatten", "identity", "key_val_pair", "expref"}
)
_STEPS = frozenset({"subexpression", "index_expression", "index", "slice"})


def _assert_places(found: tree.Expr) -> None:
    for node in found.walk():
        assert node.span, node
        if node.kind not in _PIECES | _STEPS:
            assert parse.expression(fragment(node.span.text)) == node, (node, node.span.text)


def test_the_text_under_every_span_of_an_expression_is_that_expression() -> None:
    syntax = Syntax(7)
    for _ in range(500):
        _assert_places(parse.expression(fragment(f"\n  {syntax.expression()}\n")))


def test_the_text_under_every_span_of_a_file() -> None:
    source = Source("every_verb.rules", (DATA / "every_verb.rules").read_text(encoding="utf-8"))
    for rule in parse.rules_file(source).rules:
        assert rule.span
        assert rule.span.text.startswith(f"rule {rule.name} {{")
        assert rule.span.text.endswith("}")
        assert rule.spans["name"].text == rule.name
        for statement in rule.do:
            assert statement.span
            assert parse.statement(fragment(statement.span.text)) == statement
        for node, span in spans(rule):
            match node:
                case tree.Word(text=text):
                    assert span.text.removeprefix("at_") == text
                case tree.Text(value=text):
                    assert json.loads(span.text) == text
                case tree.Number(value=value):
                    assert span.text == str(value)
                case tree.Regex(pattern=pattern, flags=flags):
                    assert span.text.replace("\\/", "/") == f"/{pattern}/{flags}"
                case tree.Path(keys=keys):
                    assert span.text.replace('"', "") == ".".join(keys)
                case tree.Except(end=end, count=count):
                    assert span.text == f"except {end} {count}"
                case tree.ModelPattern():
                    assert parse.model(fragment(span.text)) == node
                case tree.ErrorPattern():
                    assert parse.error_pattern(fragment(span.text)) == node
                case tree.Allowance(code=code, reason=reason):
                    assert span.text == f"allow: {code} {reason}".rstrip()


def test_clauses_go_by_their_names() -> None:
    spans = {name: span.text for name, span in _rules("every_verb.rules").rules[0].spans.items()}
    assert spans["phase"] == "both"
    assert spans["see"] == '"https://example.org/a#b", "https://example.org/c"'
    assert spans["when"] == "length($tools || `[]`) == `0`"
    assert spans["do[2]"] == "drop */text on_empty keep"


# ----- mistakes -----


def test_what_is_said_about_mistakes() -> None:
    parts = []
    for line in (DATA / "mistakes.txt").read_text(encoding="utf-8").splitlines():
        start, _, text = line.partition(" ")
        with pytest.raises(RuleError) as refused:
            parse.parse(fragment(text), start)
        parts.append(f"{line}\n{shown(refused.value.complaints)}\n")
    golden("mistakes.golden", "\n".join(parts))


def test_all_complaints_of_a_file_come_at_once() -> None:
    text = (DATA / "mistakes.rules").read_text(encoding="utf-8")
    pack, complaints = parse.read_rules(Source("mistakes.rules", text))
    good = ", ".join(rule.name for rule in pack.rules)
    golden("mistakes_rules.golden", f"{shown(complaints)}\ngood: {good}\n")
    with pytest.raises(RuleError) as refused:
        parse.rules_file(Source("mistakes.rules", text))
    assert refused.value.complaints == tuple(complaints)


def test_every_code_that_is_used_has_a_meaning() -> None:
    goldens = "\n".join(path.read_text(encoding="utf-8") for path in DATA.rglob("*.golden"))
    assert {code for code in parse.SYNTAX_CODES if f" {code} " in goldens} == set(parse.SYNTAX_CODES)


DEEP = {
    "open groups": "(" * 10_000,
    "nots": "!" * 10_000 + "a",
    "alternatives": " || ".join("a" * 10_000),
    "pipes": "|".join("a" * 10_000),
    "projections": "a" + "[*]" * 10_000,
    "filters": "a[?" * 5_000 + "b" + "]" * 5_000,
    "flattens": "[]" * 10_000,
    "calls": "f(" * 5_000 + "a" + ")" * 5_000,
    "lists": "[" * 5_000 + "a" + "]" * 5_000,
    "objects": "{a: " * 5_000 + "a" + "}" * 5_000,
    "values": "*" + ".*" * 10_000,
    "JSON": "`" + "[" * 5_000 + "]" * 5_000 + "`",
    "shallower JSON": "`" + "[" * 500 + "]" * 500 + "`",
}


@pytest.mark.parametrize("name", DEEP)
def test_deep_nesting_is_a_complaint(name: str) -> None:
    with pytest.raises(RuleError) as refused:
        parse.expression(fragment(DEEP[name]))
    assert refused.value.complaints[0].code in ("E102", "E113")


def test_groups_and_long_chains_of_fields_are_not_deep() -> None:
    assert parse.expression(fragment("(" * 10_000 + "a" + ")" * 10_000)) == tree.Expr("field", (), "a")
    assert len(parse.expression(fragment(".".join("a" * 500))).children) == 500
    assert len(parse.expression(fragment("a" + "[0]" * 500)).children) == 501


def test_many_mistakes_take_no_time() -> None:
    text = "\n".join(f"rule r{i} {{ dorp call }}" for i in range(300))
    begin = time.perf_counter()
    assert len(parse.read_rules(Source("x.rules", text))[1]) == 300
    assert time.perf_counter() - begin < 20


@pytest.mark.parametrize(
    "seeds", [range(60), pytest.param(range(60, 1_000), marks=pytest.mark.slow)], ids=("some", "many")
)
def test_nothing_but_complaints_from_damaged_text(seeds: range) -> None:
    whole = (DATA / "every_verb.rules").read_text(encoding="utf-8")
    for seed in seeds:
        text = damaged(whole, Random(seed))
        pack, complaints = parse.read_rules(Source("x.rules", text))
        assert all(complaint.code in parse.SYNTAX_CODES and complaint.span for complaint in complaints), seed
        assert {rule.name for rule in pack.rules} <= set(text.replace("{", " ").split())


# ----- the grammar -----


def test_importing_the_parser_builds_nothing() -> None:
    import subprocess

    code = "from historycompat.language import parse, packs, grammar;assert grammar.parser.cache_info().currsize == 0"
    path = str(Path(parse.__file__).parents[2])
    subprocess.run([sys.executable, "-c", code], check=True, env={"PYTHONPATH": path}, timeout=60)


def test_the_tables_that_ship_are_those_of_the_grammar() -> None:
    """If not: python -m historycompat.language.grammar"""
    made, _, _ = grammar.TABLES.read_bytes().partition(b"\n")
    assert made.split()[0] == grammar.stamp().split()[0], test_the_tables_that_ship_are_those_of_the_grammar.__doc__
    verbs = (DATA / "every_verb.rules").read_text(encoding="utf-8")
    built = grammar.built()
    assert grammar.parser().parse(verbs, "file") == built.parse(verbs, "file")
    assert [t.name for t in grammar.parser().terminals] == [t.name for t in built.terminals]


def test_the_grammar_has_no_conflicts() -> None:
    pytest.importorskip("interegular", reason="Lark needs interegular to look for collisions of terminals")
    from lark import Lark

    options = grammar.parser().options
    assert Lark(grammar.text(), parser="lalr", start=list(options.start), strict=True)
