"""E210: values that no canonical prompt can have where a statement writes them, and keys that nothing does without."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from historycompat import tree
from historycompat.errors import Complaint, did_you_mean, respelt
from historycompat.language.checks.fields import inside_quotes
from historycompat.language.checks.places import selected
from historycompat.language.checks.shapes import UNKNOWN, Reader, Shape, field_of, parts, shape_of, variables_for
from historycompat.language.vocabulary import CHOICES, JSON_TYPES, OBJECTS, PART_OBJECTS
from historycompat.source import Span
from historycompat.tree import Expr

_ARTICLES = {"null": "", "array": "an ", "object": "an "}


def written_values(rule: tree.Rule, pack: tree.Pack) -> Iterator[Complaint]:
    """What `set`, `insert`, `convert`, `coerce` and `unset` leave behind, where the shape of that is known."""
    for statement in rule.do if rule.format is None else ():
        at = selected(statement.target, wire=False) if statement.target else UNKNOWN
        match statement.verb:
            case "set":
                yield from _set(statement, at)
            case "coerce":
                yield from _coerced(statement, at)
            case "insert" | "convert":
                yield from _made(statement, at)
            case "unset":
                for path in statement.args["paths"]:
                    yield from _unset(path, at)


def _set(statement: tree.Statement, at: Shape) -> Iterator[Complaint]:
    path, value = statement.args["path"], statement.args["to"]
    wanted = _at_path(at, path)
    if wanted is not None and isinstance(value, Expr):
        yield from _Written(statement, at).unfit(value, wanted, path.keys[-1])


def _coerced(statement: tree.Statement, at: Shape) -> Iterator[Complaint]:
    path, kind = statement.args["path"], statement.args["kind"]
    wanted = _at_path(at, path)
    if wanted and isinstance(kind, tree.Word) and kind.text in JSON_TYPES and kind.text not in wanted.kinds:
        yield _misfit(path.keys[-1], wanted, kind.text, kind.span)


def _made(statement: tree.Statement, at: Shape) -> Iterator[Complaint]:
    value, into = statement.args.get("value"), statement.args.get("into")
    grain = statement.args.get("grain")
    if isinstance(into, tree.Word):
        wanted = parts(frozenset({f"part {into.text}"}) & PART_OBJECTS)
        value = _without_type(value)
    else:
        is_message = isinstance(grain, tree.Word) and grain.text == "message"
        wanted = shape_of("message") if is_message else parts(PART_OBJECTS)
    if isinstance(value, Expr) and wanted.objects:
        yield from _Written(statement, at).unfit(value, wanted, "")


def _without_type(value: object) -> object:
    """An object without its type, which `into` says as well: that the two are one is checked with the targets."""
    if not isinstance(value, Expr) or value.kind != "multi_select_dict":
        return value
    return replace(value, children=tuple(pair for pair in value.children if pair.value != "type"))


def _at_path(at: Shape, path: tree.Path) -> Shape | None:
    """The shape of what stands at a path; None where nothing is known of it, or another check complains."""
    for key in path.keys:
        found = field_of(at, key) if at.objects else None
        if found is None:
            return None
        at = found
    return at


def _unset(path: tree.Path, at: Shape) -> Iterator[Complaint]:
    """Keys that everything of its kind must have: `sure` says so, and null is no value of theirs."""
    holder = _at_path(at, replace(path, keys=path.keys[:-1])) if len(path.keys) > 1 else at
    found = _at_path(at, path)
    if holder is None or found is None or not holder.objects:
        return
    key = path.keys[-1]
    if found.sure and "null" not in found.kinds and all(key in OBJECTS[name] for name in holder.objects):
        what = _named(holder)
        hint = f"drop the {what.rpartition(' ')[2]}, or set {key} to another value"
        yield Complaint("E210", f"no {what} is without {key}", path.span, hint)


def _named(holder: Shape) -> str:
    """What has a key, as `message`, `text part` or `part`."""
    if len(holder.objects) > 1:
        return "part"
    (name,) = holder.objects
    return f"{name.removeprefix('part ')} part" if name in PART_OBJECTS else name


# What a rule makes itself. What it reads may be of any kind in a broken history.
_COMPUTED = frozenset(
    {"literal", "comparator", "not_expression", "function_expression", "multi_select_dict", "multi_select_list"}
)
_MADE = {"multi_select_dict": Shape(frozenset({"object"})), "multi_select_list": Shape(frozenset({"array"}))}


class _Written:
    """What one statement writes, told by what its expressions read."""

    def __init__(self, statement: tree.Statement, at: Shape) -> None:
        self.at = at
        self.variables = variables_for(statement.target, wire=False)

    def unfit(self, value: Expr, wanted: Shape, key: str) -> Iterator[Complaint]:
        """Complaints about a value that is written where `wanted` belongs, under a key (none: it is a whole thing)."""
        if value.kind == "multi_select_dict" and "object" in wanted.kinds:
            yield from self._object(value, _narrowed(value, wanted))
        elif value.kind == "multi_select_list" and "array" in wanted.kinds:
            for item in value.children if wanted.item else ():
                assert wanted.item
                yield from self.unfit(item, wanted.item, key)
        else:
            yield from self._plain(value, wanted, key)

    def _object(self, value: Expr, wanted: Shape) -> Iterator[Complaint]:
        for pair in value.children:
            found = field_of(wanted, pair.value) if wanted.objects else None
            if found is not None:
                yield from self.unfit(pair.children[0], _with_choices(found, wanted, pair.value), pair.value)

    def _plain(self, value: Expr, wanted: Shape, key: str) -> Iterator[Complaint]:
        if value.kind not in _COMPUTED:
            return
        found = _MADE.get(value.kind) or Reader(self.variables).read(value, self.at)
        if value.kind == "literal" and isinstance(value.value, str) and "string" in wanted.kinds:
            if wanted.choices is not None and value.value not in wanted.choices:
                yield _unlisted(value, wanted.choices, key)
        elif not found.kinds & wanted.kinds:
            kinds = " or ".join(_ARTICLES.get(kind, "a ") + kind for kind in sorted(found.kinds))
            yield _misfit(key, wanted, kinds, value.span)


def _narrowed(value: Expr, wanted: Shape) -> Shape:
    """The kind of part that an object says it is."""
    for pair in value.children if wanted.objects <= PART_OBJECTS else ():
        if pair.value == "type" and pair.children[0].kind == "literal":
            named = frozenset({f"part {pair.children[0].value}"}) & wanted.objects
            return replace(wanted, objects=named or wanted.objects)
    return wanted


def _with_choices(found: Shape, holder: Shape, key: str) -> Shape:
    choices = [CHOICES.get((name, key)) for name in holder.objects]
    known = [choice for choice in choices if choice is not None]
    return replace(found, choices=frozenset[str]().union(*known)) if known and len(known) == len(choices) else found


def _unlisted(value: Expr, choices: frozenset[str], key: str) -> Complaint:
    hint = did_you_mean(value.value, sorted(choices)) or f"it can be {', '.join(sorted(choices))}"
    fix = respelt(inside_quotes(value), value.value, choices)
    return Complaint("E210", f"{key} can never be '{value.value}'", value.span, hint, fix=fix)


def _misfit(key: str, wanted: Shape, kinds: str, span: Span | None) -> Complaint:
    needed = " or ".join(_ARTICLES.get(kind, "a ") + kind for kind in sorted(wanted.kinds))
    if kinds in JSON_TYPES:
        kinds = _ARTICLES.get(kinds, "a ") + kinds
    subject = f"{key} is {needed}" if key else f"what is inserted is {needed}"
    return Complaint("E210", f"{subject}, and this is {kinds}", span, _EXAMPLES.get(key, f"write {needed}"))


# What is right under a key, to be typed.
_EXAMPLES = {
    "text": "write a text in quotes, as 'hello'",
    "content": "write a text in quotes or a list of parts, as [{type: 'text', text: 'hello'}]",
    "toolName": "write a name in quotes, as 'search'",
    "toolCallId": "write an id in quotes, as 'call_1'",
    "role": "write 'system', 'user', 'assistant' or 'tool'",
}
