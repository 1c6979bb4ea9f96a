"""rules.lark → a parser, built at first use and then shared."""

from __future__ import annotations

from functools import cache

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


@cache
def parser() -> Lark:
    return Lark(text(), parser="lalr", start=list(STARTS), propagate_positions=True, maybe_placeholders=True)


@cache
def keywords() -> dict[str, str]:
    """The words of the language by the name of their terminal, in the order of the grammar."""
    return {t.name: t.name.lstrip("_").lower() for t in parser().terminals if t.priority == _KEYWORD_PRIORITY}
