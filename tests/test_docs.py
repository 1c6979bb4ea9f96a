"""Every command, snippet, picture and table of every .md file: run, compared, or generated. UPDATE_GOLDEN=1 rewrites
what is generated, output below commands included."""

from __future__ import annotations

import ast
import doctest
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from cli_tools import environment
from support import ROOT

from historycompat import Ruleset, apply, compile_rules
from historycompat.formats import FORMATS, detect

PAGES = [*ROOT.glob("*.md"), *ROOT.glob("examples/**/*.md"), ROOT / "docs" / "agent.md"]
DOCS = {path.relative_to(ROOT).as_posix(): path for path in PAGES}
PACKAGE = ROOT / "compiler" / "historycompat"
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_GENERATED = re.compile(r"(<!-- (formats|modules|layers) -->)(.*?)(<!-- end -->)", re.DOTALL)


@dataclass(frozen=True)
class Block:
    doc: str
    line: int
    kind: str
    text: str

    def __str__(self) -> str:
        return f"{self.doc}:{self.line}"


def blocks(*kinds: str) -> list[Block]:
    return [block for doc, path in DOCS.items() for block in _blocks(doc, path) if block.kind in kinds]


def _blocks(doc: str, path: Path) -> Iterator[Block]:
    text = path.read_text(encoding="utf-8")
    for match in _BLOCK.finditer(text):
        yield Block(doc, text[: match.start()].count("\n") + 1, match[1], match[2])


def must_say(doc: str, old: str, new: str) -> None:
    """A page says what is true; with UPDATE_GOLDEN=1 it is made to."""
    if os.environ.get("UPDATE_GOLDEN"):
        before, found, after = DOCS[doc].read_text(encoding="utf-8").partition(old)
        assert found
        DOCS[doc].write_text(f"{before}{new}{after}", encoding="utf-8", newline="\n")
    else:
        assert old == new, f"{doc} is behind what is true: UPDATE_GOLDEN=1 pytest tests/test_docs.py writes it anew"


def block_must_say(block: Block, new: str) -> None:
    must_say(block.doc, f"```{block.kind}\n{block.text}```", f"```{block.kind}\n{new}```")


def test_every_block_is_of_a_kind_that_is_tested() -> None:
    kinds = {"console", "sh", "python", "yaml", "text"}
    assert [str(block) for doc, path in DOCS.items() for block in _blocks(doc, path) if block.kind not in kinds] == []


# Commands


@pytest.mark.parametrize("block", blocks("console"), ids=str)
def test_commands_print_what_the_page_shows(block: Block) -> None:
    commands = [line for line in block.text.splitlines() if line.startswith("$ ")]
    shown = "".join(f"{command}\n{_shell(command[2:])}" for command in commands)
    block_must_say(block, shown)


def _shell(command: str) -> str:
    env = environment(PATH=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    ran = subprocess.run(["bash", "-c", f"{{ {command}\n}} 2>&1"], cwd=ROOT, env=env, capture_output=True, check=False)
    return ran.stdout.decode()


_SETS_UP = "python3 -m venv .venv && .venv/bin/pip install"


@pytest.mark.parametrize("block", blocks("sh"), ids=str)
def test_commands_that_set_up_or_take_long_run_in_ci(block: Block) -> None:
    """`.ci/run` runs them word for word; those that begin from nothing are run below."""
    ci = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    for line in block.text.splitlines():
        command = line.partition("  #")[0].strip()
        assert command in ci or (command.startswith(_SETS_UP) and "historycompat apply" in command), command


@pytest.mark.slow
@pytest.mark.parametrize("block", [b for b in blocks("sh") if "historycompat apply" in b.text], ids=str)
def test_the_first_command_does_all_the_set_up(block: Block, tmp_path: Path) -> None:
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    for name in subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines():
        if (ROOT / name).is_file():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, tmp_path / name)
    plain = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    ran = subprocess.run(["sh", "-ec", block.text], cwd=tmp_path, env=plain, capture_output=True, text=True, check=True)
    history = json.loads(ran.stdout)
    assert not apply(history, model="anthropic/claude-sonnet-4-5").changed
    assert "Repaired for anthropic/claude-sonnet-4-5 by " in ran.stderr


# Snippets


