"""A parser's refusal → a complaint in the author's words: what was expected there, and what was probably meant."""

from __future__ import annotations

import re
from collections.abc import Iterable, Set
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from lark import Token
from lark.exceptions import UnexpectedInput, UnexpectedToken
from lark.parsers.lalr_interactive_parser import InteractiveParser

from historycompat.errors import Complaint, did_you_mean, respelt
from historycompat.language.grammar import keywords, parser
from historycompat.source import Fragment

_END = "$END"
_NAMES = {
    "DQ": "text in double quotes",
    "REGEX": "a regular expression such as /^[a-z]+$/",
    "UINT": "a whole number",
    "INT": "a whole number",
    "NAME": "a name",
    "RULENAME": "a name such as drop-empty-text",
    "MODEL": "a model pattern such as anthropic/claude",
    "VERSION": "a version such as 4.6",
    "VERSION_TEST": "a bound such as >= 4.6",
    "TYPE": "a part type such as text",
    "STATES": "a state such as :orphan",
    "MESSAGES": "roles or states such as user|assistant or :empty",
    "STAR": '"*"',
    "COMPARE": "a comparison such as ==",
    "DOT": '"."',
    "COMMA": '","',
    "COLON": '":"',
    "VBAR": '"|"',
    "AMPERSAND": '"&"',
    "LPAR": '"("',
    "RPAR": '")"',
    "LSQB": '"["',
    "RSQB": '"]"',
    "LBRACE": '"{"',
    "RBRACE": '"}"',
    "_AND": '"&&"',
    "_OR": '"||"',
    "_FILTER": '"[?"',
    "FLATTEN": '"[]"',
    "EACH": '"[*]"',
    _END: "the end",
}


_WHERE_BELONGS = "`where` stands directly behind its target: convert user/file where .. into text {..}"


class _Mistake(NamedTuple):
    """What authors write at a place where the parser would take `accepted` (the empty string: at any place)."""

    pattern: str
    accepted: str
    suggestion: str
    code: str = "E101"
    message: str = ""


_MISTAKES = (
    _Mistake('"', "DQ", 'text in double quotes ends with " in the same line', "E102", "this quote is never closed"),
    _Mistake("'", "RAW", "a string in single quotes ends with '", "E102", "this quote is never closed"),
    _Mistake("`", "LITERAL", "a JSON value ends with a backtick", "E102", "this backtick is never closed"),
    _Mistake("/", "REGEX", r"write /.../ in one line, and \/ for a / inside", "E102", "this / is never closed"),
    _Mistake(r"(?<=/)\S", "REPLACING", r"a / inside a regular expression is written \/"),
    _Mistake(r"(?<=/)\S", "_WITH", r"a / inside a regular expression is written \/"),
    _Mistake("=(?!=)", "COMPARE", "equality is written =="),
    _Mistake(r"and\b", "_AND", "write && for and"),
    _Mistake(r"or\b", "_OR", "write || for or"),
    _Mistake(r"is\b", "COMPARE", "equality is written =="),
    _Mistake(r"in\b", "COMPARE", "write contains(list, value)"),
    _Mistake(r"-?\d", "LITERAL", "a number in an expression stands in backticks: `5`"),
    _Mistake("'", "DQ", "this text stands in double quotes"),
    _Mistake("[\"']", "REGEX", "a regular expression is written /.../"),
    _Mistake("[\u2018\u2019\u201c\u201d]", "", "quotes are straight: ' or \""),
    _Mistake("[\u00a0\u2000-\u200b\u202f\u3000\ufeff]", "", "this is not a plain space: delete it or write one"),
    _Mistake("-", "DOT", 'a field with other characters than letters, digits and _ is quoted: "cache-control"'),
    _Mistake(r"(text|reasoning|file|image|tool-(call|result))\b", "PARTS", "parts are named by role and type: */text"),
    _Mistake(r"where\b", _END, _WHERE_BELONGS),
    _Mistake(r"where\b", "RBRACE", _WHERE_BELONGS),
    _Mistake(r"\|", "_WHERE", "roles are joined without spaces: user|assistant"),
)

