"""Rules written in Python → the same compiled rules that declarative ones become."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from historycompat import ir
from historycompat.edits import Edit, list_changes
from historycompat.errors import HistoryCompatError
from historycompat.regex import RegexError, compile_regex
from historycompat.ruleset import Rule, Step, Trigger
from historycompat.source import Place
from historycompat.view import Hit, View

Fix = Callable[[list[Any]], bool]
ApplyToPrompt = Callable[..., "list[Any] | None"]

ANY_FORMAT = "*"


class BadRule(HistoryCompatError):
    """A rule in code that could never run, or never as meant."""


class CompatRule:
    """A rule that needs code.

    `apply_to_prompt(prompt=..., model=...)` returns a new prompt (canonical messages) or None, before each request.
    `fix(messages)` repairs the stored messages in place after an error that one of `error_patterns` matches, and
    returns whether it changed something. Either gets a copy: what a rule that raises has done by then is forgotten.
    Raises BadRule for a rule with neither, or with `fix` and no `error_patterns`.
    """

    def __init__(
        self,
        name: str,
        error_patterns: Iterable[str | re.Pattern[str]] = (),
        fix: Fix | None = None,
        apply_to_prompt: ApplyToPrompt | None = None,
    ) -> None:
        if isinstance(error_patterns, (str, re.Pattern)):
            raise BadRule(f"{name}: error_patterns is a list; write [{error_patterns!r}]")
        self.name = name
        self.error_patterns = tuple(error_patterns)
        self.fix = fix
        self.apply_to_prompt = apply_to_prompt
        if not name:
            raise BadRule("a rule needs a name")
        for pattern in self.error_patterns:
            _check_pattern(name, pattern)
        if fix is None and apply_to_prompt is None:
            raise BadRule(f"{name}: a rule needs fix, apply_to_prompt, or both")
        if fix is not None and not self.error_patterns:
            raise BadRule(f"{name}: fix runs after an error, so it needs error_patterns that say after which")

    def compiled(self, phase: str) -> Rule | None:
        """What runs in a phase (`before` or `after`); None where the rule has nothing for it."""
        if phase == "before" and self.apply_to_prompt:
            return self._rule("before", None, _prompt_step(self.name, self.apply_to_prompt), ())
        if phase == "after" and self.fix:
            triggers = tuple(map(_trigger, self.error_patterns))
            return self._rule("after", ANY_FORMAT, _fix_step(self.name, self.fix), triggers)
        return None

    def _rule(self, phase: str, format_: str | None, step: Step, triggers: tuple[Trigger, ...]) -> Rule:
        meaning = ir.Rule(
            name=self.name,
            statements=(),
            models=(),
            when=None,
            triggers=(),
            phase=phase,
            persist=True,
            format=format_,
            safety="unsafe",
            replaces=None,
            because="",
            see=(),
            verified="",
            tests=(),
            pack="code",
            place=step.place,
        )
        return Rule(meaning, lambda refs: True, steps=lambda: (step,), triggers=lambda: triggers)

    def __repr__(self) -> str:
        return f"<CompatRule {self.name}>"


def _prompt_step(name: str, function: ApplyToPrompt) -> Step:
    def edit(view: View, hits: list[Hit]) -> Iterator[Edit]:
        prompt = function(prompt=copy.deepcopy(view.messages), model=view.context.given_model)
        if prompt is not None:
            yield from list_changes(view.shape.spine, view.messages, prompt)

    return _step(name, "apply_to_prompt", function, edit)


def _fix_step(name: str, function: Fix) -> Step:
    def edit(view: View, hits: list[Hit]) -> Iterator[Edit]:
        messages = copy.deepcopy(view.messages)
        if function(messages):
            yield from list_changes(view.shape.spine, view.messages, messages)

    return _step(name, "fix", function, edit)


def _step(
    name: str, verb: str, function: Callable[..., Any], edit: Callable[[View, list[Hit]], Iterator[Edit]]
) -> Step:
    code = getattr(function, "__code__", None)
    place = Place(code.co_filename, code.co_firstlineno, 1) if code else Place(f"<{name}>", 1, 1)
    return Step(verb, verb, place, frozenset(), lambda view: [Hit((), view.root, view)], edit)


def _check_pattern(name: str, pattern: object) -> None:
    if not isinstance(pattern, (str, re.Pattern)):
        raise BadRule(f"{name}: {pattern!r} among the error_patterns is no regular expression")
    try:
        _trigger(pattern).search("")  # a regular expression is read when it is first needed
    except RegexError as problem:
        raise BadRule(f"{name}: the error pattern {pattern!r} is none: {problem}") from None


def _trigger(pattern: str | re.Pattern[str]) -> Trigger:
    regex: Any = compile_regex(pattern) if isinstance(pattern, str) else pattern

    def search(text: str) -> Mapping[str, Any] | None:
        found = regex.search(text)
        return None if found is None else {str(n): group for n, group in enumerate(found.groups(), 1)}

    return Trigger(frozenset(), pattern if isinstance(pattern, str) else pattern.pattern, search)
