"""JSON values and rule text → YAML, in the one form that the formatter writes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from historycompat.language.json_nodes import means_text

WIDTH = 120

_INDICATORS = "-?:,[]{}#&*!|>'\"%@`"
_KEY = re.compile(r"[A-Za-z_$][\w$./-]*")
# Texts that older YAML takes for yes and no.
_YES_NO = frozenset({"y", "n", "yes", "no", "on", "off"})
# What YAML or a rule file does not hold as it is, or what would not come back as it was.
_ESCAPED = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
_BLOCK = re.compile(r"[^\s](?:.*[^\s])?(?:\n+[ \t]*[^\s](?:.*[^\s])?)*")


def is_plain(text: str, *, in_flow: bool = False) -> bool:
    """Whether a text can stand in YAML without quotes."""
    return (
        bool(text)
        and text[0] not in _INDICATORS
        and text == text.strip()
        and not text.startswith("...")
        and not text.endswith(":")
        and ": " not in text
        and " #" not in text
        and not _ESCAPED.search(text)
        and not (in_flow and set(",[]{}") & set(text))
    )


def quoted(text: str) -> str:
    """A text in quotes: single ones, or double ones around single ones and where something has to be escaped."""
    if not _ESCAPED.search(text) and ("'" not in text or '"' in text or "\\" in text):
        return "'" + text.replace("'", "''") + "'"
    return _ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(text, ensure_ascii=False))


def key(text: str) -> str:
    return text if _KEY.fullmatch(text) else quoted(text)


def text_lines(text: str, indent: int, lead: int = 0) -> list[str]:
    """A text that is read as it stands (prose or rule text): what follows its key or dash, which end in column `lead`,
    and the lines below it."""
    if is_plain(text) and lead + len(text) <= WIDTH:
        return [text]
    if _BLOCK.fullmatch(text) and not _ESCAPED.search(text.replace("\n", "")):
        return ["|-", *(" " * indent + line if line else "" for line in text.split("\n"))]
    return [quoted(text)]


def flow(value: Any) -> str:
    """A value in one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key(name)}: {flow(item)}" for name, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(flow, value)) + "]"
    if isinstance(value, str):
        return value if _is_bare(value, in_flow=True) else quoted(value)
    return json.dumps(value)


def _is_bare(text: str, *, in_flow: bool = False) -> bool:
    return means_text(text) and text.lower() not in _YES_NO and is_plain(text, in_flow=in_flow)


def lines(value: Any, indent: int = 0, *, lead: int = 0) -> list[str]:
    """A value as lines: the first without its indentation, since it follows a key or dash.

    `indent` is the column of lists and mappings that take more than a line, `lead` the column that the first line
    starts in. A list or mapping that does not fit into one line starts with an empty line.
    """
    if isinstance(value, str):
        return [value if _is_bare(value) else quoted(value)]
    short = flow(value)
    if lead + len(short) <= WIDTH or not value or not isinstance(value, (dict, list)):
        return [short]
    pad = " " * indent
    if isinstance(value, list):
        return ["", *(pad + line for item in value for line in _item(item, indent))]
    return ["", *(pad + line for line in _members(value, indent))]


def _item(value: Any, indent: int) -> list[str]:
    """`- ` and a value, without the indentation of its first line."""
    if isinstance(value, dict) and value and (len(value) == 1 or indent + 2 + len(flow(value)) > WIDTH):
        first, *rest = _members(value, indent + 2)
        return [f"- {first}", *("  " + line for line in rest)]
    first, *rest = lines(value, 2, lead=indent + 2)
    return [f"- {first}".rstrip() if first or rest else "-", *rest]


def _members(value: dict[str, Any], indent: int) -> Iterator[str]:
    for name, item in value.items():
        head = key(name) + ":"
        first, *rest = lines(item, 2, lead=indent + len(head) + 1)
        yield f"{head} {first}".rstrip() if first else head
        yield from rest
