"""Message lists ⇄ canonical messages, by a table of roles: the reading, the writing and the limits of a format."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from historycompat.edits import Lineage, same
from historycompat.formats.detection import Marks
from historycompat.formats.format import OPAQUE, Format, Reading, messages_of
from historycompat.formats.kinds import Kinds, Part, unknown_option
from historycompat.formats.readers import Links
from historycompat.formats.roles import Message, Role, Roles
from historycompat.formats.writing import MessageWriter, old_if_same, shallow_same
from historycompat.view import Shape


@dataclass(frozen=True, eq=False)
class Lens:
    """A format whose history is a list of messages with roles, bare or in a request body under `spine`.

    `tools` are the kinds of tool in a body. `system` is the body key of a system prompt that stands apart (None: there
    is none); it is read as a leading system message. `unnamed_results`: results do not say their tool's name; it is
    that of their call. `namespaces` are the provider options that belong to this format alone.
    """

    name: str
    roles: Roles
    tools: Kinds
    spine: str = "messages"
    system: str | None = None
    unnamed_results: bool = False
    namespaces: tuple[str, ...] = ()

    def read(self, native: Any) -> Reading:
        """Raises HistoryError where there is no list of messages."""
        reading = Reading([], native)
        reading.items = messages_of(native, self.spine)
        if isinstance(native, dict):
            self._open(native, reading)
        self._read(reading)
        if self.unnamed_results:
            _name_results(reading.messages)
        return reading

    def _open(self, body: Message, reading: Reading) -> None:
        known = {self.spine}
        reading.has_request = True
        if isinstance(body.get("tools"), list):
            known.add("tools")
            reading.tools = [self.tools.read(tool, reading.links, self.tools) for tool in body["tools"]]
        if self.system and isinstance(body.get(self.system), (str, list)):
            known.add(self.system)
            reading.items = [{"role": "system", "content": body[self.system]}, *reading.items]
        reading.params = {key: value for key, value in body.items() if key not in known}

    def _read(self, reading: Reading) -> None:
        messages, links, readers = reading.messages, reading.links, self.roles.readers
        for index, item in enumerate(reading.items):
            try:
                read = readers[item["role"]]
            except (KeyError, TypeError, IndexError):
                read = self.roles.reader_of(item) or self._opaque
            made = read(item, links)
            if made.__class__ is dict:
                messages.append(made)
            else:
                messages += made
                reading.splits[index] = len(made)

    def _opaque(self, native: Any, links: Links) -> Message:
        part = {"type": OPAQUE, "format": self.name, "at": "", "value": native}
        return {"role": OPAQUE, "content": [part]}

    def write(
        self,
        reading: Reading,
        messages: list[Any],
        tools: list[Any] | None,
        params: dict[str, Any] | None,
        lineage: Lineage,
    ) -> Any:
        """The native history with what was edited, `reading.native` itself where nothing was. NotCarried where a
        message cannot be said; `carries` tells before."""
        native = reading.native
        writer = MessageWriter(self.roles, reading, lineage, messages)
        if isinstance(native, list):
            return native if messages is reading.messages else old_if_same(writer.items(), native)
        body = dict(native)
        if messages is not reading.messages:
            self._write_messages(body, writer)
        if not same(tools, reading.tools):
            body["tools"] = [self.tools.write(tool, writer, self.tools) for tool in tools or ()]
            if tools is None:
                del body["tools"]
        if not same(params, reading.params):
            old, new = reading.params or {}, params or {}
            body = {key: value for key, value in body.items() if key in new or key not in old} | new
        return native if shallow_same(body, native) else body

    def _write_messages(self, body: Message, writer: MessageWriter) -> None:
        items = writer.items()
        if self.system and self._lifts(body, writer):
            lifted = items.pop(0).get("content", "")
            body[self.system] = lifted
        elif self.system and self.system not in (writer.reading.params or {}):
            body.pop(self.system, None)
        body[self.spine] = old_if_same(items, body[self.spine])

    def _lifts(self, body: Message, writer: MessageWriter) -> bool:
        """Whether the first message goes where the system prompt stands: it came from there, or it is new."""
        first = writer.messages[0] if writer.messages else None
        if not isinstance(first, dict) or first.get("role") != "system" or self.system in (writer.reading.params or {}):
            return False
        home = writer.home(first)
        return home is None or all(home[0][0] is not item for item in body[self.spine])

    def carries(self, message: Message, position: int | None) -> str | None:
        """Why a message (its header for None) or one of its parts cannot be said, or None."""
        content = message.get("content")
        if message.get("role") == OPAQUE:
            ours = isinstance(content, list) and all(part.get("format") == self.name for part in content)
            return None if ours else "it is an opaque message of another format"
        role = self.roles.towards(message)
        if position is None:
            return self._header_reason(role, message)
        part = content[position] if isinstance(content, list) else None
        return self._part_reason(role, message, part) if isinstance(part, dict) else None

    def _header_reason(self, role: Role, message: Message) -> str | None:
        if message.get("role") == "tool" and not (isinstance(message.get("content"), list) and message["content"]):
            return "a tool message holds a list of results"
        paths = [each.canonical for each in role.fields]
        for key in message:
            if key not in ("role", "content", "providerOptions", *paths):
                return f"there is no place for the field {key} of a message"
        return unknown_option(message, paths, self.namespaces)

    def _part_reason(self, role: Role, message: Message, part: Part) -> str | None:
        if role.whole is not None:
            return role.whole.refuses(part)
        kind = part.get("type")
        belongs = role.elsewhere.get(kind, role.canonical) if isinstance(kind, str) else None
        if kind != OPAQUE and belongs not in (None, message.get("role")):
            return f"a {kind} part stands in {belongs} messages"
        slots = [slot for slot in role.slots if slot.takes(part)] or [slot for slot in role.slots if not slot.closed]
        return next((reason for slot in slots[:1] if (reason := slot.refuses(part))), None)

    def format(self, title: str, marks: Marks, shape: Shape, says: frozenset[str]) -> Format:
        """The row of the format table."""
        return Format(
            self.name, title, self.read, self.write, marks.score, self.carries, shape, self.wrap, self.unwrap, says
        )

    def wrap(self, native: Any) -> dict[str, Any]:
        """A request body around a bare message list; a body is its own."""
        return native if isinstance(native, dict) else {self.spine: native}

    def unwrap(self, body: dict[str, Any], native: Any) -> Any:
        """The inverse of `wrap`: a bare list for a bare list. Keys that rules added to its body have no place in it."""
        return body if isinstance(native, dict) else body.get(self.spine, [])


def _name_results(messages: Iterable[Message]) -> None:
    """Give results the tool name of the nearest call before them with their id."""
    names: dict[Any, Any] = {}
    for message in messages:
        content = message["content"]
        for part in content if isinstance(content, list) else ():
            kind, call = part["type"], part.get("toolCallId")
            if kind == "tool-call" and isinstance(call, str):
                names[call] = part.get("toolName")
            elif kind == "tool-result" and isinstance(call, str) and call in names:
                part.setdefault("toolName", names[call])
