"""The grammar → how each statement is written, on one line of documentation."""

from __future__ import annotations

import re
from functools import cache

from historycompat.language.grammar import keywords, text

# What stands for the parts that have pages or names of their own.
_PLACEHOLDERS = {
    "target": "T", "on": "on T", "path": "path", "paths": "path, ..", "types": "type, ..", "expression": "expr",
    "object": "{..}", "where": "where expr", "DQ": '"text"', "REGEX": "/re/", "UINT": "N", "TYPE": "type",
}  # fmt: skip

_RULE = re.compile(r"^\??(\w+): (.*(?:\n +\|.*)*)", re.MULTILINE)
_WORD = re.compile(r"\b\w+\b")


def syntax(verb: str) -> str:
    """How a statement with this verb is written: `[..]` may be missing, `|` divides alternatives, T is a target."""
    return _filled(_rules()[verb])


@cache
def _rules() -> dict[str, str]:
    return {name: " ".join(body.split()) for name, body in _RULE.findall(text())}


def _filled(body: str) -> str:
    parts = re.split(r'("[^"]*")', body)
    written = "".join(part.strip('"') if at % 2 else _WORD.sub(_word, part) for at, part in enumerate(parts))
    return written.replace(")+", ") ..")


def _word(found: re.Match[str]) -> str:
    name = found[0]
    if name in _PLACEHOLDERS:
        return _PLACEHOLDERS[name]
    if name in keywords():
        return keywords()[name]
    filled = _filled(_rules()[name])
    return f"({filled})" if " | " in filled and not filled.endswith(("..", "]")) else filled
