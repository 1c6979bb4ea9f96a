"""A compiled rule → the rule as it might have been written, for checks that set other rules beside it."""

from __future__ import annotations

from historycompat import ir, tree
from historycompat.language.vocabulary import PARTS, ROLES
from historycompat.source import Source, Span


def recalled(rule: ir.Rule) -> tuple[tree.Pack, tree.Rule]:
    """The rule in a pack that holds it alone. Of arguments there are only targets, and no text has its place."""
    span = Span(Source(rule.place.file, ""), 0, 0)
    written = tree.Rule(
        rule.name,
        tuple(_statement(statement) for statement in rule.statements),
        models=rule.models,
        when=rule.when,
        on_error=tuple(_trigger(trigger, span) for trigger in rule.triggers),
        phase=rule.phase,
        format=rule.format,
        safety=rule.safety,
        replaces=rule.replaces,
    )
    return tree.Pack(rule.pack, 1, (written,), span.source), written


def _trigger(trigger: ir.Trigger, span: Span) -> tree.ErrorPattern:
    pattern = trigger.pattern
    return tree.ErrorPattern(tuple(sorted(trigger.statuses)), tree.Regex(pattern.text, pattern.flags, span))


def _statement(statement: ir.Statement) -> tree.Statement:
    args = {name: _target(value) for name, value in statement.args if isinstance(value, ir.Target)}
    return tree.Statement(statement.verb, _target(statement.target), args)


def _target(target: ir.Target) -> tree.Target:
    return tree.Target(
        target.kind,
        _words(target.roles, ROLES),
        target.states,
        _words(target.types, tuple(PARTS)) or (("*",) if target.kind == "part" else ()),
        target.part_states,
        target.path,
        target.where,
    )


def _words(words: frozenset[str] | None, known: tuple[str, ...]) -> tuple[str, ...]:
    order = {word: number for number, word in enumerate(known)}
    return tuple(sorted(words or (), key=lambda word: (order.get(word, len(order)), word)))
