"""An error and the history that drew it → a first statement that repairs this history, tried on it."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from historycompat import formats
from historycompat.compiling import compile_source
from historycompat.errors import RuleError
from historycompat.formats.format import Format
from historycompat.formats.unread import unread_keys
from historycompat.models.normalise import facts_of, normalise
from historycompat.runtime.interpret import interpret
from historycompat.shorthand import ROLES, plain, short
from historycompat.source import Source
from historycompat.view import CANONICAL, Context

FINDING = "a history that the provider refuses"
_MESSAGES = 8  # of a history that a first test keeps
_TEXT = 60  # characters of a text in it
_KEPT = frozenset({"id", "toolCallId", "toolName", "type", "role", "mediaType", "data", "signature"})
_REFUSES_KEYS = re.compile(
    r"unknown|unexpected|unrecogni|unsupported|extra|additional|not (?:permitted|allowed|supported|exist)|no such",
    re.IGNORECASE,
)

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
class FirstRepair:
    """What to do about a refused history, and this history as a test holds it, before and after: in short form, or as
    it was sent where `kind` names its format. `after` is None where nothing is repaired yet; `key` is the key that the
    error names and that only the native history has."""

    statements: tuple[str, ...]
    given: list[Any]
    after: list[Any] | None = None
    kind: str | None = None
    key: str | None = None


def first_repair(texts: Sequence[str], history: Any, model: str) -> FirstRepair:
    """The first repair that changes the history, of those that the texts of its refusal suggest; a report of it where
    none does. Raises UnknownFormat."""
    if history is None:
        history = [{"role": "user", "content": "hi"}]
    kind, said = formats.detect(history).format, "\n".join(texts)
    given = _canonical(kind, history)
    for statement in _suggested(said):
        if (after := _applied((statement,), given, model)) is not None:
            return FirstRepair((statement,), short(given), short(plain(after)))
    report = (f'report "{FINDING}" prompt',)
    native, key = kind.wrap(history).get(_list_key(kind)), _unread(kind, history, said)
    if key is None or not isinstance(native, list):
        return FirstRepair(report, short(given))
    sent = [_shortened(item) for item in native[-_MESSAGES:]]
    unsetting = tuple(_unsetting(key, kind, sent)) if _REFUSES_KEYS.search(said) else ()
    after = _applied(unsetting, sent, model, kind)
    return FirstRepair(report if after is None else unsetting, sent, after, kind.name, key)


def _suggested(said: str) -> Iterator[str]:
    for about, statements in _REPAIRS:
        yield from statements if re.search(about, said, re.IGNORECASE | re.DOTALL) else ()


def _unsetting(key: str, kind: Format, sent: list[Any]) -> Iterator[str]:
    """Statements that take a key away where it stands."""
    name = key if key.isidentifier() and key.isascii() else json.dumps(key)
    for path in dict.fromkeys(_places(key, sent, _list_key(kind))):
        yield f"unset {name} on path {path}"


def _places(key: str, value: Any, path: str) -> Iterator[str]:
    """The paths of the objects that have a key, with all indexes left open."""
    if isinstance(value, dict):
        if key in value:
            yield path
        for name, item in value.items():
            if name != key:
                yield from _places(key, item, f"{path}.{name if name.isidentifier() else json.dumps(name)}")
    elif isinstance(value, list):
        for item in value:
            yield from _places(key, item, f"{path}[*]")


def _applied(statements: tuple[str, ...], given: list[Any], model: str, kind: Format | None = None) -> list[Any] | None:
    """The messages after some statements; None where they change nothing."""
    text = "\n".join((*([f"format {kind.name}"] if kind else []), *statements))
    source = Source("starter.rules", f"rule starter {{\n{text}\n}}\n")
    try:
        rules = compile_source(source, "rules")
    except RuleError:
        return None
    spine, shape = (_list_key(kind), kind.shape) if kind else ("messages", CANONICAL)
    context = Context(model=facts_of(normalise(model)))
    run = interpret(rules, {spine: copy.deepcopy(given)}, context, shape=shape)
    done: list[Any] = run.root[spine]
    return done if run.records and not run.faults else None


def _canonical(kind: Format, history: Any) -> list[Any]:
    """The canonical messages of a history, shortened to what a test needs."""
    kept = [message for message in kind.read(history).messages if message.get("role") in ROLES]
    return [_shortened(message) for message in kept[-_MESSAGES:]]


def _list_key(kind: Format) -> str:
    return str(kind.spine[0])


def _unread(kind: Format, history: Any, said: str) -> str | None:
    """A key that an error names and that only the native form of the history has."""
    named = {*re.findall(r"\w+", said), *re.findall(r"[\w-]+", said)}
    return next(unread_keys(history, named - _KEPT, kind.read), None)


def _shortened(value: Any, key: str = "") -> Any:
    """A value with long texts cut, and long data left out."""
    if isinstance(value, dict):
        return {name: _shortened(item, name) for name, item in value.items()}
    if isinstance(value, list):
        return [_shortened(item) for item in value]
    if isinstance(value, str) and len(value) > _TEXT and key not in _KEPT:
        return value[:_TEXT].rsplit(" ", 1)[0] + " ..."
    return value
