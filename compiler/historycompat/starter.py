"""A name, or an error and the history that drew it → a pack to start from, which checks and passes its tests."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from historycompat import formats
from historycompat.compiling import compile_source
from historycompat.error_patterns import pattern_for
from historycompat.errors import HistoryCompatError, RuleError
from historycompat.formats.unread import unread_keys
from historycompat.language.unparse import error_pattern
from historycompat.language.yaml_text import flow, lines, text_lines
from historycompat.models.normalise import facts_of, normalise
from historycompat.models.patterns import pattern_problem, unknown_provider
from historycompat.regex import compile_regex
from historycompat.runtime.error_view import ErrorView
from historycompat.runtime.interpret import interpret
from historycompat.shorthand import ROLES, plain, short
from historycompat.source import Source
from historycompat.tree import ErrorPattern, ModelPattern
from historycompat.view import Context

_MESSAGES = 8  # of a history that a first test keeps
_PLAIN = re.compile(r"(?:\*|[\w.-]+)/[\w.-]*", re.ASCII)  # what a model pattern can be
_NO_MODEL = "unknown-model"
_FINDING = "a history that the provider refuses"
_TEXT = 60  # characters of a text in it
_KEPT = frozenset({"id", "toolCallId", "toolName", "type", "role", "mediaType", "data", "signature"})


class NotStarted(HistoryCompatError):
    """No rule can be started from what was given."""


# What errors speak of, and what repairs it: tried in this order on the history at hand.
_REPAIRS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"too long|maximum length|at most \d+ char", ("map ids unless /^.{1,40}$/ shorten 40",)),
    (
        r"\bids?\b.*(pattern|invalid|match|must be)|call.?id",
        ('map ids unless /^[a-zA-Z0-9_-]+$/ replacing /[^a-zA-Z0-9_-]/ with "_"',),
    ),
    (r"duplicate|unique", ("drop call:duplicate", "drop result:duplicate")),
    (
        r"tool.?use|tool.?call|function.?call|tool.?result|response|output",
        (
            "move result:late to after call",
            "answer call:orphan with {type: 'error-text', value: 'No result.'}",
            "drop result:orphan",
        ),
    ),
    (r"trailing whitespace", (r'replace /\s+$/ with "" in text on assistant:last/text:last',)),
    (r"reasoning|thinking|thought|signature", ("drop assistant/reasoning",)),
    (r"system|developer|beginning", ("move message system:late to start",)),
    (r"empty|blank|whitespace|at least one", ("drop */text:empty", "drop message :empty")),
    (r"alternat|role|consecutive", ("merge message user|assistant",)),
    (
        r"image|file|media|document|vision|multimodal",
        tuple(f"convert {r}/file|image into text {{type: 'text', text: '(a file)'}}" for r in ("user", "assistant")),
    ),
    (r"cache", ("unset providerOptions.anthropic.cacheControl prune on */*",)),
    (
        r"prefill|end with|last message|final",
        (
            "insert message {role: 'user', content: [{type: 'text', text: 'Continue.'}]} at_end\n"
            "where $messages[-1].role == 'assistant'",
        ),
    ),
)


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
    view = ErrorView.of(evidence.error)
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

    statement = "drop assistant/reasoning"
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
        first, *rest = text_lines(self.statement, 8, 8)
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
        self.given = _canonical(evidence.history)
        self.unread = _unread(evidence.history, view.texts)
        self.statement, self.after = self._repair()
        self.why = f"Refused by {_provider(self.scope)}, with the error below."
        self.hints = self._hints()

    def _repair(self) -> tuple[str, list[Any] | None]:
        said = "\n".join(self.view.texts)
        for about, statements in _REPAIRS:
            for statement in statements if re.search(about, said, re.IGNORECASE | re.DOTALL) else ():
                if (after := self._applied(statement)) is not None:
                    return statement, after
        return f'report "{_FINDING}" prompt', None

    def _applied(self, statement: str) -> list[Any] | None:
        """The history after a statement; None where it changes nothing."""
        source = Source("starter.rules", f"rule {self.name} {{\n{statement}\n}}\n")
        try:
            rules = compile_source(source, "rules")
        except RuleError:
            return None
        context = Context(model=facts_of(normalise(self.model)))
        run = interpret(rules, {"messages": copy.deepcopy(self.given)}, context)
        done: list[Any] = run.root["messages"]
        return done if run.records and not run.faults else None

    def _hints(self) -> tuple[str, ...]:
        if self.after is None and self.unread:
            key, kind = self.unread
            return (
                f"# Nothing is repaired yet. `{key}` stands in what was sent, and not in the short form below: a rule",
                f"# that is about it says `format: {kind}`, and its tests hold the messages as they were sent.",
            )
        if self.after is None:
            return (
                "# Nothing is repaired yet: `report` notes a finding. Put in its place what repairs the history;",
                "# `historycompat explain VERB` shows each verb with examples.",
            )
        return (
            "# A guess from the words of the error, tried on the history below. See whether it is what the provider",
            "# wants; `historycompat explain VERB` shows each verb with examples.",
        )

    def _trigger(self) -> Iterator[str]:
        yield "    # What varies from request to request is left open; shorten it to the words that tell the cause."
        first, *rest = text_lines(self.pattern, 8, 8)
        yield from ("    on_error:", f"      - {first}", *rest)
        if self.after is not None:
            yield "    # `both` would repair before the request as well, and save the refusal."
            yield "    phase: after"

    def _tests(self) -> Iterator[dict[str, Any]]:
        status = {"status": self.view.status} if self.view.status else {}
        given = short(self.given)
        case = {"model": self.model, "given": given}
        then: Any = {"report": _FINDING} if self.after is None else short(plain(self.after))
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


def _canonical(history: Any) -> list[Any]:
    """The canonical messages of a history, shortened to what a test needs."""
    if history is None:
        return [{"role": "user", "content": [{"type": "text", "text": "hi"}]}]
    messages = formats.detect(history).format.read(history).messages
    kept = [message for message in messages if isinstance(message, dict) and message.get("role") in ROLES]
    return [_shortened(message) for message in kept[-_MESSAGES:]]


def _unread(history: Any, texts: Sequence[str]) -> tuple[str, str] | None:
    """A key that an error names and that only the native form of the history has, and the name of that format."""
    if history is None:
        return None
    found, said = formats.detect(history).format, frozenset(re.findall(r"\w+", " ".join(texts)))
    key = next(unread_keys(history, said - _KEPT, found.read), None)
    return (key, found.name) if key else None


def _shortened(value: Any, key: str = "") -> Any:
    """A value with long texts cut, and long data left out."""
    if isinstance(value, dict):
        return {name: _shortened(item, name) for name, item in value.items()}
    if isinstance(value, list):
        return [_shortened(item) for item in value]
    if isinstance(value, str) and len(value) > _TEXT and key not in _KEPT:
        return value[:_TEXT].rsplit(" ", 1)[0] + " ..."
    return value


def _text_field(name: str, text: str) -> Iterator[str]:
    first, *rest = text_lines(text, 6, 4 + len(name) + 2)
    yield from (f"    {name}: {first}", *rest)


def _case(case: dict[str, Any]) -> Iterator[str]:
    for at, (name, value) in enumerate(case.items()):
        head = f"{'      - ' if at == 0 else '        '}{name}:"
        first, *rest = lines(value, 10, lead=len(head) + 1)
        yield f"{head} {first}".rstrip()
        yield from rest
