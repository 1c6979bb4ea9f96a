"""ProviderHistoryCompat: both phases of history repair, as a processor that agents call."""

from __future__ import annotations

from collections.abc import Iterable, MutableMapping, MutableSequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from historycompat import api, formats
from historycompat.code_rules import CompatRule
from historycompat.errors import UnknownFormat
from historycompat.ruleset import Fault, Record, Rule
from historycompat.rulesets import Ruleset
from historycompat.runtime.outcome import Outcome
from historycompat.stamps import origins

PROMPT_FORMAT = "aisdk-v2"

# What a conversation must remember between requests: names of rules, under this key of the processor's state.
PROMOTED = "promoted"

AnyRule = str | Path | Rule | Ruleset | CompatRule
State = MutableMapping[str, Any]


class _Accounted:
    """What both results tell of the rules behind them."""

    __slots__ = ()
    outcome: Outcome

    @property
    def rules(self) -> tuple[str, ...]:
        return self.outcome.rules

    @property
    def trace(self) -> tuple[Record, ...]:
        return self.outcome.trace

    @property
    def faults(self) -> tuple[Fault, ...]:
        return self.outcome.faults

    @property
    def first_edit(self) -> int | None:
        return self.outcome.first_edit


@dataclass(frozen=True, slots=True)
class PromptResult(_Accounted):
    """A prompt that rules changed: what to send instead, and the account of it."""

    prompt: list[Any]
    outcome: Outcome = field(repr=False)


@dataclass(frozen=True, slots=True)
class ErrorResult(_Accounted):
    """Stored messages were repaired after an error: send again. `changed` holds the rows to save, new ones included."""

    outcome: Outcome = field(repr=False)
    changed: tuple[Any, ...] = ()
    retry: bool = True

    @property
    def rule(self) -> str:
        """The first rule that changed something; `rules` names all."""
        return self.rules[0]


class ProviderHistoryCompat:
    """Keeps a history acceptable to whatever model reads it next.

    Before each request every rule for the model rewrites the outgoing prompt; stored messages are not touched. After
    an API error the rules whose pattern matches repair the stored messages, and the request is sent once more.
    `additional_rules` run behind the built-in ones: paths of rule files, compiled rules and rulesets, CompatRules.
    `rules` takes the place of the built-in ones. One instance serves any number of conversations at once: what one of
    them must remember is kept in the `state` that its caller passes.
    """

    id = "provider-history-compat"
    name = "Provider History Compat"

    def __init__(self, *, additional_rules: Iterable[AnyRule] = (), rules: Ruleset | None = None) -> None:
        if isinstance(additional_rules, str | Path):
            raise TypeError(f"additional_rules takes a list of rules and rule files: [{str(additional_rules)!r}]")
        if rules is not None and not isinstance(rules, Ruleset):
            raise TypeError(f"rules takes a Ruleset, not {rules!r}; see load_rules")
        self._before = self._after = Ruleset.builtin() if rules is None else rules
        for rule in additional_rules:
            self._before = self._before.extend(*_for_phase(rule, "before"))
            self._after = self._after.extend(*_for_phase(rule, "after"))

    def process_llm_request(
        self,
        *,
        prompt: list[Any],
        model: Any,
        message_list: Iterable[Any] | None = None,
        state: State | None = None,
    ) -> PromptResult | None:
        """Rewrite an outgoing prompt (canonical messages). None when nothing changed.

        `message_list` holds the stored rows, for rules that need to know who wrote a message.
        """
        outcome = api.apply(
            prompt,
            model=model,
            format=PROMPT_FORMAT,
            rules=self._before,
            origin=None if message_list is None else origins(message_list),
            promoted=(state or {}).get(PROMOTED, ()),
        )
        return PromptResult(outcome.messages, outcome) if outcome.changed else None

    async def process_api_error(
        self,
        *,
        error: object,
        message_list: MutableSequence[Any],
        retry_count: int = 0,
        model: Any = None,
        state: State | None = None,
    ) -> ErrorResult | None:
        """Repair stored rows in place after an error. None when there is nothing to retry: the error wakes no rule, no
        rule changed anything, or this request was retried before."""
        return self.repair_rows(error, message_list, retry_count=retry_count, model=model, state=state)

    def repair_rows(
        self,
        error: object,
        rows: MutableSequence[Any],
        *,
        retry_count: int = 0,
        model: Any = None,
        state: State | None = None,
    ) -> ErrorResult | None:
        """`process_api_error` for callers that are not asynchronous."""
        if retry_count > 0 or not rows:
            return None
        given = list(rows)
        outcome = api.repair(given, error=error, model=model, rules=self._after, format=_row_format(given))
        if not outcome.changed:
            return None
        if state is not None:
            state[PROMOTED] = sorted({*state.get(PROMOTED, ()), *outcome.rules})
        return ErrorResult(outcome, _put_back(rows, given, outcome.stored))


def _for_phase(rule: AnyRule, phase: str) -> tuple[str | Path | Rule | Ruleset, ...]:
    if not isinstance(rule, CompatRule):
        return (rule,)
    compiled = rule.compiled(phase)
    return () if compiled is None else (compiled,)


def _row_format(rows: list[Any]) -> str | None:
    """The format of stored rows; where none fits, as in a store of the host's own, rules in code still run."""
    try:
        return formats.detect(rows).format.name
    except UnknownFormat:
        return PROMPT_FORMAT


def _put_back(rows: MutableSequence[Any], before: list[Any], after: list[Any]) -> tuple[Any, ...]:
    """Make `rows` say what `after` says. A row that was edited stays the same object, so that whoever holds it sees
    the repair; all is computed by now, so that nothing can stop half-way."""
    if after is before:
        return ()
    known = {id(row) for row in before}
    if len(after) == len(before):
        edited = [(old, new) for old, new in zip(before, after, strict=True) if old is not new]
        if all(isinstance(old, dict) and isinstance(new, dict) for old, new in edited):
            for old, new in edited:
                old.clear()
                old.update(new)
            return tuple(old for old, _ in edited)
    rows[:] = after
    return tuple(row for row in after if id(row) not in known)
