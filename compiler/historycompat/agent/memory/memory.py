"""A store of histories → the memory of agents: threads, who owns them, and what of them a run gets to see."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from typing import Any

from historycompat.agent.errors import AgentError
from historycompat.agent.memory import documents
from historycompat.agent.memory.documents import Document, Thread
from historycompat.agent.memory.embedding import Embedder, MiniLM
from historycompat.agent.memory.libraries import INDEX, MODEL, require
from historycompat.agent.memory.options import MemoryOptions, checked
from historycompat.agent.memory.recall import Recall
from historycompat.agent.memory.resources import Resource
from historycompat.agent.memory.session import MemorySession
from historycompat.agent.memory.shelf import Shelf
from historycompat.processors.message_list import Row
from historycompat.store import HistoryStore, open_store


class Memory:
    """Threads in a HistoryStore, or in one that is opened by its path or URL (see `open_store`).

    A thread is one document under its own id, `{"id", "resource_id", "title", "metadata", "created_at", "updated_at",
    "messages": [rows], "states", "working_memory"}`, which `historycompat repair --store` and `undo` work on too. Ids
    that begin with `historycompat:` are the memory's own. `embedder` is for semantic recall; by default it is MiniLM.
    Raises AgentError AGENT_BAD_OPTION for options that are none, and UnknownStore.
    """

    def __init__(
        self,
        store: HistoryStore | str | os.PathLike[str],
        *,
        options: MemoryOptions | Mapping[str, Any] | None = None,
        embedder: Embedder | None = None,
    ) -> None:
        self.options = checked(options)
        self._embedder = embedder
        self._recall: Recall | None = None
        self._require_recall(self.options)
        self._opened = open_store(store) if isinstance(store, (str, os.PathLike)) else None
        if self._opened is None and not hasattr(store, "load"):
            raise AgentError("AGENT_BAD_OPTION", f"a memory needs a store, or the path or URL of one, not {store!r}")
        self._shelf = Shelf(self._opened or store)  # type: ignore[arg-type]  # one of them is a store

    @property
    def store(self) -> HistoryStore:
        return self._shelf.store

    def close(self) -> None:
        """Close the store, if this memory opened it."""
        if self._opened is not None:
            self._opened.close()

    async def open(
        self, thread: Any, resource: str, options: MemoryOptions | Mapping[str, Any] | None = None
    ) -> MemorySession:
        """The thread of an id, or of `{"id", "title", "metadata"}`, for one run; a new one is stored at its first save.

        `options` go over those of the memory. Raises AgentError AGENT_THREAD_OF_ANOTHER_RESOURCE, AGENT_BAD_OPTION.
        """
        merged = self.options.merged(options)
        wanted = Thread.of(thread, resource)
        recall = self._recall_for(merged)
        return MemorySession(self._shelf, recall, wanted, merged, await self._shelf.read(wanted.id))

    async def threads(self, resource: str) -> list[Document]:
        """The threads of a resource as `{id, title, metadata, created_at, updated_at}`, the last written first."""
        ids = await Resource(self._shelf, resource).threads()
        found = [summary for thread in ids if (summary := await self.thread(thread)) is not None]
        return sorted(found, key=lambda thread: str(thread["updated_at"]), reverse=True)

    async def thread(self, thread: str) -> Document | None:
        """A thread as `{id, title, metadata, created_at, updated_at}`; None where there is none."""
        document = await self._shelf.read(thread)
        return documents.summary(document) if documents.is_thread(document) else None

    async def messages(self, thread: str) -> list[Row]:
        """All rows of a thread. Raises UnknownHistory where there is none of that id."""
        _, document = await asyncio.to_thread(self.store.load, thread)
        documents.owner_of(document)
        return list(document["messages"])

    def _recall_for(self, options: MemoryOptions) -> Recall | None:
        if options.semantic_recall is None:
            return None
        self._require_recall(options)
        if self._recall is None:
            self._recall = Recall(self._shelf, self._embedder or MiniLM())
        return self._recall

    def _require_recall(self, options: MemoryOptions) -> None:
        """A library that is missing is told at once: it would be no fault but a mistake."""
        if options.semantic_recall is not None:
            require(INDEX)
            if self._embedder is None:
                require(MODEL)
