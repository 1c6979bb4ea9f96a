"""What the compiler refuses beyond syntax: golden files of whole rule files, one or more for each code."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from language_tools import DATA, golden
from random_syntax import Syntax
from support import shared

from historycompat.codes import CODES
from historycompat.errors import Complaint
from historycompat.language import parse
from historycompat.language.checks import run_checks
from historycompat.language.diagnose import render, render_all
from historycompat.language.packs import Kind, kind_of, read_pack
from historycompat.language.vocabulary import HOLDS, OBJECTS, PARTS, ROLES, VARIABLES
from historycompat.source import Source, Span
from historycompat.tree import Pack

FILES = sorted(path for path in (DATA / "checks").iterdir() if path.suffix in (".rules", ".yaml"))

# These compare rules with each other or run their tests: not a matter of one rule as written.
OF_OTHERS = {code for code in CODES if code[:2] in ("W2", "W4", "W6", "W7", "W8")} | {"W304"}
OF_OTHERS -= {"W402", "W803"}


def read(source: Source, kind: Kind) -> tuple[Pack | None, list[Complaint]]:
    pack, complaints = read_pack(source, kind=kind)
    return pack, [*complaints, *(run_checks(pack) if pack else [])]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_complaints_about_a_file(path: Path) -> None:
    """Rules named `bad-...` get the code that the file is named after (and no other), those named `good-...` nothing."""
    pack, complaints = read(Source(path.name, path.read_text(encoding="utf-8")), kind_of(path.name))
    assert pack is not None
    golden(f"checks/{path.name}.txt", render_all(complaints) + "\n")
    found = {rule.name: {c.code for c in complaints if c.rule == rule.name} for rule in pack.rules}
    assert found == {name: {path.stem} if name.startswith("bad-") else set() for name in found}
    for kind in ("bad-", "good-"):
        assert sum(name.startswith(kind) for name in found) >= 2


NEVER = re.split(r"^# === (.+)\n", (DATA / "never.txt").read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]


@pytest.mark.parametrize(("title", "lines"), list(zip(NEVER[::2], NEVER[1::2], strict=True)), ids=NEVER[::2])
def test_what_never_matches_is_told(title: str, lines: str) -> None:
    """Ten statements of each kind that do nothing, whatever the history, and ten of their like that do something."""
    kind, code = title.rsplit(" ", 1)
    shown = []
    counts = Counter[str]()
    for verdict, statement in (line.split(" ", 1) for line in lines.splitlines()):
        pack, complaints = read(Source("x.rules", f"rule x {{ {statement} }}"), "rules")
        assert pack is not None
        assert {complaint.code for complaint in complaints} == ({code} if verdict == "bad" else set()), statement
        shown += map(render, complaints)
        counts[verdict] += 1
    assert min(counts["bad"], counts["good"]) >= 10
    golden(f"never/{kind.replace(' ', '_').replace('`', '')}.txt", "\n\n".join(shown) + "\n")


def test_every_code_has_a_file() -> None:
    checked = {code for code in CODES if not code.startswith("E1")} - OF_OTHERS
    assert {path.stem for path in FILES} == checked
    assert parse.SYNTAX_CODES.keys() == {code for code in CODES if code.startswith("E1")}


@pytest.mark.parametrize("code", CODES)
def test_the_examples_of_a_code(code: str) -> None:
    entry = CODES[code]
    assert entry.code == code
    for example, expected in ((entry.bad_example, [code] if code not in OF_OTHERS else []), (entry.good_example, [])):
        kind: Kind = "yaml" if example.startswith("language:") else "rules"
        _, complaints = read(Source("example", example), kind)
        assert [c.code for c in complaints] == expected, render_all(complaints)
        assert all(c.suggestion or c.code.startswith("E1") for c in complaints)


def test_the_sample_rules_are_right() -> None:
    path = shared("design/sample.rules")
    pack, complaints = read(Source(path.name, path.read_text(encoding="utf-8")), "rules")
    assert pack is not None
    assert render_all(complaints) == "no complaints"


TARGETS = ("*/*", "assistant/text", "message", "call", "prompt", "path messages[*].content[?type == 'text']")


@pytest.mark.parametrize("target", TARGETS)
def test_any_expression_can_be_checked(target: str) -> None:
    """Whatever parses has complaints that can be shown, in a canonical rule and in one for a wire shape."""
    for seed in range(150):
        text = f'report "x" {target} where {Syntax(seed).expression()}'
        for clause in ("", "format openai-chat "):
            pack, complaints = read(Source("x.rules", f"rule x {{ {clause}{text} }}"), "rules")
            assert pack is not None
            assert all(render(complaint) for complaint in complaints)


def test_complaints_come_in_file_order_with_the_name_of_their_rule() -> None:
    text = (DATA / "checks" / "E204.rules").read_text(encoding="utf-8")
    _, complaints = read(Source("x.rules", text), "rules")
    starts = [c.span.start for c in complaints if c.span]
    assert starts == sorted(starts)
    assert all(c.rule and c.rule in text for c in complaints)


def test_the_vocabulary_agrees_with_itself() -> None:
    assert set(HOLDS) == set(ROLES)
    assert frozenset().union(*HOLDS.values()) == set(PARTS)
    assert set(OBJECTS) >= {f"part {name}" for name in PARTS}
    assert VARIABLES["when"] == VARIABLES["prompt"]


# ----- how a complaint is shown: the text, the part of it to mark, and the two lines below the first

SHOWN = [
    ("drop x/y", "x/y", "    1 | drop x/y\n      |      ^~~"),
    ("\tset\ta to 'b'", "a", "    1 |     set    a to 'b'\n      |            ^"),
    ("set 名前 to '値' on x", "'値'", "    1 | set 名前 to '値' on x\n      |             ^~~~"),
    ("set e\u0301e to x", "to", "    1 | set e\u0301e to x\n      |        ^~"),
    ("a\x07b\ufeffc", "c", "    1 | a\ufffdb\ufffdc\n      |     ^"),
    ("one\ntwo three\nfour", "three\nfour", "    2 | two three\n      |     ^~~~~"),
    ("one\r\ntwo\r\n", "two", "    2 | two\n      | ^~~"),
    (
        "x" * 300 + "HERE" + "y" * 300,
        "HERE",
        "    1 | ..." + "x" * 25 + "HERE" + "y" * 71 + "...\n      |    " + " " * 25 + "^~~~",
    ),
]


@pytest.mark.parametrize(("text", "marked", "excerpt"), SHOWN)
def test_excerpts(text: str, marked: str, excerpt: str) -> None:
    start = text.index(marked)
    span = Span(Source("f.rules", text), start, start + len(marked))
    shown = render(Complaint("E101", "this is wrong", span, "write that"))
    assert shown == f"{span.place}: E101 this is wrong\n{excerpt}\n      = write that"


def test_places_at_the_end_and_nowhere() -> None:
    span = Span(Source("f.rules", "drop"), 4, 4)
    assert render(Complaint("E102", "more", span)) == "f.rules:1:5: E102 more\n    1 | drop\n      |     ^"
    assert render(Complaint("E112", "no file", None, "look")) == "E112 no file\n  = look"
    assert render_all([]) == "no complaints"
    assert render_all([Complaint("E101", "a"), Complaint("W302", "b")]) == "E101 a\n\nW302 b\n\n1 error and 1 warning"
