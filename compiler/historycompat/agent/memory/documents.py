"""A thread document and what a run changed → the thread document to store. No function changes what it is given."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from historycompat.agent.errors import AgentError
from historycompat.processors.message_list import Changes, Row

Document = dict[str, Any]
States = dict[str, dict[str, Any]]

RESERVED = "historycompat:"  # no thread's id begins so


@dataclass(frozen=True, slots=True)
class Thread:
    """Which thread a caller means, and what it says of it; `title` and `metadata` are merged over what is stored."""

    id: str
    resource: str
    title: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, thread: Any, resource: Any) -> Thread:
        """From an id, or a mapping with `id` and perhaps `title` and `metadata`. Raises AgentError."""
        given = thread if isinstance(thread, Mapping) else {"id": thread}
        if strange := given.keys() - {"id", "title", "metadata"}:
            raise _bad(f"memory.thread has no {sorted(map(str, strange))[0]!r}: there are id, title and metadata")
        thread_id: Any = given.get("id")
        title, metadata = given.get("title"), given.get("metadata") or {}
        copied, _ = json_states({"metadata": metadata})
        if not _is_name(thread_id) or thread_id.startswith(RESERVED):
            raise _bad(f"memory.thread is no id of a thread: {thread_id!r}")
        if not _is_name(resource):
            raise _bad(f"memory.resource is no id: {resource!r}")
        if not (title is None or isinstance(title, str)):
            raise _bad(f"memory.thread.title is no text: {title!r}")
        if not isinstance(copied.get("metadata"), dict):
            raise _bad("memory.thread.metadata is no JSON object")
        return cls(thread_id, resource, title, copied["metadata"])

    def opened(self, stored: Document | None) -> Document:
        """The thread's document, a new one where none is stored. Raises AgentError where it is somebody else's."""
        now = date()
        document = stored or {
            "id": self.id,
            "resource_id": self.resource,
            "title": None,
            "metadata": {},
            "created_at": now,
            "updated_at": now,
            "messages": [],
            "states": {},
            "working_memory": None,
        }
        if (owner := owner_of(document)) != self.resource:
            message = f"thread {self.id!r} belongs to resource {owner!r}, not to {self.resource!r}"
            raise AgentError("AGENT_THREAD_OF_ANOTHER_RESOURCE", message)
        title = document["title"] if self.title is None else self.title
        return {**document, "title": title, "metadata": {**document["metadata"], **self.metadata}}


def is_thread(document: Any) -> bool:
    return (
        isinstance(document, dict)
        and _SHAPE.keys() <= document.keys()
        and all(isinstance(document[key], kind) for key, kind in _SHAPE.items())
    )


_SHAPE = {"resource_id": str, "metadata": dict, "messages": list, "states": dict, "title": str | None}


def owner_of(document: Any) -> str:
    """The resource of a stored thread. Raises AgentError where something else is stored."""
    if not is_thread(document):
        raise _bad("what is stored under this id is no thread of an agent: give the thread another id")
    return str(document["resource_id"])


def summary(document: Document) -> Document:
    """What lists of threads show."""
    return {key: document[key] for key in ("id", "title", "metadata", "created_at", "updated_at")}


def with_changes(rows: list[Row], changes: Changes) -> list[Row]:
    """Rows with edits and removals made by id, and new rows behind them, those of repairs where their dates put them.

    An edited row that somebody else removed stays removed; a new row whose id is there takes that one's place.
    """
    edited = {row["id"]: row for row in changes.edited}
    removed = set(changes.removed)
    kept = [edited.get(row_id(row), row) for row in rows if row_id(row) not in removed]
    for row in changes.added:
        _insert(kept, row)
    return kept


def split(changes: Changes) -> tuple[Changes, Changes]:
    """What a repair did, and what was said since."""
    made: list[Row] = []
    said: list[Row] = []
    for row in changes.added:
        (made if is_made(row) else said).append(row)
    return Changes(tuple(made), changes.edited, changes.removed), Changes(tuple(said))


def is_made(row: Row) -> bool:
    """Whether a repair made the row: formats give such rows ids of their own, and date them behind their neighbour."""
    return str(row["id"]).startswith("historycompat-")


def _insert(rows: list[Row], row: Row) -> None:
    for position, other in enumerate(rows):
        if row_id(other) == row["id"]:
            rows[position] = row
            return
    rows.insert(_position(rows, _moment(row)) if is_made(row) else len(rows), row)


def _position(rows: list[Row], moment: datetime | None) -> int:
    """Behind the last row that is not of a later moment; a row without a date is behind all."""
    for position in range(len(rows), 0, -1):
        other = _moment(rows[position - 1])
        if moment is None or other is None or other <= moment:
            return position
    return 0


def _moment(row: Row) -> datetime | None:
    try:
        moment = datetime.fromisoformat(row["createdAt"])
    except (KeyError, TypeError, ValueError):
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def json_states(states: Mapping[str, Any]) -> tuple[States, list[str]]:
    """Copies of the states that are JSON, and the ids of those that are not."""
    kept: States = {}
    lost = []
    for processor, state in states.items():
        try:
            kept[processor] = json.loads(json.dumps(state, allow_nan=False))
        except (TypeError, ValueError, RecursionError):
            lost.append(processor)
    return kept, lost


def text_of(row: Row) -> str:
    """What was said in a row: its text parts, a line each; in a row without parts its content, if that is a text."""
    content = row.get("content")
    whole, parts = (content.get("content"), content.get("parts")) if isinstance(content, dict) else (content, None)
    if not isinstance(parts, list):
        parts = [{"type": "text", "text": whole}]
    texts = (part.get("text") for part in parts if isinstance(part, dict) and part.get("type") == "text")
    return "\n".join(text.strip() for text in texts if isinstance(text, str) and text.strip())


def date() -> str:
    """Now, as rows and threads are dated."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def row_id(row: Any) -> Any:
    return row.get("id") if isinstance(row, dict) else None


def _is_name(value: Any) -> bool:
    if not isinstance(value, str) or not value or "\0" in value:
        return False
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _bad(message: str) -> AgentError:
    return AgentError("AGENT_BAD_OPTION", message)
