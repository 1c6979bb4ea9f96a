"""E203 for wire-shape rules: keys that look like one of the format's own, and that nothing there has.

A key that looks like no other passes: what rules take away is mostly what a vendor's schema does not have. The keys are
those of the vendors' schemas (`formats/keys.json`) and of the dialects that a format reads.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from typing import Any

from historycompat import tree
from historycompat.errors import Complaint, respelt
from historycompat.formats import FORMATS
from historycompat.pairs import Site
from historycompat.source import Span
from historycompat.tree import Expr

Objects = frozenset[int] | None  # by number what a value can be or hold, lists left aside; None: anything

_TYPO = 0.75  # how near a key must be to one of the format's own, of about its length, to be called misspelt
_ROOT = -1  # the number of the request body


# What goes away may well be another vendor's spelling of a key.
_TAKEN = frozenset({("unset", "paths"), ("rename", "path")})


@cache
def _tables() -> dict[str, Any]:
    text = files("historycompat.formats").joinpath("keys.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def field_complaints(rule: tree.Rule) -> Iterator[Complaint]:
    """The complaints about one rule whose format is known."""
    keys = _Keys(rule.format or "")
    if rule.when is not None:
        keys.read(rule.when, keys.root)
    for statement in rule.do:
        for target in (statement.target, *statement.args.values()):
            if isinstance(target, tree.Target):
                keys.select(target)
        at = keys.selected(statement.target)
        for name, value in statement.args.items():
            keys.argument(value, at, taken=(statement.verb, name) in _TAKEN)
    yield from keys.complaints()


def _resembling(key: str, known: Iterable[str]) -> list[str]:
    """The keys that a key was meant to be: spelt in another case, or off by a letter or two; the likeliest first."""
    bare = _bare(key)
    other_case = sorted(each for each in known if _bare(each) == bare)
    close = get_close_matches(key, [each for each in known if abs(len(each) - len(key)) <= 1], 3, _TYPO)
    return list(dict.fromkeys([*other_case, *close]))


def _bare(key: str) -> str:
    return key.replace("_", "").casefold()


class _Keys:
    """The keys of a format, and those that a rule names and nothing has."""

    def __init__(self, name: str) -> None:
        self.name, self.shape = name, FORMATS[name].shape
        table = _tables()[name]
        self.objects: list[dict[str, list[int] | None]] = table["objects"]
        self.also: frozenset[str] = frozenset(table["also"])
        self.items: Objects = frozenset(table["items"])
        self.root: Objects = frozenset({_ROOT})
        self.unknown: dict[tuple[str, Span | None], list[str]] = {}

    def complaints(self) -> Iterator[Complaint]:
        for (key, span), known in self.unknown.items():
            message = f"nothing that stands here in {self.name} has a key {key}"
            yield Complaint("E203", message, span, f'did you mean "{known[0]}"?', fix=respelt(span, key, known))

    # ----- where a target is

    def select(self, target: tree.Target) -> None:
        if target.path is not None:
            self.read(target.path, self.root)
        if target.where is not None:
            self.read(target.where, self.selected(target))

    def selected(self, target: tree.Target | None) -> Objects:
        """What a target selects."""
        if target is None or target.kind == "prompt":
            return self.root
        match target.kind:
            case "path":
                return self.read(target.path, self.root) if target.path else None
            case "message":
                return self.items
            case "part":
                return self.under(self.items, self.shape.parts)
            case "call":
                return self._at(self.shape.calls)
        return self._at(self.shape.results)

    def _at(self, sites: Iterable[Site]) -> Objects:
        found: frozenset[int] = frozenset()
        for site in sites:
            own: Objects = self.items
            for key in site.place:
                own = self.under(own, key)
            if own is None:
                return None
            found |= own
        return found or None

    # ----- what is under a key

    def under(self, at: Objects, key: str) -> Objects:
        """What stands under a key of some objects; None too where none of them has it."""
        found: set[int] = set()
        for number in at or ():
            more = self._under(number, key)
            if more is not None:
                found |= more
            elif key in self._own(number):
                return None
        return frozenset(found) or None

    def _under(self, number: int, key: str) -> Objects:
        if number == _ROOT:
            return self.items if key == self.shape.spine[0] and len(self.shape.spine) == 1 else None
        held = self.objects[number].get(key)
        return None if held is None else frozenset(held)

    def _own(self, number: int) -> Iterable[str]:
        return (str(self.shape.spine[0]),) if number == _ROOT else self.objects[number]

    def step(self, at: Objects, key: str, span: Span | None, *, taken: bool = False) -> Objects:
        """What stands under a key, which is noted where it looks misspelt; `taken`: it may be spelt in another case."""
        if at is None:
            return None
        known = {name for number in at for name in self._own(number)}
        if key not in known | self.also:
            near = _resembling(key, known | self.also)
            if near and not (taken and _bare(near[0]) == _bare(key)):
                self.unknown.setdefault((key, span), near)
            return None
        return self.under(at, key)

    # ----- arguments and expressions

    def argument(self, value: Any, at: Objects, *, taken: bool) -> None:
        match value:
            case Expr():
                self.read(value, at)
            case tree.Path():
                for key in value.keys:
                    at = self.step(at, key, value.span, taken=taken)
            case tuple():
                for item in value:
                    self.argument(item, at, taken=taken)

    def read(self, expr: Expr, at: Objects) -> Objects:
        """What an expression gives, read where `@` is some objects; lists of objects count as those."""
        match expr:
            case Expr("field"):
                return self.step(at, str(expr.value), expr.span)
            case Expr("current" | "identity" | "index" | "slice"):
                return at
            case Expr("subexpression" | "index_expression" | "pipe" | "projection" | "filter_projection" | "flatten"):
                base, *rest = expr.children
                found = self.read(base, at)
                if expr.kind == "filter_projection":
                    self.read(rest.pop(), found)
                for each in rest:
                    found = self.read(each, found)
                return found
            case Expr("variable"):
                return self._variable(str(expr.value))
            case Expr("or_expression" | "and_expression", (left, right)):
                one, other = self.read(left, at), self.read(right, at)
                return other if expr.kind == "and_expression" else one and other and one | other
        for child in expr.children:
            if isinstance(child, Expr):
                self.read(child, None if expr.kind in ("expref", "value_projection") else at)
        return None

    def _variable(self, name: str) -> Objects:
        return self.items if name in ("message", "messages") else None
