"""What a caller says, in any message format → stored rows."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, TypeAlias
from uuid import uuid4

from historycompat import formats
from historycompat.agent.errors import AgentError
from historycompat.conversion import convert
from historycompat.errors import HistoryError
from historycompat.processors.message_list import Row

Messages: TypeAlias = str | list[str] | list[dict[str, Any]] | dict[str, Any]

ROWS = "mastra"


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


def _rows(messages: Messages) -> list[Row]:
    given: Any = [messages] if isinstance(messages, str | dict) else messages
    if not isinstance(given, list | tuple):
        raise AgentError("AGENT_BAD_MESSAGES", f"messages are a text, texts or a list of messages, not {given!r}")
    if all(isinstance(each, str) for each in given):
        return [text_row(each) for each in given if each]
    if strange := [each for each in given if not isinstance(each, dict)]:
        raise AgentError("AGENT_BAD_MESSAGES", f"messages are texts or objects, all of one kind, not {strange[0]!r}")
    try:
        source = formats.detect(given).format
        rows = list(convert(given, source, formats.find(ROWS)).history)
    except HistoryError as error:
        raise AgentError("AGENT_BAD_MESSAGES", f"the messages cannot be read: {error}") from error
    return rows if source.name == ROWS else [_new(row) for row in rows]


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
