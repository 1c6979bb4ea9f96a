"""Rule file → tree.Pack: YAML in all its styles, exact places, and every complaint at once."""

from __future__ import annotations

import re
import time
from pathlib import Path
from random import Random

import pytest
from language_tools import DATA, golden, shown, spans, written
from random_text import damaged
from support import shared

from historycompat import tree
from historycompat.errors import Complaint, RuleError
from historycompat.language import nodes, packs, parse
from historycompat.language.nodes import Node
from historycompat.source import Source

PACKS = sorted((DATA / "packs").glob("*.yaml"))


def _read(text: str) -> tuple[tree.Pack | None, list[Complaint]]:
    return packs.read_pack(Source("pack.yaml", text), kind="yaml")


def _good() -> str:
    return (DATA / "packs" / "good.yaml").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", PACKS, ids=lambda path: path.stem)
def test_packs(path: Path) -> None:
    pack, complaints = packs.read_pack(Source(path.name, path.read_text(encoding="utf-8")), kind="yaml")
    lines = ["no pack"] if pack is None else [f"pack {pack.name} language {pack.language}", *map(written, pack.rules)]
    golden(f"packs/{path.stem}.golden", "\n".join([*filter(None, [shown(complaints)]), *lines]) + "\n")


def test_one_rule_is_the_same_on_both_surfaces() -> None:
    text = """rule r {
      because "why" models anthropic/, not x/y phase both on_error 400 /a/, /b/i
      drop call where a == 'b'
      set a.b to `1` on result
    }"""
    yaml = """rules:
      - name: r
        because: why
        models: [anthropic/, not x/y]
        phase: both
        on_error: [400 /a/, /b/i]
        do: [drop call where a == 'b', set a.b to `1` on result]
    """
    assert _rules(yaml, "yaml") == _rules(text, "rules")


def _rules(text: str, kind: packs.Kind) -> tuple[tree.Rule, ...]:
    pack, complaints = packs.read_pack(Source("x", text), kind=kind)
    assert pack
    assert complaints == []
    return pack.rules


def test_the_examples_of_the_design_are_read() -> None:
    blocks = re.findall(
        r"^```(\w*)\n(.*?)^```", shared("design/language.md").read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    )
    assert [len(_rules(text, "yaml" if kind else "rules")) for kind, text in blocks] == [1, 1]


# ----- exact places -----


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("start", ["", "\ufeff", "# \u00e9\U0001f600\n\n", "---\n"])
def test_the_text_under_every_span(start: str, end: str) -> None:
    source = Source("good.yaml", (start + _good()).replace("\n", end))
    pack, complaints = packs.read_pack(source, kind="yaml")
    assert complaints == []
    assert pack
    for node, span in (
        found for rule in pack.rules for found in spans(rule.do + rule.models + rule.on_error + (rule.when,))
    ):
        text = _unfolded(span.text)
        match node:
            case tree.Expr(kind="field" | "variable", value=value):
                assert text == value or text == f"${value}"
            case tree.Expr(kind="literal", value=str(value)):
                assert value == "\u00e9\t" or text.strip("'") == value
            case tree.Word(text=value) | tree.Text(value=value):
                assert text.strip('"') == value
            case tree.Number(value=value):
                assert text == str(value)
            case tree.Path(keys=keys):
                assert text == ".".join(keys)
            case tree.ModelPattern(text=value):
                assert value in text
            case tree.Regex(pattern=pattern, flags=flags):
                assert text.replace("''", "'") == f"/{pattern}/{flags}"
            case tree.Statement() | tree.Target() | tree.Expr(kind="comparator" | "or_expression" | "and_expression"):
                assert text.split()[0] in "drop set unset assistant/reasoning user/text call text length($tools"
    for rule in pack.rules:
        assert rule.spans["name"].text == rule.name
        for allowance in rule.allowances:
            assert allowance.span.text == f"allow: {allowance.code} {allowance.reason}"


def _unfolded(text: str) -> str:
    return re.sub(r"\s+", " ", text)


def test_every_anchor_is_exact() -> None:
    """Each character of every scalar stands in the file where the anchors say, in random scalars of every style."""
    random = Random(5)
    for _ in range(1_500):
        text = _random_scalar(random)
        complaints: list[Complaint] = []
        root = nodes.read(Source("x.yaml", text), complaints)
        if complaints or root is None or root.style == ">":
            continue
        assert root.items[1].kind == "scalar", text
        _assert_anchored(text, root.items[1])


def _assert_anchored(text: str, node: Node) -> None:
    fragment = node.fragment
    for index, character in enumerate(node.text):
        there = text[fragment.offset(index)]
        if character in " \n":
            assert there in " \t\r\n\\" or node.end == fragment.offset(index), (text, index)
        else:
            assert there == character or (there == "\\" and node.style == '"'), (text, index, character, there)


