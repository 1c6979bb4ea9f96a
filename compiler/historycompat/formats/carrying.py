"""Edited canonical prompts of one reading → their native history, and why the format cannot carry an edit."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from historycompat.edits import MISSING, Edit, Lineage, same, value_at
from historycompat.errors import NotCarried
from historycompat.formats.format import Format, Home, Reading

Root = dict[str, Any]
Reason = tuple[str, str]  # the pointer of a place in the prompt, and why the format cannot carry what stands there


class Carrier:
    """What the format of a reading makes of its edited prompts, which are `{"messages": [...], ...}`."""

    def __init__(self, kind: Format, reading: Reading, lineage: Lineage) -> None:
        self.kind, self.reading, self.lineage = kind, reading, lineage
        self._last: tuple[Root, Any] | None = None

    def written(self, root: Root) -> Any:
        """The native history of a prompt. NotCarried where the format cannot say it."""
        if self._last is None or self._last[0] is not root:
            messages, tools, params = root["messages"], root.get("tools"), root.get("params")
            self._last = root, self.kind.write(self.reading, messages, tools, params, self.lineage)
        return self._last[1]

    def is_string(self, message: Any) -> bool:
        """Whether the native message that a message was read from holds one string where others hold parts."""
        items, _ = self._homes.get(id(self.lineage.origin(message)), ((), ()))
        item = items[0] if len(items) == 1 else None
        return isinstance(item, dict) and isinstance(item.get(self.kind.shape.parts, item.get("content")), str)

    @cached_property
    def _homes(self) -> dict[int, Home]:
        return self.reading.homes()

    def refusal(self, before: Root, after: Root) -> Reason | None:
        """Why the format cannot carry a message or part that is new, was edited, or stands under another role."""
        known = {id(message) for message in before["messages"]}
        parts_before = {(_role(message), id(part)) for message in before["messages"] for part in _parts(message)}
        for index, message in enumerate(after["messages"]):
            if id(message) in known:
                continue
            role = _role(message)
            new = (at for at, part in enumerate(_parts(message)) if (role, id(part)) not in parts_before)
            for position in (None, *new):
                reason = self.kind.carries(message, position)
                if reason:
                    inside = "" if position is None else f"/content/{position}"
                    return f"/messages/{index}{inside}", f"{self.kind.title} cannot carry it: {reason}"
        try:
            self.written(after)
        except NotCarried as error:  # a broken message, which `carries` lets pass
            return error.pointer, f"{self.kind.title} cannot carry it: {str(error).partition(': ')[2]}"
        return None

    def traceless(self, before: Root, after: Root, edits: Sequence[Edit]) -> Reason | None:
        """Why the edits of one statement changed nothing, where both prompts have the same native history."""
        try:
            old, new = self.written(before), self.written(after)
        except NotCarried:  # on the way to something that can be said, perhaps: `refusal` is asked behind the rule
            return None
        return no_trace(self.kind, edits[0]) if same(old, new) and not self._understood(new, edits) else None

    def _understood(self, native: Any, edits: Sequence[Edit]) -> bool:
        """Whether a history, read anew, says what the edits say: a name like its call's, a text for its part."""
        anew = {"messages": self.kind.read(native).messages}
        return all(isinstance(edit.path[-1], str) and _says(value_at(anew, edit.path, MISSING), edit) for edit in edits)


class WireCarrier:
    """The same for bodies of the format's own shape: they say anything, but a bare list has no place beside itself."""

    def __init__(self, kind: Format, native: Any) -> None:
        self.kind, self.native = kind, native

    def refusal(self, before: Root, after: Root) -> Reason | None:
        return None

    def traceless(self, before: Root, after: Root, edits: Sequence[Edit]) -> Reason | None:
        if isinstance(self.native, dict):
            return None
        old, new = (self.kind.unwrap(body, self.native) for body in (before, after))
        return no_trace(self.kind, edits[0]) if same(old, new) else None


def no_trace(kind: Format, edit: Edit) -> Reason:
    """The reason for an edit that is nowhere to be seen in the native history."""
    return edit.pointer, f"{kind.title} cannot carry it: there is no place for this edit of {_key(edit)}"


def _key(edit: Edit) -> str:
    """The dotted path of what an edit set or deleted, without the message and the part that it belongs to."""
    named = [key for key in edit.path if isinstance(key, str)]
    if named[0] == "messages":
        named = [key for key in named[1:] if key != "content"] or named[-1:]
    value = edit.after
    while isinstance(value, dict) and len(value) == 1 and (key := next(iter(value))) and isinstance(key, str):
        named.append(key)
        value = value[key]
    return ".".join(named)


def _says(value: Any, edit: Edit) -> bool:
    if edit.op == "remove" or value is MISSING:
        return edit.op == "remove" and value is MISSING
    as_parts = [{"type": "text", "text": value}] if edit.path[-1] == "content" and isinstance(value, str) else value
    return same(value, edit.after) or same(as_parts, edit.after)


def _role(message: Any) -> Any:
    role = message.get("role") if isinstance(message, dict) else None
    return role if isinstance(role, str) else None


def _parts(message: Any) -> list[Any]:
    parts = message.get("content") if isinstance(message, dict) else None
    return parts if isinstance(parts, list) else []
