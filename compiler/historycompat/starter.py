"""A name, or an error and the history that drew it → a pack to start from, which checks and passes its tests."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from historycompat.error_patterns import own_words, pattern_for
from historycompat.errors import HistoryCompatError
from historycompat.first_repairs import FINDING, first_repair
from historycompat.language.unparse import error_pattern
from historycompat.language.yaml_text import flow, lines, text_lines
from historycompat.models.normalise import normalise
from historycompat.models.patterns import pattern_problem, unknown_provider
from historycompat.regex import compile_regex
from historycompat.runtime.error_view import ErrorView
from historycompat.tree import ErrorPattern, ModelPattern

_PLAIN = re.compile(r"(?:\*|[\w.-]+)/[\w.-]*", re.ASCII)  # what a model pattern can be
_NO_MODEL = "unknown-model"


class NotStarted(HistoryCompatError):
    """No rule can be started from what was given."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a provider refused: the error as it came, the history in any known format, and the model."""

    error: Any
    history: Any = None
    model: str | None = None


def starter(name: str, *, model: str | None = None, evidence: Evidence | None = None) -> str:
    """The text of a YAML pack with one commented rule. Raises NotStarted."""
    if evidence is None:
        return _Starter(name, model or "anthropic/claude-sonnet-4-5").text()
    view = own_words(ErrorView.of(evidence.error))
    if not view.texts:
        raise NotStarted("the error holds no text to look for")
    return _FromError(name, model or evidence.model, evidence, view).text()


class Scope(NamedTuple):
    """A model pattern, and what is doubtful about it, if anything is."""

    pattern: str
    doubt: str = ""


def scope(model: str | None) -> Scope | None:
    """The pattern for everything that takes a model's way, such as `bedrock/`: one with a known provider if possible,
    else the provider or the model as it was given. None where nothing was given that a pattern could hold."""
    refs = [ref for ref in normalise(model) if ref.chain or ref.name]
    patterns = [f"{ref.chain[0]}/" if ref.chain else f"*/{ref.name}" for ref in refs]
    doubtful = [Scope(p, _doubt(p)) for p in patterns if _PLAIN.fullmatch(p) and not pattern_problem(ModelPattern(p))]
    return next((found for found in doubtful if not found.doubt), next(iter(doubtful), None))


def _doubt(pattern: str) -> str:
    if pattern.startswith("*/"):
        return f"no provider is known for {pattern[2:]}, so that the rule is for models of this name at any"
    hint = unknown_provider(ModelPattern(pattern))
    meant = hint if hint and hint.startswith("did you mean") else "the rule matches only a host that calls itself so"
    return f"no provider that is known here is named {pattern.rstrip('/')}; {meant}" if hint else ""


class _Starter:
    """A pack with an example that its author replaces."""

    statements: tuple[str, ...] = ("drop assistant/reasoning",)
    why = "Which provider refuses what, in a sentence."
    hints: tuple[str, ...] = (
        "# What it does: `historycompat explain VERB` shows each verb with examples:",
        "# drop, set, unset, keep, rename, replace, map ids, merge, insert, move, convert, answer and others.",
    )

    def __init__(self, name: str, model: str | None) -> None:
        self.name, self.model, self.scope = name, model or _NO_MODEL, scope(model)

    def text(self) -> str:
        return "\n".join(self._lines()) + "\n"

    def _lines(self) -> Iterator[str]:
        yield "# Check it with `historycompat check FILE`, and run its tests with `historycompat test FILE`."
        found = self.scope
        yield from ("language: 1", f"pack: {self.name}", "rules:")
        if found and found.doubt and not found.pattern.startswith("*/"):
            yield "  # allow: W402 the provider is as it was given; put in the name by which the host calls it."
        yield f"  - name: {self.name}"
        yield from _text_field("because", self.why)
        yield from (
            "    # Where that was reported or documented.",
            "    see:",
            "      - https://example.org/the-report",
        )
        yield "    # The models that are concerned; without this line, all are."
        yield f"    models: [{flow(found.pattern)}]" if found else "    # models: [provider/]"
        yield from self._trigger()
        yield from (f"    {hint}" for hint in self.hints)
        yield "    do:"
        for statement in self.statements:
            first, *rest = text_lines(statement, 8, 8)
            yield from (f"      - {first}", *rest)
        yield "    # At least one history that the rule repairs, and one that it leaves alone."
        yield "    tests:"
        for case in self._tests():
            yield from _case(case)

    def _trigger(self) -> Iterator[str]:
        yield "    # With `on_error` a rule waits for the refusal, such as: 400 /reasoning is not supported/i"

    def _tests(self) -> Iterator[dict[str, Any]]:
        given: list[Any] = [{"user": "hi"}, {"assistant": [{"reasoning": "hmm"}, "hello"]}, {"user": "go on"}]
        then = [{"user": "hi"}, {"assistant": "hello"}, {"user": "go on"}]
        yield {"name": "the reasoning goes, the answer stays", "model": self.model, "given": given, "then": then}
        yield {
            "name": "without reasoning there is nothing to do",
            "model": self.model,
            "given": then,
            "then": "unchanged",
        }