def _random_scalar(random: Random) -> str:
    style = random.choice(("", "'", '"', "|", "|-", "|+", "|1"))
    words = ["a", "b c", "\u00e9", "\U0001f600", "#x", "x#", "", " ", "\t", "``", "it's" if style != "'" else "it''s"]
    if style == '"':
        words += [r"\n", r"\u00e9", r"\x41", r"\U0001F600", r"\"", r"\\", "\\\n  ", r"\ ", r"\t"]
    lines = ["".join(random.choices(words, k=random.randint(0, 4))) for _ in range(random.randint(1, 4))]
    if style.startswith("|"):
        return f"k: {style}\n" + "".join(f" {random.choice(('', ' ', '  '))}{line}\n" for line in lines)
    end = random.choice(("\n", "\r\n", "\n\n", " \n\t \n"))
    return f"k: {style}{(end + '  ').join(lines)}{style}\n"


# ----- what nobody should write -----

HOSTILE = {
    "empty": "",
    "blank": " \n\n",
    "comment": "# nothing\n",
    "scalar": "hello",
    "list": "- a\n",
    "null": "~",
    "bomb": "a: &a [x, x]\n"
    + "".join(f"b{i}: &b{i} [{', '.join([f'*b{i - 1}' if i else '*a'] * 10)}]\n" for i in range(9)),
    "self": "&a [*a]",
    "merge": "a: &a {b: c}\nrules: [{<<: *a}]\n",
    "flow lists": "[" * 10_000,
    "flow mappings": "{a: " * 10_000,
    "block lists": "- " * 10_000 + "a",
    "block mappings": "".join(" " * i + "a:\n" for i in range(1_000)),
    "deep tests": "rules:\n  - name: a\n    do: [drop call]\n    tests:\n      - given: " + "[" * 500 + "]" * 500,
    "NUL": "language: 1\nrules: []\n\x00",
    "binary": "".join(map(chr, range(256))),
    "surrogate": "language: 1\nname: \ud800\n",
    "separator": "because: a\u2028b\n",
    "tabs": "\t\t\n\tlanguage: 1\n",
    "huge escape": 'language: "\\UFFFFFFFF"\n',
    "long line": "because: " + "a" * 200_000,
    "directive": "%YAML 9.9\n---\nrules: []\n",
    "tag directive": "%TAG ! tag:x,2000:\n---\n!a b\n",
    "python": "!!python/object/apply:os.system ['true']\n",
    "many mistakes": "rules:\n" + "  - name: a\n    when: !b c\n" * 100,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_are_complaints(name: str) -> None:
    begin = time.perf_counter()
    pack, complaints = _read(HOSTILE[name])
    assert complaints
    assert pack is None or pack.rules == ()
    assert all(complaint.code in parse.SYNTAX_CODES for complaint in complaints)
    assert time.perf_counter() - begin < 20


def test_aliases_are_refused_before_they_grow() -> None:
    levels = "".join(f"        l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9)}]\n" for n in range(1, 9))
    bomb = f"rules:\n  - name: a\n    do: drop call\n    tests:\n      - name: &l0 lol\n{levels}"
    wide = "rules:\n  - &a {name: a, do: drop call}\n" + "  - *a\n" * 20_000
    for text in (bomb, wide):
        begin = time.process_time()
        _, complaints = _read(text)
        assert time.process_time() - begin < 5
        told = [complaint for complaint in complaints if complaint.code == "E110"]
        assert len(told) == 20
        assert told[-1].message.endswith("not as text, and more such below")
        assert "write out what it stands for" in (told[0].suggestion or "")


@pytest.mark.parametrize(
    "seed_range", [range(300), pytest.param(range(300, 10_300), marks=pytest.mark.slow)], ids=("some", "many")
)
def test_nothing_but_complaints_from_damaged_yaml(seed_range: range) -> None:
    texts = [path.read_text(encoding="utf-8") for path in PACKS]
    for seed in seed_range:
        text = damaged(texts[seed % len(texts)], Random(seed))
        pack, complaints = _read(text)
        assert pack is not None or complaints, seed
        assert all(c.code in parse.SYNTAX_CODES and c.span and c.span.end <= len(text) for c in complaints), seed


# ----- by file name -----


@pytest.mark.parametrize(("name", "kind"), [("a.yaml", "yaml"), ("b/c.YML", "yaml"), ("d.rules", "rules")])
def test_the_suffix_says_the_kind(name: str, kind: str) -> None:
    assert packs.kind_of(name) == kind


@pytest.mark.parametrize("name", ["a.json", "rules", "a.rule"])
def test_other_suffixes_are_refused(name: str) -> None:
    with pytest.raises(RuleError, match=re.escape(name)):
        packs.kind_of(name)
