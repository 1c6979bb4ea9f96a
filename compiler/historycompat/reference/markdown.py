"""Blocks of a page → Markdown."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from typing import Any

from historycompat.language.yaml_text import lines
from historycompat.shorthand import as_yaml, plain


def page(blocks: Iterable[str]) -> str:
    """Blocks with a blank line between them; blocks without text are left out."""
    return "\n\n".join(block.strip("\n") for block in blocks if block.strip()) + "\n"


def fenced(text: str, language: str = "", indent: int = 0) -> str:
    """A block of code, in a longer fence where there is a fence in it."""
    fence = "````" if "```" in text else "```"
    pad = " " * indent
    return "\n".join(pad + line if line else "" for line in (fence + language, *text.strip("\n").split("\n"), fence))


def change(before: Any, after: Any) -> str:
    """What becomes of a history, message by message: `-` goes, `+` comes, the rest stays."""
    told = difflib.ndiff(history_lines(before), history_lines(after))
    return fenced("\n".join(line.rstrip() for line in told if not line.startswith("?")), "diff")


def history_lines(history: Any) -> list[str]:
    """A history, or a request with one, as YAML: a message a line, as far as that goes."""
    if not isinstance(history, dict):
        return list(as_yaml(plain(history))) or ["[]"]
    return [line for key, value in history.items() for line in _field(key, value)]


def _field(key: str, value: Any) -> Iterator[str]:
    if isinstance(value, list) and value:
        yield f"{key}:"
        yield from (f"  {line}" for line in history_lines(value))
    else:
        first, *rest = lines(value, 2, lead=len(key) + 2)
        yield f"{key}: {first}"
        yield from rest


def code(text: str) -> str:
    """A text in one line of code, backticks in it or not."""
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def in_cell(text: str) -> str:
    """A text as it stands in a table."""
    return text.replace("|", "\\|")


def sentence(text: str) -> str:
    return text[0].upper() + text[1:].rstrip(".") + "."


def row(words: Iterable[str], last: str = "and") -> str:
    """Words as they are listed in a sentence: a, b and c."""
    *first, end = [*words] or [""]
    return f"{', '.join(first)} {last} {end}" if first else end


def bullets(items: Iterable[str]) -> str:
    return "\n".join(f"- {item}" for item in items)


def sections(titles: Iterable[tuple[str, Iterable[str]]], level: str = "##") -> Iterator[str]:
    """A heading and its list, for each that has something in its list."""
    for title, items in titles:
        if listed := bullets(items):
            yield from (f"{level} {title}", listed)
