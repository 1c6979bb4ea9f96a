"""A rule and the tests inside it → what no test shows.

The rule is run as always, with a witness at each place where it decides something: its model patterns, its error
patterns, its statements, and the operands of its conditions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from historycompat import ir
from historycompat.language.select import condition, selector
from historycompat.language.unparse import model
from historycompat.language.unparse_expressions import expression
from historycompat.models.patterns import matcher
from historycompat.ruleset import Rule, Step, Trigger
from historycompat.source import Place
from historycompat.tree import Expr
from historycompat.view import Hit, View

_JUNCTIONS = {"and_expression": False, "or_expression": True}  # the value that decides without the second operand


@dataclass(slots=True, eq=False)
class Point:
    """Something that tests should show: `what` it is, its text, its place, and what of it was seen."""

    what: str
    text: str
    place: Place
    wanted: frozenset[str]
    seen: set[str] = field(default_factory=set)

    @property
    def gap(self) -> str | None:
        """What no test shows of it, in words."""
        missing = sorted(self.wanted - self.seen)
        return f"{self.what} is never {' or '.join(missing)}: {self.text}" if missing else None


class Coverage:
    """Watches the cases of one rule. Run them on `rule`, then read `points`."""

    def __init__(self, rule: Rule) -> None:
        self.points: list[Point] = []
        self._place = rule.meaning.place
        matches, when = self._models(rule), self._when(rule)
        triggers = tuple(map(self._trigger, rule.triggers))
        steps = tuple(map(self._step, rule.steps, rule.meaning.statements))
        self.rule = Rule(
            rule.meaning,
            matches,
            steps=lambda: steps,
            triggers=lambda: triggers,
            when=lambda: when,
            variables=rule.variables,
        )

    @property
    def gaps(self) -> list[Point]:
        return [point for point in self.points if point.gap]

    def _point(self, what: str, text: str, place: Place, *wanted: str) -> Point:
        self.points.append(Point(what, text, place, frozenset(wanted)))
        return self.points[-1]

    def _models(self, rule: Rule) -> Callable[[Any], bool]:
        watched = []
        for pattern in rule.meaning.models:
            point = self._point("model pattern", model(pattern), self._place, "matched")
            watched.append((point, matcher((replace(pattern, negated=False),))))

        def matches(refs: Any) -> bool:
            for point, test in watched:
                if test(refs):
                    point.seen.add("matched")
            return rule.matches(refs)

        return matches

    def _trigger(self, trigger: Trigger) -> Trigger:
        point = self._point("error pattern", f"/{trigger.pattern}/", self._place, "matched")

        def search(text: str) -> Mapping[str, Any] | None:
            found = trigger.search(text)
            if found is not None:
                point.seen.add("matched")
            return found

        return replace(trigger, search=search)

    def _when(self, rule: Rule) -> Callable[[Any, Hit], Any] | None:
        if rule.when is None or rule.meaning.when is None:
            return None
        inner, witness = rule.when, self._witness(rule.meaning.when, self._place)

        def when(value: Any, hit: Hit) -> Any:
            witness(value, hit)
            return inner(value, hit)

        return when

    def _step(self, step: Step, statement: ir.Statement) -> Step:
        point = self._point("statement", step.text, step.place, "used")
        where = statement.target.where
        witness = self._witness(where, step.place) if where is not None else None
        candidates = selector(replace(statement.target, where=None, exclude=None))

        def select(view: View) -> list[Hit]:
            for hit in candidates(view) if witness else ():
                assert witness
                witness(hit.value, hit)
            return step.select(view)

        def edit(view: View, hits: list[Hit]) -> Sequence[Any]:
            edits = [*step.edit(view, hits)]
            if edits:
                point.seen.add("used")
            return edits

        return replace(step, select=select, edit=edit)

    def _witness(self, expr: Expr, place: Place) -> Callable[[Any, Hit], bool]:
        """Evaluates a condition operand by operand, as far as it takes to know its value."""
        if expr.kind == "not_expression":
            inner = self._witness(expr.children[0], place)
            return lambda value, hit: not inner(value, hit)
        if expr.kind in _JUNCTIONS:
            decides = _JUNCTIONS[expr.kind]
            left, right = (self._witness(child, place) for child in expr.children)
            return lambda value, hit: decides if left(value, hit) == decides else right(value, hit)
        test, point = condition(expr), self._point("condition", expression(expr), place, "true", "false")
        assert test

        def operand(value: Any, hit: Hit) -> bool:
            holds = test(value, hit)
            point.seen.add("true" if holds else "false")
            return holds

        return operand
