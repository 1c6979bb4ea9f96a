"""The stages put together: a history and a model in, the repaired history and an account of it out."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any, Literal

from historycompat import formats
from historycompat.compiling import compile_source, read_source
from historycompat.formats.format import Format
from historycompat.repairing import Origin, Repair
from historycompat.ruleset import Rule
from historycompat.rulesets import Ruleset
from historycompat.runtime.error_view import ErrorView
from historycompat.runtime.outcome import Outcome
from historycompat.runtime.wake import woken
from historycompat.source import Source

Rules = Ruleset | Iterable[Rule]


def apply(
    messages: Any,
    *,
    model: Any,
    format: str | None = None,  # noqa: A002
    rules: Rules | None = None,
    origin: Origin | None = None,
    promoted: Collection[str] = (),
    errors: Literal["collect", "raise"] = "collect",
) -> Outcome:
    """Repair a history for the model that is about to read it.

    `messages` is a message list or a whole request body in any known format (detected when `format` is None);
    `model` is an id, an object with `provider` and `model_id`, or a list of fallbacks. `origin` tells who wrote a
    message or part, for rules that ask; without it a message's own `metadata` does. `promoted` names reactive rules
    that run all the same, because an error woke them earlier in this conversation. The input is never changed.
    Raises UnknownFormat or HistoryError where the history cannot be read and, with `errors="raise"`, RuleFault where
    a rule fails; otherwise a failing rule is rolled back and listed in the outcome's `faults`.
    """
    ruleset = _ruleset(rules)
    plan = ruleset.plan(model, promoted)
    if not plan and format is None:
        return Outcome(messages)
    kind = _format(messages, format)
    if not plan:
        return Outcome(messages, format=kind.name)
    return Repair(messages, kind, model, origin=origin, raising=errors == "raise").before(plan)


def repair(
    messages: Any,
    *,
    error: object,
    model: Any,
    format: str | None = None,  # noqa: A002
    rules: Rules | None = None,
    origin: Origin | None = None,
    errors: Literal["collect", "raise"] = "collect",
) -> Outcome:
    """Repair a history that a provider just refused, by every rule whose `on_error` matches the error.

    `error` is what the client raised, or its text, body or mapping; None wakes nothing. `changed` says whether to
    send again, `messages` is what to send, `stored` what to save. A model that nobody knows, such as an alias of a
    gateway, is no reason for a rule to sleep: the error says whose it is. Raises as `apply` does.
    """
    ruleset = _ruleset(rules)
    found = list(woken(ruleset.reactive(model), ErrorView.of(error)))
    if not found:
        return Outcome(messages, stored=messages)
    kind = _format(messages, format)
    return Repair(messages, kind, model, origin=origin, raising=errors == "raise").after(found)


def load_rules(*paths: str | Path) -> Ruleset:
    """The rules of files (`.yaml`, `.yml` or `.rules`), in order. Raises RuleError with every complaint."""
    return Ruleset(rule for path in paths for rule in compile_source(*read_source(path)))


def compile_rules(text: str, *, kind: Literal["yaml", "rules"] = "yaml", name: str = "<rules>") -> Ruleset:
    """The rules of a text: a YAML pack, or the text form. Raises RuleError with every complaint."""
    return Ruleset(compile_source(Source(name, text), kind))


def _ruleset(rules: Rules | None) -> Ruleset:
    if rules is None:
        return Ruleset.builtin()
    if isinstance(rules, (str, Path)):
        raise TypeError(f"rules takes a Ruleset or rules, not the name of a file; write load_rules({str(rules)!r})")
    return rules if isinstance(rules, Ruleset) else Ruleset(rules)


def _format(messages: Any, name: str | None) -> Format:
    if name is None and messages in ([], {"messages": []}):  # an empty conversation is one in any format
        return formats.find("openai-chat")
    return formats.find(name) if name else formats.detect(messages).format
