"""A question and threads → the messages of them that are nearest in meaning."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from historycompat.agent.memory.documents import RESERVED, Document, is_thread, row_id, text_of
from historycompat.agent.memory.embedding import Embedder
from historycompat.agent.memory.index import VectorIndex, batches, digest_of
from historycompat.agent.memory.options import MessageRange, SemanticRecall
from historycompat.agent.memory.shelf import Shelf
from historycompat.processors.message_list import Row

_Hit = tuple[float, str, str]  # distance, thread, row


@dataclass(frozen=True, slots=True)
class Recalled:
    """Rows by thread, in order and with their neighbours."""

    own: tuple[int, ...] = ()
    others: tuple[tuple[Document, tuple[int, ...]], ...] = ()


class Recall:
    """Searches the vector indexes of threads, and keeps them. Raises whatever the embedder or the store raises."""

    def __init__(self, shelf: Shelf, embedder: Embedder) -> None:
        self._shelf, self._embedder = shelf, embedder

    async def find(
        self, question: str, thread: Document, others: Iterable[str], known: set[str], options: SemanticRecall
    ) -> Recalled:
        """What is nearest to a question in a thread and in others; `known` are rows of it that are shown anyway."""
        own = await self.refresh(thread)
        [vector] = await self._embedder.embed([question])
        hits: list[_Hit] = []
        for distance, row in await asyncio.to_thread(own.nearest, vector, options.top_k + len(known)):
            if row not in known:
                hits.append((distance, thread["id"], row))
        for other in others:
            index = await self._index_of(other)
            if index is not None:
                found = await asyncio.to_thread(index.nearest, vector, options.top_k)
                hits += [(distance, other, row) for distance, row in found]
        return await self._recalled(sorted(hits)[: options.top_k], thread, options.message_range)

    async def refresh(self, thread: Document) -> VectorIndex:
        """The index of a thread, brought up to date and stored if it was not."""
        texts = {row_id(row): text for row in thread["messages"] if (text := _searchable(row))}
        index = await self._read(thread["id"])
        missing = index.missing(texts)
        gone = [row for row in index.entries if row not in texts]
        if not missing and not gone:
            return index
        await asyncio.to_thread(index.drop, [*gone, *missing])
        for batch in batches(missing):
            vectors = await self._embedder.embed([texts[row] for row in batch])
            await asyncio.to_thread(index.add, {row: texts[row] for row in batch}, vectors)
        document = await asyncio.to_thread(index.document)
        await self._shelf.update(_index_id(thread["id"]), lambda _: document)
        return index

    async def _read(self, thread: str) -> VectorIndex:
        stored = await self._shelf.read(_index_id(thread))
        return await asyncio.to_thread(VectorIndex.read, stored, self._embedder.name, self._embedder.dimensions)

    async def _index_of(self, thread: str) -> VectorIndex | None:
        """The index of a thread that is not loaded: only where it has none yet, the thread is."""
        index = await self._read(thread)
        if index.entries:
            return index
        document = await self._shelf.read(thread)
        return await self.refresh(document) if is_thread(document) else None

    async def _recalled(self, hits: list[_Hit], own: Document, around: MessageRange) -> Recalled:
        rows: dict[str, list[str]] = defaultdict(list)
        for _, thread, row in hits:
            rows[thread].append(row)
        others = []
        for thread in rows.keys() - {own["id"]}:
            document = await self._shelf.read(thread)
            if is_thread(document) and (places := await self._valid(document, rows[thread], around)):
                others.append((document, places))
        others.sort(key=lambda each: str(each[0]["created_at"]))
        return Recalled(_around(own["messages"], rows[own["id"]], around), tuple(others))

    async def _valid(self, document: Document, rows: list[str], around: MessageRange) -> tuple[int, ...]:
        """The places of rows that are still as they were when they were embedded, with their neighbours."""
        index = await self._read(document["id"])
        texts = {row_id(row): text_of(row) for row in document["messages"]}
        valid = [row for row in rows if row in texts and index.digest(row) == digest_of(texts[row])]
        if len(valid) < len(rows):
            await self.refresh(document)
        return _around(document["messages"], valid, around)


def _around(rows: Sequence[Row], chosen: Iterable[str], around: MessageRange) -> tuple[int, ...]:
    wanted = set(chosen)
    centres = [place for place, row in enumerate(rows) if row_id(row) in wanted]
    spans = (range(max(0, at - around.before), min(len(rows), at + around.after + 1)) for at in centres)
    return tuple(sorted({place for span in spans for place in span}))


def _searchable(row: Row) -> str:
    return text_of(row) if row.get("role") in ("user", "assistant") else ""


def _index_id(thread: str) -> str:
    return f"{RESERVED}recall/{thread}"
