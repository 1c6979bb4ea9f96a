"""Stored rows, whose tool invocations hold call and result at once ⇄ canonical messages.

A row of an assistant is read as its steps: a message with what it said and called, and a tool message for each result.
A step ends where `step-start` says so, and where something is said after a result. Results of hosted tools stand behind
their calls. All these messages are written back to the one row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from historycompat.edits import Lineage, same
from historycompat.formats.detection import Survey
from historycompat.formats.format import OPAQUE, Format, Reading, messages_of
from historycompat.formats.invocations import Invocations
from historycompat.formats.kinds import Field, Kinds, Part
from historycompat.formats.readers import Links, fields_reader
from historycompat.formats.row_copies import Copies
from historycompat.formats.row_writing import RowWriter
from historycompat.formats.stored_kinds import SEVERAL, STEP, Pieces
from historycompat.formats.writing import old_if_same, shallow_same
from historycompat.view import Shape

Message = dict[str, Any]
Row = dict[str, Any]


@dataclass(frozen=True, eq=False)
class RowLens:
    """A format of rows.

    `parts` is the path of a row's parts; `kinds` are those that are no invocations. `pieces` gives the native parts
    that one of the type `SEVERAL` stands for, where these are several. `header` are the fields of the row itself,
    `aliases` the native roles that are read as others. `copies` are what a row says a second time. `blank(role, parts)`
    is a new row, `dated` says that it needs a date. A row with the role of canonical results is opaque.
    """

    name: str
    parts: tuple[str, ...]
    kinds: Kinds
    invocations: Invocations
    header: tuple[Field, ...]
    blank: Callable[[str, list[Any]], Row]
    copies: Copies | None = None
    pieces: Callable[[Part], Pieces | None] | None = None
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
        messages, links, read_row = reading.messages, reading.links, self.read_row
        for index, row in enumerate(reading.items):
            made = read_row(row, links)
            messages += made
            if len(made) != 1:
                reading.splits[index] = len(made)
        return reading

    def read_row(self, row: Any, links: Links) -> list[Message]:
        """The canonical messages of a row, at least one. Its link is to its native parts, and to the part that it was
        read as where a system message has that part's text alone."""
        natives = self.natives(row, links)
        role = self.role(row) if isinstance(row, dict) else None
        if role == "tool" or (natives is None and not self._says_text(row)):
            return [{"role": OPAQUE, "content": [self._opaque(row)]}]
        links[id(row)] = (natives, None)
        head: Message = {"role": role} if "role" in row else {}
        if self.header:
            self._read_header(row, head, links)
        if natives is None:
            return [{**head, "content": row["content"]}]
        messages = self._steps(natives, head, links)
        if role == "system" and len(messages) == 1 and _is_bare_text(messages[0]["content"]):
            (part,) = messages[0]["content"]
            links[id(row)] = (natives, part)  # what is linked has to stay alive: another object could get its id
            return [{**head, "content": part["text"]}]
        return messages

    @cached_property
    def _read_header(self) -> Callable[[Row, Message, Links], None]:
        return fields_reader((each.step for each in self.header), "role")

    def _says_text(self, row: Any) -> bool:
        """Whether a row without parts has a text where it could have a list of them."""
        return len(self.parts) == 1 and isinstance(row, dict) and isinstance(row.get("content"), str)

    def _opaque(self, value: Any) -> Part:
        return {"type": OPAQUE, "format": self.name, "at": "", "value": value}

    def role(self, row: Row) -> Any:
        """The canonical role of a row."""
        role = row.get("role")
        return self.aliases.get(role, role) if self.aliases and isinstance(role, str) else role

    def natives(self, row: Any, links: Links) -> list[Any] | None:
        """The native parts of a row, in pieces where one stands for several; None where it has none."""
        if not isinstance(row, dict):
            return None
        parts: Any = row
        for key in self.parts:
            parts = parts.get(key) if isinstance(parts, dict) else None
        if not isinstance(parts, list):
            return self.copies.natives(row) if self.copies and parts is None else None
        return parts if self.pieces is None else self._in_pieces(parts, self.pieces, links)

    @staticmethod
    def _in_pieces(parts: list[Any], pieces_of: Callable[[Part], Pieces | None], links: Links) -> list[Any]:
        natives: list[Any] = []
        for part in parts:
            pieces = pieces_of(part) if isinstance(part, dict) and part.get("type") == SEVERAL else None
            if pieces is None:
                natives.append(part)
                continue
            for piece in pieces:
                links[id(piece)] = (part, pieces)
            natives += pieces
        return natives if len(natives) > len(parts) else parts

    def _steps(self, natives: list[Any], head: Message, links: Links) -> list[Message]:
        """The messages of a row's parts: for each step one with what was said, and one for each result."""
        kinds, readers, is_invocation = self.kinds, self.kinds.readers, self.invocations.is_one
        messages: list[Message] = []
        said: list[Part] = []
        results: list[Message] = []
        for native in natives:
            try:
                kind = native["type"]
                read = readers.get(kind)
            except (KeyError, TypeError):
                kind = read = None
            if kind == STEP or (read is not None and results):
                messages += _step(head, said, results)
                said, results = [], []
            if read is not None:
                said.append(read(native, links, kinds))
            elif kind == STEP:
                continue
            elif isinstance(kind, str) and is_invocation(kind):
                call, result = self.invocations.read(native, links)
                if call is not None:
                    said.append(call)
                if result is not None and native.get("providerExecuted"):
                    said.append(result)
                elif result is not None:
                    results.append({**head, "role": "tool", "content": [result]})
            else:
                said.append(kinds.read(native, links, kinds))
        return messages + _step(head, said, results) or [{**head, "content": []}]

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


def _step(head: Message, said: list[Part], results: list[Message]) -> list[Message]:
    """The messages of one step of a row."""
    return [{**head, "content": said}, *results] if said else results


def _is_bare_text(parts: list[Part]) -> bool:
    """Whether parts are nothing but one plain text."""
    part = parts[0] if len(parts) == 1 else {}
    return part.keys() == {"type", "text"} and part["type"] == "text" and isinstance(part["text"], str)
