"""The tests inside a rule → verdicts.

Each case runs its rule alone on the history it gives. Beyond what the case expects it is checked that a second run
changes nothing, that the input was not touched, that the recorded edits replay, and that a rule with `on_error` does
nothing after another error.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from historycompat import formats
from historycompat.edits import replay, same
from historycompat.language.vocabulary import CASE_FIELDS, CASE_NEEDS
from historycompat.models.normalise import facts_of, normalise
from historycompat.ruleset import Rule
from historycompat.runtime.error_view import ErrorView
from historycompat.runtime.interpret import Run, interpret
from historycompat.runtime.wake import woken
from historycompat.shorthand import ShorthandError, messages, plain
from historycompat.view import CANONICAL, Context, Shape


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of one case. `kind` is `passed`, `noisy` (it edited what it should leave), `missing` (it left what it
    should edit), `wrong` (another edit than expected, or a broken guarantee) or `unusable` (the case itself).
    `number` is the case's among those of its rule, from 0."""

    rule: str
    case: str
    kind: str
    problem: str = ""
    expected: Any = None
    got: Any = None
    number: int = 0

    @property
    def passed(self) -> bool:
        return self.kind == "passed"


def run_cases(rule: Rule) -> Iterator[Verdict]:
    """A verdict for each case of a rule, in order."""
    return (run_case(rule, number) for number in range(len(rule.meaning.tests)))


def run_case(rule: Rule, number: int) -> Verdict:
    """The verdict on one case of a rule, which are counted from 0."""
    return replace(_verdict(rule, case_name(rule, number), rule.meaning.tests[number]), number=number)


def _verdict(rule: Rule, name: str, case: Any) -> Verdict:
    try:
        verdict = _Case(rule, name, case).verdict()
        for model in _others(case) if verdict.passed else ():
            verdict = _Case(rule, name, case | {"model": model}).verdict()
            if not verdict.passed:
                return replace(verdict, problem=f"for {model}: {verdict.problem}")
        return verdict
    except ShorthandError as error:
        return Verdict(rule.name, name, "unusable", str(error))


def _others(case: dict[str, Any]) -> list[Any]:
    """Models that the same must come out for."""
    others = case.get("also", [])
    if not isinstance(others, list):
        raise ShorthandError("`also` is a list of other models that the same comes out for")
    return others


def case_name(rule: Rule, number: int) -> str:
    """What a case calls itself, or its number."""
    case = rule.meaning.tests[number]
    return str(case.get("name", f"case {number + 1}")) if isinstance(case, dict) else f"case {number + 1}"


class _Case:
    def __init__(self, rule: Rule, name: str, case: Any) -> None:
        if not isinstance(case, dict):
            raise ShorthandError("a case is a mapping with model, given and then")
        unknown = [key for key in case if key not in CASE_FIELDS]
        absent = [key for key in CASE_NEEDS if key not in case]
        if unknown or absent:
            what = f"has no field {unknown[0]!r}" if unknown else f"needs {' and '.join(absent)}"
            raise ShorthandError(f"a case {what}; its fields are {', '.join(CASE_FIELDS)}")
        self.rule, self.name, self.case = rule, name, case
        if "stored" in case and self._phase() == "before":
            raise ShorthandError("`stored` is what is saved after an error, and this case has none; delete it")
        self.shape, self.root = self._root(case["given"])

    def _root(self, given: Any) -> tuple[Shape, dict[str, Any]]:
        if self.rule.meaning.format:
            kind = formats.find(self.rule.meaning.format)
            return kind.shape, kind.wrap(copy.deepcopy(given))
        root: dict[str, Any] = {"messages": messages(copy.deepcopy(given))}
        return CANONICAL, root | {key: self.case[key] for key in ("tools", "params") if key in self.case}

    def _run(self, root: dict[str, Any], error: Any) -> Run:
        refs = normalise(self.case["model"])
        context = Context(model=facts_of(refs))
        if origin := self.case.get("origin"):
            context.origin = lambda holder: dict(origin)
        rules = [self.rule] if self.rule.matches(refs) else []
        if self._phase() == "after":
            found = list(woken(rules, ErrorView.of(error)))
            rules = [rule for rule, _ in found]
            context.error = found[0][1] if found else None
        elif not self.rule.runs("before"):
            rules = []
        return interpret(rules, root, context, shape=self.shape)

    def _phase(self) -> str:
        phase = self.case.get("phase") or ("after" if "error" in self.case else None)
        return str(phase or ("after" if self.rule.meaning.phase == "after" else "before"))

    def _error(self) -> Any:
        error = self.case.get("error")
        return {"status": error.get("status"), "message": error.get("message")} if isinstance(error, dict) else error

    def verdict(self) -> Verdict:
        kept = copy.deepcopy(self.root)
        run = self._run(self.root, self._error())
        expected = self._expected(kept)
        got = self._shown(run)
        if not same(self.root, kept):
            return self._failed("wrong", "the input was changed in place", kept, self.root)
        if run.faults:
            return self._failed("wrong", f"the rule failed: {run.faults[0].reason}", expected, got)
        if not same(got, expected):
            return self._failed(self._how(run, expected, kept), "another history than expected", expected, got)
        if "stored" in self.case and (wrong := self._wrongly_stored(run, kept)):
            return wrong
        return self._guarantees(run, kept)

    def _wrongly_stored(self, run: Run, given: dict[str, Any]) -> Verdict | None:
        """What is saved of a repair after an error: all of it, or nothing of a rule that does not persist."""
        then = self.case["stored"]
        expected = plain(given if then == "unchanged" else self._root(then)[1])
        got = plain(run.root if self.rule.meaning.persist else given)
        if same(got, expected):
            return None
        kind = "missing" if same(got, plain(given)) else "noisy" if then == "unchanged" else "wrong"
        return self._failed(kind, "another history is stored than expected", expected, got)

    def _expected(self, given: dict[str, Any]) -> Any:
        then = self.case["then"]
        if self._is_report(then):
            return {"report": then["report"]}
        if then == "unchanged":
            return plain(given)
        return plain(self._root(then)[1] if not isinstance(then, dict) or self.rule.meaning.format else then)

    def _shown(self, run: Run) -> Any:
        then = self.case["then"]
        if self._is_report(then):
            return {"report": run.reports[0].finding.text if run.reports else None}
        return plain(run.root)

    @staticmethod
    def _is_report(then: Any) -> bool:
        return isinstance(then, dict) and [*then] == ["report"]

    def _how(self, run: Run, expected: Any, given: dict[str, Any]) -> str:
        if not run.records:
            return "missing"
        return "noisy" if same(expected, plain(given)) else "wrong"

    def _guarantees(self, run: Run, given: dict[str, Any]) -> Verdict:
        again = self._run(run.root, self._error())
        if again.records:
            return self._failed("wrong", "a second run changes it again", run.root, again.root)
        replayed = replay(given, [record.edit for record in run.records])
        if not same(replayed, run.root):
            return self._failed("wrong", "the recorded edits do not lead to the result", run.root, replayed)
        if self._phase() == "after":
            other = self._run(copy.deepcopy(given), {"status": 418, "message": "I am a teapot."})
            if other.records:
                return self._failed("noisy", "it also edits after an unrelated error", given, other.root)
        return Verdict(self.rule.name, self.name, "passed")

    def _failed(self, kind: str, problem: str, expected: Any, got: Any) -> Verdict:
        return Verdict(self.rule.name, self.name, kind, problem, expected, got)
