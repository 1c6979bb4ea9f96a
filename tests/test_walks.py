"""docs/writing_rules.md, done step by step: its files written, its commands run, their output compared.

UPDATE_GOLDEN=1 writes the output that the commands give now.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from cli_tools import environment
from support import ROOT

from historycompat import cases
from historycompat.compiling import compile_source, complaints_about
from historycompat.language.checks.warnings import ruleset_warnings
from historycompat.reference.answers import answers, read
from historycompat.rulesets import Ruleset
from historycompat.source import Source

DOC = ROOT / "docs" / "writing_rules.md"
_BLOCK = re.compile(r"^(`{3,})(?P<kind>\w+)(?: (?P<name>\S+))?\n(?P<body>.*?)^\1$", re.DOTALL | re.MULTILINE)


def _done(text: str, folder: Path) -> Iterator[str]:
    """The text with the output that its commands give in a folder with its files."""
    at = 0
    for block in _BLOCK.finditer(text):
        yield text[at : block.start("body")]
        body = block["body"]
        if block["name"]:
            (folder / block["name"]).write_text(body, encoding="utf-8")
        yield "".join(_ran(body, folder)) if block["kind"] == "console" else body
        at = block.end("body")
    yield text[at:]


def _ran(body: str, folder: Path) -> Iterator[str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    for command in re.findall(r"^\$ (.*)$", body, re.MULTILINE):
        done = subprocess.run(
            ["sh", "-c", f"{command} 2>&1"],
            cwd=folder,
            capture_output=True,
            env=environment(PATH=path),
            timeout=120,
            check=False,
        )
        output = done.stdout.decode()
        assert "Traceback" not in output, output
        yield f"$ {command}\n{output}"


def test_the_walks_are_as_written(tmp_path: Path) -> None:
    text = DOC.read_text(encoding="utf-8")
    done = "".join(_done(text, tmp_path))
    if os.environ.get("UPDATE_GOLDEN"):
        DOC.write_text(done, encoding="utf-8")
    else:
        assert done == text


def test_each_walk_ends_with_a_good_rule() -> None:
    last = {
        block["name"]: block["body"] for block in _BLOCK.finditer(DOC.read_text("utf-8")) if block["kind"] == "yaml"
    }
    assert len(last) == 4
    for name, text in last.items():
        source = Source(name, text.replace("user/fiel", "user/file"))
        pack, complaints = complaints_about(source, "yaml")
        assert pack
        assert [*complaints, *ruleset_warnings([pack])] == []
        (rule,) = compile_source(source, "yaml")
        assert rule.meaning.see
        assert len(rule.meaning.tests) >= 2
        assert all(verdict.passed for verdict in cases.run_cases(rule))


def test_no_built_in_rule_answers_these_refusals() -> None:
    blocks = {block["name"]: block["body"] for block in _BLOCK.finditer(DOC.read_text("utf-8")) if block["name"]}
    for name in ("document.txt", "picture.txt", "file.json", "trace.txt"):
        assert answers(read(blocks[name]), Ruleset.builtin()) == []
