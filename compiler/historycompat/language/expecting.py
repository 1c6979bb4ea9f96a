"""A parser's refusal → a complaint in the author's words: what was expected there, and what was probably meant."""

from __future__ import annotations

import re
from collections.abc import Iterable, Set
from dataclasses import dataclass
from functools import cache

from lark import Token
from lark.exceptions import UnexpectedInput, UnexpectedToken
from lark.parsers.lalr_interactive_parser import InteractiveParser

from historycompat.errors import Complaint, did_you_mean, respelt
from historycompat.language.grammar import keywords, parser
from historycompat.language.mistakes import END, LESS_SURE, MEANT, MISTAKES, ON_WHAT, UNSURE, Mistake
from historycompat.source import Fragment, Span

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
    END: "the end",
}


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
    verbs, operators = _after("statement", ""), _after("expression", "a") - {END}
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
        message = f"the text ends too early: expected {_listed(accepted)}"
        return Complaint("E102", message, fragment.span(end, end), ON_WHAT if "_ON" in accepted else None)
    word = _WORD.match(fragment.text, position)
    end = word.end() if word else position + 1
    span = fragment.span(position, end)
    found = fragment.text[position:end]
    if guess := _guess(MISTAKES, fragment.text, position, accepted):
        message, fix = guess.message or _unexpected(found, accepted), _fix(guess, fragment, position)
        return Complaint(guess.code, message, span, guess.suggestion, fix=fix)
    words = keywords()
    fitting = [words[name] for name in words if name in accepted]
    if MEANT.get(found) in fitting:
        fix = None if found in UNSURE else (span, MEANT[found])
        return Complaint("E104", _no_word(found, accepted), span, f"write {MEANT[found]}", fix=fix)
    if found in words.values():
        return Complaint("E101", _unexpected(found, accepted), span, _misplaced(found, accepted))
    meant = did_you_mean(found.lower(), fitting) if word else None
    if meant or (word and accepted >= _after("statement", "")):
        fix = respelt(span, found.lower(), fitting)
        return Complaint("E104", _no_word(found, accepted), span, meant, fix=fix)
    guess = _guess(LESS_SURE, fragment.text, position, accepted)
    return Complaint("E101", _unexpected(found, accepted), span, guess and guess.suggestion)


def _guess(mistakes: Iterable[Mistake], text: str, position: int, accepted: Set[str]) -> Mistake | None:
    """The first of the mistakes that fits a place."""
    for mistake in mistakes:
        asked = {*mistake.accepted.split()}
        fits = asked - {"!"} == accepted if "!" in asked else asked <= accepted
        if fits and re.compile(mistake.pattern).match(text, position):
            return mistake
    return None


def _fix(mistake: Mistake, fragment: Fragment, position: int) -> tuple[Span, str] | None:
    found = re.compile(mistake.pattern).match(fragment.text, position)
    assert found
    return None if mistake.fix is None else (fragment.span(*found.span()), mistake.fix.format(found[0]))


def _misplaced(word: str, accepted: Set[str]) -> str | None:
    """What to do about a word of the language that stands inside a rule where it does not belong."""
    if accepted <= {END} and word in {keywords().get(name) for name in _after("statement", "")}:
        return 'each statement is a text of its own: "do:", and below it a line "- ..." for each'
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
        return None if token.type == END else token.start_pos
    return error.pos_in_stream


def _unexpected(found: str, accepted: Set[str]) -> str:
    shown = found if found.isprintable() else f"U+{ord(found[0]):04X}"
    return f'"{shown}" is unexpected: expected {_listed(accepted) or _NAMES[END]}'


def _no_word(found: str, accepted: Set[str]) -> str:
    return f'"{found}" is no word that fits here: expected {_listed(accepted)}'


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