class _FromError(_Starter):
    """A pack for one refusal: its pattern, the history that drew it, and the first repair that changes something."""

    def __init__(self, name: str, model: str | None, evidence: Evidence, view: ErrorView) -> None:
        super().__init__(name, model)
        pattern = pattern_for(view)
        if pattern is None:
            raise NotStarted("the error's text cannot be made into a pattern")
        self.pattern, self.view = error_pattern(pattern), view
        self.message = _telling(view, pattern)
        self.repair = first_repair(view.texts, evidence.history, self.model)
        self.statements = self.repair.statements
        self.why = f"Refused by {_provider(self.scope)}, with the error below."
        self.hints = self._hints()

    def _hints(self) -> tuple[str, ...]:
        native = (
            f"# `{self.repair.key}` stands in what was sent, and not in the short form of histories: with `format` the",
            "# rule edits the messages as that format writes them, and its tests hold them so.",
            f"format: {self.repair.kind}",
        )
        guess = (
            "# A guess from the words of the error, tried on the history below. See whether it is what the provider",
            "# wants; `historycompat explain VERB` shows each verb with examples.",
        )
        finding = (
            "# Nothing is repaired yet: `report` notes a finding. Put in its place what repairs the history;",
            "# `historycompat explain VERB` shows each verb with examples.",
        )
        return (native if self.repair.kind else ()) + (finding if self.repair.after is None else guess)

    def _trigger(self) -> Iterator[str]:
        yield "    # What varies from request to request is left open; shorten it to the words that tell the cause."
        first, *rest = text_lines(self.pattern, 8, 8)
        yield from ("    on_error:", f"      - {first}", *rest)
        if self.repair.after is not None:
            yield "    # `both` would repair before the request as well, and save the refusal."
            yield "    phase: after"

    def _tests(self) -> Iterator[dict[str, Any]]:
        status = {"status": self.view.status} if self.view.status else {}
        case = {"model": self.model, "given": self.repair.given}
        then: Any = {"report": FINDING} if self.repair.after is None else self.repair.after
        yield {
            "name": "the history that was refused",
            **case,
            "error": {**status, "message": self.message},
            "then": then,
        }
        other = {**status, "message": "Something else is wrong."}
        yield {"name": "after another error it is left alone", **case, "error": other, "then": "unchanged"}


def _telling(view: ErrorView, pattern: ErrorPattern) -> str:
    """The shortest text of the error that the pattern matches."""
    regex = compile_regex(pattern.regex.pattern, pattern.regex.flags)
    return min((text for text in view.texts if regex.search(text)), key=len)


def _provider(found: Scope | None) -> str:
    return found.pattern.rstrip("/") if found and not found.pattern.startswith("*/") else "the provider"


def _text_field(name: str, text: str) -> Iterator[str]:
    first, *rest = text_lines(text, 6, 4 + len(name) + 2)
    yield from (f"    {name}: {first}", *rest)


def _case(case: dict[str, Any]) -> Iterator[str]:
    for at, (name, value) in enumerate(case.items()):
        head = f"{'      - ' if at == 0 else '        '}{name}:"
        first, *rest = lines(value, 10, lead=len(head) + 1)
        yield f"{head} {first}".rstrip()
        yield from rest
