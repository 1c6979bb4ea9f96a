"""Canonical messages → rows: what was not edited as the row it was, edits put into copies, the rest new rows."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

from historycompat.edits import Lineage, same, value_at, with_path
from historycompat.errors import NotCarried
from historycompat.formats.format import OPAQUE, Home, Reading
from historycompat.formats.kinds import Part, same_at
from historycompat.formats.readers import Links
from historycompat.formats.row_copies import Pairs
from historycompat.formats.row_entries import Entry, entries_of
from historycompat.formats.stored import completed
from historycompat.formats.stored_kinds import STEP, Pieces
from historycompat.formats.writing import old_if_same

if TYPE_CHECKING:
    from historycompat.formats.rows import RowLens

Message = dict[str, Any]
Row = dict[str, Any]
Made = list[tuple[Any, Any]]
"""Native parts as they were (None for new ones), and as they are."""


class RowWriter:
    """One writing of edited messages into the rows they were read from."""

    def __init__(self, lens: RowLens, reading: Reading, lineage: Lineage, messages: list[Any]) -> None:
        self.lens, self.reading, self.lineage, self.messages = lens, reading, lineage, messages
        self._written: set[int] = set()

    def link(self, part: Any) -> tuple[Any, Any] | None:
        """The native part of a canonical part, edited or not, and its place; None for one that was not read."""
        return self.reading.links.get(id(self.lineage.origin(part)))

    def home(self, message: Any) -> Home | None:
        """The row that a canonical message, edited or not, was read from."""
        return self._homes.get(id(self.lineage.origin(message)))

    @cached_property
    def _homes(self) -> dict[int, Home]:
        return self.reading.homes()

    def rows(self) -> list[Any]:
        """The rows of all messages."""
        rows: list[Any] = []
        for group, home in self._groups():
            if home and len(group) == len(home[1]) and all(a is b for a, b in zip(group, home[1], strict=True)):
                self._written.add(id(home))
                rows += home[0]
            else:
                rows += self._rows(group, home)
        return completed(rows, self.reading.items, dated=self.lens.dated)

    def _groups(self) -> Iterator[tuple[list[Any], Home | None]]:
        """The messages of each row: those that it was read as, in their old order, with new results among them."""
        group: list[Any] = []
        home: Home | None = None
        last = -1
        for message in self.messages:
            own = self.home(message)
            at = _index(own[1], self.lineage.origin(message)) if own else -1
            joins = (own is home and at > last) if own else self._answers_to(group, message)
            if group and not (joins and _has_one_role([*group, message])):
                yield group, home
                group = []
            if not group:
                home, last = own, -1
            group.append(message)
            last = max(last, at)
        if group:
            yield group, home

    @staticmethod
    def _answers_to(group: list[Any], message: Any) -> bool:
        return bool(group) and _role(message) == "tool" and _role(group[-1]) in ("assistant", "tool")

    def _rows(self, group: list[Any], home: Home | None) -> list[Any]:
        if not isinstance(group[0], dict):
            return group
        if group[0].get("role") == OPAQUE:
            return [part.get("value") for part in group[0].get("content") or ()]
        role = next((message.get("role") for message in group if message.get("role") != "tool"), None)
        if home is None or id(home[0][0]) not in self.reading.links:
            parts = [now for _, now in self._parts(group, [])]
            return [self._headed(self.lens.blank("assistant" if role is None else role, parts), group, fresh=True)]
        row = self._row(group, home[0][0], role)
        if id(home) in self._written:
            row = {key: value for key, value in row.items() if key != "id"}
        self._written.add(id(home))
        return [row]

    def _row(self, group: list[Message], row: Row, role: Any) -> Row:
        out = self._headed(row, group, fresh=False)
        if role is not None and not same(role, self.lens.role(row)):
            out = {**out, "role": role}
        natives = self.reading.links[id(row)][0]
        content = group[0].get("content")
        if natives is not None or not isinstance(content, str):
            return self._with_parts(out, group, natives or [])
        return out if out.get("content") == content else {**out, "content": content}

    def _headed(self, row: Row, group: list[Message], *, fresh: bool) -> Row:
        for each in self.lens.header:
            for message in group:
                was = {} if fresh else self.lineage.origin(message)
                if (fresh or self.home(message)) and not same_at(was, message, each.canonical):
                    row = each.write(message, row, self)
                    break
        return row

    # ----- parts

    def _with_parts(self, row: Row, group: list[Message], old: list[Any]) -> Row:
        made = self._parts(group, old)
        parts = old_if_same([now for _, now in made], old)
        if parts is old:
            return row
        if copies := self.lens.copies:
            pairs = self._pairs(old, made)
            row, parts = copies.in_step(row, old, parts, pairs), copies.followed(parts, pairs)
            if value_at(row, self.lens.parts) is None and self._suffices(row, group):
                return row
        return with_path(row, self.lens.parts, list(self._whole(parts)))

    def _pairs(self, old: list[Any], made: Made) -> Pairs:
        """The invocations of a row, each with what it became: its call, where the result stands apart from that."""
        return [
            (native, next(iter(sorted(self._became(native, made), key=self.lens.invocations.is_half)), None))
            for native in old
            if self.lens.is_invocation(native)
        ]

    def _became(self, native: Any, made: Made) -> list[Any]:
        return [now for was, now in made if was is native and self.lens.is_invocation(now)]

    def _suffices(self, row: Row, group: list[Message]) -> bool:
        """Whether a row without parts says some messages."""
        contents = [message.get("content") for message in self.lens.read_row(row, Links())]
        return same(contents, [message.get("content") for message in group])

    def _whole(self, parts: list[Any]) -> Iterator[Any]:
        """Native parts, with those in one whose pieces all stand there as they were."""
        at = 0
        while at < len(parts):
            whole, pieces = self.reading.links.get(id(parts[at]), (None, None))
            together = pieces if isinstance(pieces, Pieces) else ()
            stands = together and all(a is b for a, b in zip(together, parts[at:], strict=False))
            if stands and len(parts) - at >= len(together):
                yield whole
                at += len(together)
            else:
                yield parts[at]
                at += 1

    def _parts(self, group: list[Message], old: list[Any]) -> Made:
        """The native parts of the messages of a row, with the steps that stood among the `old` ones."""
        made: Made = []
        last = -1
        for entry in entries_of(group, self._parts_of, self._native_of):
            was, now = self._native(entry)
            at = _index(old, was)
            steps = [each for each in old[last + 1 : at] if is_step(each)] if entry.starts and at > last else []
            if entry.apart and not steps:
                steps = [{"type": STEP}]
            made += [*zip(steps, steps, strict=True), (was, now)]
            last = max(last, at)
        trailing = itertools.takewhile(is_step, reversed(old))
        return made + [(each, each) for each in trailing]

    def _native(self, entry: Entry) -> tuple[Any, Any]:
        """The native part that an entry was, and the one it is."""
        lens = self.lens
        if entry.said is None:
            link = self.link(entry.result if entry.call is None else entry.call)
            written = lens.invocations.write(entry.call, entry.result, self, hosted=entry.hosted)
            return link[0] if link else None, written
        link = self.link(entry.said)
        was = link[0] if link else self.lineage.origin(entry.said)  # said alike, it is the native part itself
        return was, lens.kinds.write(entry.said, self, lens.kinds)

    def _native_of(self, part: Any) -> Any:
        link = self.link(part)
        return link[0] if link else None

    def _parts_of(self, message: Message) -> list[Any]:
        content = message.get("content")
        if isinstance(content, str):
            return [self._text(message, content)]
        parts = content if isinstance(content, list) else []
        for position, part in enumerate(parts):
            self._check(message, part, position)
        return parts

    def _text(self, message: Message, text: str) -> Part:
        """The text part of a content that is a string, made from the one that was there before."""
        part = {"type": "text", "text": text}
        home, was = self.home(message), self.lineage.origin(message).get("content")
        before = was[0] if isinstance(was, list) and len(was) == 1 else None
        if home and isinstance(was, str):
            before = self.reading.links.get(id(home[0][0]), (None, None))[1]
        if before is not None:
            self.lineage.record(part, before)
        return part

    def _check(self, message: Message, part: Any, position: int) -> None:
        if isinstance(part, dict) and self.link(part) is None:
            reason = self.lens.refuses(message.get("role"), part)
            if reason:
                index = _index(self.messages, message)
                raise NotCarried(f"the format cannot carry this: {reason}", f"/messages/{index}/content/{position}")


def _role(message: Any) -> Any:
    return message.get("role") if isinstance(message, dict) else OPAQUE


def _has_one_role(messages: list[Any]) -> bool:
    """Whether messages can stand in one row, which has one role beside that of results."""
    roles = [_role(message) for message in messages if _role(message) != "tool"]
    return OPAQUE not in roles and all(same(role, roles[0]) for role in roles)


def is_step(native: Any) -> bool:
    """Whether a native part only marks where a step begins."""
    return isinstance(native, dict) and native.get("type") == STEP


def _index(items: Any, wanted: Any) -> int:
    return next((index for index, item in enumerate(items) if item is wanted and item is not None), -1)
