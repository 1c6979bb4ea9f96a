"""Complaints → JSON, the annotations of GitHub, and SARIF 2.1.0."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from historycompat import __version__
from historycompat.cli.output import to_json
from historycompat.codes import CODES
from historycompat.errors import Complaint
from historycompat.source import Span

SARIF = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

# What a GitHub workflow command must not hold as it is.
_PERCENT = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_PERCENT_PROPERTY = {**_PERCENT, ":": "%3A", ",": "%2C"}


def as_json(found: Sequence[tuple[str, Complaint]]) -> bytes:
    """A list of objects with code, message, file, places and suggestion."""
    return to_json([_object(file, complaint) for file, complaint in found])


def _object(file: str, complaint: Complaint) -> dict[str, Any]:
    return {
        "code": complaint.code,
        "severity": "error" if complaint.is_error else "warning",
        "message": complaint.message,
        "file": file,
        "rule": complaint.rule,
        **(_ends(complaint.span) if complaint.span else {"start": None, "end": None}),
        "suggestion": complaint.suggestion,
        "fix": {**_ends(complaint.fix[0]), "text": complaint.fix[1]} if complaint.fix else None,
    }


def _ends(span: Span) -> dict[str, dict[str, int]]:
    return {"start": _place(span, span.start), "end": _place(span, span.end)}


def _place(span: Span, offset: int) -> dict[str, int]:
    place = span.source.place(offset)
    return {"line": place.line, "column": place.column}


def as_github(found: Sequence[tuple[str, Complaint]]) -> bytes:
    """A workflow command for each complaint, which GitHub shows beside the line."""
    return "".join(f"{_command(file, complaint)}\n" for file, complaint in found).encode("utf-8", "backslashreplace")


def _command(file: str, complaint: Complaint) -> str:
    level = "error" if complaint.is_error else "warning"
    properties = {"file": file, "title": f"historycompat {complaint.code}"}
    if complaint.span:
        start = _place(complaint.span, complaint.span.start)
        properties |= {"line": str(start["line"]), "col": str(start["column"])}
    row = ",".join(f"{key}={_escaped(value, _PERCENT_PROPERTY)}" for key, value in properties.items())
    hint = f"\n{complaint.suggestion}" if complaint.suggestion else ""
    return f"::{level} {row}::{_escaped(f'{complaint.code} {complaint.message}{hint}', _PERCENT)}"


def _escaped(text: str, table: dict[str, str]) -> str:
    return "".join(table.get(char, char) for char in text)


def as_sarif(found: Sequence[tuple[str, Complaint]]) -> bytes:
    """One run with a result for each complaint, and the codes as its rules."""
    codes = sorted({complaint.code for _, complaint in found})
    rules = [
        {"id": code, "shortDescription": {"text": CODES[code].title}, "fullDescription": {"text": CODES[code].why}}
        for code in codes
    ]
    results = [_result(file, complaint, codes) for file, complaint in found]
    run = {"tool": tool(rules), "columnKind": "unicodeCodePoints", "results": results}
    return to_json({"$schema": SARIF, "version": "2.1.0", "runs": [run]})


def tool(rules: list[dict[str, Any]]) -> dict[str, Any]:
    """What SARIF calls the tool: this program, and the rules that its results refer to."""
    return {"driver": {"name": "historycompat", "version": __version__, "rules": rules}}


def _result(file: str, complaint: Complaint, codes: list[str]) -> dict[str, Any]:
    place: dict[str, Any] = {"artifactLocation": {"uri": file}}
    if complaint.span:
        place["region"] = _region(complaint.span)
    hint = f" ({complaint.suggestion})" if complaint.suggestion else ""
    made: dict[str, Any] = {
        "ruleId": complaint.code,
        "ruleIndex": codes.index(complaint.code),
        "level": "error" if complaint.is_error else "warning",
        "message": {"text": complaint.message + hint},
        "locations": [{"physicalLocation": place}],
    }
    if complaint.fix:
        span, text = complaint.fix
        change = {"deletedRegion": _region(span), "insertedContent": {"text": text}}
        artifact = {"artifactLocation": {"uri": file}, "replacements": [change]}
        made["fixes"] = [{"artifactChanges": [artifact]}]
    return made


def _region(span: Span) -> dict[str, int]:
    first, last = _place(span, span.start), _place(span, span.end)
    return {
        "startLine": first["line"],
        "startColumn": first["column"],
        "endLine": last["line"],
        "endColumn": last["column"],
    }
