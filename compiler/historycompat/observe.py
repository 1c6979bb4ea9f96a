"""What rules did → a log line and a trace event for each, where somebody listens."""

from __future__ import annotations

import logging
import sys
from collections import Counter
from collections.abc import Sequence
from typing import Any

from historycompat.models.normalise import facts_of, normalise
from historycompat.ruleset import Fault
from historycompat.runtime.outcome import Outcome

# A line for each rule: INFO where it changed something, WARNING where it failed. Neither holds a word of a message.
_log = logging.getLogger("historycompat")

# Each edit with the values before and after it, at DEBUG. They are messages, so this logger must be given its level by
# its own name: that of a parent does not count.
_values = logging.getLogger("historycompat.values")

_EVENT = "historycompat.rule"


def observe(outcome: Outcome, faults: Sequence[Fault], phase: str, model: Any) -> None:
    """Tell the logger `historycompat` and the current OpenTelemetry span which rules changed or failed.

    The span's event `historycompat.rule` has the attributes `historycompat.rule`, `historycompat.phase` (`before` or
    `after`), `historycompat.model` and `historycompat.edits` (their number). Where nobody listens the outcome's
    account is not even made; `faults` are its faults, which are known without it.
    """
    span = _recording_span()
    if outcome.changed and (span or _log.isEnabledFor(logging.INFO)):
        _tell_changes(outcome, phase, _name(model), span)
    for fault in faults:
        _log.warning("rule %s failed and was rolled back (%s)", fault.rule, fault.place)
        if _wants_values():
            _values.debug("rule %s failed at %r: %s", fault.rule, fault.pointer, fault.reason)


def _tell_changes(outcome: Outcome, phase: str, model: str, span: Any) -> None:
    for rule, edits in Counter(record.rule for record in outcome.trace).items():
        facts = {"rule": rule, "phase": phase, "model": model, "edits": edits}
        _log.info("rule=%s phase=%s model=%r edits=%d", rule, phase, model, edits, extra={"historycompat": facts})
        if span:
            span.add_event(_EVENT, {f"historycompat.{name}": value for name, value in facts.items()})
    if _wants_values():
        for record in outcome.trace:
            told = (record.rule, record.op, record.pointer, record.before, record.after)
            _values.debug("rule=%s %s %r: %r -> %r", *told)


def _wants_values() -> bool:
    return _values.level == logging.DEBUG and _values.isEnabledFor(logging.DEBUG)


def _recording_span() -> Any:
    """The current span if one is recorded. Nothing is imported: a program that traces has done so."""
    trace = sys.modules.get("opentelemetry.trace")
    span = trace.get_current_span() if trace else None
    return span if span is not None and span.is_recording() else None


def _name(model: Any) -> str:
    if isinstance(model, str):
        return model
    facts = facts_of(normalise(model))
    return "/".join(filter(None, (facts["provider"] or facts["vendor"], facts["name"])))
