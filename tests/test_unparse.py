"""`fmt`: one form for each tree, the same meaning, comments kept, on both surfaces."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from random import Random

import pytest
from random_syntax import Syntax
from support import ROOT, shared

from historycompat import tree
from historycompat.edits import same
from historycompat.errors import RuleError
from historycompat.language import json_nodes, nodes, parse, unparse, yaml_text
from historycompat.language.layout import NotFormatted, formatted
from historycompat.language.packs import Kind, kind_of, read_pack
from historycompat.language.unparse_expressions import expression
from historycompat.source import Fragment, Source
from historycompat.verbs import VERBS

FORMATTED = ROOT / "tests" / "formatted"
FILES = [
    *sorted((ROOT / "builtin_rules").glob("*.yaml")),
    *sorted((ROOT / "examples").rglob("*.yaml")),
    ROOT / "tests" / "language" / "every_verb.rules",
    ROOT / "tests" / "language" / "packs" / "good.yaml",
    FORMATTED / "messy.rules",
    FORMATTED / "messy.yaml",
    FORMATTED / "ugly.rules",
    FORMATTED / "ugly.yaml",
]


@cache
def _pack(text: str, kind: Kind, name: str = "pack") -> tree.Pack:
    pack, complaints = read_pack(Source(f"{name}.{kind}", text), kind=kind)
    assert not complaints, complaints
    assert pack
    return pack


def _expression(text: str) -> tree.Expr:
    return parse.expression(Fragment.whole(Source("e", text)))


def _assert_comes_back(text: str) -> None:
    expr = _expression(text)
    written = expression(expr)
    again = _expression(written)
    assert repr(again) == repr(expr), (text, written)
    assert expression(again) == written


@pytest.mark.parametrize("count", [300, pytest.param(10_000, marks=pytest.mark.slow)])
def test_random_expressions_come_back(count: int) -> None:
    syntax = Syntax(count)
    for text in (syntax.expression() for _ in range(count)):
        try:
            _expression(text)
        except RuleError:
            continue
        _assert_comes_back(text)


def test_the_compliance_suite_comes_back() -> None:
    for path in sorted(shared("cases/jmespath_compliance").glob("*.json")):
        for group in json.loads(path.read_text(encoding="utf-8")):
            for case in group["cases"]:
                try:
                    _expression(case["expression"])
                except RuleError:
                    continue
                _assert_comes_back(case["expression"])


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("(a&&b)||(c)", "a && b || c"),
        ("a&&(b||c)", "a && (b || c)"),
        ("a&&(b&&c)", "a && (b && c)"),
        ("(a|b).c", "(a | b).c"),
        ("(!a).b", "(!a).b"),
        ("!a.b", "!a.b"),
        ("!(a.b)", "!(a.b)"),
        ("(a[*]).b[0]", "(a[*]).b[0]"),
        ("a[ * ].b", "a[*].b"),
        ('"a"."b c"', 'a."b c"'),
        ('`"it\'s"`', r"'it\'s'"),
        ('`{"a" : 1}`', '`{"a": 1}`'),
        ("a[07]", "a[7]"),
        ("a[::2]", "a[::2]"),
        ("sort_by(a,&b)", "sort_by(a, &b)"),
    ],
)
def test_the_form_of_expressions(text: str, canonical: str) -> None:
    assert expression(_expression(text)) == canonical


@pytest.mark.parametrize("name", VERBS)
def test_the_examples_of_the_verbs_are_in_canonical_form(name: str) -> None:
    for example in VERBS[name].examples:
        written = parse.statement(Fragment.whole(Source("s", example.statement)))
        assert unparse.one_line(written).split() == example.statement.split()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
@pytest.mark.parametrize("to", ["yaml", "rules"])
def test_files_keep_their_meaning_and_comments_and_stay(path: Path, to: Kind) -> None:
    pack = _pack(path.read_text(encoding="utf-8"), kind_of(path.name), path.stem)
    text = formatted(pack, kind_of(path.name), to, drop_tests=True)
    again = _pack(text, to, path.stem)
    assert [rule.do for rule in again.rules] == [rule.do for rule in pack.rules]
    assert [rule.allowances for rule in again.rules] == [rule.allowances for rule in pack.rules]
    assert again is pack or formatted(again, to) == text
    if to == kind_of(path.name):
        ours = [line.strip() for line in path.read_text(encoding="utf-8").split("\n") if line.strip().startswith("#")]
        assert [comment for comment in ours if comment not in text] == []


@pytest.mark.parametrize("source", ["messy.rules", "messy.yaml"])
@pytest.mark.parametrize("to", ["yaml", "rules"])
def test_golden(source: str, to: Kind) -> None:
    text = (FORMATTED / source).read_text(encoding="utf-8")
    kind = kind_of(source)
    made = formatted(_pack(text, kind, "team"), kind, to, drop_tests=True)
    golden = FORMATTED / f"from_{kind}.{to}"
    assert made == golden.read_text(encoding="utf-8")
    for comment in ("The file's own comment.", "behind the ", "among the addresses", "allow: W702 a reason"):
        assert comment in made


@pytest.mark.parametrize("source", ["ugly.rules", "ugly.yaml"])
def test_line_ends_and_marks_make_no_difference(source: str) -> None:
    text, kind = (FORMATTED / source).read_text(encoding="utf-8"), kind_of(source)
    golden = (FORMATTED / f"made_of_{source}").read_text(encoding="utf-8")
    for written in (text, text.replace("\n", "\r\n"), text.rstrip("\n"), f"\ufeff{text}", golden):
        assert formatted(_pack(written, kind, "ugly"), kind) == golden


def test_tests_are_not_lost_unasked() -> None:
    path = ROOT / "builtin_rules" / "85_merging.yaml"
    pack = _pack(path.read_text(encoding="utf-8"), "yaml")
    with pytest.raises(NotFormatted, match="--drop-tests"):
        formatted(pack, "yaml", "rules")


_WORDS = (
    "a", "yes", "true", "1", "0x1f", "null", "~", "a: b", "a #b", "- x", "[x]", "it's", 'say "it\'s"', "x\ny", "", "  ",
    "\u00e9", "-1.5e3", "\t", "..", "---", "a,b", "'q'", "a:", "x" * 130, "!t", "*a", "<<", "\u2028", " lead", "\\'", "..a",
)  # fmt: skip


def _value(random: Random, depth: int) -> object:
    roll = random.random()
    if depth == 0 or roll < 0.4:
        return random.choice((*_WORDS, 1, 2.5, None, True, False, -3))
    if roll < 0.7:
        return [_value(random, depth - 1) for _ in range(random.randint(0, 4))]
    return {random.choice(_WORDS): _value(random, depth - 1) for _ in range(random.randint(0, 4))}


@pytest.mark.parametrize("count", [300, pytest.param(5_000, marks=pytest.mark.slow)])
def test_values_come_back_from_yaml(count: int) -> None:
    random = Random(count)
    for _ in range(count):
        value = _value(random, 5)
        first, *rest = yaml_text.lines(value, 2, lead=3)
        text = "\n".join([f"k: {first}".rstrip(" ") if first else "k:", *rest, ""])
        found = nodes.read(Source("y", text), complaints := [])
        assert found, text
        assert not complaints, text
        assert same(json_nodes.value(found, complaints), {"k": value}), text
