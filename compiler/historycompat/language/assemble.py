"""Clauses → rules and packs, the same on both surfaces."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any

from historycompat.errors import Complaint
from historycompat.source import Source, Span
from historycompat.tree import Allowance, Number, Pack, Rule, Statement, Text, Word

LANGUAGE = 1

# Control characters, the line separators that editors do not count, halves of characters, and non-characters.
_NOT_TEXT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]")
_COMMENT = re.compile(r"[ \t]*#[ \t]*(.*?)[ \t]*$")
_ALLOW = re.compile(r"allow\b:?")
_ALLOWED = re.compile(r"allow:[ \t]*([EW]\d{3})\b[ \t]*(.*)")


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause or YAML field of a rule: `value` as the grammar gives it, and where that value stands."""

    name: str
    value: Any
    span: Span


def rule(
    name: Word,
    clauses: Mapping[str, Clause],
    do: Iterable[Statement],
    span: Span,
    *,
    tests: Mapping[str, tuple[dict[str, Any], Span]] | None = None,
) -> Rule:
    """A rule from its clauses; `tests` are cases and their spans by the name the span goes by."""
    statements, cases = tuple(do), tests or {}
    spans = {"name": name.span, **{key: clause.span for key, clause in clauses.items()}}
    spans |= {f"do[{i}]": statement.span for i, statement in enumerate(statements) if statement.span}
    spans |= {key: place for key, (_, place) in cases.items()}
    values = {key: _plain(key, clause.value) for key, clause in clauses.items()}
    values["tests"] = tuple(case for case, _ in cases.values())
    return Rule(name.text, statements, span=span, spans=spans, **values)


def _plain(clause: str, value: Any) -> Any:
    """The value that `tree.Rule` holds: strings for words and texts."""
    match value:
        case Word(text=text):
            return text in ("yes", "true") if clause == "persist" else text
        case Text(value=text):
            return text
        case tuple():
            return tuple(_plain(clause, item) for item in value)
    return value


def pack(
    source: Source, name: Word | None, language: Number | None, rules: Iterable[Rule], complaints: list[Complaint]
) -> Pack:
    """A pack of the rules that are right, with their allowances. A pack without a name has its file's."""
    if language and language.value != LANGUAGE:
        message = f"this is language {language.value}; this compiler knows language {LANGUAGE}"
        complaints.append(Complaint("E108", message, language.span))
    complete = tuple(_with_allowances(rule, source, complaints) for rule in rules)
    complaints.extend(_taken_names(complete))
    complaints.sort(key=position)
    return Pack(name.text if name else PurePath(source.name).stem, LANGUAGE, complete, source)


def position(complaint: Complaint) -> int:
    """The key that puts complaints in file order."""
    return complaint.span.start if complaint.span else 0


def unreadable(source: Source) -> Iterator[Complaint]:
    """A complaint about the first character that no text file holds, if there is one."""
    if found := _NOT_TEXT.search(source.text):
        message = f"U+{ord(found[0]):04X} is no character of a rule file"
        yield Complaint("E112", message, Span(source, found.start(), found.end()), "save the file as UTF-8 text")


def _taken_names(rules: Iterable[Rule]) -> Iterator[Complaint]:
    first: dict[str, Rule] = {}
    for rule in rules:
        other = first.setdefault(rule.name, rule)
        if other is not rule:
            message = f"a rule named {rule.name} stands in line {other.spans['name'].place.line} already"
            yield Complaint("E109", message, rule.spans["name"], "give it another name", rule.name)


def _with_allowances(rule: Rule, source: Source, complaints: list[Complaint]) -> Rule:
    """The rule with what `# allow: W603 reason` in the comments directly above it allows."""
    found = []
    for start, comment in _comments_above(source.text, rule.span.start if rule.span else 0):
        span = Span(source, start, start + len(comment))
        if allowed := _ALLOWED.match(comment):
            found.append(Allowance(allowed[1], allowed[2], span))
        elif _ALLOW.match(comment):
            message, hint = "this allows nothing: expected a code", "write # allow: W603 reason"
            complaints.append(Complaint("E101", message, span, hint, rule.name))
    return replace(rule, allowances=tuple(reversed(found))) if found else rule


def _comments_above(text: str, offset: int) -> Iterator[tuple[int, str]]:
    """The comments in the lines directly above an offset, upwards: where their words start, and the words."""
    line = text.rfind("\n", 0, offset) + 1
    while line:
        above = text.rfind("\n", 0, line - 1) + 1
        comment = _COMMENT.match(text[above : line - 1].rstrip("\r"))
        if not comment:
            return
        yield above + comment.start(1), comment[1]
        line = above
