"""A history before and after → the smallest changes between them, at the places of its own format."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import Any

from historycompat import api
from historycompat.edits import Pointer, same
from historycompat.formats import find
from historycompat.formats.format import Format
from historycompat.ruleset import Rule
from historycompat.rulesets import Ruleset
from historycompat.runtime.outcome import Outcome
from historycompat.verbs.placement import longest_rise


@dataclass(frozen=True, slots=True)
class Change:
    """`op` is `add`, `remove` or `replace`. `path` is a place in the request body: in the one before the rule, for an
    addition in the one after it. `role` is that of the message around it, where there is one."""

    op: str
    path: Pointer
    before: Any = None
    after: Any = None
    role: str | None = None


def by_rule(history: Any, outcome: Outcome, model: str, ruleset: Ruleset) -> Iterator[tuple[Rule, list[Change]]]:
    """What each rule did, in the order they ran.

    The trace speaks of the canonical prompt. A person looks into the file that was given, so each rule but the last
    is run once more by itself; the last one accounts for what is left.
    """
    if not outcome.changed or outcome.format is None:
        return
    kind = find(outcome.format)
    for name in outcome.rules:
        after = outcome.messages
        if name != outcome.rules[-1]:
            after = api.apply(
                history, model=model, format=kind.name, rules=ruleset.only(name), promoted=(name,)
            ).messages
        yield ruleset[name], list(_between(history, after, kind))
        history = after


def _between(before: Any, after: Any, kind: Format) -> Iterator[Change]:
    old, new = kind.wrap(before), kind.wrap(after)
    for change in differences(old, new):
        role = _role(new if change.op == "add" else old, change.path, kind.spine)
        yield replace(change, role=role)


def _role(value: Any, path: Pointer, spine: Pointer) -> str | None:
    if path[: len(spine)] != spine or len(path) == len(spine):
        return None
    for step in path[: len(spine) + 1]:
        value = value[step]
    role = value.get("role") if isinstance(value, dict) else None
    return role if isinstance(role, str) else None


def differences(old: Any, new: Any, at: Pointer = (), to: Pointer = ()) -> Iterator[Change]:
    """The changes that turn one JSON value, which stands at `at`, into another one, which stands at `to`."""
    if old is new:
        return
    if isinstance(old, dict) and isinstance(new, dict):
        for key in {**old, **new}:
            yield from _member(key, old, new, at, to)
    elif isinstance(old, list) and isinstance(new, list):
        yield from _elements(list(enumerate(old)), list(enumerate(new)), at, to)
    elif not same(old, new):
        yield Change("replace", at, old, new)


def _member(key: str, old: dict[str, Any], new: dict[str, Any], at: Pointer, to: Pointer) -> Iterator[Change]:
    if key not in new:
        yield Change("remove", (*at, key), old[key])
    elif key not in old:
        yield Change("add", (*to, key), after=new[key])
    else:
        yield from differences(old[key], new[key], (*at, key), (*to, key))


_Numbered = list[tuple[int, Any]]


def _elements(old: _Numbered, new: _Numbered, at: Pointer, to: Pointer) -> Iterator[Change]:
    """Changes of a list. An object that stands in both lists is one element (a message that no rule changed); between
    those, by what kind of thing they are."""
    start = start_now = 0
    for end, end_now in [*_kept(old, new), (len(old), len(new))]:
        yield from _stretch(old[start:end], new[start_now:end_now], at, to)
        start, start_now = end + 1, end_now + 1


def _kept(old: _Numbered, new: _Numbered) -> list[tuple[int, int]]:
    """Where the objects stand that are once in each list, as many as are in the same order in both."""
    before, after = _once(old), _once(new)
    moved = {position: after[key] for key, position in before.items() if key in after}
    order = sorted(moved, key=moved.__getitem__)
    return [(position, moved[position]) for position in reversed(longest_rise(order))]


def _once(items: _Numbered) -> dict[int, int]:
    """The positions of the objects that a list holds once, by identity."""
    count = Counter(id(item) for _, item in items)
    return {id(item): position for position, (_, item) in enumerate(items) if count[id(item)] == 1}


def _stretch(old: _Numbered, new: _Numbered, at: Pointer, to: Pointer) -> Iterator[Change]:
    kinds, kinds_now = [_kind(item) for _, item in old], [_kind(item) for _, item in new]
    if kinds == kinds_now:
        yield from _one_by_one(old, new, at, to)
        return
    for tag, a, b, c, d in SequenceMatcher(None, kinds, kinds_now).get_opcodes():
        if tag == "equal":
            yield from _one_by_one(old[a:b], new[c:d], at, to)
        elif b - a == d - c:
            pairs = zip(old[a:b], new[c:d], strict=True)
            yield from (Change("replace", (*at, index), was, now) for (index, was), (_, now) in pairs)
        else:
            yield from (Change("remove", (*at, index), item) for index, item in old[a:b])
            yield from (Change("add", (*to, index), after=item) for index, item in new[c:d])


def _one_by_one(old: _Numbered, new: _Numbered, at: Pointer, to: Pointer) -> Iterator[Change]:
    for (index, was), (index_now, now) in zip(old, new, strict=True):
        yield from differences(was, now, (*at, index), (*to, index_now))


def _kind(item: Any) -> Any:
    """What two elements must share for one to be the other, edited."""
    if isinstance(item, dict):
        return tuple(str(item.get(key)) for key in ("role", "type"))
    return type(item).__name__
