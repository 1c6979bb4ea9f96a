"""Edits on JSON values: made copy-on-write, in an order that a plain replay can follow.

A verb looks at a snapshot and describes its edits with the pointers of that snapshot. `commit` orders them so that
each pointer is still right when its turn comes (changes inside values first, then insertions and removals from the
deepest list to the shallowest and from the back to the front), makes them without touching the input, and returns
them as made. Replaying those on the input, one after another as RFC 6902 operations, gives the output.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from dataclasses import replace as _evolve
from typing import Any

Pointer = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Edit:
    """One change at `path`: `op` is `add`, `remove` or `replace`; `before` and `after` are the values there."""

    op: str
    path: Pointer
    after: Any = None
    before: Any = None

    @property
    def pointer(self) -> str:
        return pointer(self.path)


@dataclass(frozen=True, slots=True)
class Finding:
    """Something seen at `path` that no edit can mend."""

    path: Pointer
    text: str

    @property
    def pointer(self) -> str:
        return pointer(self.path)


def pointer(path: Pointer) -> str:
    """The RFC 6901 text of a path."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)


class Lineage:
    """Which object each edited copy was made from, so that a format can put edits back into native objects."""

    __slots__ = ("_made_from",)

    def __init__(self) -> None:
        self._made_from: dict[int, tuple[Any, Any]] = {}

    def record(self, copy_: Any, original: Any) -> None:
        # The copy is kept: a collected object's id may be given to another.
        self._made_from[id(copy_)] = (copy_, original)

    def origin(self, value: Any) -> Any:
        """The oldest ancestor of an object; the object itself where nothing is known."""
        while (entry := self._made_from.get(id(value))) is not None:
            value = entry[1]
        return value


def commit(root: Any, edits: Iterable[Edit], lineage: Lineage) -> tuple[Any, list[Edit]]:
    """Make edits described on one snapshot: the new root (the same one if nothing changed) and what was made."""
    made: list[Edit] = []
    tree = _CopyOnWrite(root, lineage)
    for edit in _in_order(edits):
        done = tree.apply(edit)
        if done is not None:
            made.append(done)
    return tree.root, made


def replay(root: Any, edits: Iterable[Edit]) -> Any:
    """Make recorded edits again, one after another, on an equal input."""
    tree = _CopyOnWrite(root, Lineage())
    for edit in edits:
        tree.apply(edit)
    return tree.root


def _in_order(edits: Iterable[Edit]) -> Iterator[Edit]:
    shifting: dict[tuple[str, Pointer, int], tuple[int, Edit]] = {}
    for number, edit in enumerate(edits):
        if edit.op == "replace" or isinstance(edit.path[-1], str):
            yield edit
        else:
            # A second removal of the same element is the same removal; insertions at one place keep their order.
            shifting.setdefault((edit.op, edit.path, number if edit.op == "add" else -1), (number, edit))
    yield from (edit for _, edit in sorted(shifting.values(), key=_back_to_front))


def _back_to_front(entry: tuple[int, Edit]) -> tuple[Any, ...]:
    number, edit = entry
    *holder, index = edit.path
    # Lists of one depth do not shift each other: they take their turn in the order of the document.
    return (-len(edit.path), [(isinstance(key, str), key) for key in holder], -int(index), edit.op == "add", -number)


class _CopyOnWrite:
    """A JSON value whose containers are copied once, when an edit first reaches into them."""

    def __init__(self, root: Any, lineage: Lineage) -> None:
        self.root = root
        self.lineage = lineage
        self.own: dict[int, Any] = {}

    def apply(self, edit: Edit) -> Edit | None:
        """Make one edit; None when it would assign an equal value. Raises LookupError where the path leads nowhere."""
        if edit.op != "add" or isinstance(edit.path[-1], str):
            before = value_at(self.root, edit.path, MISSING)
            if edit.op != "add" and before is MISSING:
                raise LookupError(f"there is nothing at {edit.pointer}")
            if edit.op != "remove" and same(before, edit.after):
                return None
            edit = _evolve(edit, before=None if before is MISSING else before)
        holder = self._owned(edit.path[:-1])
        key: Any = edit.path[-1]
        if edit.op == "remove":
            del holder[key]
        elif edit.op == "add" and isinstance(key, int):
            holder.insert(key, edit.after)
        else:
            holder[key] = edit.after
        return edit

    def _owned(self, path: Pointer) -> Any:
        """The container at a path, with it and all its parents copied."""
        holder = self.root = self._copy(self.root)
        for key in path:
            holder[key] = child = self._copy(holder[key])
            holder = child
        return holder

    def _copy(self, value: Any) -> Any:
        if id(value) in self.own:
            return value
        if not isinstance(value, (dict, list)):
            raise LookupError(f"a {type(value).__name__} has no members")
        fresh = dict(value) if isinstance(value, dict) else list(value)
        self.own[id(fresh)] = fresh
        self.lineage.record(fresh, value)
        return fresh


