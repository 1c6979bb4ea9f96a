"""builtin_rules/*.yaml → the built-in rules, by way of their compiled form.

Reading and checking the built-in rules takes a hundred times as long as loading them. Their compiled form ships beside
the code; it holds for exactly the rule files it was made from, and `python -m historycompat.builtin` makes it anew.
"""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

from historycompat.compiling import compile_source, lowered
from historycompat.packed import pack, unpack
from historycompat.resources import data_dir
from historycompat.ruleset import Rule
from historycompat.source import Source

COMPILED = Path(__file__).with_name("builtin_rules.json")


def builtin_rules() -> tuple[Rule, ...]:
    """The built-in rules, in file order."""
    sources = read_sources()
    try:
        compiled = json.loads(COMPILED.read_bytes())
    except (OSError, ValueError):  # not made yet, or half-written by somebody: the rule files are what counts
        compiled = {}
    if compiled.get("digest") != digest(sources):
        return compiled_anew(sources)
    return tuple(lowered(unpack(rule)) for rule in compiled["rules"])


def read_sources() -> list[Source]:
    files = sorted(data_dir("builtin_rules").iterdir(), key=lambda file: file.name)
    return [Source(f.name, f.read_text(encoding="utf-8")) for f in files if f.name.endswith(".yaml")]


def compiled_anew(sources: list[Source]) -> tuple[Rule, ...]:
    return tuple(rule for source in sources for rule in compile_source(source, "yaml"))


def digest(sources: list[Source]) -> str:
    return sha256(json.dumps([[source.name, source.text] for source in sources]).encode()).hexdigest()


def compiled_form() -> str:
    """What COMPILED must hold."""
    sources = read_sources()
    rules = [json.dumps(pack(rule.meaning), ensure_ascii=False) for rule in compiled_anew(sources)]
    return '{"digest": "%s", "rules": [\n%s\n]}\n' % (digest(sources), ",\n".join(rules))  # noqa: UP031


if __name__ == "__main__":
    COMPILED.write_text(compiled_form(), encoding="utf-8")
