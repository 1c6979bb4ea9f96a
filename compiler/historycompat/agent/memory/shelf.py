"""A synchronous store → the few things that a memory asks of it, awaited: read, and change without losing a write."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from historycompat.errors import Conflict, UnknownHistory
from historycompat.store import HistoryStore

_Document = TypeVar("_Document")

_ATTEMPTS = 60
_PAUSE, _LONGEST = 0.002, 0.25  # seconds before the second attempt, and at most


class Shelf:
    """Documents by id, in a store. Raises its StoreError as it comes."""

    def __init__(self, store: HistoryStore) -> None:
        self.store = store

    async def read(self, document_id: str) -> Any:
        """The document, or None where there is none."""
        return (await self._load(document_id))[1]

    async def update(
        self,
        document_id: str,
        change: Callable[[Any], _Document],
        *,
        note: str | None = None,
        rules: Sequence[str] = (),
    ) -> _Document:
        """Store what a function makes of the document (None where there is none), in one compare-and-swap write.

        Where somebody else was faster, the function gets what they wrote; after 60 attempts Conflict is raised.
        Nothing is written where it gives back the same object.
        """
        for attempt in range(_ATTEMPTS):
            revision, old = await self._load(document_id)
            new = change(old)
            if new is old:
                return new
            try:
                await self._write(document_id, revision, new, note, rules)
            except Conflict:
                if attempt == _ATTEMPTS - 1:
                    raise
                await asyncio.sleep(random.uniform(0, min(_LONGEST, _PAUSE * 2**attempt)))
            else:
                return new
        raise AssertionError("unreachable")

    async def _load(self, document_id: str) -> tuple[int, Any]:
        try:
            return await asyncio.to_thread(self.store.load, document_id)
        except UnknownHistory:
            return 0, None

    async def _write(
        self, document_id: str, revision: int, document: Any, note: str | None, rules: Sequence[str]
    ) -> None:
        if revision == 0:
            await asyncio.to_thread(self.store.create, document_id, document)
        else:
            await asyncio.to_thread(self.store.replace, document_id, revision, document, note=note, rules=rules)