class _Missing:
    def __repr__(self) -> str:
        return "MISSING"


MISSING: Any = _Missing()


def value_at(root: Any, path: Pointer, default: Any = None) -> Any:
    """The value at a path, or the default where the path leads nowhere."""
    for key in path:
        if isinstance(root, dict):
            if key not in root:
                return default
            root = root[key]
        elif isinstance(root, list) and isinstance(key, int) and -len(root) <= key < len(root):
            root = root[key]
        else:
            return default
    return root


def same(a: Any, b: Any) -> bool:
    """JSON equality with types: `true` is not `1`, key order does not matter, `1` is `1.0`."""
    if a is b:
        return True
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(same(v, b[k]) for k, v in a.items())
    if isinstance(a, list):
        return isinstance(b, list) and len(a) == len(b) and all(map(same, a, b))
    return isinstance(a, bool) == isinstance(b, bool) and bool(a == b)


def detached(value: Any) -> Any:
    """A value that shares no container with its source: what a rule inserts must not be shared between prompts."""
    return copy.deepcopy(value) if isinstance(value, (dict, list)) else value


def with_path(value: dict[str, Any], keys: Sequence[str], new: Any) -> dict[str, Any]:
    """A copy of an object with a nested key set; missing parents and parents that are no objects become objects."""
    if len(keys) == 1:
        return {**value, keys[0]: new}
    child = value.get(keys[0])
    return {**value, keys[0]: with_path(child if isinstance(child, dict) else {}, keys[1:], new)}


def without_path(value: dict[str, Any], keys: Sequence[str], *, prune: bool = False) -> dict[str, Any]:
    """An object without a nested key: the same object if it was not there. `prune` drops parents left `{}`."""
    if keys[0] not in value:
        return value
    rest = {k: v for k, v in value.items() if k != keys[0]}
    if len(keys) == 1:
        return rest
    child = value[keys[0]]
    if not isinstance(child, dict):
        return value
    kept = without_path(child, keys[1:], prune=prune)
    if kept is child:
        return value
    return rest if prune and not kept else {**value, keys[0]: kept}


def changes(path: Pointer, old: Any, new: Any) -> Iterator[Edit]:
    """The smallest edits that turn the value at `path` from `old` into `new`."""
    if same(old, new):
        return
    if not (isinstance(old, dict) and isinstance(new, dict)):
        yield Edit("replace", path, new)
        return
    for key in old:
        if key not in new:
            yield Edit("remove", (*path, key))
        else:
            yield from changes((*path, key), old[key], new[key])
    for key in new:
        if key not in old:
            yield Edit("add", (*path, key), new[key])


def list_changes(path: Pointer, old: list[Any], new: list[Any]) -> Iterator[Edit]:
    """Edits that turn one list into another: equal ends are left alone, the middle is changed element by element."""
    start = 0
    while start < min(len(old), len(new)) and same(old[start], new[start]):
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and same(old[-1 - end], new[-1 - end]):
        end += 1
    gone, come = old[start : len(old) - end], new[start : len(new) - end]
    if len(gone) == len(come):
        for at, (was, now) in enumerate(zip(gone, come, strict=True)):
            yield from changes((*path, start + at), was, now)
        return
    yield from (Edit("remove", (*path, start + at)) for at in range(len(gone)))
    yield from (Edit("add", (*path, start + len(gone)), item) for item in come)
