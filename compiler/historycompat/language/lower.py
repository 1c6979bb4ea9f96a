"""ir → Python callables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import Any

from historycompat import ir, ruleset
from historycompat.language.expressions import codegen
from historycompat.language.select import condition, selector
from historycompat.language.sieves import sieves
from historycompat.regex import cap_text, compile_regex
from historycompat.tree import Expr, ModelPattern
from historycompat.verbs import VERBS
from historycompat.verbs.mapping import Mapper

# Turns the model patterns of a rule into a test of a normalised model reference.
Matcher = Callable[[Sequence[ModelPattern]], Callable[[Any], bool]]

# Types whose parts belong to pairs: dropping one is never a matter of one message.
_PAIRED = frozenset({"tool-call", "tool-result"})


def lower(rule: ir.Rule, matcher: Matcher) -> ruleset.Rule:
    """A rule that can run."""
    reads = frozenset[str]().union(*(statement.variables for statement in rule.statements))
    return ruleset.Rule(
        meaning=rule,
        matches=matcher(rule.models),
        steps=lambda: tuple(map(_step, rule.statements)),
        triggers=lambda: tuple(map(_trigger, rule.triggers)),
        when=lambda: condition(rule.when),
        sieves=lambda: sieves(rule),
        variables=reads if rule.when is None else reads | codegen.variables(rule.when),
    )


def _step(statement: ir.Statement) -> ruleset.Step:
    verb = VERBS[statement.verb]
    args = {name: _lowered(value) for name, value in statement.args}
    return ruleset.Step(
        verb=statement.verb,
        text=statement.text,
        place=statement.place,
        variables=statement.variables,
        select=selector(statement.target),
        edit=verb.build(**args),
        local=_local(statement),
    )


def _lowered(value: ir.Arg) -> Any:
    match value:
        case Expr():
            return codegen.compute(value)
        case ir.Pattern(text, flags):
            return compile_regex(text, flags)
        case ir.Target():
            return selector(value)
        case ir.MapStep(kind, pattern, text, count):
            return Mapper(kind, compile_regex(pattern.text, pattern.flags) if pattern else None, text, count)
        case tuple():
            return tuple(_lowered(item) for item in value)
    return value


def _local(statement: ir.Statement) -> ruleset.Local | None:
    """What one pass over the parts can decide for a statement by itself, or None."""
    target = statement.target
    if statement.verb != "drop" or dict(statement.args).get("on_empty", "drop") != "drop":
        return None
    if target.kind != "part" or target.states or target.part_states or target.exclude:
        return None
    if target.types is None or target.types & _PAIRED:
        return None
    if target.where is None:
        return ruleset.Local(target.roles, target.types, "True", {}, drops=True)
    # The names in a fused test carry a digest of its expression: the tests of all rules share one function.
    prefix = "x" + sha256(repr(target.where).encode("utf-8", "surrogatepass")).hexdigest()[:12] + "_"
    fused = codegen.part_test(target.where, at="p", prefix=prefix)
    return fused and ruleset.Local(target.roles, target.types, *fused, drops=True)


def _trigger(trigger: ir.Trigger) -> ruleset.Trigger:
    regex = compile_regex(trigger.pattern.text, trigger.pattern.flags)

    def search(text: str) -> Mapping[str, Any] | None:
        found = regex.search(cap_text(text))
        if found is None:
            return None
        return {str(n): group for n, group in enumerate(found.groups(), 1)} | found.groupdict()

    return ruleset.Trigger(trigger.statuses, trigger.pattern.text, search)