@pytest.mark.parametrize("doc", sorted({block.doc for block in blocks("python")}))
def test_python_snippets(doc: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The snippets of a page are one session, in a checkout."""
    monkeypatch.chdir(ROOT)
    names: dict[str, Any] = {}
    for block in blocks("python"):
        if block.doc == doc:
            block_must_say(block, _session(block, names))


def _session(block: Block, names: dict[str, Any]) -> str:
    examples = doctest.DocTestParser().get_examples(block.text)
    assert examples, f"{block}: a snippet is a session with >>>"
    shown = ""
    for example in examples:
        runner = doctest.DocTestRunner(verbose=False)
        got: list[str] = []
        test = doctest.DocTest([example], names, str(block), None, 0, None)
        test.globs = names
        example.want = "\0"  # never equal: what is printed is compared with the page as a whole
        runner.run(test, out=got.append, clear_globs=False)
        text = "".join(got)
        assert "Exception raised:" not in text, text
        first, *rest = example.source.rstrip("\n").split("\n")
        shown += "".join([f">>> {first}\n", *(f"... {line}\n" for line in rest), _printed(text)])
    return shown


def _printed(report: str) -> str:
    after = report.partition("Got:\n")[2]
    return "".join(f"{line[4:]}\n" for line in after.splitlines())


@pytest.mark.parametrize("block", blocks("yaml"), ids=str)
def test_yaml_snippets_are_rule_files_that_compile(block: Block) -> None:
    assert len(compile_rules(block.text)) > 0


def test_the_rule_of_the_readme_is_the_example() -> None:
    (block,) = [block for block in blocks("yaml") if block.doc == "README.md"]
    block_must_say(block, (ROOT / "examples" / "rules" / "text-only.yaml").read_text(encoding="utf-8"))


# Pictures, tables and names


def test_the_picture_shows_the_history_and_its_repair() -> None:
    history = json.loads((ROOT / "examples/histories/moved-to-claude.json").read_text(encoding="utf-8"))
    repaired = apply(history, model="anthropic/claude-sonnet-4-5").messages
    (picture,) = [block for block in blocks("text") if block.doc == "README.md"]
    _, _, *drawn = picture.text.splitlines()
    left = [line[:45].rstrip() for line in drawn]
    right = [line[51:].rstrip() for line in drawn]
    assert [line.strip() for line in left if line.strip()] == list(_drawing(history))
    assert [line.strip() for line in right if line.strip()] == list(_drawing(repaired))


def _drawing(messages: list[dict[str, Any]]) -> Iterator[str]:
    for message in messages:
        parts = (
            message["content"]
            if isinstance(message["content"], list)
            else [{"type": "text", "text": message["content"]}]
        )
        for position, part in enumerate(parts):
            yield f"{message['role']:<11}{_SAID[part['type']](part)}" if position == 0 else _SAID[part["type"]](part)


_SAID: dict[str, Callable[[dict[str, Any]], str]] = {
    "text": lambda part: part["text"] or "(empty text)",
    "thinking": lambda part: "(thinking that Kimi wrote)",
    "tool_use": lambda part: f"call {part['name']}, {part['id']}",
    "tool_result": lambda part: f"result of {part['tool_use_id']}",
}


def _formats_list() -> str:
    return ", ".join(f"{kind.title} (`{name}`)" for name, kind in FORMATS.items())


# Packages that say nothing of themselves, since importing them must cost nothing.
_SILENT = {
    "language": "Rule text → callables, one stage a file.",
    "models": "The model as a host names it → a chain, and the patterns that test it; names and aliases are tables.",
    "runtime": "Rules at work: what runs for a model, what an error wakes, one retry, and what comes out.",
}


def _modules_table() -> str:
    rows = ["| file | is |", "|---|---|"]
    for path in sorted(PACKAGE.iterdir()):
        file = path / "__init__.py" if path.is_dir() else path
        if file.suffix == ".py" and file.is_file() and not path.name.startswith("__"):
            said = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or _SILENT[path.name]
            sentence = " ".join(said.split("\n\n")[0].split())
            rows.append(f"| `{path.name}{'/' * path.is_dir()}` | {sentence} |")
    return "\n\n" + "\n".join(rows) + "\n\n"


def _layers_list() -> str:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    rows = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    return "\n\n```text\n" + "\n".join(row.replace(" | ", " · ") for row in rows) + "\n```\n\n"


@pytest.mark.parametrize(
    ("doc", "name", "make"),
    [
        ("README.md", "formats", _formats_list),
        ("ARCHITECTURE.md", "modules", _modules_table),
        ("ARCHITECTURE.md", "layers", _layers_list),
    ],
)
def test_generated_stretches(doc: str, name: str, make: Callable[[], str]) -> None:
    (match,) = [m for m in _GENERATED.finditer(DOCS[doc].read_text(encoding="utf-8")) if m[2] == name]
    must_say(doc, match[0], f"{match[1]}{make()}{match[4]}")


def test_links_lead_somewhere() -> None:
    for doc, path in DOCS.items():
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", path.read_text(encoding="utf-8")):
            assert target.startswith("https://") or (path.parent / target).exists(), f"{doc}: {target}"


def test_files_that_the_pages_name_are_there() -> None:
    roots = (ROOT, PACKAGE)
    for doc in ("ARCHITECTURE.md", "CONTRIBUTING.md"):
        for name in re.findall(
            r"`([\w./-]+/[\w./-]*|[\w.]+\.(?:py|toml|lark))`", DOCS[doc].read_text(encoding="utf-8")
        ):
            assert any((root / name).exists() for root in roots), f"{doc}: {name}"


def test_the_stages_of_the_drawing_are_there() -> None:
    drawing = next(block.text for block in blocks("text") if block.doc == "ARCHITECTURE.md")
    for stage in re.findall(r"(?:language|runtime|formats)\.\w+", drawing):
        assert (PACKAGE / f"{stage.replace('.', '/')}.py").is_file() or stage == "formats."


def test_the_limits_that_the_readme_admits() -> None:
    asked = [pattern for rule in Ruleset.builtin().for_model("my-deployment") for pattern in rule.meaning.models]
    assert [pattern.text for pattern in asked if not pattern.negated] == []
    assert detect([{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]).also
