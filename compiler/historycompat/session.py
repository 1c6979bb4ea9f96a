"""A conversation over several requests: what it learned from refusals, and what each thinking was bound to."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

from historycompat import formats
from historycompat.edits import value_at, without_path
from historycompat.errors import HistoryError
from historycompat.formats.format import Format
from historycompat.repairing import Repair
from historycompat.rulesets import Ruleset
from historycompat.runtime.error_view import ErrorView
from historycompat.runtime.outcome import Outcome
from historycompat.runtime.wake import woken
from historycompat.states import SYNTHETIC_NAMESPACE
from historycompat.view import View

_VERSION = 1


class Session:
    """Repairs the history of one conversation, request after request.

    A reactive rule that an error woke runs before every later request of the conversation, so that one refusal is paid
    once. For thinking that its provider binds to what was sent before it, the session keeps a digest of that prefix:
    rules see thinking whose prefix has changed since as `:stale`. Not for concurrent requests of one conversation.

    `dump` and `load` keep a session beside its thread, as a JSON object without any message text.
    """

    def __init__(self, rules: Ruleset | None = None, *, model: Any = None, format: str | None = None) -> None:  # noqa: A002
        self.rules = Ruleset.builtin() if rules is None else rules
        self.model = model
        self.format = format
        self.promoted: tuple[str, ...] = ()
        self._bound: dict[str, str] = {}
        self._sent: str | None = None

    def prepare(self, messages: Any, *, model: Any = None) -> Outcome:
        """The history as it should be sent now; see `apply`. Call it once for each request, retries included."""
        model = self.model if model is None else model
        kind = self._kind(messages)
        repair = Repair(messages, kind, model, stale=self._is_stale)
        self._bind(repair.reading.messages)
        outcome = repair.before(self.rules.plan(model, self.promoted))
        sent = repair.reading if not outcome.changed else kind.read(outcome.messages)
        self._sent = _digest(sent.messages, sent.tools)
        return outcome

    def repair(self, messages: Any, error: object, *, model: Any = None) -> Outcome:
        """Repair after a refusal; see `historycompat.repair`. Rules that changed something are promoted."""
        model = self.model if model is None else model
        found = list(woken(self.rules.reactive(model), ErrorView.of(error)))
        if not found:
            return Outcome(messages, stored=messages)
        outcome = Repair(messages, self._kind(messages), model, stale=self._is_stale).after(found)
        if outcome.changed:
            self.promoted = tuple(dict.fromkeys((*self.promoted, *outcome.rules)))
        return outcome

    def _kind(self, messages: Any) -> Format:
        return formats.find(self.format) if self.format else formats.detect(messages).format

    def _bind(self, messages: list[Any]) -> None:
        """The first thinking that is new since the last request was written as the answer to it."""
        for message in messages:
            seals = [seal for seal in _seals(message) if seal not in self._bound]
            if seals and self._sent is not None:
                self._bound |= dict.fromkeys(seals, self._sent)
                self._sent = None

    def _is_stale(self, view: View, index: int) -> bool:
        bound = {self._bound[seal] for seal in _seals(view.messages[index]) if seal in self._bound}
        return bool(bound) and bound != {_digest(view.messages[:index], view.root.get("tools"))}

    def dump(self) -> dict[str, Any]:
        """The session as a JSON object: rule names and digests."""
        return {
            "version": _VERSION,
            "promoted": list(self.promoted),
            "bound": dict(self._bound),
            "sent": self._sent,
        }

    @classmethod
    def load(
        cls,
        dumped: dict[str, Any],
        rules: Ruleset | None = None,
        *,
        model: Any = None,
        format: str | None = None,  # noqa: A002
    ) -> Session:
        """A session as it was dumped. Raises HistoryError for an object that is none."""
        if not isinstance(dumped, dict) or dumped.get("version") != _VERSION:
            raise HistoryError("this is no session of this version of the library; start a new Session()")
        session = cls(rules, model=model, format=format)
        session.promoted = tuple(map(str, dumped.get("promoted", ())))
        session._bound = {str(seal): str(digest) for seal, digest in dumped.get("bound", {}).items()}
        session._sent = dumped.get("sent")
        return session


def _digest(messages: list[Any], tools: list[Any] | None = None) -> str:
    text = json.dumps(
        [*([[_unmarked(tool) for tool in tools]] if tools else ()), *map(_essence, messages)],
        ensure_ascii=True,
        sort_keys=True,
        separators=(",", ":"),
        default=repr,
    )
    return sha256(text.encode()).hexdigest()[:32]


def _essence(message: Any) -> Any:
    """What thinking is bound to, beside the tools: what was said and done before it. Earlier thinking, cache marks and
    notes of the host come and go without harm."""
    if not isinstance(message, dict):
        return message
    content = message.get("content")
    if isinstance(content, list):
        content = [_unmarked(part) for part in content if value_at(part, ("type",)) != "reasoning"]
    return {"role": message.get("role"), "content": content}


def _unmarked(part: Any) -> Any:
    if not isinstance(part, dict):
        return part
    for mark in (("providerOptions", "anthropic", "cacheControl"), ("providerOptions", SYNTHETIC_NAMESPACE)):
        part = without_path(part, mark, prune=True)
    return part


def _seals(message: Any) -> list[str]:
    """What tells the thinking of an assistant message from any other: digests of its signatures."""
    parts = value_at(message, ("content",)) if value_at(message, ("role",)) == "assistant" else None
    found = []
    for part in parts if isinstance(parts, list) else []:
        for key in ("signature", "redactedData"):
            seal = value_at(part, ("providerOptions", "anthropic", key))
            if isinstance(seal, str) and seal:
                found.append(_digest([seal]))
    return found