_WORD = re.compile(r"[^\W\d][\w-]*|\d+")


@dataclass(frozen=True, slots=True)
class _Group:
    """Terminals that go by one name together, where all of `sign` is accepted."""

    name: str
    members: frozenset[str]
    sign: frozenset[str]


@cache
def _groups() -> tuple[_Group, ...]:
    """The groups, read off the grammar: what the parser takes after some text."""
    verbs, operators = _after("statement", ""), _after("expression", "a") - {_END}
    named = {
        "a clause such as models or on_error": _after("rules", "rule x {") - verbs - {"RBRACE"},
        "a verb such as drop, set or insert": verbs,
        "a target such as assistant/text, message, call, result, prompt or path": _after("statement", "drop"),
        "an expression such as role == 'user'": _after("expression", ""),
        "a field name": _after("statement", "set"),
    }
    groups = [_Group(name, members, members) for name, members in named.items()]
    return (*groups, _Group("an operator such as == or &&", operators, frozenset({"_OR"})))


def _after(start: str, text: str) -> frozenset[str]:
    state = parser().parse_interactive(text, start)
    state.exhaust_lexer()
    return _accepts(state)


def _accepts(state: InteractiveParser) -> frozenset[str]:
    return frozenset(state.accepts())  # type: ignore[no-untyped-call]


def complaint(error: UnexpectedInput, fragment: Fragment) -> Complaint:
    """What is wrong where the parser stopped, what it would have taken, and what was probably meant."""
    accepted = _accepts(error.interactive_parser)
    position = _position(error)
    if position is None:
        end = len(fragment.text.rstrip())
        return Complaint("E102", f"the text ends too early: expected {_listed(accepted)}", fragment.span(end, end))
    word = _WORD.match(fragment.text, position)
    end = word.end() if word else position + 1
    span = fragment.span(position, end)
    found = fragment.text[position:end]
    for mistake in _MISTAKES:
        fits = mistake.accepted in accepted or not mistake.accepted
        if fits and re.compile(mistake.pattern).match(fragment.text, position):
            message = mistake.message or _unexpected(found, accepted)
            return Complaint(mistake.code, message, span, mistake.suggestion)
    words = keywords()
    if found in words.values():
        return Complaint("E101", _unexpected(found, accepted), span, _misplaced(found, accepted))
    fitting = [words[name] for name in words if name in accepted]
    meant = did_you_mean(found.lower(), fitting) if word else None
    if meant or (word and accepted >= _after("statement", "")):
        message = f'"{found}" is no word that fits here: expected {_listed(accepted)}'
        return Complaint("E104", message, span, meant, fix=respelt(span, found.lower(), fitting))
    return Complaint("E101", _unexpected(found, accepted), span)


def _misplaced(word: str, accepted: Set[str]) -> str | None:
    """What to do about a word of the language that stands inside a rule where it does not belong."""
    if "RBRACE" not in accepted:
        return None
    if word == "rule":
        return 'close the rule before it with "}"'
    clauses = _groups()[0].members
    return "clauses stand before the first statement" if word in {keywords().get(name) for name in clauses} else None


def _position(error: UnexpectedInput) -> int | None:
    """The offset where the parser stopped; None at the end of the text."""
    if isinstance(error, UnexpectedToken):
        token: Token = error.token
        return None if token.type == _END else token.start_pos
    return error.pos_in_stream


def _unexpected(found: str, accepted: Set[str]) -> str:
    shown = found if found.isprintable() else f"U+{ord(found[0]):04X}"
    return f'"{shown}" is unexpected: expected {_listed(accepted)}'


def _listed(accepted: Iterable[str]) -> str:
    """`a target such as ..., "where" or the end`."""
    left, parts = set(accepted), []
    for group in _groups():
        if group.sign <= left:
            parts.append(group.name)
            left -= group.members
    words = keywords()
    parts += [f'"{words[name]}"' for name in words if name in left]
    parts += [text for name, text in _NAMES.items() if name in left]
    return " or ".join(filter(None, (", ".join(parts[:-1]), *parts[-1:])))
