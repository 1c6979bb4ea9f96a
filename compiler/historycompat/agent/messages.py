"""What a caller says, in any message format → stored rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, TypeAlias
from uuid import uuid4

from historycompat import formats
from historycompat.agent.errors import AgentError
from historycompat.conversion import Conversion, convert
from historycompat.errors import HistoryError, UnknownFormat
from historycompat.processors.message_list import MessageList, Row

Messages: TypeAlias = str | list[str] | list[dict[str, Any]] | dict[str, Any]

ROWS = "mastra"
HOST_FORMATS = ("core-message", "model-message", "ui-message")


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def text_row(text: str, role: str = "user") -> Row:
    return {"role": role, "content": {"format": 2, "parts": [{"type": "text", "text": text}]}}


def as_rows(messages: Messages, *, thread_id: str | None = None, resource_id: str | None = None) -> list[Row]:
    """Rows of a text, a list of texts, or messages in any supported format, with ids, times and owners.

    Raises AgentError for what is no message, and for a row that belongs to another thread or resource.
    """
    owners = {"threadId": thread_id, "resourceId": resource_id}
    return [_stamped(row, {key: owner for key, owner in owners.items() if owner}) for row in _rows(messages)]


@contextmanager
def whole_rows(message_list: MessageList) -> Iterator[None]:
    """Rows that processors write meanwhile get the shape of stored ones. Raises AgentError for what is no row, and then
    the rows are those from before."""
    before = message_list.checkpoint()
    yield
    try:
        complete(message_list)
    except AgentError:
        message_list.roll_back(before)
        raise


def complete(message_list: MessageList) -> None:
    """Give rows that are written in another way the shape of stored ones. Raises AgentError for what is no row."""
    for row in message_list.rows():
        content = row.get("content")
        if isinstance(content, str | list) and row.get("role"):
            for whole in as_rows({"role": row["role"], "content": content}):
                message_list.replace(row, {**whole, **row, "content": whole["content"]})
        elif not (row.get("role") and _has_parts(content)) and message_list.source_of(row) != "memory":
            told = {name: value for name, value in row.items() if name != "id"}
            raise _bad(f"a processor made a row of {told!r}: {_A_MESSAGE}")


def _has_parts(content: Any) -> bool:
    """Of a stored row; old ones have their text beside them, or in their place."""
    parts = content.get("parts", []) if isinstance(content, dict) else None
    return isinstance(parts, list) and all(isinstance(part, dict) for part in parts)


def _rows(messages: Messages) -> list[Row]:
    given: Any = [messages] if isinstance(messages, str | dict) else messages
    if not isinstance(given, list | tuple):
        raise _bad(f"messages are a text, texts or a list of messages, not {given!r}")
    if all(isinstance(each, str) for each in given):
        return [text_row(each) for each in given if each]
    _check(given)
    try:
        source, read = _read(list(given))
    except UnknownFormat:
        raise _bad(f"no format of messages fits {given[0]!r}: {_A_MESSAGE}") from None
    except HistoryError as error:
        raise _bad(f"the messages cannot be read: {error}") from error
    rows = list(read.history)
    return rows if source == ROWS else [_new(row) for row in rows]


def _check(given: Sequence[Any]) -> None:
    if strange := [each for each in given if not isinstance(each, dict)]:
        strangest = min(strange, key=lambda each: isinstance(each, str))
        raise _bad(f"messages are texts or dicts, all of one kind, not {strangest!r}: {_A_MESSAGE}")
    for each in given:
        member = next((key for key in _OF_REQUESTS if isinstance(each.get(key), list | str)), None)
        if member and not {"role", "type"} & each.keys():
            advice = f"pass [{member!r}] of it alone, and the rest as options (model, instructions, ...)"
            raise _bad(f"this is a whole request, with {', '.join(map(str, each))}: {advice}")


_OF_REQUESTS = ("messages", "input", "contents", "prompt")
_A_MESSAGE = 'write {"role": "user", "content": "..."}'


def _bad(message: str) -> AgentError:
    return AgentError("AGENT_BAD_MESSAGES", message)


def _read(given: list[Any]) -> tuple[str, Conversion]:
    """The format of messages, and their rows. What host code writes may look like a provider's format as well: where
    something would be lost as that, such as an image under another key, the reading that loses least is the one."""
    detected = formats.detect(given)
    names = [detected.format.name, *(name for name in HOST_FORMATS if name in detected.also)]
    readings: list[tuple[str, Conversion]] = []
    for name in names:
        readings.append((name, convert(given, formats.find(name), formats.find(ROWS))))
        if not readings[-1][1].losses:
            break
    return min(readings, key=lambda reading: len(reading[1].losses))


def _new(row: Row) -> Row:
    """A row that was just written: of what it was not told, its time and maybe its id, it has only placeholders."""
    made_up = str(row["id"]).startswith("historycompat-")
    return {**row, "id": str(uuid4()) if made_up else row["id"], "createdAt": now()}


def _stamped(row: Row, owners: dict[str, str]) -> Row:
    for key, owner in owners.items():
        if row.get(key) not in (None, owner):
            raise AgentError(
                "AGENT_BAD_MESSAGES", f"a message says {key} {row[key]!r}, but this run is for {owner!r}: leave it out"
            )
    return {"id": str(uuid4()), "createdAt": now(), **row, **owners}
