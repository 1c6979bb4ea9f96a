"""A history in one format → the same history in another, written from scratch, and what of it is lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from historycompat.conversion_losses import Loss, Places, Unit, beside, compared, name_of
from historycompat.edits import MISSING, Lineage, without_path
from historycompat.errors import NotCarried
from historycompat.formats.detection import words
from historycompat.formats.format import OPAQUE, Format

Message = dict[str, Any]
Part = dict[str, Any]

# Without these a message or part means something else, or nothing: it is left out as a whole instead.
_ESSENTIAL = words("role content type text data mediaType toolCallId toolName input output providerExecuted")


@dataclass(frozen=True, slots=True)
class Conversion:
    """The history in the other format: a request body where it was one, or where the system prompt stands apart."""

    history: Any
    losses: tuple[Loss, ...] = ()


def convert(history: Any, source: Format, target: Format) -> Conversion:
    """Write a history, a message list or a request body, in another format.

    Of a request body messages and tools are converted; its other fields belong to its own format and are left out.
    Nothing is lost without a Loss. Raises HistoryError where `source` finds no messages, NotCarried where a broken
    message has no form in `target` at all. The input is never changed.
    """
    if source is target:
        return Conversion(history)
    reading = source.read(history)
    lineage = Lineage()
    fitting = _Fitting(target, Places(source, reading, lineage), lineage)
    fitting.losses += [Loss((key,), "a setting of the request, not of the history") for key in reading.params or ()]
    messages = fitting.messages(reading.messages)
    tools = fitting.tools(reading.tools)
    written = _written(target, messages, tools, lineage)
    back = target.read(written)
    losses = [
        *fitting.losses,
        *compared(fitting.units(messages), fitting.units(back.messages)),
        *_lost_tools(tools, back.tools),
        *beside(source, reading),
    ]
    alone = not reading.has_request and written.keys() == {target.spine[0]}
    return Conversion(target.unwrap(written, []) if alone else written, tuple(losses))


def _written(target: Format, messages: list[Message], tools: list[Any] | None, lineage: Lineage) -> dict[str, Any]:
    empty = target.read(target.wrap([]))
    written: dict[str, Any] = target.write(empty, messages, tools or empty.tools, empty.params, lineage)
    return written


def _lost_tools(tools: list[Any] | None, back: list[Any] | None) -> Iterator[Loss]:
    kept = [tool.get("name") for tool in back or () if isinstance(tool, dict)]
    for at, tool in enumerate(tools or ()):
        if tool.get("name") not in kept:
            yield Loss(("tools", at), f"the tool {tool.get('name')}: the format has no place for it")


class _Fitting:
    """Canonical messages → those that a format can say. What is left out joins the losses."""

    def __init__(self, target: Format, places: Places, lineage: Lineage) -> None:
        self.target, self.places, self.lineage = target, places, lineage
        self.losses: list[Loss] = []
        self._unmade: list[Any] = []  # the ids of calls that were left out

    def messages(self, messages: list[Any]) -> list[Message]:
        return [fitted for message in messages if (fitted := self._message(message)) is not None]

    def tools(self, tools: list[Any] | None) -> list[Any] | None:
        """The tools that are no objects of another format."""
        kept = []
        for at, tool in enumerate(tools or ()):
            if isinstance(tool, dict) and not _is_foreign(tool):
                kept.append(tool)
            else:
                self.losses.append(Loss(("tools", at), _foreign(tool)))
        return kept or None

    def units(self, messages: list[Any]) -> list[Unit]:
        return [
            Unit(message, part, at, self.places.of(message, part))
            for at, message in enumerate(messages)
            for part in (_parts(message) or [None])
        ]

    def _message(self, message: Any) -> Message | None:
        content = message.get("content") if isinstance(message, dict) else None
        if not isinstance(message, dict) or message.get("role") == OPAQUE:
            self.losses.append(Loss(self.places.of(message), _foreign(content[0] if content else message)))
            return None
        if isinstance(content, list):
            parts = [fitted for part in content if (fitted := self._part(message, part)) is not None]
            if content and not parts:
                return None
            message = self._copy(message, {**message, "content": parts})
        strange = not (isinstance(content, list) and content)  # its parts were not looked at

        def refuses(each: Message) -> str | None:
            return self.target.carries(each, None) or (self._unwritable(each) if strange else None)

        return self._stripped(message, message, refuses)

    def _part(self, message: Message, part: Any) -> Part | None:
        path = self.places.of(message, part)
        if not isinstance(part, dict) or _is_foreign(part):
            self.losses.append(Loss(path, _foreign(part)))
            return None
        if part.get("type") == "tool-result" and part.get("toolCallId", MISSING) in self._unmade:
            self.losses.append(Loss(path, "a tool-result part: its call was left out"))
            return None

        def refuses(each: Part) -> str | None:
            if any(map(_is_foreign, _items(each))):
                return "its output holds what only another format has"
            alone = {key: message[key] for key in ("role",) if key in message} | {"content": [each]}
            return self.target.carries({**message, **alone}, 0) or self._unwritable(alone)

        fitted = self._stripped(message, self._with_items(message, part, refuses), refuses, part)
        if fitted is None and part.get("type") == "tool-call":
            self._unmade.append(part.get("toolCallId"))
        return fitted

    def _unwritable(self, message: Message) -> str | None:
        """Why a broken message, which `carries` lets pass, cannot be written all the same."""
        try:
            written = _written(self.target, [message], None, Lineage())
        except NotCarried as error:
            return str(error)
        back = self.target.read(written).messages
        unread = any(message.get("role") == OPAQUE for message in back) or any(map(_is_foreign, _all_parts(back)))
        return "written like this, the format would not know it itself" if unread else None

    def _with_items(self, message: Message, part: Part, refuses: Callable[[Part], str | None]) -> Part:
        """A result without those items of its output that cannot be said, as long as some are left."""
        items = _items(part)
        kept = [item for item in items if not refuses(_with_output(part, [item]))]
        if not kept or len(kept) == len(items):
            return part
        left = ", ".join(
            name_of(item.get("value") if _is_foreign(item) else item) for item in items if item not in kept
        )
        self.losses.append(Loss(self.places.of(message, part), f"of the output of a tool-result part: {left}"))
        return self._copy(part, _with_output(part, kept))

    def _stripped(
        self, message: Message, holder: Message, refuses: Callable[[Message], str | None], part: Part | None = None
    ) -> Message | None:
        """A message or part without the options and fields that have no place; None where it has no place itself."""
        path, what = self.places.of(message, part), name_of(part if part is not None else message)
        while reason := refuses(holder):
            smaller = ((keys, without_path(holder, keys, prune=True)) for keys in _optional(holder))
            found = next(((keys, rest) for keys, rest in smaller if refuses(rest) != reason), None)
            if found is None:
                self.losses.append(Loss(path, f"{what}: {reason}"))
                return None
            self.losses.append(Loss(path, f"{'.'.join(found[0])} of {what}"))
            holder = self._copy(holder, found[1])
        return holder

    def _copy(self, old: Message, new: Message) -> Message:
        self.lineage.record(new, old)
        return new


def _parts(message: Any) -> list[Any]:
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return content if isinstance(content, list) else []


def _items(part: Part) -> list[Any]:
    """What the output of a result lists."""
    output = part.get("output")
    value = output.get("value") if isinstance(output, dict) and output.get("type") == "content" else None
    return value if isinstance(value, list) else []


def _with_output(part: Part, items: list[Any]) -> Part:
    return {**part, "output": {**part["output"], "value": items}}


def _all_parts(messages: list[Any]) -> Iterator[Any]:
    """All parts, and all items of outputs."""
    for message in messages:
        for part in _parts(message):
            yield part
            yield from _items(part) if isinstance(part, dict) else ()


def _is_foreign(part: Any) -> bool:
    return isinstance(part, dict) and part.get("type") == OPAQUE


def _optional(holder: Message) -> Iterator[tuple[str, ...]]:
    options = holder.get("providerOptions")
    for name, held in options.items() if isinstance(options, dict) else ():
        yield from (("providerOptions", name, key) for key in held) if isinstance(held, dict) else ()
    yield from ((key,) for key in holder if key not in _ESSENTIAL)


def _foreign(part: Any) -> str:
    if not _is_foreign(part):
        return "no object, which only its own format can keep"
    return f"{name_of(part.get('value'))}: only {part.get('format')} has such a thing"
