"""What was written: the typed tree of a rule file, every node with its span."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from historycompat.source import Source, Span


@dataclass(frozen=True, slots=True)
class Expr:
    """A JMESPath node, in the shape of the jmespath library's own tree.

    `kind` and `value` are the library's `type` and `value` (`field`, `literal`, `comparator`, ...), plus one kind of
    ours: `variable`, whose value is the name without `$`. `children` are nodes, except in a `slice`, where they are
    integers or None, and a `key_val_pair`, which stands inside `multi_select_dict`.
    """

    kind: str
    children: tuple[Any, ...] = ()
    value: Any = None
    span: Span | None = field(default=None, compare=False, repr=False)

    def walk(self) -> Iterator[Expr]:
        """This node and every node below it, parents first."""
        yield self
        for child in self.children:
            if isinstance(child, Expr):
                yield from child.walk()


@dataclass(frozen=True, slots=True)
class Word:
    """A bare word, name or version: text that stands for itself."""

    text: str
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Text:
    """A quoted string with its escapes resolved."""

    value: str
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Number:
    value: int
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Regex:
    """`/pattern/flags`; `\\/` is already `/`."""

    pattern: str
    flags: str
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Path:
    """A dotted path of object keys: `providerOptions.google`."""

    keys: tuple[str, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Except:
    """`except first|last N`."""

    end: str
    count: int
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Target:
    """What a statement is about.

    `kind` is `part`, `message`, `call`, `result`, `prompt` or `path`. `roles` and `types` are the alternatives as
    written (`*` stands as `"*"`; empty where none was written). `states` belong to the message (`message` and `part`
    targets: the ones behind the role), the call or the result; `part_states` stand behind a part's type.
    """

    kind: str
    roles: tuple[str, ...] = ()
    states: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    part_states: tuple[str, ...] = ()
    path: Expr | None = None
    where: Expr | None = None
    exclude: Except | None = None
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Mapper:
    """One function of `map`: `replacing /re/ with "s"`, `hash N`, `prefix "s"`, `shorten N`."""

    kind: str
    regex: Regex | None = None
    text: str | None = None
    count: int | None = None
    span: Span | None = field(default=None, compare=False, repr=False)


Arg = Expr | Word | Text | Number | Regex | Path | Target | tuple["Arg", ...] | tuple[Mapper, ...]


@dataclass(frozen=True, slots=True)
class Statement:
    """A verb, its target and its other arguments by name (the names of each verb's `build` function)."""

    verb: str
    target: Target | None
    args: dict[str, Any] = field(default_factory=dict)
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ModelPattern:
    """`[not] [^]vendor/name-prefix [>= 4.6] [< 5.5]`; `text` is the pattern without `not` and bounds."""

    text: str
    negated: bool = False
    bounds: tuple[tuple[str, str], ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ErrorPattern:
    """`[400|422] /regex/flags`; no status satisfies any."""

    statuses: tuple[int, ...]
    regex: Regex
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule as written: absent clauses are None or empty. `spans` holds the span of each clause by its name."""

    name: str
    do: tuple[Statement, ...]
    because: str | None = None
    see: tuple[str, ...] = ()
    verified: str | None = None
    models: tuple[ModelPattern, ...] = ()
    when: Expr | None = None
    on_error: tuple[ErrorPattern, ...] = ()
    phase: str | None = None
    persist: bool | None = None
    format: str | None = None
    safety: str | None = None
    replaces: str | None = None
    tests: tuple[dict[str, Any], ...] = ()
    allowances: tuple[Allowance, ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False)
    spans: dict[str, Span] = field(default_factory=dict, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Allowance:
    """`# allow: W603 reason` above a rule."""

    code: str
    reason: str
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Pack:
    """A rule file. `name` is the pack's; `language` the version of the rule language (1)."""

    name: str
    language: int
    rules: tuple[Rule, ...]
    source: Source = field(compare=False, repr=False)
