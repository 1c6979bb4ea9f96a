"""What YAML refuses → a complaint in the author's words: mostly rule text that should have been quoted."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ruamel.yaml.error import MarkedYAMLError

from historycompat.errors import Complaint
from historycompat.source import Source, Span

QUOTE = 'put the text in quotes, or in the next line below "|-"'
WRITTEN_OUT = f"{QUOTE}; if an alias is meant, write out what it stands for"
_INSIDE = 'a quote inside quotes is written twice; or put the text, bare, in the next line below "|-"'
_INDENTATION = "check the indentation"

_VALUE = re.compile(r"[ ]*(?:- +)*(?:\w+:[ ]+)?(?P<value>\S[^\r\n]*)")
_SIGILS = frozenset("!*&@%`[{|>'\"")
_KEY = re.compile(r"(?P<lead>[ ]*(?:- +)?)(?P<key>[\w-]+):(?:[ ]|$)", re.MULTILINE)
_REST = re.compile(r"\S(?:[^\r\n]*[^\s])?")
_ALIAS = re.compile(r"[&*][\w-]+")
_COMMENT = re.compile(r"[ \t](#[^\r\n]*)\s*$")

# The scanner's words, ours, and what to do.
_WORDS = (
    ("'\\t'", "a tab stands where YAML wants spaces", "indent with spaces"),
    ("unexpected end of stream", "this quote is never closed", None),
    (
        "escape",
        "this is no escape of a YAML text in double quotes",
        "backslashes stand for themselves in single quotes",
    ),
    ("could not find expected ':'", "a key and a colon were expected here", _INDENTATION),
    ("mapping values are not allowed", "a key does not belong here", _INDENTATION),
    ("expected <block end>", "this does not belong to what stands above it", _INDENTATION),
    ("expected ',' or", "this bracket is never closed", "close it, with a comma between each two inside"),
)


@dataclass(frozen=True, slots=True)
class Mistake:
    """A complaint, and the stretch that can be overwritten with `filler` to read on, if there is one."""

    complaint: Complaint
    stretch: Span | None = None
    filler: str = "x"


def in_quotes(source: Source, start: int) -> tuple[Span, str] | None:
    """The fix of rule text that YAML took for something else: all of it up to the end of its line, in quotes. None for
    an alias that may be meant as one."""
    found = _REST.match(source.text, start)
    if not found or _ALIAS.fullmatch(found[0]):
        return None
    text = found[0][1:-1] if len(found[0]) > 1 and found[0][0] == found[0][-1] in "'\"" else found[0]
    return Span(source, start, found.end()), "'" + text.replace("'", "''") + "'"


def explain(error: MarkedYAMLError, source: Source) -> Mistake:
    mark = error.problem_mark or error.context_mark
    at = min(mark.index if mark else 0, len(source.text))
    problem = error.problem or "cannot be read"
    value = _VALUE.match(source.text, source.text.rfind("\n", 0, at) + 1)
    stretch = _span(source, value) if value else None
    if "end of stream" in problem and error.context_mark:
        at, stretch = error.context_mark.index, None
    elif "escape" not in problem and stretch and (mistake := _swallowed(problem, at, stretch)):
        return mistake
    if "expected ',' or" in problem and error.context_mark:
        at = error.context_mark.index
    span = Span(source, at, at + 1 if source.text[at : at + 1].strip() else at)
    for words, ours, suggestion in _WORDS:
        if words in problem:
            hint = (_columns(source, at) or suggestion) if suggestion == _INDENTATION else suggestion
            complaint = Complaint("E112", ours, span, hint)
            return Mistake(complaint, stretch if words == "escape" else None)
    return Mistake(Complaint("E112", f"YAML cannot read this: {problem}", span))


def _swallowed(problem: str, at: int, value: Span) -> Mistake | None:
    """Rule text that YAML took for something of its own: the value in the line of the problem, or the line above."""
    text = value.source.text
    if text[value.start] in _SIGILS and value.start <= at:
        message = f"YAML gives {text[value.start]} at the start of a text a meaning of its own"
        hint = _INSIDE if text[value.start] in "'\"" else QUOTE
        return Mistake(Complaint("E110", message, value, hint, fix=in_quotes(value.source, value.start)), value)
    if value.start < at and (problem.startswith("mapping values") or ": " in text[value.start : at]):
        message = 'YAML reads a mapping here, because of the ": " in the text'
        return Mistake(Complaint("E110", message, value, QUOTE, fix=in_quotes(value.source, value.start)), value)
    line = text.rfind("\n", 0, value.start) + 1
    above = text.rfind("\n", 0, max(line - 1, 0)) + 1
    comment = _COMMENT.search(text, above, line)
    if comment and not text[above:line].lstrip().startswith("#"):
        message = f'YAML cut the text off at "{comment[1].strip()}" above: this line belongs to nothing'
        return Mistake(Complaint("E110", message, value, QUOTE), value, " ")
    return None


def _columns(source: Source, at: int) -> str | None:
    """Where the key in a line should stand: below the key in the line above."""
    line = source.text.rfind("\n", 0, at) + 1
    if source.text.startswith("- ", line):
        return 'the list of rules stands below the line "rules:"'
    above = [found for found in _KEY.finditer(source.text, 0, line) if source.text[: found.start()][-1:] in ("", "\n")]
    key = _KEY.match(source.text, line)
    if not (key and above) or len(key["lead"]) == len(above[-1]["lead"]):
        return None
    return f'put "{key["key"]}" in column {len(above[-1]["lead"]) + 1}, as "{above[-1]["key"]}" above'


def _span(source: Source, found: re.Match[str]) -> Span:
    return Span(source, found.start("value"), found.start("value") + len(found["value"].rstrip()))
