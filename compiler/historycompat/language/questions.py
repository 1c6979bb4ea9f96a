"""Conditions → what one pass over a prompt can ask of a value: Python expressions that are no narrower."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from itertools import chain
from typing import Any, NamedTuple

from historycompat.language.expressions import codegen
from historycompat.language.expressions.functions import may_raise
from historycompat.language.expressions.kinds import CHAINS, Scope
from historycompat.language.select import condition
from historycompat.ruleset import Sieve
from historycompat.tree import Expr

Question = tuple[str, dict[str, Any]]  # a Python expression and the names in it

OBJECT = Scope(frozenset({"object"}))
_OF_RUN = frozenset({"model", "error"})


class Questions(NamedTuple):
    """Python expressions that all hold, the names in them, and what must hold whatever the prompt."""

    python: tuple[str, ...]
    names: dict[str, Any]
    gate: Expr | None

    def sieve(self, of: str, roles: frozenset[str] | None = None, types: frozenset[str] | None = None) -> Sieve:
        return Sieve(of, roles, types, self.python, self.names, gate=condition(self.gate))


def questions(
    where: Iterable[Expr], at: str, before: Iterable[Question] = (), after: Iterable[Question] = ()
) -> Questions:
    """What can be told of a value from itself alone: what it needs `before` it is asked anything, the conditions up to
    the first that may raise, and what it needs `after` all of them."""
    found, gates = list(before), list[Expr]()
    for operand in chain(*map(codegen.conjuncts, where)):
        variables = codegen.variables(operand)
        if may_raise(operand, OBJECT):
            break
        if variables <= _OF_RUN and _is_fixed(operand):
            gates.append(operand)
        elif not variables:
            found.append(_python(operand, at))
    else:
        found += after
    names = {name: value for _, own in found for name, value in own.items()}
    return Questions(tuple(f"({python})" for python, _ in found), names, codegen.joined(gates))


def _python(expr: Expr, at: str) -> Question:
    prefix = f"x{digest(expr)}_"
    return codegen.part_test(expr, at, prefix) or (f"{prefix}({at}, None)", {prefix: codegen.predicate(expr)})


def digest(value: Any) -> str:
    return sha256(repr(value).encode("utf-8", "surrogatepass")).hexdigest()[:12]


def _is_fixed(expr: Expr) -> bool:
    """Whether an expression looks at no value of a prompt, as long as its variables do not."""
    if expr.kind == "variable":
        return True
    if expr.kind in CHAINS:
        return _is_fixed(expr.children[0])
    if expr.kind in ("and_expression", "or_expression", "not_expression", "comparator", "function_expression"):
        return all(map(_is_fixed, expr.children))
    return expr.kind == "literal"
