"""Expr → the text of one Python expression, and of a function for each projection in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from historycompat.language.expressions.closures import run
from historycompat.language.expressions.functions import may_raise
from historycompat.language.expressions.kinds import CHAINS, PROJECTIONS, Scope, kinds
from historycompat.language.expressions.names import Code, Names
from historycompat.language.expressions.nodes import TEXTS, literal, projection
from historycompat.language.expressions.values import truthy
from historycompat.tree import Expr

# Writes what is done with a value that was found.
Finish = Callable[[Code], str]
T = TypeVar("T")


class Writer(Names):
    """Writes expressions over one set of names, in the order in which Python evaluates them."""

    def __init__(self, prefix: str = "") -> None:
        super().__init__(prefix)
        self.functions: list[str] = []  # the lines of the functions that the expressions call
        self._bound: dict[tuple[str, str], str] = {}  # (holder, field) → the temporary that surely holds it by now
        self._used: set[str] = set()

    def value(self, expr: Expr, at: Code) -> Code:
        """The value of an expression, where `@` is `at`."""
        if expr.kind in ("current", "identity"):
            return at
        if expr.kind == "literal":
            return literal(self, expr.value)
        return Code(TEXTS[expr.kind](self, expr, at), kinds(expr, Scope(at.kinds)))

    def truth(self, expr: Expr, at: Code) -> str:
        """A Python expression that is true where the value is true to JMESPath."""
        if expr.kind in ("and_expression", "or_expression"):
            word = " and " if expr.kind == "and_expression" else " or "
            return "(" + word.join(self.short_circuit(self.truth, run(expr, (expr.kind,)), at)) + ")"
        if expr.kind == "not_expression":
            return f"(not {self.truth(expr.children[0], at)})"
        if expr.kind == "literal":
            return repr(truthy(expr.value))
        if expr.kind in PROJECTIONS and not any(may_raise(child) for child in expr.children[1:]):
            return projection(self, expr, at, any_will_do=True)
        return self.through(expr, at, self.is_true, "False")

    def is_true(self, code: Code) -> str:
        if "number" not in code.kinds:
            return code.text
        if code.kinds == {"number"}:
            return f"({code.text} is not None)"
        first, later = self.bind(code)
        return f"({first} is not None and ({later} or {later} == 0 and {later} is not False))"

    def short_circuit(self, write: Callable[[Expr, Code], T], operands: Iterable[Expr], at: Code) -> list[T]:
        """Operands of which each but the first may stay unevaluated: what they bind is known among them only."""
        first, *rest = operands
        written = [write(first, at)]
        with self.maybe():
            written += [write(operand, at) for operand in rest]
        return written

    @contextmanager
    def maybe(self) -> Iterator[None]:
        """What is bound in here is not known after it."""
        before = dict(self._bound)
        yield
        self._bound = before

    def through(self, expr: Expr, at: Code, finish: Finish, missed: str) -> str:
        """What is done with a value, written into the branch that finds it; `missed` is the same for null.

        A chain of fields ends at its first miss, without a test of what it did not find.
        """
        steps = run(expr, CHAINS)
        names = _last_fields(steps)
        code = self._steps(steps, at)
        return self.fields(code, names, finish, missed) if names else finish(code)

    def fields(self, at: Code, names: list[str], finish: Finish, missed: str) -> str:
        if "object" not in at.kinds:
            return at.replaced(missed)
        if at.object:
            return self._field(self.holder(at), names, finish, missed)
        test, holder = self.is_a(at, "dict")
        return f"({self._field(holder, names, finish, missed)} if {test} else {missed})"

    def _field(self, holder: str, names: list[str], finish: Finish, missed: str) -> str:
        """The fields of an object. What a chain binds on its way serves the next one, which passes the same tests."""
        name, *rest = names
        text = f"{holder}.get({name!r})"
        if not rest:
            return finish(Code(text))
        found = first = self._bound.get((holder, name), "")
        if not found:
            found = self._bound[holder, name] = self.new("t")
            first = f"({found} := {text})"
        test = self.class_test(first, found, "dict")
        return f"({self._field(found, rest, finish, missed)} if {test} else {missed})"

    def holder(self, at: Code) -> str:
        """The name for the fields of `at`, which has one."""
        self._used.add(at.object)
        return at.object

    def _steps(self, steps: list[Expr], at: Code) -> Code:
        """What a chain gives; its steps are used up."""
        if not steps:
            return at
        names = _last_fields(steps)
        if names:
            return Code(self.fields(self._steps(steps, at), names, lambda found: found.text, "None"))
        step = steps.pop()
        before = self._steps(steps, at)
        if before.name or _reads_once(step):
            return self.value(step, before)
        first, later = self.bind(before)
        after = self.value(step, Code(later, before.kinds, name=True))
        return Code(f"({first}, {after.text})[1]", after.kinds)

    def function(self, parameter: str, body: Callable[[Code], list[str]], name: str = "") -> str:
        """A function of a value and the hit, whose body is written where `@` is its parameter; its name."""
        name = name or self.new("f")
        outside, self._bound = self._bound, {}
        at = Code(parameter, name=True, object=self.new("o"))
        lines = body(at)
        self._bound = outside
        lines = [*self.prologue(at), *lines]
        self.functions += [f"def {name}({parameter}, hit):", *(f"    {line}" for line in lines)]
        return name

    def prologue(self, at: Code) -> list[str]:
        """Gives the name for the fields of `at` its value, where that was read."""
        if at.object not in self._used:
            return []
        plain = f"{at.text}.__class__ is {self.helper('dict')}"
        return [f"{at.object} = {at.text} if {plain} else {self.helper('object_of')}({at.text})"]


def _last_fields(steps: list[Expr]) -> list[str]:
    """The names of the fields that a chain ends in, taken off it."""
    names: list[str] = []
    while steps and steps[-1].kind == "field":
        names.insert(0, steps.pop().value)
    return names


def _reads_once(expr: Expr) -> bool:
    """Whether the text of an expression contains that of `@` once."""
    if expr.kind in PROJECTIONS | CHAINS | {"flatten"}:
        return _reads_once(expr.children[0])
    return expr.kind in ("current", "identity", "index", "slice", "multi_select_list", "multi_select_dict")
