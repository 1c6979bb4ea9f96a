"""How a client repairs, and a history → the requests of one logical call."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from historycompat import api
from historycompat.errors import HistoryError
from historycompat.runtime.outcome import Outcome
from historycompat.runtime.retry import Flow, attempts
from historycompat.session import Session

Prompt = TypeVar("Prompt")
OnRepair = Callable[[Outcome], Awaitable[None] | None]

_log = logging.getLogger("historycompat")


class Refused(Exception):
    """An answer that refuses, where a client hands answers over instead of raising. `body` is its text."""

    def __init__(self, answer: Any, status_code: int, body: str) -> None:
        super().__init__(f"HTTP status {status_code}")
        self.answer, self.status_code, self.body = answer, status_code, body


@dataclass(frozen=True, slots=True)
class Repairs:
    """What all integrations may be told.

    `model` and `format` stand for what they would find out themselves. `rules` take the place of the built-in ones.
    `session` carries one conversation's promoted rules, and brings its own rules. `on_repair` is given the outcome of
    a repair after a refusal, before the request is sent again: its `stored` is what to save. Where the client is
    asynchronous, it may be so too.
    """

    model: Any = None
    format: str | None = None
    rules: api.Rules | None = None
    session: Session | None = None
    on_repair: OnRepair | None = None

    def __post_init__(self) -> None:
        if self.session is not None and (self.rules is not None or self.format is not None):
            raise TypeError("a session has its own rules and format; give them to Session(rules, format=...)")

    def requests(
        self,
        history: Any,
        build: Callable[[Any], Prompt],
        *,
        model: Any = None,
        format: str | None = None,  # noqa: A002
        refusal: type[Exception] = Exception,
    ) -> Flow[Prompt]:
        """The flow of one logical call. `model` and `format` are what the call itself says; `build` makes what is sent
        of a history, which is the very object that was given where nothing changed. Only a `refusal` is repaired."""
        model = model if self.model is None else self.model
        format = format if self.format is None else self.format  # noqa: A001
        return attempts(
            history,
            prepare=lambda given: build(self._prepared(given, model, format)),
            repair=lambda error: self._repaired(history, error, model, format) if isinstance(error, refusal) else None,
        )

    def _prepared(self, history: Any, model: Any, format: str | None) -> Any:  # noqa: A002
        try:
            if self.session is not None:
                return self.session.prepare(history, model=model).messages
            return api.apply(history, model=model, format=format, rules=self.rules).messages
        except HistoryError as error:
            if self.format is not None:
                raise
            _log.debug("sent as it is: %s", error)
            return history

    def _repaired(self, history: Any, error: Exception, model: Any, format: str | None) -> Any:  # noqa: A002
        try:
            if self.session is not None:
                outcome = self.session.repair(history, error, model=model)
            else:
                outcome = api.repair(history, error=error, model=model, format=format, rules=self.rules)
        except HistoryError:  # the refusal tells more
            return None
        if not outcome.changed:
            return None
        told = self.on_repair(outcome) if self.on_repair else None
        return _afterwards(told, outcome.messages) if inspect.isawaitable(told) else outcome.messages


async def _afterwards(told: Awaitable[None], history: Any) -> Any:
    await told
    return history
