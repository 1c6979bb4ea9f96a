"""`historycompat check` on what ships: no rule file, and no example of the documentation, draws a line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from command_line import run
from support import ROOT

from historycompat.compiling import complaints_about
from historycompat.errors import MOST_SHOWN, RuleError
from historycompat.language.packs import kind_of, read_pack
from historycompat.source import Source

BUILTIN = sorted((ROOT / "builtin_rules").glob("*.yaml"))
EXAMPLES = sorted(path for path in (ROOT / "examples").rglob("*") if path.suffix in (".yaml", ".rules"))
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "examples").rglob("*.md")])
_PACK = re.compile(r"^```yaml[^\n]*\n(language: 1\n.*?)^```$", re.DOTALL | re.MULTILINE)
PACKS = [
    pytest.param(match[1], id=f"{page.name}-{number}")
    for page in PAGES
    for number, match in enumerate(_PACK.finditer(page.read_text(encoding="utf-8")))
]

Capture = pytest.CaptureFixture[str]


def test_the_builtin_rules_draw_no_complaint(capfd: Capture) -> None:
    ran = run(capfd, "check", *map(str, BUILTIN))
    assert (ran.out, ran.code) == ("", 0)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_an_example_draws_no_complaint(path: Path, capfd: Capture) -> None:
    ran = run(capfd, "check", str(path))
    assert (ran.out, ran.code) == ("", 0)


@pytest.mark.parametrize("text", PACKS)
def test_a_pack_of_the_documentation_draws_no_complaint(text: str, tmp_path: Path, capfd: Capture) -> None:
    """But for the slip of the pen that a page shows: `--fix` writes what was meant."""
    path = tmp_path / "pack.yaml"
    path.write_text(text, encoding="utf-8")
    ran = run(capfd, "check", "--fix", str(path))
    assert (ran.out, ran.code) == ("", 0)


@pytest.mark.parametrize("path", [*BUILTIN, *EXAMPLES], ids=lambda path: path.name)
def test_what_ships_is_formatted(path: Path, capfd: Capture) -> None:
    """If not: historycompat fmt builtin_rules/*.yaml examples/rules/*.yaml"""
    assert run(capfd, "fmt", "--check", str(path)).code == 0


DOUBTFUL = """\
pack ours language 1

rule no-thoughts {
  because "Our gateway refuses reasoning."
  see "https://example.org/the-report"
  unset providerOptions.ours on user/text where type == 'text'
}
"""


def _check(text: str, tmp_path: Path, capfd: Capture, name: str = "ours.rules") -> tuple[str, int]:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    ran = run(capfd, "check", str(path))
    return ran.out.replace(f"{tmp_path}/", ""), ran.code


def test_what_is_doubtful_is_told(tmp_path: Path, capfd: Capture) -> None:
    out, code = _check(DOUBTFUL, tmp_path, capfd)
    assert out.startswith("ours.rules:6:49: W208 `type == 'text'` always holds here")
    assert code == 1


def test_an_allowance_silences_it(tmp_path: Path, capfd: Capture) -> None:
    allowed = DOUBTFUL.replace("rule no", "# allow: W208 generated\nrule no")
    assert _check(allowed, tmp_path, capfd) == ("", 0)
    out, code = _check(allowed.replace(" where type == 'text'", ""), tmp_path, capfd)
    assert "W803 nothing here needs W208 allowed" in out
    assert code == 1


def test_a_file_with_an_error_gets_no_warnings(tmp_path: Path, capfd: Capture) -> None:
    out, _ = _check(DOUBTFUL + "rule bad { drop assistant/reasonning }\n", tmp_path, capfd)
    assert re.findall(r" ([EW]\d+) ", out) == ["E501"]


def test_a_rule_that_undoes_a_builtin_one_is_told_so(tmp_path: Path, capfd: Capture) -> None:
    text = DOUBTFUL.replace(
        "unset providerOptions.ours on user/text where type == 'text'",
        "models cerebras/\n  insert part {type: 'reasoning', text: 'hmm'} at_start message assistant\n"
        "  where !(content[?type == 'reasoning'])",
    )
    out, _ = _check(text, tmp_path, capfd)
    assert "W602 this and cerebras-strip-reasoning-content (60_reasoning.yaml:" in out


def test_many_complaints_are_counted(tmp_path: Path, capfd: Capture) -> None:
    rules = "\n".join(f"rule r-{number} {{ drop user/fiel }}" for number in range(91))
    out, _ = _check(rules, tmp_path, capfd)
    assert out.count("E501") == MOST_SHOWN
    assert out.rstrip().endswith(f"ours.rules: and {91 - MOST_SHOWN} more")
    source = Source("ours.rules", rules)
    assert str(RuleError(complaints_about(source, "rules")[1])).endswith(f"\nand {91 - MOST_SHOWN} more")


@pytest.mark.parametrize(
    ("name", "text"), [("e.rules", ""), ("e.rules", "# later\n"), ("e.yaml", ""), ("e.yaml", "# later\n")]
)
def test_a_file_without_rules_is_refused(name: str, text: str) -> None:
    _, complaints = read_pack(Source(name, text), kind=kind_of(name))
    assert [complaint.code for complaint in complaints] == ["E105"]
