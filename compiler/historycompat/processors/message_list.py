"""The rows of a conversation, where each came from, and which are not as they were loaded."""

from __future__ import annotations

import copy
from collections.abc import Iterable, MutableSequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Literal, overload
from uuid import uuid4

Row = dict[str, Any]
Source = Literal["memory", "response", "input", "context", "system"]


@dataclass(frozen=True, slots=True)
class Changes:
    """What a store has to do: rows to save anew, rows to save again, ids to delete. False where that is nothing."""

    added: tuple[Row, ...] = ()
    edited: tuple[Row, ...] = ()
    removed: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.edited or self.removed)


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The rows at some moment, to go back to; those of source `response` as copies, since they grow in place."""

    rows: tuple[Row, ...]
    sources: dict[str, Source]
    system_messages: tuple[Row, ...]


class MessageList(MutableSequence[Row]):
    """A list of rows, each with an id of its own (one is made where it lacks) and a source.

    `memory` was loaded, `input` came with this call, `response` is the model's, `context` is sent but never saved.
    System rows stand apart, in `system_messages`. Rows may be edited in place: `changed` compares contents.
    `drops_incomplete_tool_calls` says that a call without a result is left out of prompts.
    """

    def __init__(
        self, rows: Iterable[Row] = (), *, source: Source = "memory", drops_incomplete_tool_calls: bool = True
    ) -> None:
        self.drops_incomplete_tool_calls = drops_incomplete_tool_calls
        self.system_messages: list[Row] = []
        self._rows: list[Row] = []
        self._sources: dict[str, Source] = {}
        self._stored: dict[str, bytes] = {}
        self.add(rows, source)

    # ---- reading ----

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> list[Row]: ...
    def __getitem__(self, index: int | slice) -> Row | list[Row]:
        return self._rows[index]

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, value: object) -> bool:
        """Whether a row, or a row of that id, is here."""
        return _id(value) in self._sources

    def __repr__(self) -> str:
        return f"<MessageList of {len(self)} rows>"

    def rows(self, *sources: Source) -> list[Row]:
        """The rows of some sources, or all of them, in order."""
        return [row for row in self._rows if self.source_of(row) in sources] if sources else self._rows.copy()

    def source_of(self, row: Row | str) -> Source | None:
        """Where a row, or the row of that id, came from; None where it is not here."""
        return self._sources.get(_id(row))

    def _lasting(self) -> dict[str, Row]:
        return {_id(row): row for row in self._rows if self.source_of(row) != "context"}

    def changed(self) -> Changes:
        """What differs from what was loaded or last saved; rows of source `context` are never part of it."""
        lasting, stored = self._lasting(), self._stored
        return Changes(
            added=tuple(row for row_id, row in lasting.items() if row_id not in stored),
            edited=tuple(row for row_id, row in lasting.items() if row_id in stored and stored[row_id] != _digest(row)),
            removed=tuple(row_id for row_id in stored if row_id not in lasting),
        )

    # ---- writing ----

    def add(self, rows: Row | Iterable[Row], source: Source = "input") -> None:
        """Append rows. A row whose id is here takes that one's place; a system row joins `system_messages`."""
        for row in (rows,) if isinstance(rows, dict) else rows:
            if _is_system(row) or source == "system":
                self.system_messages.append(row)
            else:
                self._add(_with_id(row), source)

    def _add(self, row: Row, source: Source) -> None:
        row_id = row["id"]
        if row_id in self._sources:
            self._rows[self._position(row_id)] = row
        else:
            self._rows.append(row)
        self._sources[row_id] = source
        if source == "memory":
            self._stored[row_id] = _digest(row)

    def replace(self, row: Row | str, by: Row) -> None:
        """Put another row where a row, or the row of that id, stands; its source stays, and its id if `by` has none."""
        self[self._position(_id(row))] = by if by.get("id") else {**by, "id": _id(row)}

    def remove(self, value: Row | str) -> None:
        """Remove a row, or the row of that id. Raises ValueError where it is not here."""
        del self[self._position(_id(value))]

    def insert(self, index: int, value: Row) -> None:
        self[index:index] = [value]

    @overload
    def __setitem__(self, index: int, value: Row) -> None: ...
    @overload
    def __setitem__(self, index: slice, value: Iterable[Row]) -> None: ...
    def __setitem__(self, index: int | slice, value: Any) -> None:
        """As in a list. A new row gets the source of the one row that it replaces, else that of its role.

        Raises ValueError where two rows would have one id.
        """
        where = _as_slice(index, len(self))
        incoming = list(value) if isinstance(index, slice) else [value]
        rows = [_with_id(row) for row in incoming if not _is_system(row)]
        outgoing = self._rows[where]
        self._refuse_twins(outgoing, rows)
        self._rows[where] = rows
        self.system_messages += filter(_is_system, incoming)
        old = {_id(row): self._sources.pop(_id(row), _source_by_role(row)) for row in outgoing}
        heir = next(iter(old.values())) if len(outgoing) == len(rows) == 1 else None
        for row in rows:
            self._sources[_id(row)] = old.get(_id(row)) or heir or _source_by_role(row)

    def reverse(self) -> None:
        self[:] = self._rows[::-1]

    def __delitem__(self, index: int | slice) -> None:
        self[_as_slice(index, len(self))] = []

    def accept(self, returned: Iterable[Row], given: Iterable[Row], source: Source) -> None:
        """Take over the rows that a hook returned for those that it was given.

        Given rows that were not returned are removed, the same objects stay, others replace the row of their id or
        are new, with `source`; system rows join `system_messages`. Returned rows stand last, in their order.
        """
        returned, given = list(returned), list(given)
        if len(returned) == len(given) and all(map(_same, returned, given)):
            return
        self.system_messages += filter(_is_system, returned)
        rows = {_id(row): row for row in map(_with_id, returned) if not _is_system(row)}
        gone = set(map(_id, given)) | rows.keys()
        sources = {row_id: self._sources.get(row_id, source) for row_id in rows}
        self._rows = [row for row in self._rows if _id(row) not in gone] + list(rows.values())
        self._sources = {row_id: old for row_id, old in self._sources.items() if row_id not in gone} | sources

    # ---- turning points ----

    def mark_saved(self) -> None:
        """Take the rows as they are for saved: `changed` counts from here."""
        self._stored = {row_id: _digest(row) for row_id, row in self._lasting().items()}

    def checkpoint(self) -> Checkpoint:
        return Checkpoint(self._copied(self._rows), dict(self._sources), tuple(self.system_messages))

    def roll_back(self, point: Checkpoint) -> None:
        """Go back to a checkpoint: what was added or grew since then is gone."""
        self._sources = dict(point.sources)
        self._rows = list(self._copied(point.rows))
        self.system_messages[:] = point.system_messages

    def _copied(self, rows: Iterable[Row]) -> tuple[Row, ...]:
        return tuple(copy.deepcopy(row) if self.source_of(row) == "response" else row for row in rows)

    def _position(self, row_id: str) -> int:
        for position, row in enumerate(self._rows):
            if _id(row) == row_id:
                return position
        raise ValueError(f"no row of id {row_id!r} is here")

    def _refuse_twins(self, outgoing: list[Row], incoming: list[Row]) -> None:
        leaving, seen = set(map(_id, outgoing)), set()
        for row_id in map(_id, incoming):
            if row_id in seen or (row_id in self._sources and row_id not in leaving):
                raise ValueError(f"a row of id {row_id!r} is here already: replace that one")
            seen.add(row_id)


def _id(value: object) -> str:
    row_id = value.get("id") if isinstance(value, dict) else value
    return row_id if isinstance(row_id, str) else ""


def _with_id(row: Row) -> Row:
    return row if _id(row) else {**row, "id": str(uuid4())}


def _is_system(row: Row) -> bool:
    return row.get("role") == "system"


def _source_by_role(row: Row) -> Source:
    return "response" if row.get("role") in ("assistant", "tool") else "input"


def _same(one: object, other: object) -> bool:
    return one is other


def _as_slice(index: int | slice, length: int) -> slice:
    if isinstance(index, slice):
        return index
    position = index + length if index < 0 else index
    if not 0 <= position < length:
        raise IndexError(f"no row {index}: there are {length}")
    return slice(position, position + 1)


def _digest(row: Row) -> bytes:
    return blake2b(repr(row).encode("utf-8", "surrogatepass"), digest_size=16).digest()
