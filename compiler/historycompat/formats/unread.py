"""A history, and keys → those among them that its format does not read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Any

from historycompat.errors import HistoryError
from historycompat.formats.format import Reading


def unread_keys(history: Any, keys: Collection[str], read: Callable[[Any], Reading]) -> Iterator[str]:
    """The keys, in order of the alphabet, that stand somewhere in a history and without which it reads the same."""
    messages = read(history).messages
    for key in sorted(_keys(history).intersection(keys)):
        try:
            if read(_without(history, key)).messages == messages:
                yield key
        except HistoryError:  # without it this is no history
            continue


def _keys(value: Any) -> set[str]:
    if isinstance(value, dict):
        return {*value, *(key for item in value.values() for key in _keys(item))}
    return {key for item in value for key in _keys(item)} if isinstance(value, list) else set()


def _without(value: Any, key: str) -> Any:
    if isinstance(value, dict):
        return {name: _without(item, key) for name, item in value.items() if name != key}
    return [_without(item, key) for item in value] if isinstance(value, list) else value
