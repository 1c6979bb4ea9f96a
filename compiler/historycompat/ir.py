"""What was meant: a checked rule with every default resolved, as plain picklable data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from historycompat.source import Place
from historycompat.tree import Expr, ModelPattern


@dataclass(frozen=True, slots=True)
class Target:
    """What a statement is about. None for `roles` or `types` is "any"; expressions carry no spans here."""

    kind: str
    roles: frozenset[str] | None = None
    states: tuple[str, ...] = ()
    types: frozenset[str] | None = None
    part_states: tuple[str, ...] = ()
    path: Expr | None = None
    where: Expr | None = None
    exclude: tuple[str, int] | None = None


@dataclass(frozen=True, slots=True)
class Pattern:
    """A regular expression of the RE2 dialect and its flags."""

    text: str
    flags: str = ""


@dataclass(frozen=True, slots=True)
class MapStep:
    """One function of a `map`: `kind` is `replacing`, `hash`, `prefix` or `shorten`."""

    kind: str
    pattern: Pattern | None = None
    text: str = ""
    count: int = 0


# An argument of a verb: a key path is a tuple of strings, several paths a tuple of tuples.
Arg = Expr | Pattern | Target | str | int | bool | None | tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Statement:
    """A verb with its arguments under the names of the verb's `build` parameters.

    `variables` are the `$variables` that its conditions and expressions read; `text` is the statement as written.
    """

    verb: str
    target: Target
    args: tuple[tuple[str, Arg], ...]
    place: Place
    text: str
    variables: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Trigger:
    """One alternative of `on_error`; no statuses satisfies any."""

    statuses: frozenset[int]
    pattern: Pattern


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule as it will run. Safety is `safe`, `lossy` or `unsafe`; phase is `before`, `after` or `both`."""

    name: str
    statements: tuple[Statement, ...]
    models: tuple[ModelPattern, ...]
    when: Expr | None
    triggers: tuple[Trigger, ...]
    phase: str
    persist: bool
    format: str | None
    safety: str
    replaces: str | None
    because: str
    see: tuple[str, ...]
    verified: str
    tests: tuple[Any, ...]
    pack: str
    place: Place
