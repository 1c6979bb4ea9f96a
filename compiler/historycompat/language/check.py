"""tree → ir, or every complaint."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from historycompat import ir, tree
from historycompat.errors import Complaint
from historycompat.language.checks import run_checks
from historycompat.source import Place, Span
from historycompat.verbs import VERBS
from historycompat.verbs.verb import SAFETIES


def check(pack: tree.Pack) -> tuple[tuple[ir.Rule, ...], list[Complaint]]:
    """What a pack means, and all that is wrong with it. With an E-complaint among them there are no rules."""
    complaints = run_checks(pack)
    if any(complaint.is_error for complaint in complaints):
        return (), complaints
    return tuple(resolve(rule, pack) for rule in pack.rules), complaints


def resolve(rule: tree.Rule, pack: tree.Pack) -> ir.Rule:
    """A rule with every default in place."""
    statements = tuple(_statement(statement) for statement in rule.do)
    implied = max((VERBS[s.verb].least_safety(s) for s in statements), key=SAFETIES.index, default="safe")
    safety = rule.safety or implied
    return ir.Rule(
        name=rule.name,
        statements=statements,
        models=tuple(replace(model, span=None) for model in rule.models),
        when=bare(rule.when) if rule.when else None,
        triggers=tuple(ir.Trigger(frozenset(e.statuses), _pattern(e.regex)) for e in rule.on_error),
        phase=rule.phase or ("after" if rule.on_error else "before"),
        persist=safety == "safe" if rule.persist is None else rule.persist,
        format=rule.format,
        safety=safety,
        replaces=rule.replaces,
        because=rule.because or "",
        see=rule.see,
        verified=rule.verified or "",
        tests=rule.tests,
        pack=pack.name,
        place=_place(rule.span, pack),
    )


def _place(span: Span | None, pack: tree.Pack) -> Place:
    return span.place if span else Place(pack.source.name, 1, 1)


def _statement(written: tree.Statement) -> ir.Statement:
    target = _target(written.target) if written.target else ir.Target("prompt")
    return ir.Statement(
        verb=written.verb,
        target=target,
        args=tuple((name, _arg(value)) for name, value in written.args.items()),
        place=written.span.place if written.span else Place("", 1, 1),
        text=" ".join(written.span.text.split()) if written.span else written.verb,
        variables=frozenset(_variables(written)),
    )


def _arg(value: Any) -> ir.Arg:
    match value:
        case tree.Expr():
            return bare(value)
        case tree.Target():
            return _target(value)
        case tree.Regex():
            return _pattern(value)
        case tree.Path():
            return value.keys
        case tree.Word():
            return value.text
        case tree.Text() | tree.Number():
            return value.value
        case tree.Mapper():
            return (_map_step(value),)
        case tuple():
            return tuple(_map_step(v) if isinstance(v, tree.Mapper) else _arg(v) for v in value)
        case bool() | str() | int() | None:
            return value
    raise TypeError(f"no meaning for {value!r}")


def _map_step(mapper: tree.Mapper) -> ir.MapStep:
    pattern = _pattern(mapper.regex) if mapper.regex else None
    return ir.MapStep(mapper.kind, pattern, mapper.text or "", mapper.count or 0)


def _pattern(regex: tree.Regex) -> ir.Pattern:
    return ir.Pattern(regex.pattern, regex.flags)


def _target(written: tree.Target) -> ir.Target:
    return ir.Target(
        kind=written.kind,
        roles=_alternatives(written.roles),
        states=written.states,
        types=_alternatives(written.types),
        part_states=written.part_states,
        path=bare(written.path) if written.path else None,
        where=bare(written.where) if written.where else None,
        exclude=(written.exclude.end, written.exclude.count) if written.exclude else None,
    )


def _alternatives(words: tuple[str, ...]) -> frozenset[str] | None:
    return None if not words or "*" in words else frozenset(words)


def bare(expr: tree.Expr) -> tree.Expr:
    """An expression without its spans, so that what a rule means does not hold the text it was written in."""
    children = tuple(bare(child) if isinstance(child, tree.Expr) else child for child in expr.children)
    return tree.Expr(expr.kind, children, expr.value)


def _variables(value: Any) -> Iterator[str]:
    """The names of the `$variables` anywhere in a statement."""
    match value:
        case tree.Statement(target=target, args=args):
            yield from _variables(target)
            yield from _variables(tuple(args.values()))
        case tree.Target(path=path, where=where):
            yield from _variables((path, where))
        case tree.Expr():
            yield from (str(node.value) for node in value.walk() if node.kind == "variable")
        case tuple():
            for item in value:
                yield from _variables(item)
