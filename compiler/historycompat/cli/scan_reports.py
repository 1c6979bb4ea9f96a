"""What a scan finds, thread by thread → a table for people, JSON or SARIF 2.1.0, written as it comes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

from rich.table import Table
from rich.text import Text

from historycompat.cli.check_reports import SARIF, tool
from historycompat.cli.output import write_out
from historycompat.cli.screen import one_line, say, visible
from historycompat.rulesets import Ruleset

_PLACES = 3  # of one rule, in the table
_UNREADABLE = 20  # lines that cannot be read, below it
_WHY_UNREADABLE = "A line is no JSON, or holds no history in a format that is known."


@dataclass(frozen=True, slots=True)
class Finding:
    """Something about the thread that begins at a line (from 1) of a file.

    `kind` is `edit` (the rule would mend it), `report` (no rule can), `fault` (the rule failed) or `unreadable`.
    `pointer` is the first place in the canonical prompt, `times` how often.
    """

    file: str
    line: int
    rule: str
    kind: str
    message: str
    format: str | None = None
    pointer: str = ""
    column: int = 1
    times: int = 1


class Report(Protocol):
    def add(self, findings: Sequence[Finding]) -> bool:
        """Take the findings of one thread; whether anybody still reads what is made of them."""

    def end(self) -> None:
        """Write what is left."""


@dataclass(slots=True)
class _Row:
    threads: int = 0
    times: int = 0
    places: list[str] = field(default_factory=list)


class TextReport:
    """A table with a row for each rule, and the first lines that cannot be read."""

    def __init__(self, rules: Ruleset) -> None:
        self._rows: dict[tuple[str, str], _Row] = {}
        self._unread: list[Finding] = []
        self._more = 0  # that cannot be read either

    def add(self, findings: Sequence[Finding]) -> bool:
        seen: set[tuple[str, str]] = set()
        for finding in findings:
            if finding.kind == "unreadable":
                self._add_unread(finding)
                continue
            key = finding.rule, finding.kind
            row = self._rows.setdefault(key, _Row())
            row.times += finding.times
            if key not in seen:
                row.threads += 1
                row.places += [f"{finding.file}:{finding.line}"] if len(row.places) < _PLACES else []
            seen.add(key)
        return True

    def _add_unread(self, finding: Finding) -> None:
        if len(self._unread) < _UNREADABLE:
            self._unread.append(finding)
        else:
            self._more += 1

    def end(self) -> None:
        if self._rows:
            say(self._table(), "", stderr=False)
        for finding in self._unread:
            place = f"{finding.file}:{finding.line}:{finding.column}: "
            say(Text.assemble((visible(place), "magenta"), visible(finding.message)), stderr=False, wrap=False)
        if self._more:
            say(Text(f"… and {self._more:,} more, which --output-format json shows", "dim"), stderr=False)

    def _table(self) -> Table:
        table = Table(box=None, header_style="dim", pad_edge=False, padding=(0, 2, 0, 0))
        table.add_column("rule", style="bold cyan", overflow="fold")
        table.add_column("threads", justify="right")
        table.add_column("places", justify="right")
        table.add_column("first seen in", overflow="fold")
        for (rule, kind), row in sorted(self._rows.items(), key=lambda entry: (-entry[1].threads, entry[0])):
            name = rule if kind == "edit" else f"{rule} ({kind})"
            more = f" and {row.threads - _PLACES:,} more" if row.threads > _PLACES else ""
            table.add_row(name, f"{row.threads:,}", f"{row.times:,}", visible(", ".join(row.places)) + more)
        return table


class JsonReport:
    """A list with an object for each finding, one a line."""

    def __init__(self, rules: Ruleset) -> None:
        self._list = _List("[", "]\n")

    def add(self, findings: Sequence[Finding]) -> bool:
        return all(self._list.add(asdict(finding)) for finding in findings)

    def end(self) -> None:
        self._list.end()


class SarifReport:
    """One run with a result for each finding. The rules that they refer to are known, and come, at its end."""

    def __init__(self, rules: Ruleset) -> None:
        self._rules = rules
        self._met: dict[str, int] = {}
        self._list = _List(f'{{"$schema": {json.dumps(SARIF)}, "version": "2.1.0", "runs": [{{"results": [', "]")

    def add(self, findings: Sequence[Finding]) -> bool:
        return all(self._list.add(self._result(finding)) for finding in findings)

    def end(self) -> None:
        rest = {"columnKind": "unicodeCodePoints", "tool": tool([self._rule(name) for name in self._met])}
        self._list.end()
        write_out(f", {json.dumps(rest, ensure_ascii=False)[1:-1]}}}]}}\n".encode("utf-8", "backslashreplace"))

    def _result(self, finding: Finding) -> dict[str, Any]:
        index = self._met.setdefault(finding.rule, len(self._met))
        region = {"startLine": finding.line, "startColumn": finding.column}
        place = {"artifactLocation": {"uri": finding.file}, "region": region}
        at = f" (first at {finding.pointer})" if finding.pointer else ""
        return {
            "ruleId": finding.rule,
            "ruleIndex": index,
            "level": "warning" if finding.kind == "edit" else "error",
            "message": {"text": f"{finding.message}{at}"},
            "locations": [{"physicalLocation": place}],
            "properties": {"kind": finding.kind, "format": finding.format},
        }

    def _rule(self, name: str) -> dict[str, Any]:
        why = _WHY_UNREADABLE if name == "unreadable" else one_line(self._rules[name].meaning.because)
        return {"id": name, "fullDescription": {"text": why or name}}


class _List:
    """A JSON list that is written item by item."""

    def __init__(self, opening: str, closing: str) -> None:
        self._closing = closing
        self._lead = f"{opening}\n"
        self._empty = True

    def add(self, item: dict[str, Any]) -> bool:
        text = f"{self._lead}{json.dumps(item, ensure_ascii=False)}"
        self._lead, self._empty = ",\n", False
        return write_out(text.encode("utf-8", "backslashreplace"))

    def end(self) -> None:
        lead = self._lead.removesuffix("\n") if self._empty else "\n"
        write_out(f"{lead}{self._closing}".encode())
