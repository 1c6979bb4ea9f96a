"""Message lists ⇄ canonical messages, by a table of roles: the reading, the writing and the limits of a format."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from historycompat.edits import Lineage, same
from historycompat.formats.apart import System, Tools
from historycompat.formats.detection import Marks
from historycompat.formats.format import OPAQUE, Format, Reading, messages_of
from historycompat.formats.kinds import Part, unknown_option
from historycompat.formats.pairing import identify, name_results
from historycompat.formats.readers import Links
from historycompat.formats.roles import Message, Role, Roles
from historycompat.formats.writing import MessageWriter, old_if_same, shallow_same
from historycompat.view import Shape


@dataclass(frozen=True, eq=False)
class Lens:
    """A format whose history is a list of messages with roles, bare or in a request body under `spine`.

    `tools` and `system` (None: there is none) stand apart from the messages of a body; the system prompt is read as a
    leading system message. `unnamed_results`: results may not say their tool's name; it is that of their call.
    `optional_ids`: calls and results may not say their id; it follows from names and order. `namespaces` are the
    provider options that belong to this format alone. `unfold` and `fold` are for lists whose items are no messages:
    from them to objects that are, and back. `text_alone`: a body may hold the text of a user instead of a list.
    """

    name: str
    roles: Roles
    tools: Tools
    spine: str = "messages"
    system: System | None = None
    unnamed_results: bool = False
    optional_ids: bool = False
    namespaces: tuple[str, ...] = ()
    unfold: Callable[[list[Any]], list[Any]] | None = None
    fold: Callable[[list[Any]], list[Any]] | None = None
    text_alone: bool = False

    def read(self, native: Any) -> Reading:
        """Raises HistoryError where there is no list of messages."""
        reading = Reading([], native)
        items = self._items(native)
        if isinstance(native, dict):
            items = [*self._open(native, reading), *items]
        reading.items = items if self.unfold is None else self.unfold(items)
        self._read(reading)
        if self.optional_ids:
            identify(reading.links.halves)
        if self.unnamed_results:
            name_results(reading.links.halves)
        return reading

    def _items(self, native: Any) -> list[Any]:
        prompt = native.get(self.spine) if self.text_alone and isinstance(native, dict) else None
        return [{"role": "user", "content": prompt}] if isinstance(prompt, str) else messages_of(native, self.spine)

    def _open(self, body: Message, reading: Reading) -> list[Message]:
        """Read what stands beside the messages; gives the system message to put in front."""
        known = {self.spine}
        reading.has_request = True
        reading.tools = self.tools.read(body, reading.links)
        if reading.tools is not None:
            known.add(self.tools.path[0])
        key = self.system.key(body) if self.system else None
        reading.params = {name: value for name, value in body.items() if name not in known and name != key}
        return [self.system.lift(body, key)] if self.system and key is not None else []

    def _read(self, reading: Reading) -> None:
        messages, links = reading.messages, reading.links
        readers, name_of = self.roles.readers, self.roles.name_of
        for index, item in enumerate(reading.items):
            try:
                read = readers[item["role"] if name_of is None else name_of(item)]
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
            return native if messages is reading.messages else old_if_same(self._folded(writer.items()), native)
        body = dict(native)
        if messages is not reading.messages:
            body = self._write_messages(body, writer)
        if not same(tools, reading.tools):
            body = self.tools.write(body, tools, writer)
        if not same(params, reading.params):
            old, new = reading.params or {}, params or {}
            body = {key: value for key, value in body.items() if key in new or key not in old} | new
        return native if shallow_same(body, native) else body

    def _folded(self, items: list[Any]) -> list[Any]:
        return items if self.fold is None else self.fold(items)

    def _write_messages(self, body: Message, writer: MessageWriter) -> Message:
        items, old = writer.items(), writer.reading.items
        if self.system:
            key = self.system.key(body)
            old = old if key is None else old[1:]
            if self._lifts(self.system, key, writer):
                (lifted,) = self._folded([items.pop(0)])
                body = self.system.lower(lifted, body, key or self.system.keys[0])
            elif key is not None:
                body = {name: value for name, value in body.items() if name != key}
        return body if old_if_same(items, old) is old else {**body, self.spine: self._folded(items)}

    @staticmethod
    def _lifts(system: System, key: str | None, writer: MessageWriter) -> bool:
        """Whether the first message goes where the system prompt stands: it came from there, or it is new."""
        first = writer.messages[0] if writer.messages else None
        if not isinstance(first, dict) or first.get("role") != "system":
            return False
        if (home := writer.home(first)) is None:
            return key is not None or (system.takes_new and system.keys[0] not in (writer.reading.params or {}))
        return key is not None and home[0][0] is writer.reading.items[0]

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
