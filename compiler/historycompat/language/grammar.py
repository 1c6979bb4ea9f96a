"""rules.lark → a parser, made at first use and then shared.

Building its tables takes ten times as long as loading them. They ship beside the code; they hold for exactly the
grammar and the Lark that they were made from, and `python -m historycompat.language.grammar` makes them anew.
"""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from io import BytesIO
from pathlib import Path

import lark
from lark import Lark

from historycompat.resources import data_dir

# `file` and `rules` are rule text; the others are the strings of a YAML pack.
STARTS = (
    "file",
    "rules",
    "statement",
    "expression",
    "model",
    "error_pattern",
    "phase",
    "persist",
    "safety",
    "rule_name",
    "version",
)
_KEYWORD_PRIORITY = 2


def text() -> str:
    return data_dir("grammar").joinpath("rules.lark").read_text(encoding="utf-8")


TABLES = Path(__file__).with_name("grammar.tables")


@cache
def parser() -> Lark:
    try:
        made, _, saved = TABLES.read_bytes().partition(b"\n")
    except OSError:  # not made yet
        return built()
    return Lark.load(BytesIO(saved)) if made == stamp() else built()


def built() -> Lark:
    return Lark(text(), parser="lalr", start=list(STARTS), propagate_positions=True, maybe_placeholders=True)


def stamp() -> bytes:
    """What the tables are made from: a digest of the grammar, and the version of Lark."""
    return f"{sha256(chr(10).join((*STARTS, text())).encode()).hexdigest()} {lark.__version__}".encode()


def tables() -> bytes:
    """What TABLES must hold: a line with the stamp, and what Lark saves."""
    saved = BytesIO()
    built().save(saved)
    return stamp() + b"\n" + saved.getvalue()


@cache
def keywords() -> dict[str, str]:
    """The words of the language by the name of their terminal, in the order of the grammar."""
    return {t.name: t.name.lstrip("_").lower() for t in parser().terminals if t.priority == _KEYWORD_PRIORITY}


if __name__ == "__main__":
    TABLES.write_bytes(tables())
