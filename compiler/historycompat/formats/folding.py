"""Native objects that hold several of what canonical prompts keep apart ⇄ one virtual object for each of these.

A virtual object has the native one under `ITEM` (new ones have none) and what it stands for under `PART`. Virtual
objects of one native object that still stand together are folded into it again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import Any

Virtual = dict[str, Any]

ITEM = "$item"
PART = "$part"


def parts_of(item: dict[str, Any], key: str) -> list[Virtual]:
    """The virtual objects of the list that a native object has under a key."""
    return [{ITEM: item, PART: part} for part in item[key]]


def grouped(objects: Iterable[Any], joins: Callable[[Virtual], Any]) -> Iterator[Any]:
    """Objects as they are and, in lists, virtual ones that belong together: neighbours of one native object, or new
    ones with an equal `joins`."""
    for key, group in groupby(objects, key=lambda each: _key(each, joins)):
        if key is None:
            yield from group
        else:
            yield list(group)


def _key(each: Any, joins: Callable[[Virtual], Any]) -> Any:
    if not isinstance(each, dict) or PART not in each:
        return None
    return ("item", id(each[ITEM])) if ITEM in each else ("new", joins(each))


def with_list(item: dict[str, Any], key: str, parts: list[Any]) -> dict[str, Any]:
    """A native object with this list under a key: itself where it holds the very same parts."""
    old = item.get(key, [])
    if isinstance(old, list) and len(old) == len(parts) and all(a is b for a, b in zip(old, parts, strict=True)):
        return item
    return {**item, key: parts}
