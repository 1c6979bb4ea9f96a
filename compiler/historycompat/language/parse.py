"""Rule text → tree, or every complaint about it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

from lark import ParseTree
from lark.exceptions import UnexpectedInput

from historycompat import tree
from historycompat.errors import Complaint, RuleError
from historycompat.language import assemble, expecting
from historycompat.language.build import Builder, Header
from historycompat.language.grammar import parser
from historycompat.source import Fragment, Source, Span

SYNTAX_CODES = {
    "E101": "Something else was expected here.",
    "E102": "The text ends before it is complete, or nothing is written.",
    "E103": "A clause, an option or a flag is given twice.",
    "E104": "A word that the language does not know stands where a verb or keyword was expected.",
    "E105": "A required field or clause is missing.",
    "E106": "A value of the wrong kind: an escape, a number, a flag, or a YAML value of another type.",
    "E107": "A YAML field that no rule or pack has.",
    "E108": "The file is written in a version of the rule language that this compiler does not know.",
    "E109": "Two rules of one file have the same name.",
    "E110": "YAML ate the rule text: it read a mapping, list, tag, alias or comment where text was meant.",
    "E111": "A folded scalar where places would be lost, or a key that is given twice.",
    "E112": "The file cannot be read: it is not text, or not YAML.",
    "E113": "Something nests deeper than any rule needs.",
}

_RULE = re.compile(r"^[ \t]*(?=rule(?![\w-]))", re.MULTILINE)
_NAMED = re.compile(r"rule\s+([\w-]+)")


def statement(fragment: Fragment) -> tree.Statement:
    """One statement. Raises RuleError."""
    parsed: tree.Statement = parse(fragment, "statement")
    return parsed


def expression(fragment: Fragment) -> tree.Expr:
    """A JMESPath expression, with `$variables`. Raises RuleError."""
    parsed: tree.Expr = parse(fragment, "expression")
    return parsed


def model(fragment: Fragment) -> tree.ModelPattern:
    """One model pattern with its bounds. Raises RuleError."""
    parsed: tree.ModelPattern = parse(fragment, "model")
    return parsed


def error_pattern(fragment: Fragment) -> tree.ErrorPattern:
    """`[status[|status]] /regex/flags`. Raises RuleError."""
    parsed: tree.ErrorPattern = parse(fragment, "error_pattern")
    return parsed


def rules_file(source: Source) -> tree.Pack:
    """A whole `.rules` text. Raises RuleError with the complaints of every rule."""
    pack, complaints = read_rules(source)
    if complaints:
        raise RuleError(complaints)
    return pack


def parse(fragment: Fragment, start: str) -> Any:
    """What a fragment means as one of `grammar.STARTS`. Raises RuleError."""
    try:
        written = parser().parse(fragment.text, start)
    except UnexpectedInput as error:
        raise RuleError([expecting.complaint(error, fragment)]) from None
    builder = Builder(fragment)
    meant = builder.transform(written)
    if builder.complaints:
        raise RuleError(builder.complaints)
    return meant


def read_rules(source: Source) -> tuple[tree.Pack, list[Complaint]]:
    """The rules of a `.rules` text that are right, and every complaint: after a mistake it goes on at the next rule."""
    header: Header | None = None
    rules: list[tree.Rule] = []
    complaints: list[Complaint] = []
    for fragment, written in _stretches(source, complaints):
        builder = Builder(fragment)
        stretch = builder.transform(written)
        header = header or stretch.header
        rules += stretch.rules
        complaints += builder.complaints
    if not rules and not complaints:
        hint = "write rule name { .. }, with a statement such as drop assistant/reasoning"
        complaints.append(Complaint("E105", "this file holds no rules", Span(source, 0, 0), hint))
    name, language = (header.name, header.language) if header else (None, None)
    return assemble.pack(source, name, language, rules, complaints), complaints


def _stretches(source: Source, complaints: list[Complaint]) -> Iterator[tuple[Fragment, ParseTree]]:
    """The stretches of a rule file that parse. What is wrong between them goes to `complaints`, once a rule."""
    text, starts = source.text, [match.end() for match in _RULE.finditer(source.text)]
    begin, symbol = int(text.startswith("\ufeff")), "file"
    while True:
        rest = Fragment(source, text[begin:], ((0, begin),))
        try:
            yield rest, parser().parse(rest.text, symbol)
            return
        except UnexpectedInput as error:
            problem = expecting.complaint(error, rest)
        at = problem.span.start if problem.span else begin
        faulty = max((start for start in starts if begin <= start < at), default=begin)
        named = _NAMED.match(text, faulty)
        for end in (at, faulty):  # the mistake stands behind the last rule, or else in it
            good = Fragment(source, text[begin:end], ((0, begin),))
            with suppress(UnexpectedInput):
                yield good, parser().parse(good.text, symbol)
                named = named if end == faulty else None
                break
        complaints.append(replace(problem, rule=named[1] if named else None))
        begin, symbol = min((start for start in starts if start >= max(at, begin + 1)), default=-1), "rules"
        if begin < 0:
            return
