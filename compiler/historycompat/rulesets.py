"""An ordered set of rules: the built-in ones, extended, narrowed or replaced."""

from __future__ import annotations

import copyreg
import threading
from collections.abc import Collection, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from historycompat import ir
from historycompat.builtin import builtin_rules
from historycompat.compiling import compile_source, lowered, read_source
from historycompat.errors import HistoryCompatError, UnknownRule, did_you_mean
from historycompat.models.normalise import cache_key, normalise
from historycompat.ruleset import Rule
from historycompat.runtime.plan import Plan, plan

# Model ids may be user input: more than this many plans of one ruleset are not kept.
_PLANS_KEPT = 512


class DuplicateRule(HistoryCompatError):
    """An added rule has the name of one that is there, and does not say that it replaces it."""


class Ruleset:
    """Rules in the order they run. Immutable, safe to share between threads, picklable."""

    __slots__ = ("_lock", "_plans", "_rules")

    def __init__(self, rules: Iterable[Rule] = ()) -> None:
        # What a rule replaces may be in the ruleset that these rules are going to extend.
        self._rules = _joined((), rules, complete=False)
        self._plans: dict[Any, Plan] = {}
        self._lock = threading.Lock()

    @classmethod
    def builtin(cls) -> Ruleset:
        """The rules that ship with the library, in file order."""
        return _builtin()

    def extend(self, *more: str | Path | Rule | Ruleset | Iterable[Rule]) -> Ruleset:
        """These rules, then others: rule files by path, compiled rules, whole rulesets.

        A rule that says `replaces` takes the place of the rule it names. Raises RuleError for a bad rule file,
        DuplicateRule for a name that is taken, UnknownRule where there is nothing of that name to replace.
        """
        return self._with(_joined(self._rules, (rule for item in more for rule in _rules_of(item))))

    def without(self, *names: str) -> Ruleset:
        """Everything but these rules. Raises UnknownRule for a name that is not there."""
        self._require(names)
        return self._with(rule for rule in self._rules if rule.name not in names)

    def only(self, *names: str) -> Ruleset:
        """Just these rules, in the order they have here. Raises UnknownRule for a name that is not there."""
        self._require(names)
        return self._with(rule for rule in self._rules if rule.name in names)

    def override(self, rule: Rule) -> Ruleset:
        """The same as extending with a rule that says `replaces`; without that clause it replaces its namesake."""
        if not isinstance(rule, Rule):
            raise TypeError(f"override takes a compiled rule, not {rule!r}; see compile_rules and load_rules")
        replaced = rule.meaning.replaces or rule.name
        self._require((replaced,))
        return self._with(_in_place_of(replaced, rule, {old.name: old for old in self._rules}).values())

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(rule.name for rule in self._rules)

    def for_model(self, model: Any, phase: str = "before", promoted: Collection[str] = ()) -> tuple[Rule, ...]:
        """The rules of a phase (`before` or `after`) that concern a model, in order.

        `promoted` names reactive rules that count as rules before the request, since an error woke them once.
        """
        refs = normalise(model)
        # An alias that no table knows may be any model: a rule that an error woke for it stays awake.
        known = any(ref.vendor for ref in refs)
        return tuple(
            rule
            for rule in self._rules
            if (rule.runs(phase) and rule.matches(refs))
            or (rule.name in promoted and (not known or rule.matches(refs)))
        )

    def reactive(self, model: Any) -> tuple[Rule, ...]:
        """The rules that an error of a model may wake: for a model of unknown make, those of every model."""
        if any(ref.vendor for ref in normalise(model)):
            return self.for_model(model, "after")
        return tuple(rule for rule in self._rules if rule.runs("after"))

    def plan(self, model: Any, promoted: Collection[str] = ()) -> Plan:
        """What `apply` runs for a model before a request."""
        key = (cache_key(model), frozenset(promoted)) if promoted else cache_key(model)
        found = self._plans.get(key)
        if found is None:
            found = plan(self.for_model(model, promoted=promoted))
            with self._lock:
                if len(self._plans) >= _PLANS_KEPT:
                    self._plans.clear()
                self._plans[key] = found
        return found

    def _with(self, rules: Iterable[Rule]) -> Ruleset:
        made = Ruleset.__new__(Ruleset)
        made._rules, made._plans, made._lock = tuple(rules), {}, threading.Lock()
        return made

    def _require(self, names: Iterable[str]) -> None:
        for name in names:
            if name not in self:
                hint = did_you_mean(name, self.names)
                raise UnknownRule(f"there is no rule named {name!r}" + (f"; {hint}" if hint else ""))

    def __getitem__(self, name: str) -> Rule:
        self._require((name,))
        return next(rule for rule in self._rules if rule.name == name)

    def __contains__(self, name: object) -> bool:
        return any(rule.name == name for rule in self._rules)

    def __iter__(self) -> Iterator[Rule]:
        return iter(self._rules)

    def __len__(self) -> int:
        return len(self._rules)

    def __repr__(self) -> str:
        return f"<Ruleset of {len(self._rules)} rules>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ruleset) and [r.meaning for r in self] == [r.meaning for r in other]

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, tuple[tuple[ir.Rule, ...]]]:
        return _from_meanings, (tuple(rule.meaning for rule in self._rules),)


# A rule holds compiled functions; another process makes them anew.
copyreg.pickle(Rule, lambda rule: (lowered, (rule.meaning,)))


def _from_meanings(meanings: tuple[ir.Rule, ...]) -> Ruleset:
    return Ruleset()._with(lowered(meaning) for meaning in meanings)


def _rules_of(item: str | Path | Rule | Ruleset | Iterable[Rule]) -> Iterable[Rule]:
    if isinstance(item, Rule):
        return (item,)
    if isinstance(item, (str, Path)):
        return compile_source(*read_source(item))
    rules = list(item)
    if not all(isinstance(rule, Rule) for rule in rules):
        raise TypeError(f"these are no rules: {rules!r}; name rule files one by one: extend(*files)")
    return rules


def _joined(rules: Iterable[Rule], more: Iterable[Rule], *, complete: bool = True) -> tuple[Rule, ...]:
    joined = {rule.name: rule for rule in rules}
    for rule in more:
        replaced = rule.meaning.replaces
        if replaced in joined:
            joined = _in_place_of(replaced, rule, joined)
        elif replaced and complete:
            raise UnknownRule(f"{rule.meaning.place}: {rule.name} replaces {replaced!r}, which is not there")
        elif rule.name in joined:
            raise _taken(rule, joined[rule.name])
        else:
            joined[rule.name] = rule
    return tuple(joined.values())


def _in_place_of(replaced: str, rule: Rule, rules: dict[str, Rule]) -> dict[str, Rule]:
    if rule.name != replaced and rule.name in rules:
        raise _taken(rule, rules[rule.name])
    return {rule.name if name == replaced else name: rule if name == replaced else old for name, old in rules.items()}


def _taken(rule: Rule, by: Rule) -> DuplicateRule:
    return DuplicateRule(
        f"{rule.meaning.place}: there is a rule named {rule.name!r} already "
        f"({by.meaning.place}); choose another name, or add: replaces: {rule.name}"
    )


@cache
def _builtin() -> Ruleset:
    return Ruleset(builtin_rules())
