"""Conditions → small values to try them on, and whether they always come out the same.

A condition is tried on every combination of a few values for each path that it reads. What cannot be tried so (calls
of most functions, comparisons of two paths, lists) counts as a coin that may fall either way, the same one wherever
the same text stands. So a verdict may be missing, but what there is holds.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from random import Random
from types import SimpleNamespace
from typing import Any

from historycompat.edits import MISSING, same
from historycompat.language.checks.samples import texts
from historycompat.language.expressions.closures import compute
from historycompat.language.expressions.kinds import VARIABLES
from historycompat.language.expressions.values import truthy
from historycompat.tree import Expr

# Values of every type, empty and not, for a path of which nothing is known.
_ANYTHING: tuple[Any, ...] = (MISSING, None, "", " ", "other", 7, True, [], ["item"], {})

# What variables can be where no path leads into them; what is named in neither is an object or null.
_VARIABLES: dict[str, tuple[Any, ...]] = {
    "$index": (0, 1, 7), "$position": (0, 1, 7), "$messages": (["item"],), "$message": (), "$model": (),
}  # fmt: skip

_MOST_WORLDS = 20_000
_MOST_COINS = 6
_TRIES = 300
_LONGEST = 2_000

_LOGIC = frozenset({"and_expression", "or_expression", "not_expression"})

# A path is a tuple of keys; the first is `@` or the name of a variable. What is fixed are the values that it can have.
Keys = tuple[str, ...]
Fixed = Mapping[Keys, Iterable[Any]]


@dataclass(slots=True)
class _Place:
    """A place that conditions read: what they compare it with, and the places inside it."""

    values: list[Any]
    inside: dict[str, _Place] = field(default_factory=dict)

    def add(self, value: Any) -> None:
        if not any(same(value, known) for known in self.values):
            self.values.append(value)

    def size(self) -> int:
        return len(self.values) + (math.prod(place.size() for place in self.inside.values()) if self.inside else 0)

    def all(self) -> Iterator[Any]:
        yield from self.values
        yield from self._objects() if self.inside else [] if self.values else [{"other": 7}]

    def any(self, chance: Random) -> Any:
        if self.inside and (not self.values or chance.random() < 0.5):
            held = {key: place.any(chance) for key, place in self.inside.items()}
            return {key: value for key, value in held.items() if value is not MISSING}
        return chance.choice(self.values or [{"other": 7}])

    def _objects(self) -> Iterator[dict[str, Any]]:
        rows = [list(place.all()) for place in self.inside.values()]
        for row in product(*rows):
            yield {key: value for key, value in zip(self.inside, row, strict=True) if value is not MISSING}


class Worlds:
    """Everything that some conditions can meet, as far as they can tell it apart."""

    def __init__(self, conditions: Iterable[Expr], fixed: Fixed) -> None:
        self.roots: dict[str, _Place] = {"@": _Place([])}
        self.coins: list[Expr] = []
        self._closed = set(fixed)
        for keys, values in fixed.items():
            self._place(keys).values[:] = values
        for condition in conditions:
            self._read(condition)

    def count(self) -> int:
        return math.prod(place.size() or 1 for place in self.roots.values())

    def too_many(self) -> bool:
        return len(self.coins) > _MOST_COINS or self.count() << len(self.coins) > _MOST_WORLDS

    def each(self) -> Iterator[tuple[Any, Any]]:
        """Every value of `@` with what `$variables` are read from."""
        at, *others = self.roots.items()
        rows = [list(place.all()) for _, place in others]
        for value in at[1].all():
            for row in product(*rows):
                yield value, _variables({name: held for (name, _), held in zip(others, row, strict=True)})

    def some(self, count: int) -> Iterator[tuple[Any, Any]]:
        """The same, of some worlds: always the same ones, from all over."""
        chance = Random(0)
        for _ in range(count):
            held = {name: place.any(chance) for name, place in self.roots.items()}
            yield held.pop("@"), _variables(held)

    def outcomes(self, conditions: tuple[Expr, ...]) -> Iterator[tuple[bool, ...]]:
        """How the conditions come out, together, in every world."""
        for throw in product((True, False), repeat=len(self.coins)):
            fallen = list(zip(self.coins, throw, strict=True))
            tests = [compute(_settled(condition, fallen)) for condition in conditions]
            for value, hit in self.each():
                yield tuple(truthy(test(value, hit)) for test in tests)

    # ----- what conditions read

    def _place(self, keys: Keys) -> _Place:
        root = keys[0]
        place = self.roots.setdefault(root, _Place(list(_VARIABLES.get(root, (None, {"other": 7})))))
        for key in keys[1:]:
            place = place.inside.setdefault(key, _Place(list(_ANYTHING)))
        if keys == ("@",) and not self._closed:  # of what a `path` selects nothing is known
            place.values = [*_ANYTHING[1:]]
        return place

    def _meets(self, keys: Keys, *values: Any) -> None:
        place = self._place(keys)
        for value in values if keys not in self._closed else ():
            place.add(value)

    def _read(self, node: Expr) -> None:
        if node.kind in _LOGIC:
            for child in node.children:
                self._read(child)
        elif node.kind != "literal" and not self._reads_plainly(node):
            self._hint(node)
            if node not in self.coins:
                self.coins.append(node)

    def _reads_plainly(self, node: Expr) -> bool:
        """Notes the paths that a condition can be tried by; False where it is a coin."""
        match node:
            case Expr("comparator", (one, other), "eq" | "ne"):
                return self._compares(one, other) or self._compares(other, one)
            case Expr("function_expression", (path, Expr("literal", (), str(key))), "has") if keys := path_of(path):
                self._place((*keys, key))
                return True
            case Expr("function_expression", (path,), "blank") if keys := path_of(path):
                self._place(keys)
                return True
            case Expr("function_expression", (Expr("multi_select_list", items), path), "contains"):
                keys = path_of(path)
                if keys and all(item.kind == "literal" for item in items):
                    self._meets(keys, *(item.value for item in items))
                    return True
                return False
        if keys := path_of(node):
            self._place(keys)
        return bool(keys)

    def _compares(self, side: Expr, other: Expr) -> bool:
        if other.kind != "literal":
            return False
        if side.kind == "function_expression" and side.value == "type" and (keys := path_of(side.children[0])):
            self._place(keys)
            return True
        if keys := path_of(side):
            self._meets(keys, other.value)
        return bool(keys)

    def _hint(self, node: Expr) -> None:
        """Values that a coin may really fall by."""
        match node:
            case Expr("function_expression", (path, Expr("literal", (), str(text))), name) if keys := _with_default(
                path
            ):
                self._meets(keys, *(texts(text)[:3] if name == "matches" else (text,)))
            case Expr("comparator", (one, other)):
                for side, limit in ((one, other), (other, one)):
                    if limit.kind == "literal" and isinstance(limit.value, int):
                        self._hint_size(side, limit.value)

    def _hint_size(self, side: Expr, limit: int) -> None:
        if side.kind == "function_expression" and side.value == "length" and limit < _LONGEST:
            if keys := _with_default(side.children[0]):
                self._meets(keys, *("x" * max(size, 0) for size in (limit - 1, limit, limit + 1)))
        elif keys := _with_default(side):
            self._meets(keys, limit - 1, limit + 1)


def decided(condition: Expr, fixed: Fixed) -> bool | None:
    """Whether a condition always holds, or never; None where that depends, or is too much to try."""
    worlds = Worlds((condition,), fixed)
    if worlds.too_many():
        return None
    found = set[bool]()
    for (outcome,) in worlds.outcomes((condition,)):
        found.add(outcome)
        if len(found) > 1:
            return None
    return found.pop() if found else None


def implies(one: Expr | None, other: Expr | None, fixed: Fixed) -> bool:
    """Whether the second condition holds wherever the first one does; no condition always holds."""
    if other is None or one == other:
        return True
    if one is None:
        return decided(other, fixed) is True
    worlds = Worlds((one, other), fixed)
    return not worlds.too_many() and all(then or not given for given, then in worlds.outcomes((one, other)))


def examples(condition: Expr | None, fixed: Fixed, most: int) -> list[Any]:
    """A few values for `@` that a condition holds for, the least odd of some hundreds; any value if there is none."""
    worlds = Worlds(() if condition is None else (condition,), fixed)
    met = list(worlds.each() if worlds.count() <= _TRIES else worlds.some(_TRIES))
    test = None if condition is None else compute(condition)
    held = [value for value, hit in met if test is None or _holds(test, value, hit)] or [value for value, _ in met[:1]]
    found = {repr(value): value for value in held}
    return sorted(found.values(), key=_oddness)[:most]


def _oddness(value: Any) -> int:
    """How much of a value is not what hosts usually store: texts, and objects with something in them."""
    if isinstance(value, dict):
        return sum(map(_oddness, value.values())) if value else 1
    return 0 if isinstance(value, str) and value != " " else 1


def read_keys(condition: Expr | None) -> frozenset[str]:
    """The keys of `@` that a condition reads."""
    paths = (path_of(node) for node in condition.walk()) if condition else ()
    return frozenset(keys[1] for keys in paths if keys and keys[0] == "@" and len(keys) > 1)


def _holds(test: Any, value: Any, hit: Any) -> bool:
    try:
        return truthy(test(value, hit))
    except ValueError:  # what every JMESPath error is
        return False


def path_of(node: Expr) -> Keys | None:
    """The keys of a plain path, `@` or a variable first; None for anything else."""
    match node:
        case Expr("field"):
            return ("@", node.value)
        case Expr("current"):
            return ("@",)
        case Expr("variable") if node.value in VARIABLES:
            return (f"${node.value}",)
        case Expr("subexpression", (first, *rest)):
            keys = path_of(first)
            return (*keys, *(step.value for step in rest)) if keys and all(s.kind == "field" for s in rest) else None
    return None


def _with_default(node: Expr) -> Keys | None:
    """The path in `path || 'default'`, or a path alone."""
    if node.kind == "or_expression" and node.children[1].kind == "literal":
        node = node.children[0]
    return path_of(node)


def _variables(held: dict[str, Any]) -> Any:
    return SimpleNamespace(**dict.fromkeys(VARIABLES) | {name[1:]: value for name, value in held.items()})


def _settled(node: Expr, fallen: list[tuple[Expr, bool]]) -> Expr:
    """The condition with its coins replaced by how they fell."""
    if node.kind in _LOGIC:
        return Expr(node.kind, tuple(_settled(child, fallen) for child in node.children), node.value)
    return next((Expr("literal", (), side) for coin, side in fallen if coin == node), node)
