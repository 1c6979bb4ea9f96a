"""The errors people may catch, in one small tree, and complaints about rule files, which are values.

HistoryCompatError
├── RuleError            a rule file or pattern was refused; carries every complaint
├── UnknownRule          a ruleset has no rule of that name
├── HistoryError         a history cannot be read
│   ├── UnknownFormat    no known message format fits, or no format of that name exists
│   └── NotCarried       a format cannot express what a prompt holds
├── RuleFault            with errors="raise": a rule failed while it ran
└── StoreError           a store of histories refuses, or cannot be reached
    ├── UnknownStore     nothing of that name is a store
    ├── UnknownHistory   the store holds no history of that id
    ├── Conflict         the history is not at the revision that the caller saw
    └── NothingToUndo    the history has no repair that is not undone yet
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from difflib import SequenceMatcher, get_close_matches

from historycompat.source import Span


@dataclass(frozen=True, slots=True)
class Complaint:
    """One finding about a rule file: a stable code, what is wrong, where, and what to write instead.

    `fix` is a stretch and the text to write there, where that is certainly what was meant.
    """

    code: str
    message: str
    span: Span | None = None
    suggestion: str | None = None
    rule: str | None = field(default=None, compare=False)
    fix: tuple[Span, str] | None = field(default=None, compare=False, repr=False)

    @property
    def is_error(self) -> bool:
        return self.code.startswith("E")


class HistoryCompatError(Exception):
    """The root: catch this to catch everything this library raises on purpose."""


# Of one file nobody reads more at once.
MOST_SHOWN = 25


def more(total: int) -> list[str]:
    """A line about the complaints of a file that are not shown, where there are too many."""
    return [f"and {total - MOST_SHOWN:,} more"] if total > MOST_SHOWN else []


class RuleError(HistoryCompatError):
    """A rule file was refused. `complaints` holds all that is wrong with it, in file order."""

    def __init__(self, complaints: Iterable[Complaint]) -> None:
        self.complaints = tuple(complaints)
        lines = [self._line(c) for c in self.complaints[:MOST_SHOWN]]
        super().__init__("\n".join([*lines, *more(len(self.complaints))]))

    @staticmethod
    def _line(complaint: Complaint) -> str:
        place = f"{complaint.span.place}: " if complaint.span else ""
        hint = f" ({complaint.suggestion})" if complaint.suggestion else ""
        return f"{place}{complaint.code} {complaint.message}{hint}"

    def __reduce__(self) -> tuple[type[RuleError], tuple[tuple[Complaint, ...]]]:
        return type(self), (self.complaints,)


class UnknownRule(HistoryCompatError):
    """A ruleset was asked about a rule that it does not hold."""


class HistoryError(HistoryCompatError):
    """A history cannot be read, or a repaired one cannot be written."""


class UnknownFormat(HistoryError):
    """No known message format fits the history, or no format has the given name."""


class NotCarried(HistoryError):
    """The format has no way to say this. `pointer` is the JSON pointer of the place in the canonical prompt."""

    def __init__(self, message: str, pointer: str = "") -> None:
        super().__init__(message)
        self.pointer = pointer


class RuleFault(HistoryCompatError):
    """A rule failed while it ran; its edits were rolled back."""


class StoreError(HistoryCompatError):
    """A store of histories refuses, or cannot be reached."""


class UnknownStore(StoreError):
    """No store can be opened under that name: an unknown kind, a missing file, a file that is something else."""


class UnknownHistory(StoreError):
    """The store holds no history of that id."""


class Conflict(StoreError):
    """Somebody else wrote first; nothing was written. `expected` and `found` are revisions, 0 meaning none."""

    def __init__(self, history_id: str, expected: int, found: int, reason: str = "") -> None:
        self.history_id, self.expected, self.found, self.reason = history_id, expected, found, reason
        super().__init__(f'history "{history_id}" is at revision {found}, not {expected}: {reason or "load it again"}')

    def __reduce__(self) -> tuple[type[Conflict], tuple[str, int, int, str]]:
        return type(self), (self.history_id, self.expected, self.found, self.reason)


class NothingToUndo(StoreError):
    """The history has no repair that is not undone yet."""


def did_you_mean(word: str, known: Iterable[str], *, cutoff: float = 0.6) -> str | None:
    """A suggestion such as `did you mean "assistant"?`, or None when nothing is close."""
    close = get_close_matches(word, list(known), n=1, cutoff=cutoff)
    return f'did you mean "{close[0]}"?' if close else None


def respelt(span: Span | None, word: str, known: Iterable[str]) -> tuple[Span, str] | None:
    """The fix of a misspelt word: what it was surely meant to be, since nothing else is nearly as close."""
    close = get_close_matches(word, list(known), n=2, cutoff=_SURE)
    sure = span is not None and (len(close) == 1 or (len(close) == 2 and _apart(word, *close)))
    return (span, close[0]) if span and sure else None


_SURE, _APART = 0.75, 0.1


def _apart(word: str, first: str, second: str) -> bool:
    ratios = [SequenceMatcher(None, word, other).ratio() for other in (first, second)]
    return ratios[0] - ratios[1] >= _APART
