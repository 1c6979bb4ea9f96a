"""What the tests of the language share: a readable form of trees and complaints, and golden files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from historycompat.errors import Complaint
from historycompat.source import Fragment, Source, Span

DATA = Path(__file__).parent / "language"


def fragment(text: str) -> Fragment:
    return Fragment.whole(Source("test", text))


def golden(name: str, text: str) -> None:
    """Compares with a file of `tests/language`; UPDATE_GOLDEN=1 writes it instead."""
    path = DATA / name
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(text, encoding="utf-8", newline="\n")
    assert text == path.read_text(encoding="utf-8")


def written(node: Any) -> str:
    """A tree on one line, without spans and without what is empty."""
    if is_dataclass(node):
        shown = ((f.name, getattr(node, f.name)) for f in fields(node) if f.name not in ("span", "spans", "source"))
        given = [f"{name}={written(value)}" for name, value in shown if value not in (None, (), {})]
        return f"{type(node).__name__}({', '.join(given)})"
    if isinstance(node, tuple):
        return f"({', '.join(map(written, node))})"
    if isinstance(node, dict):
        return f"{{{', '.join(f'{key}: {written(value)}' for key, value in node.items())}}}"
    return repr(node)


def shown(complaints: Iterable[Complaint]) -> str:
    """Complaints as people see them: place, line, caret, what to do."""
    return "\n".join("\n".join(_lines(complaint)) for complaint in complaints)


def _lines(complaint: Complaint) -> Iterator[str]:
    span = complaint.span
    assert span, complaint
    place = span.place
    owner = f" [{complaint.rule}]" if complaint.rule else ""
    yield f"{place.line}:{place.column} {complaint.code}{owner} {complaint.message}"
    line = span.source.line(place.line)
    width = min(max(len(span.text), 1), max(len(line) - place.column + 1, 1))
    yield f"  {line}"
    yield f"  {line[: place.column - 1].translate(_BLANK)}{'^' * width}"
    if complaint.suggestion:
        yield f"  {complaint.suggestion}"


class _Blank(dict[int, str]):
    """Tabs stay, everything else is a space: what stands above a caret."""

    def __missing__(self, key: int) -> str:
        return "\t" if key == 9 else " "


_BLANK = _Blank()


def spans(node: Any) -> Iterator[tuple[Any, Span]]:
    """Every node of a tree that has a span."""
    if is_dataclass(node) and not isinstance(node, Span | Source):
        if isinstance(span := getattr(node, "span", None), Span):
            yield node, span
        for item in fields(node):
            yield from spans(getattr(node, item.name))
    elif isinstance(node, tuple | list):
        for item in node:
            yield from spans(item)
    elif isinstance(node, dict):
        for item in node.values():
            yield from spans(item)
