"""Two documents → the RFC 6902 patch that leads exactly from one back to the other."""

from __future__ import annotations

import json
from collections.abc import Iterator
from difflib import SequenceMatcher
from itertools import takewhile
from typing import Any

from historycompat.edits import Edit, Pointer, pointer, same, value_at

Patch = list[dict[str, Any]]


class PatchError(LookupError):
    """A patch does not fit a document: where it leads, something else stands."""


def inverse(old: Any, new: Any) -> Patch:
    """The patch that turns `new` into `old` again: numbers keep their type, and objects the order of their keys.

    Before it changes anything it tests that what it will change is as `new` has it. So it also fits a later document
    to which other things were added, and refuses one where those places were written again.
    """
    edits = list(_between(new, old, ()))
    witnesses = [place for edit in edits if (place := _witness(new, edit)) is not None]
    tests = {pointer(place): value_at(new, place) for place in witnesses}
    return [
        *({"op": "test", "path": path, "value": value} for path, value in tests.items()),
        *map(_operation, edits),
    ]


def apply(document: Any, patch: Patch) -> Any:
    """The patched document, made by editing the given one in place. Raises PatchError where the patch does not fit.

    In one thing stricter than the RFC: a member that an object has already cannot be added.
    """
    root = [document]
    for operation in patch:
        try:
            _apply(root, operation)
        except (LookupError, TypeError, ValueError):
            raise PatchError(f'"{operation["path"]}" has changed since') from None
    return root[0]


def _apply(root: list[Any], operation: dict[str, Any]) -> None:
    holder, key = _place(root, operation["path"])
    match operation["op"], holder:
        case "add", list():
            holder.insert(key, operation["value"])
        case "add", _ if key not in holder:
            holder[key] = operation["value"]
        case "replace", _:
            holder[key] = operation["value"]
        case "remove", _:
            del holder[key]
        case "test", _ if same(holder[key], operation["value"]):
            return
        case _:
            raise LookupError


def _place(root: list[Any], path: str) -> tuple[Any, Any]:
    """The container that holds what is at a JSON pointer, and its key there."""
    *parents, last = ["0", *(step.replace("~1", "/").replace("~0", "~") for step in path.split("/")[1:])]
    holder: Any = root
    for step in parents:
        holder = holder[_key(holder, step)]
    return holder, _key(holder, last)


def _key(holder: Any, step: str) -> str | int:
    return int(step) if isinstance(holder, list) else step


def _operation(edit: Edit) -> dict[str, Any]:
    value = {} if edit.op == "remove" else {"value": edit.after}
    return {"op": edit.op, "path": edit.pointer, **value}


def _witness(document: Any, edit: Edit) -> Pointer | None:
    """The place whose value tells that an edit still fits: what it changes, or the neighbour of what it inserts."""
    *holder, key = edit.path or (None,)
    if edit.op != "add":
        return edit.path
    if isinstance(key, int) and value_at(document, tuple(holder)):
        return (*holder, max(key - 1, 0))
    return None


def _between(old: Any, new: Any, path: Pointer) -> Iterator[Edit]:
    """Edits from one value to another. Lists are edited from the back, so that every path is one of `old`."""
    if isinstance(old, list) and isinstance(new, list):
        yield from _between_lists(old, new, path)
    elif isinstance(old, dict) and isinstance(new, dict) and _in_same_order(old, new):
        for key in old:
            if key not in new:
                yield Edit("remove", (*path, key))
        for key, value in new.items():
            if key in old:
                yield from _between(old[key], value, (*path, key))
            else:
                yield Edit("add", (*path, key), value)
    elif _text(old) != _text(new):
        yield Edit("replace", path, new)


def _in_same_order(old: dict[str, Any], new: dict[str, Any]) -> bool:
    """Whether removing and adding single members leaves the keys in the order of `new`."""
    return [key for key in old if key in new] + [key for key in new if key not in old] == list(new)


def _between_lists(old: list[Any], new: list[Any], path: Pointer) -> Iterator[Edit]:
    before, after = [_text(item) for item in old], [_text(item) for item in new]
    start = _common(before, after)
    end = _common(before[start:][::-1], after[start:][::-1])
    matcher = SequenceMatcher(None, before[start : len(old) - end], after[start : len(new) - end], autojunk=False)
    for tag, first, last, new_first, new_last in reversed(matcher.get_opcodes()):
        if tag != "equal":
            new_run = new[start + new_first : start + new_last]
            yield from _between_runs(old[start + first : start + last], new_run, path, start + first)


def _between_runs(old: list[Any], new: list[Any], path: Pointer, at: int) -> Iterator[Edit]:
    """Edits for a stretch of a list that begins at an index."""
    paired = min(len(old), len(new))
    for index in reversed(range(paired, len(old))):
        yield Edit("remove", (*path, at + index))
    for value in reversed(new[paired:]):
        yield Edit("add", (*path, at + paired), value)
    for index in reversed(range(paired)):
        yield from _between(old[index], new[index], (*path, at + index))


def _common(one: list[str], other: list[str]) -> int:
    """How many elements two lists share at the start."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _text(value: Any) -> str:
    return json.dumps(value)
