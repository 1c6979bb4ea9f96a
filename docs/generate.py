"""Write what is generated: the pages under docs/reference, tables in docs/writing_rules.md, and
grammar/pack.schema.json.

Run from a checkout: `python docs/generate.py`. A test compares what is there with what this would write.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from historycompat.language import schema
from historycompat.reference import field_table, pages
from historycompat.rulesets import Ruleset

ROOT = Path(__file__).resolve().parents[1]
REFERENCE = ROOT / "docs" / "reference"
WRITING = ROOT / "docs" / "writing_rules.md"
_TABLE = re.compile(r"(<!-- fields of a (\w+) -->).*?(<!-- end -->)", re.DOTALL)


def generated() -> Iterator[tuple[Path, str]]:
    """Every generated file with its text."""
    yield ROOT / "grammar" / "pack.schema.json", schema.text()
    yield WRITING, _TABLE.sub(_table, WRITING.read_text("utf-8"))
    yield from ((REFERENCE / name, text) for name, text in pages(Ruleset.builtin()))


def _table(found: re.Match[str]) -> str:
    return f"{found[1]}\n\n{field_table(found[2])}\n\n{found[3]}"


def main() -> None:
    files = dict(generated())
    for path in REFERENCE.rglob("*.md"):
        if path not in files:
            path.unlink()
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
