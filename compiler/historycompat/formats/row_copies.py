"""What a row says a second time, for older readers ⇄ its parts: kept equal to them, or read in their place."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from historycompat.edits import MISSING, same, value_at, with_path

Row = dict[str, Any]
Pairs = list[tuple[dict[str, Any], dict[str, Any] | None]]
"""Invocations as they were, and as they are now (None: gone)."""

_SHARED = ("toolCallId", "toolName", "args", "state", "result")

# How the copy of several texts was put together: what fits the old parts is done again with the new ones.
_JOINS: tuple[Callable[[list[str]], str], ...] = ("".join, "\n".join, "\n\n".join, lambda texts: (texts or [""])[-1])


@dataclass(frozen=True)
class Copies:
    """Where the copies are: the keys `content`, `reasoning` and `toolInvocations` of the object at `within`.

    `follower` is the path of what else in the row refers to calls by their ids, beside the parts of the type `data-*`.
    """

    within: tuple[str, ...]
    follower: tuple[str, ...] | None = None

    def natives(self, row: Row) -> list[Any] | None:
        """The parts that a row without parts stands for; None where it has no copies."""
        holder = value_at(row, self.within)
        if not isinstance(holder, dict):
            return None
        calls, text = holder.get("toolInvocations"), holder.get("content")
        calls = calls if isinstance(calls, list) else []
        invocations = [{"type": "tool-invocation", "toolInvocation": call} for call in calls]
        if not isinstance(text, str) or (invocations and not text):
            return invocations or None
        return [{"type": "text", "text": text}, *invocations]

    def in_step(self, row: Row, old: list[Any], new: list[Any], pairs: Pairs) -> Row:
        """A row whose parts changed from `old` to `new`, with its copies changed alike."""
        holder = value_at(row, self.within)
        if not isinstance(holder, dict):
            return row
        changed = dict(holder)
        for key, texts in (("content", _texts), ("reasoning", _thoughts)):
            join = next((join for join in _JOINS if join(texts(old)) == holder.get(key)), None)
            if join is not None:
                changed[key] = join(texts(new))
        if isinstance(calls := holder.get("toolInvocations"), list):
            changed["toolInvocations"] = list(_entries(calls, pairs))
        if any(not same(value, holder[key]) for key, value in changed.items()):
            row = with_path(row, self.within, changed) if self.within else changed
        renamed = _renamed(pairs)
        value = value_at(row, self.follower) if self.follower else None
        followed = _following(value, renamed)
        return row if same(followed, value) or not self.follower else with_path(row, self.follower, followed)

    @staticmethod
    def followed(parts: Iterable[Any], pairs: Pairs) -> list[Any]:
        """Parts, those of the type `data-*` with the new ids of calls."""
        renamed = _renamed(pairs)
        return [_following(part, renamed) if renamed and _is_data(part) else part for part in parts]


def _texts(parts: Iterable[Any]) -> list[str]:
    return [part["text"] for part in parts if value_at(part, ("type",)) == "text" and isinstance(part.get("text"), str)]


def _thoughts(parts: Iterable[Any]) -> list[str]:
    found = [value_at(part, ("reasoning",)) for part in parts]
    return [text for text in found if isinstance(text, str)]


def _entries(calls: list[Any], pairs: Pairs) -> Iterable[Any]:
    """The copies of invocations, each with what changed in the first of its id that is not yet accounted for."""
    waiting = list(pairs)
    for entry in calls:
        id_ = value_at(entry, ("toolCallId",))
        found = next((pair for pair in waiting if same(_inner(pair[0]).get("toolCallId"), id_)), None)
        if found is None:
            yield entry
            continue
        waiting.remove(found)
        if found[1] is not None:
            yield _updated(entry, _inner(found[0]), _inner(found[1]))


def _inner(native: dict[str, Any]) -> dict[str, Any]:
    inner = native.get("toolInvocation")
    return inner if isinstance(inner, dict) else {}


def _updated(entry: Any, old: dict[str, Any], new: dict[str, Any]) -> Any:
    was = entry
    for key in _SHARED if isinstance(entry, dict) else ():
        before, after = old.get(key, MISSING), new.get(key, MISSING)
        if after is MISSING and before is not MISSING:
            entry = {name: value for name, value in entry.items() if name != key}
        elif after is not MISSING and (before is MISSING or not same(before, after)):
            entry = {**entry, key: after}
    return was if same(was, entry) else entry


def _is_data(part: Any) -> bool:
    kind = value_at(part, ("type",))
    return isinstance(kind, str) and kind.startswith("data-")


def _renamed(pairs: Pairs) -> dict[str, str]:
    ids = [(_inner(old).get("toolCallId"), _inner(new or {}).get("toolCallId")) for old, new in pairs]
    return {old: new for old, new in ids if isinstance(old, str) and isinstance(new, str) and old != new}


def _following(value: Any, renamed: dict[str, str]) -> Any:
    """A value in which every `toolCallId`, and every key of an object that is such an id, has its new name."""
    if isinstance(value, list):
        return [_following(item, renamed) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        (renamed.get(key, key) if isinstance(item, dict) else key): (
            renamed.get(item, item) if key == "toolCallId" and isinstance(item, str) else _following(item, renamed)
        )
        for key, item in value.items()
    }
