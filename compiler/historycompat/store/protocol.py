"""What a store of histories is asked to do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Repair:
    """A repair that a store has kept: the revision it made, when (UTC), why, which rules did it, and the revision that
    undid it, if one did."""

    revision: int
    at: datetime
    note: str
    rules: tuple[str, ...]
    undone_by: int | None = None


class HistoryStore(Protocol):
    """Histories by id. A document is any JSON value; its revision is 1 at first and one more after every write.

    Methods are synchronous and may be called from any thread; call them through `asyncio.to_thread` where waiting
    matters. Raised are UnknownHistory for an id that is not there, HistoryError for a document that is not JSON, and
    StoreError where the store cannot be reached.
    """

    def load(self, history_id: str) -> tuple[int, Any]:
        """The revision and the document."""

    def create(self, history_id: str, document: Any) -> int:
        """Store a new history; its revision. Raises Conflict where the id is taken."""

    def replace(
        self,
        history_id: str,
        expected_revision: int,
        document: Any,
        *,
        note: str | None = None,
        rules: Sequence[str] = (),
    ) -> int:
        """Write over the expected revision; the new one. Raises Conflict, and writes nothing, where it is another.

        A write with a note or rules is a repair: its inverse is kept.
        """

    def ids(self) -> Iterator[str]:
        """Every id, in the order of their characters."""

    def undo(self, history_id: str) -> int:
        """Take the last repair back that is not undone yet; the new revision.

        What was written after it stays, as long as the places that it repaired were left alone: else Conflict is
        raised. Raises NothingToUndo where there is no such repair.
        """

    def history_of(self, history_id: str) -> list[Repair]:
        """The repairs of a history, oldest first."""
