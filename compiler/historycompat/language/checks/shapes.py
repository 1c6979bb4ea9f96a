"""Expr → what its value looks like in a canonical prompt, as far as that is known, and the fields that nothing has."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache, reduce

from historycompat import tree
from historycompat.language.expressions.functions import FUNCTIONS
from historycompat.language.vocabulary import CHOICES, JSON_TYPES, OBJECTS, PART_OBJECTS, VARIABLE_SHAPES
from historycompat.tree import Expr


@dataclass(frozen=True, slots=True)
class Shape:
    """What a value can be.

    `kinds` are its JSON types where it is there at all. `objects` names what it is if it is an object (empty: nothing
    is known), `item` what its elements are. `choices` are the strings it can be, None where it can be any.
    `sure`: it is never missing.
    """

    kinds: frozenset[str] = JSON_TYPES
    objects: frozenset[str] = frozenset()
    item: Shape | None = None
    choices: frozenset[str] | None = None
    sure: bool = False

    def __or__(self, other: Shape) -> Shape:
        """What is either. Where nothing is known of one, nothing is known."""
        known = bool(self.objects) == bool(other.objects)
        return Shape(
            self.kinds | other.kinds,
            self.objects | other.objects if known else frozenset(),
            self.item | other.item if self.item and other.item else None,
            None if self.choices is None or other.choices is None else self.choices | other.choices,
            self.sure and other.sure,
        )


UNKNOWN = Shape()
BOOLEAN = Shape(frozenset({"boolean"}))


@cache
def shape_of(text: str) -> Shape:
    """The shape that a field of the vocabulary describes."""
    sure = not text.endswith("?")
    shapes = [_named(word) for word in text.removesuffix("?").split("|")]
    kinds = frozenset[str]().union(*(shape.kinds for shape in shapes))
    objects = frozenset[str]().union(*(shape.objects for shape in shapes))
    return Shape(kinds, objects, next((s.item for s in shapes if s.item), None), sure=sure and kinds != JSON_TYPES)


def _named(word: str) -> Shape:
    if word.startswith("["):
        return Shape(frozenset({"array"}), item=shape_of(word[1:-1]))
    if word == "part":
        return parts(PART_OBJECTS)
    if word in OBJECTS:
        return Shape(frozenset({"object"}), frozenset({word}))
    return Shape(frozenset({word}) if word in JSON_TYPES else JSON_TYPES)


def parts(objects: frozenset[str]) -> Shape:
    return Shape(frozenset({"object"}), objects, sure=True)


def field_of(at: Shape, name: str) -> Shape | None:
    """The shape of a field; None where nothing that `at` can be has it."""
    if "object" not in at.kinds and at != BOOLEAN:  # of `!a.b` more is said elsewhere
        return None
    if not at.objects:
        return UNKNOWN
    having = [holder for holder in at.objects if name in OBJECTS[holder]]
    if not having:
        return None
    found = reduce(Shape.__or__, (_field(holder, name) for holder in having))
    return replace(found, sure=found.sure and len(having) == len(at.objects) and at.sure)


def _field(holder: str, name: str) -> Shape:
    return replace(shape_of(OBJECTS[holder][name]), choices=CHOICES.get((holder, name)))


@dataclass(slots=True)
class Reader:
    """Walks an expression and says what its nodes are. `variables` are the known ones; `seen` gathers every node that
    was looked at with the shape of what it was asked of and its own."""

    variables: dict[str, Shape] = field(default_factory=dict)
    seen: list[tuple[Expr, Shape, Shape | None]] = field(default_factory=list)

    def read(self, expr: Expr, at: Shape) -> Shape:
        found = self._read(expr, at)
        self.seen.append((expr, at, found))
        return UNKNOWN if found is None else found

    def _read(self, expr: Expr, at: Shape) -> Shape | None:
        match expr:
            case Expr("field"):
                return field_of(at, expr.value)
            case Expr("current" | "identity"):
                return at
            case Expr("variable"):
                return self.variables.get(expr.value, UNKNOWN)
            case Expr("literal"):
                return _literal(expr)
            case Expr("subexpression" | "index_expression" | "pipe"):
                return reduce(lambda shape, step: self.read(step, shape), expr.children, at)
            case Expr("index"):
                return replace(at.item, sure=False) if at.item else UNKNOWN
            case Expr("slice"):
                return at
            case Expr("projection" | "filter_projection"):
                return self._projection(expr, at)
            case Expr("flatten"):
                base = self.read(expr.children[0], at)
                return base if base.item is None or base.item.item is None else base.item
            case Expr("and_expression" | "or_expression", (left, right)):
                first = self.read(left, at)
                second = self.read(right, narrowed(at, left) if expr.kind == "and_expression" else at)
                return first | second
            case Expr("function_expression"):
                return self._call(expr, at)
        return self._other(expr, at)

    def _projection(self, expr: Expr, at: Shape) -> Shape:
        base, right, *conditions = expr.children
        element = self.read(base, at).item or UNKNOWN
        for condition in conditions:
            self.read(condition, element)
            element = narrowed(element, condition)
        return Shape(frozenset({"array"}), item=self.read(right, element))

    def _call(self, expr: Expr, at: Shape) -> Shape:
        for argument in expr.children:
            self.read(argument, at)
        function = FUNCTIONS.get(expr.value)
        return Shape(function.gives if function else JSON_TYPES, choices=JSON_TYPES if expr.value == "type" else None)

    def _other(self, expr: Expr, at: Shape) -> Shape:
        # What `&expression` and `.*` are applied to is not followed.
        within = UNKNOWN if expr.kind in ("expref", "value_projection") else at
        for child in expr.children:
            if isinstance(child, Expr):
                self.read(child, within)
        return BOOLEAN if expr.kind in ("comparator", "not_expression") else UNKNOWN


def _literal(expr: Expr) -> Shape:
    value = expr.value
    kind = next(name for name, test in _TESTS if test(value))
    return Shape(frozenset({kind}), choices=frozenset({value}) if kind == "string" else None, sure=value is not None)


_TESTS: list[tuple[str, Callable[[object], bool]]] = [
    ("null", lambda value: value is None),
    ("boolean", lambda value: isinstance(value, bool)),
    ("string", lambda value: isinstance(value, str)),
    ("number", lambda value: isinstance(value, (int, float))),
    ("array", lambda value: isinstance(value, list)),
    ("object", lambda value: True),
]


def narrowed(at: Shape, condition: Expr) -> Shape:
    """What `@` can still be where a condition on its type holds."""
    types = _types(condition)
    if types is None or not at.objects <= PART_OBJECTS:
        return at
    left = frozenset(name for name in at.objects if name.removeprefix("part ") in types)
    return replace(at, objects=left or at.objects)


def _types(condition: Expr) -> frozenset[str] | None:
    """The part types that a condition leaves over; None where it says nothing of them."""
    match condition:
        case Expr("comparator", (Expr("field", (), "type"), Expr("literal", (), str(name))), "eq"):
            return frozenset({name})
        case Expr("and_expression", (left, right)):
            one, other = _types(left), _types(right)
            return one & other if one is not None and other is not None else one if other is None else other
        case Expr("or_expression", (left, right)):
            one, other = _types(left), _types(right)
            return None if one is None or other is None else one | other
        case Expr("function_expression", (Expr("multi_select_list", names), Expr("field", (), "type")), "contains"):
            return frozenset(str(name.value) for name in names if name.kind == "literal")
    return None


def variables_for(target: tree.Target | None, wire: bool) -> dict[str, Shape]:
    """The shapes of `$variables`. In a wire shape, and beside a `path`, messages are the format's own."""
    known = {name: shape_of(text) for name, text in VARIABLE_SHAPES.items()}
    if wire or (target and target.kind == "path"):
        own = ("model", "error", "origin") if wire else ("model", "error", "origin", "messages")
        return {name: known[name] for name in own}
    return known
