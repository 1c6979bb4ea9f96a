"""Every example runs, and every example history is refused as it is and accepted as repaired."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cli_tools import environment
from strict_server import refusals
from support import ROOT

from historycompat import apply
from historycompat.edits import same

EXAMPLES = ROOT / "examples"
OUTPUTS = Path(__file__).parent / "examples"
README = (EXAMPLES / "README.md").read_text(encoding="utf-8")
PROGRAMS = sorted(EXAMPLES.glob("[!_]*.py"))
REFUSED = [
    tuple(cell.strip() for cell in row.strip("|\n").split("|"))
    for row in README.splitlines()
    if re.match(r"\| `[\w-]+\.json`", row)
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_the_programs_run_and_say_what_they_should(program: Path) -> None:
    ran = subprocess.run([sys.executable, program], capture_output=True, text=True, env=environment(), check=False)
    missing = re.search(r"^ModuleNotFoundError: No module named '(?!historycompat)(.*)'", ran.stderr, re.MULTILINE)
    if missing:
        pytest.skip(f"{missing[1]} is not installed")
    assert (ran.returncode, ran.stderr) == (0, "")
    golden = OUTPUTS / f"{program.stem}.txt"
    if os.environ.get("UPDATE_GOLDEN"):
        golden.write_text(ran.stdout, encoding="utf-8", newline="\n")
    assert ran.stdout == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize("row", REFUSED, ids=lambda row: row[0].strip("`"))
def test_the_histories_are_refused_and_their_repair_is_not(row: tuple[str, ...]) -> None:
    file, model, answer, _ = row
    history = json.loads((EXAMPLES / "histories" / file.strip("`")).read_text(encoding="utf-8"))
    refused = _refused(history, model.strip("`"))
    assert refused
    assert answer in " ".join(refused) or answer.startswith("four refusals")
    outcome = apply(history, model=model.strip("`"))
    assert _refused(outcome.messages, model.strip("`")) == []
    assert outcome.faults == ()
    again = apply(outcome.messages, model=model.strip("`"))
    assert same(again.messages, outcome.messages)


def _refused(history: Any, model: str) -> list[str]:
    provider, _, name = model.partition("/")
    return [refusal.message for refusal in refusals(provider, history, name)]


def test_every_file_is_told_about() -> None:
    told = set(re.findall(r"`(?:rules/)?([^\W_][\w-]*\.\w+)`", README))
    files = {path.name for path in EXAMPLES.rglob("[!_]*") if path.suffix in (".py", ".json", ".yaml")}
    assert files <= told, "a file of examples/ that examples/README.md does not name"
    assert told <= files, "examples/README.md names a file that is not there"
