"""Rules that repair an LLM message history before, or right after, a provider refuses it.

Everything is imported on first use: importing the package costs next to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from historycompat.api import apply, compile_rules, load_rules, repair
    from historycompat.code_rules import CompatRule
    from historycompat.errors import (
        Complaint,
        HistoryCompatError,
        HistoryError,
        NotCarried,
        RuleError,
        RuleFault,
        UnknownFormat,
        UnknownRule,
    )
    from historycompat.integrations.guard import guard
    from historycompat.processor import ProviderHistoryCompat
    from historycompat.rulesets import Ruleset
    from historycompat.runtime.outcome import Outcome
    from historycompat.session import Session

__version__ = "0.1.0"

_HOMES = {
    "CompatRule": "code_rules",
    "Complaint": "errors",
    "HistoryCompatError": "errors",
    "HistoryError": "errors",
    "NotCarried": "errors",
    "Outcome": "runtime.outcome",
    "ProviderHistoryCompat": "processor",
    "RuleError": "errors",
    "RuleFault": "errors",
    "Ruleset": "rulesets",
    "Session": "session",
    "UnknownFormat": "errors",
    "UnknownRule": "errors",
    "apply": "api",
    "compile_rules": "api",
    "guard": "integrations.guard",
    "load_rules": "api",
    "repair": "api",
}

__all__ = [
    "CompatRule",
    "Complaint",
    "HistoryCompatError",
    "HistoryError",
    "NotCarried",
    "Outcome",
    "ProviderHistoryCompat",
    "RuleError",
    "RuleFault",
    "Ruleset",
    "Session",
    "UnknownFormat",
    "UnknownRule",
    "apply",
    "compile_rules",
    "guard",
    "load_rules",
    "repair",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'historycompat' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"historycompat.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
