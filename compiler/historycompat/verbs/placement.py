"""Lists of messages and parts → the edits that put elements elsewhere in them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Any

from historycompat.edits import Edit, Pointer, value_at
from historycompat.pairs import Half, Pairing
from historycompat.view import View


def permuted(path: Pointer, values: Sequence[Any], order: Sequence[int]) -> Iterator[Edit]:
    """Bring the list at `path` into an order, given as its present indexes. As many elements as can stay, stay."""
    stay = set(longest_rise(order))
    before = len(values)
    adds = []
    for index in reversed(order):
        if index in stay:
            before = index
        else:
            yield Edit("remove", (*path, index))
            adds.append(Edit("add", (*path, before), values[index]))
    yield from reversed(adds)


def longest_rise(order: Sequence[int]) -> list[int]:
    """The longest rising subsequence of distinct numbers, from its last to its first, by patience sorting."""
    tops: list[int] = []
    below: dict[int, int | None] = {}
    for value in order:
        pile = bisect_left(tops, value)
        below[value] = tops[pile - 1] if pile else None
        tops[pile : pile + 1] = [value]
    rise = []
    value_: int | None = tops[-1] if tops else None
    while value_ is not None:
        rise.append(value_)
        value_ = below[value_]
    return rise


def halves(pairing: Pairing) -> list[tuple[Half, bool]]:
    """Every call and result, and whether it is a call, in the order in which they pair: by message, calls first."""
    found = [(it.call, True) for it in pairing.occurrences if it.call]
    found += [(it.result, False) for it in pairing.occurrences if it.result]
    return sorted(found, key=lambda entry: (entry[0].index, not entry[1], entry[0].position or 0))


def result_role(view: View) -> str:
    """The role of a message that holds tool results."""
    return view.shape.homes(view.shape.results[0])[0]


def run_after(view: View, index: int) -> range:
    """The messages with the role of results that follow message `index` without a gap."""
    role, end = result_role(view), index + 1
    while end < len(view.messages) and view.role(end) == role:
        end += 1
    return range(index + 1, end)


class Slots:
    """Where a result of each call belongs: behind the results in the message after the call's, if there is one."""

    def __init__(self, view: View) -> None:
        self.view = view
        self.site = view.shape.results[0]
        self.last: dict[int, int] = {}
        self.items: set[int] = set()  # calls and results that are messages of their own
        for occurrence in view.pairing.occurrences:
            result = occurrence.result
            for half in (occurrence.call, result):
                if half and half.position is None:
                    self.items.add(half.index)
            if result and result.position is not None:
                self.last[result.index] = max(result.position, self.last.get(result.index, 0))

    def of(self, call: Half) -> tuple[Pointer, bool]:
        """The place in a snapshot where a result is to be added, and whether a message has to be made there."""
        run = run_after(self.view, call.index)
        if self.site.within is None:
            return self.view.path(run.stop if self.site.type is None else self._behind_items(call.index)), True
        holding = [index for index in run if index in self.last]
        home = holding[-1] if holding else call.index + 1
        message = self.view.messages[home] if home in run else None
        if not isinstance(value_at(message, self.site.place), list):
            return self.view.path(call.index + 1), True
        return self.view.path(home, *self.site.place, self.last.get(home, -1) + 1), False

    def _behind_items(self, index: int) -> int:
        while index in self.items:
            index += 1
        return index
