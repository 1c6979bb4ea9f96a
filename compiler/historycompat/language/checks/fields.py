"""E203, E204: fields that nothing selected has, and comparisons that always come out the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from difflib import get_close_matches

from historycompat import tree
from historycompat.errors import Complaint, did_you_mean, respelt
from historycompat.language.checks.places import expressions, selected
from historycompat.language.checks.shapes import Reader, Shape
from historycompat.language.checks.worlds import path_of
from historycompat.language.vocabulary import OBJECTS, PART_OBJECTS, PARTS
from historycompat.regex import compile_regex
from historycompat.regex.problem import RegexError
from historycompat.source import Span
from historycompat.tree import Expr

# A key of a path is refused only if it looks like a known one: rules also add and delete keys of their own.
_TYPO = 0.75

# Longer lists help nobody.
_LISTED = 12

_SIGNS = {"eq": "==", "ne": "!=", "lt": "<", "lte": "<=", "gt": ">", "gte": ">="}


def read_fields(rule: tree.Rule, pack: tree.Pack) -> Iterator[Complaint]:
    """Fields in expressions, and what they are compared with."""
    for place in expressions(rule):
        reader = Reader(place.shapes)
        reader.read(place.expr, place.at)
        shapes = {id(node): found for node, _, found in reader.seen}
        words: set[int] = set()
        for node, _, _ in reader.seen:
            if node.kind == "comparator":
                words |= {id(side) for side, other in _sides(node) if side.kind == "field" and other.kind != "literal"}
                yield from _Comparison(node, shapes).complaints()
            elif node.kind == "function_expression" and len(node.children) == 2:
                yield from _contained(node, shapes) if node.value == "contains" else ()
                yield from _unmatched(node, shapes)
            yield from _prefixed(node)
        told = {id(word) for node, _, _ in reader.seen if node.kind == "comparator" and (word := _word(node, shapes))}
        for node, at, found in reader.seen:
            if found is None and id(node) not in told and not _asks_for_object(at, place.expr):
                yield _unknown(node.value, at, node.span, compared=id(node) in words)


def _asks_for_object(at: Shape, expr: Expr) -> bool:
    """Whether what is never an object is read where it is asked to be one: that is about a broken history."""
    return "object" not in at.kinds and any(node.kind == "literal" and node.value == "object" for node in expr.walk())


def written_keys(rule: tree.Rule, pack: tree.Pack) -> Iterator[Complaint]:
    """Keys in the paths of `set`, `unset` and their kin."""
    for statement in rule.do if rule.format is None else ():
        at = selected(statement.target, wire=False) if statement.target else Shape()
        known = [name for holder in at.objects for name in OBJECTS[holder]]
        for path in _paths(statement):
            if known and path.keys[0] not in known and get_close_matches(path.keys[0], known, 1, _TYPO):
                yield _unknown(path.keys[0], at, path.span)


def _paths(statement: tree.Statement) -> Iterator[tree.Path]:
    for value in statement.args.values():
        for item in value if isinstance(value, tuple) else (value,):
            if isinstance(item, tree.Path):
                yield item


def _unknown(name: str, at: Shape, span: Span | None, *, compared: bool = False) -> Complaint:
    if "object" not in at.kinds:
        return _fieldless(name, at, span)
    known = sorted(frozenset[str]().union(*(OBJECTS[holder] for holder in at.objects)))
    hint = did_you_mean(name, known)
    if compared:
        hint = f"{hint} Or '{name}', if the text is meant" if hint else f"write '{name}' if the text is meant"
    elif hint is None and (others := _parts_with(name)):
        hint = f"only {' and '.join(others)} parts have it"
    elif hint is None:
        listed = f"the fields are {', '.join(known)}; " if len(known) <= _LISTED else ""
        hint = f"{listed}has(@, '{name}') asks for any other key"
    fix = None if compared else respelt(span, name, known)
    return Complaint("E203", f"{_named(at)} field {name}", span, hint, fix=fix)


def _fieldless(name: str, at: Shape, span: Span | None) -> Complaint:
    """`content.type`: what has elements, or nothing at all inside."""
    if "array" in at.kinds:
        hint = f"write [0].{name} for one element, [].{name} for all, [] | [?{name} == ..] for some"
        return Complaint("E203", f"a list has no field {name}, its elements may have one", span, hint)
    return Complaint("E203", f"{_kinds(at)} has no field {name}", span, f"leave out {name}, or read it elsewhere")


def _parts_with(name: str) -> list[str]:
    return [part for part, fields in PARTS.items() if name in fields]


def _named(at: Shape) -> str:
    if len(at.objects) > 1:
        return "none of these parts has a" if at.objects <= PART_OBJECTS else "nothing here has a"
    (name,) = at.objects
    word = f"{name.removeprefix('part ')} part" if name.startswith("part ") else name
    return f"{'an' if word[0] in 'aeio' else 'a'} {word} has no"


Shapes = dict[int, Shape | None]


def _sides(comparison: Expr) -> tuple[tuple[Expr, Expr], tuple[Expr, Expr]]:
    left, right = comparison.children
    return (left, right), (right, left)


def _word(node: Expr, shapes: Shapes) -> Expr | None:
    """The bare word of `role == assistant`, where only a text in quotes can be meant."""
    for side, other in _sides(node):
        shape = shapes.get(id(side))
        if shape and shape.choices is not None and side.kind != "literal" and other.kind == "field":
            return None if other.span and '"' in other.span.text else other
    return None


def _never(literal: Expr, choices: frozenset[str], what: str) -> Complaint:
    hint = did_you_mean(literal.value, sorted(choices)) or f"it can be {', '.join(sorted(choices))}"
    fix = respelt(inside_quotes(literal), literal.value, choices)
    return Complaint("E204", f"{what} is never '{literal.value}'", literal.span, hint, fix=fix)


def inside_quotes(literal: Expr) -> Span | None:
    """The stretch of a text without its quotes."""
    span = literal.span
    at = span.text.find(literal.value) if span else -1
    return Span(span.source, span.start + at, span.start + at + len(literal.value)) if span and at >= 0 else None


def _text(node: Expr) -> str:
    return node.span.text if node.span else "this"


def _contained(node: Expr, shapes: Shapes) -> Iterator[Complaint]:
    """`contains(['user', 'asistant'], role)`."""
    among, asked = node.children
    shape = shapes.get(id(asked))
    if shape is None or shape.choices is None or among.kind != "multi_select_list":
        return
    texts = [item for item in among.children if item.kind == "literal" and isinstance(item.value, str)]
    # Where several types are possible at once, some that are named may still be of no use.
    for item in texts:
        if item.value not in shape.choices:
            yield _never(item, shape.choices, _text(asked))


# What a text function asks of its first argument, in words, and how it is tried.
_ASKING: dict[str, tuple[str, Callable[[str, str], bool]]] = {
    "starts_with": ("starts with", str.startswith),
    "ends_with": ("ends with", str.endswith),
    "contains": ("contains", lambda text, part: part in text),
    "matches": ("matches", lambda text, pattern: compile_regex(pattern).search(text) is not None),
}


def _unmatched(node: Expr, shapes: Shapes) -> Iterator[Complaint]:
    """`starts_with(type, 'tol-')`, where none of the few texts that are possible does."""
    subject, asked = node.children
    shape = shapes.get(id(subject))
    known = shape and shape.choices is not None and subject.kind != "literal"
    if node.value not in _ASKING or not (known and asked.kind == "literal" and isinstance(asked.value, str)):
        return
    assert shape
    assert shape.choices is not None
    words, holds = _ASKING[node.value]
    with suppress(RegexError):  # which is complained of elsewhere
        if not any(holds(choice, asked.value) for choice in shape.choices):
            hint = f"it can be {', '.join(sorted(shape.choices))}"
            yield Complaint("E204", f"{_text(subject)} never {words} '{asked.value}'", asked.span, hint)


_UNPREFIXED = (("$model", "name"), ("$model", "vendor"), ("$model", "provider"))


def _prefixed(node: Expr) -> Iterator[Complaint]:
    """`$model.name == 'openai/gpt-5'`: the provider is no part of a name."""
    if node.kind not in ("comparator", "function_expression") or not any(
        path_of(n) in _UNPREFIXED for n in node.walk()
    ):
        return
    subject = next(n for n in node.walk() if path_of(n) in _UNPREFIXED)
    for text in (n for n in node.walk() if n.kind == "literal" and isinstance(n.value, str)):
        provider, slash, name = text.value.rpartition("/")
        if slash and node.value != "matches":
            hint = f"write '{name}' here, and the provider in `models` or as $model.vendor == '{provider}'"
            message = f"{_text(subject)} stands without its provider and never has a slash"
            yield Complaint("E204", message, text.span, hint)


class _Comparison:
    """One comparison, with the shapes of both sides."""

    def __init__(self, node: Expr, shapes: Shapes) -> None:
        self.node, self.shapes = node, shapes
        self.left, self.right = node.children

    def complaints(self) -> Iterator[Complaint]:
        word = _word(self.node, self.shapes)
        if word is not None:
            hint = f"write '{word.value}' for the text"
            fix = (word.span, f"'{word.value}'") if word.span else None
            message = f"{word.value} without quotes is the name of a field"
            yield Complaint("E202", message, word.span, hint, fix=fix)
        else:
            yield from self._choices()
            yield from self._kinds()

    def _choices(self) -> Iterator[Complaint]:
        for side, other in _sides(self.node):
            shape = self.shapes.get(id(side))
            if side.kind == "literal" or other.kind != "literal" or not isinstance(other.value, str):
                continue
            if shape and shape.choices is not None and other.value not in shape.choices:
                yield _never(other, shape.choices, _text(side))

    def _kinds(self) -> Iterator[Complaint]:
        one, other = self.shapes.get(id(self.left)), self.shapes.get(id(self.right))
        if one is None or other is None:
            return
        if self.node.value in ("eq", "ne"):
            if not _possible(self.left, one) & _possible(self.right, other):
                outcome = "false" if self.node.value == "eq" else "true"
                message = f"{_kinds(one)} never equals {_kinds(other)}, so this is always {outcome}"
                yield Complaint("E204", message, self.node.span, self._hint())
            return
        for side, shape in ((self.left, one), (self.right, other)):
            if "number" not in shape.kinds:
                message = f"{_SIGNS[self.node.value]} compares numbers, and `{_text(side)}` is {_kinds(shape)}"
                yield Complaint("E204", message, side.span, "compare to_number(..) or length(..) of it")
                return

    def _hint(self) -> str:
        if self.left.kind == "not_expression":
            return "`!` binds stronger than the comparison: write !(..) around all of it, or !="
        return "compare values of one type: to_string(..) and to_number(..) convert"


# What these give is never missing.
_COMPUTED = frozenset({"literal", "comparator", "not_expression", "function_expression"})


def _possible(node: Expr, shape: Shape) -> frozenset[str]:
    # What a condition asks about is broken histories: any field may be missing there.
    return shape.kinds if node.kind in _COMPUTED else shape.kinds | {"null"}


def _kinds(shape: Shape) -> str:
    articles = {"null": "", "array": "an ", "object": "an "}
    return " or ".join(articles.get(kind, "a ") + kind for kind in sorted(shape.kinds))
