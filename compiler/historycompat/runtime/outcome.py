"""What a repair gives back: the history, whether it changed, and every edit with the rule behind it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from historycompat.ruleset import Fault, Record, Report
from historycompat.runtime.interpret import Run


class Outcome:
    """The result of `apply`.

    `messages` has the shape of what was given: a message list for a list, a request body for a body; it is the very
    same object when nothing changed. The record of edits is made when it is first read: read it before you edit the
    input in place. `stored` is what to save of a repair after an error: the history with the edits of rules that say
    `persist: yes` only; before a request nothing is to be saved, and it is None.
    """

    __slots__ = ("_account", "_notes", "_run", "changed", "first_edit", "format", "messages", "stored")

    def __init__(
        self,
        messages: Any,
        *,
        format: str | None = None,  # noqa: A002  (the name people know it by)
        changed: bool = False,
        first_edit: int | None = None,
        account: Callable[[], tuple[Run, list[str]]] | None = None,
        stored: Any = None,
    ) -> None:
        self.messages = messages
        self.format = format
        self.changed = changed
        self.first_edit = first_edit
        self.stored = stored
        self._account = account
        self._run: Run | None = None
        self._notes: list[str] = []

    def _told(self) -> Run:
        if self._run is None:
            self._run, self._notes = self._account() if self._account else (Run({}), [])
            self._account = None
        return self._run

    def __getstate__(self) -> object:
        """What another process gets: the account is made first, since how to make it stays here."""
        self._told()
        return super().__getstate__()

    @property
    def trace(self) -> tuple[Record, ...]:
        """Every edit in order. Pointers are those of the canonical prompt, for wire-shape rules those of the body."""
        return tuple(self._told().records)

    @property
    def reports(self) -> tuple[Report, ...]:
        """What rules found that no edit can mend."""
        return tuple(self._told().reports)

    @property
    def faults(self) -> tuple[Fault, ...]:
        """Rules that failed and were rolled back."""
        return tuple(self._told().faults)

    @property
    def notes(self) -> tuple[str, ...]:
        """Conditions that did not apply and rules that were skipped."""
        self._told()
        return tuple(self._notes)

    @property
    def rules(self) -> tuple[str, ...]:
        """The names of the rules that changed something, in order."""
        return tuple(dict.fromkeys(record.rule for record in self._told().records))

    def __repr__(self) -> str:
        what = f"changed from message {self.first_edit}" if self.changed else "unchanged"
        return f"<Outcome {self.format or 'no format'}: {what}>"
