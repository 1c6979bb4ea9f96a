"""YAML nodes → plain JSON values, by the core schema of YAML 1.2."""

from __future__ import annotations

import re
from typing import Any

from historycompat.errors import Complaint
from historycompat.language.nodes import Node

_WORDS: dict[str, Any] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_INTEGER = re.compile(r"[-+]?[0-9]{1,300}")
_OCTAL = re.compile(r"0o[0-7]{1,300}")
_HEXADECIMAL = re.compile(r"0x[0-9a-fA-F]{1,300}")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NOT_JSON = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")


def value(node: Node, complaints: list[Complaint]) -> Any:
    """The value of a node: keys as written, mappings as dict, lists as list."""
    match node.kind:
        case "mapping":
            return {key.text: value(item, complaints) for key, item in node.pairs()}
        case "list":
            return [value(item, complaints) for item in node.items]
    if node.style:
        return _PAIR.sub(lambda pair: pair[0].encode("utf-16", "surrogatepass").decode("utf-16"), node.text)
    return _plain(node, complaints)


def means_text(text: str) -> bool:
    """Whether a plain scalar is a string, and neither a number nor one of YAML's words."""
    patterns = (_INTEGER, _OCTAL, _HEXADECIMAL, _FLOAT, _NOT_JSON)
    return text not in _WORDS and not any(pattern.fullmatch(text) for pattern in patterns)


def _plain(node: Node, complaints: list[Complaint]) -> Any:
    text = node.text
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    if _OCTAL.fullmatch(text) or _HEXADECIMAL.fullmatch(text):
        return int(text, 0)
    if _FLOAT.fullmatch(text) and abs(number := float(text)) != float("inf"):
        return number
    if _NOT_JSON.fullmatch(text):
        complaints.append(Complaint("E106", f"JSON has no {text}", node.span, "put it in quotes if text is meant"))
    return text
