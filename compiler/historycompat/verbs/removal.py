"""Places that a statement takes out → edits that keep pairs whole and leave no message without parts by accident."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from historycompat.edits import Edit, Pointer, value_at
from historycompat.states import is_empty
from historycompat.view import Hit, View


def with_partners(view: View, doomed: set[Pointer]) -> set[Pointer]:
    """The places, and those of the other halves of all pairs that have a half there."""
    partners: set[Pointer] = set()
    for occurrence in view.pairing.occurrences:
        if occurrence.call and occurrence.result:
            halves = {occurrence.call.path, occurrence.result.path}
            if any(is_within(path, doomed) for path in halves):
                partners |= halves
    return doomed | partners


def is_within(path: Pointer, places: Collection[Pointer]) -> bool:
    """Whether a path is one of the places or lies inside one."""
    return any(path[:length] in places for length in range(1, len(path) + 1))


def removal(view: View, doomed: set[Pointer], on_empty: str = "drop", fill: str | None = None) -> Iterator[Edit]:
    """Take places out. `on_empty` is about each message that had parts and is left without any."""
    items: dict[int, dict[Pointer, set[int]]] = {}
    for path in sorted(doomed, key=len):
        if is_within(path[:-1], doomed):
            continue
        item = _item(view, path)
        if item is None:
            yield Edit("remove", path)
        else:
            index, place, position = item
            items.setdefault(index, {}).setdefault(place, set()).add(position)
    for index, gone in items.items():
        yield from _without(view, index, gone, on_empty, fill)


def _item(view: View, path: Pointer) -> tuple[int, Pointer, int] | None:
    """Message, list and position of a path to a part, call or result that stands in a list of its message."""
    depth = len(view.shape.spine)
    if len(path) < depth + 3 or path[:depth] != view.shape.spine:
        return None
    index, *place, position = path[depth:]
    if isinstance(index, int) and isinstance(position, int) and tuple(place) in places(view):
        return index, tuple(place), position
    return None


def places(view: View) -> list[Pointer]:
    """The paths in a message of the lists of its parts, calls or results."""
    nested = [site.place for site in (*view.shape.calls, *view.shape.results) if site.place]
    own = [] if any(place[0] == view.shape.parts for place in nested) else [(view.shape.parts,)]
    return list(dict.fromkeys((*own, *nested)))


def list_keys(view: View) -> list[str]:
    """The keys of a message that may hold a list of its parts, calls or results."""
    sites = (site.within for site in (*view.shape.calls, *view.shape.results))
    return list(dict.fromkeys((view.shape.parts, *(key for key in sites if key is not None))))


def _without(view: View, index: int, gone: dict[Pointer, set[int]], on_empty: str, fill: str | None) -> Iterator[Edit]:
    message = view.messages[index]
    emptied = not any(_is_left(value_at(message, place), gone.get(place, ())) for place in places(view))
    if emptied and (on_empty == "drop" or (on_empty == "fill" and view.role(index) == "tool")):
        yield Edit("remove", view.path(index))
        return
    for place, positions in gone.items():
        if place[0] != view.shape.parts and len(positions) == len(value_at(message, place)):
            yield Edit("remove", view.path(index, *place))
        else:
            yield from (Edit("remove", view.path(index, *place, position)) for position in sorted(positions))
    if emptied and on_empty == "fill":
        yield _filled(view, index, message, fill or "")


def _is_left(value: Any, gone: Collection[int]) -> bool:
    return len(value) > len(gone) if isinstance(value, list) else not is_empty(value)


def _filled(view: View, index: int, message: dict[str, Any], text: str) -> Edit:
    first = places(view)[0]
    place = view.path(index, *first)
    if isinstance(value_at(message, first), list):
        return Edit("add", (*place, 0), {"type": "text", "text": text})
    return Edit("add", place, text)


def dropped(view: View, hits: list[Hit], on_empty: str = "drop", fill: str | None = None) -> Iterator[Edit]:
    """Take out the hits, each pair as a whole."""
    doomed = {hit.path for hit in hits if hit.path}
    # A part that is no half of a pair has no partner, and asking for the pairs of a long history is not free.
    if any(hit.occurrence is not None or hit.position is None for hit in hits):
        doomed = with_partners(view, doomed)
    return removal(view, doomed, on_empty, fill)
