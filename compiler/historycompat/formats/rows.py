"""Stored rows, whose tool invocations hold call and result at once ⇄ canonical messages.

A row of an assistant is read as its steps: a message with what it said and called, and a tool message for each result.
A step ends where `step-start` says so, and where something is said after a result. Results of hosted tools stand behind
their calls. All these messages are written back to the one row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from historycompat.edits import Lineage, same, value_at
from historycompat.formats.detection import Survey
from historycompat.formats.format import OPAQUE, Format, Reading, messages_of
from historycompat.formats.invocations import Invocations
from historycompat.formats.kinds import Field, Kinds, Part
from historycompat.formats.readers import Links
from historycompat.formats.row_copies import Copies
from historycompat.formats.row_writing import RowWriter
from historycompat.formats.stored_kinds import STEP, Pieces
from historycompat.formats.writing import old_if_same, shallow_same
from historycompat.view import Shape

Message = dict[str, Any]
Row = dict[str, Any]

_ROW = object()  # the place of the link from a row to its native parts


@dataclass(frozen=True, eq=False)
class RowLens:
    """A format of rows.

    `parts` is the path of a row's parts; `kinds` are those that are no invocations. `pieces` gives the native parts
    that one stands for, where it stands for several. `header` are the fields of the row itself, `aliases` the native
    roles that are read as others. `copies` are what a row says a second time. `blank(role, parts)` is a new row,
    `dated` says that it needs a date.
    """

    name: str
    parts: tuple[str, ...]
    kinds: Kinds
    invocations: Invocations
    header: tuple[Field, ...]
    blank: Callable[[str, list[Any]], Row]
    copies: Copies | None = None
    pieces: Callable[[Any], Pieces | None] | None = None
    aliases: Mapping[str, str] = field(default_factory=dict)
    dated: bool = False

    # ----- reading

    def read(self, native: Any) -> Reading:
        """Raises HistoryError where there is no list of rows."""
        reading = Reading([], native)
        reading.items = messages_of(native, "messages")
        if isinstance(native, dict):
            reading.has_request = True
            reading.params = {key: value for key, value in native.items() if key != "messages"}
        for index, row in enumerate(reading.items):
            made = self.read_row(row, reading.links)
            reading.messages += made
            if len(made) != 1:
                reading.splits[index] = len(made)
        return reading

    def read_row(self, row: Any, links: Links) -> list[Message]:
        """The canonical messages of a row, at least one."""
        natives = self.natives(row, links)
        content = row.get("content") if isinstance(row, dict) and len(self.parts) == 1 else None
        if natives is None and not isinstance(content, str):
            return [{"role": OPAQUE, "content": [self._opaque(row)]}]
        links[id(row)] = (natives, _ROW)
        head: Message = {"role": self.role(row)} if "role" in row else {}
        for each in self.header:
            if each.first_key in row:
                each.read(row, head, links)
        contents = [(None, content)] if natives is None else self._steps(natives, links)
        messages = [
            head | {"content": content} if role is None else {**head, "role": role, "content": content}
            for role, content in contents
        ]
        return [_with_bare_text(messages[0], natives)] if len(messages) == 1 else messages

    def _opaque(self, value: Any) -> Part:
        return {"type": OPAQUE, "format": self.name, "at": "", "value": value}

    def role(self, row: Row) -> Any:
        """The canonical role of a row."""
        role = row.get("role")
        return self.aliases.get(role, role) if isinstance(role, str) else role

    def natives(self, row: Any, links: Links) -> list[Any] | None:
        """The native parts of a row, in pieces where one stands for several; None where it has none."""
        if not isinstance(row, dict):
            return None
        parts = value_at(row, self.parts)
        if not isinstance(parts, list):
            return self.copies.natives(row) if self.copies and parts is None else None
        if self.pieces is None:
            return parts
        natives: list[Any] = []
        for part in parts:
            pieces = self.pieces(part)
            if pieces is None:
                natives.append(part)
            else:
                links.update((id(piece), (part, pieces)) for piece in pieces)
                natives += pieces
        return natives

    def _steps(self, natives: list[Any], links: Links) -> list[tuple[str | None, Any]]:
        """The role (None: the row's own) and the content of each message."""
        contents: list[tuple[str | None, Any]] = []
        said: list[Part] = []
        results: list[Part] = []
        kinds, invocations, readers = self.kinds, self.invocations, self.kinds.readers
        for native in natives:
            kind = native.get("type") if isinstance(native, dict) else None
            kind = kind if isinstance(kind, str) else None
            invoked = kind is not None and invocations.is_one(kind)
            ends = kind == STEP or (bool(results) and not invoked and kind in readers)
            if ends:
                contents += [(None, said)] if said else []
                contents += [("tool", [result]) for result in results]
                said, results = [], []
            if invoked:
                call, result = invocations.read(native, links)
                if call is not None:
                    said.append(call)
                if result is not None:
                    (said if native.get("providerExecuted") else results).append(result)
            elif kind in readers:
                said.append(readers[kind](native, links, kinds))
            elif kind != STEP:
                said.append(kinds.read(native, links, kinds))
        contents += [(None, said)] if said or not (contents or results) else []
        return contents + [("tool", [result]) for result in results]

    def is_invocation(self, native: Any) -> bool:
        kind = native.get("type") if isinstance(native, dict) else None
        return isinstance(kind, str) and self.invocations.is_one(kind)

    # ----- writing

    def write(
        self,
        reading: Reading,
        messages: list[Any],
        tools: list[Any] | None,
        params: dict[str, Any] | None,
        lineage: Lineage,
    ) -> Any:
        """The rows with what was edited, `reading.native` itself where nothing was. NotCarried where a new message
        cannot be said; `carries` tells before."""
        native = reading.native
        rows = reading.items
        if messages is not reading.messages:
            rows = old_if_same(RowWriter(self, reading, lineage, messages).rows(), reading.items)
        if isinstance(native, list):
            return rows
        body = {**native, "messages": rows}
        if not same(params, reading.params):
            body = {**(params or {}), "messages": rows}
        if tools is not None:
            body["tools"] = tools
        return native if shallow_same(body, native) else body

    def carries(self, message: Message, position: int | None) -> str | None:
        """Why a message (its header for None) or one of its parts cannot be said, or None."""
        content, role = message.get("content"), message.get("role")
        if role == OPAQUE:
            ours = isinstance(content, list) and all(part.get("format") == self.name for part in content)
            return None if ours else "it is an opaque message of another format"
        if position is None:
            return self._header_reason(message)
        part = content[position] if isinstance(content, list) else None
        return self.refuses(role, part) if isinstance(part, dict) else None

    def _header_reason(self, message: Message) -> str | None:
        if message.get("role") == "tool" and not (isinstance(message.get("content"), list) and message["content"]):
            return "a tool message holds a list of results"
        known = {"role", "content", "providerOptions", *(each.canonical for each in self.header)}
        extra = next((key for key in message if key not in known), None)
        return f"there is no place for the field {extra} of a message" if extra else None

    def refuses(self, role: Any, part: Part) -> str | None:
        """Why a message of a role cannot hold a part, or None."""
        kind = part.get("type")
        if kind == "tool-call":
            return self.invocations.calls.refuses(part)
        if kind == "tool-result":
            return self.invocations.results.refuses(part)
        if role == "tool":
            return f"there is no such {kind} part in a tool message"
        return self.kinds.refuses(part)

    # ----- the table's row

    def format(self, title: str, detect: Callable[[Survey], float], shape: Shape, says: frozenset[str]) -> Format:
        """The row of the format table."""
        return Format(
            self.name, title, self.read, self.write, detect, self.carries, shape, self.wrap, self.unwrap, says
        )

    def wrap(self, native: Any) -> dict[str, Any]:
        """A body around a bare list of rows; a body is its own."""
        return native if isinstance(native, dict) else {"messages": native}

    def unwrap(self, body: dict[str, Any], native: Any) -> Any:
        """The inverse of `wrap`."""
        return body if isinstance(native, dict) else body.get("messages", [])


def _with_bare_text(message: Message, natives: list[Any] | None) -> Message:
    """A system message that is nothing but one plain text with that text as its content; any other as it is."""
    content = message["content"]
    if message.get("role") != "system" or natives is None or len(content) != 1:
        return message
    part = content[0]
    plain = part.keys() == {"type", "text"} and part["type"] == "text" and isinstance(part["text"], str)
    return {**message, "content": part["text"]} if plain else message
