"""The texts of a thread → a vector index of them, which is stored as a document and made again wherever it is stale.

The index is USearch's (HNSW, cosine, half precision): a library at 2.x with releases all year and wheels for CPython
3.11 to 3.13, and one whole index is one string of bytes. Of the others sqlite-vec is still at 0.1, needs a Python whose
sqlite3 may load extensions, and leaves PostgreSQL to a second solution; hnswlib has had no release since 2023 and comes
without wheels; with numpy alone we would write an index ourselves.

So it lies in the very store of the thread, SQLite and PostgreSQL alike, some 1.3 kB a row for 384 dimensions. Nothing
in it is of value: every row is entered with a digest of its text, and what is missing, changed, gone, of another
embedder or unreadable is made from the messages again.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from historycompat.agent.memory.libraries import INDEX, VECTORS, load

Texts = Mapping[str, str]

_BATCH = 128  # texts given to an embedder at once


@dataclass(slots=True)
class VectorIndex:
    """`entries` are row id → (key in `index`, digest of its text). Not for use by two threads at once."""

    embedder: str
    dimensions: int
    index: Any
    entries: dict[str, tuple[int, str]]

    @classmethod
    def empty(cls, embedder: str, dimensions: int) -> VectorIndex:
        return cls(embedder, dimensions, load(INDEX).Index(ndim=dimensions, metric="cos", dtype="f16"), {})

    @classmethod
    def read(cls, document: Any, embedder: str, dimensions: int) -> VectorIndex:
        """The stored index, or an empty one where none is stored that fits and can be read."""
        try:
            if (document["embedder"], document["dimensions"]) != (embedder, dimensions):
                return cls.empty(embedder, dimensions)
            index = load(INDEX).Index.restore(base64.b64decode(document["index"], validate=True))
            entries = {row: (int(key), str(digest)) for row, (key, digest) in document["rows"].items()}
        except Exception:  # whatever the library raises for bytes that are no index
            return cls.empty(embedder, dimensions)
        fits = index is not None and index.ndim == dimensions and len(index) == len(entries)
        return cls(embedder, dimensions, index, entries) if fits else cls.empty(embedder, dimensions)

    def document(self) -> dict[str, Any]:
        return {
            "embedder": self.embedder,
            "dimensions": self.dimensions,
            "index": base64.b64encode(self.index.save()).decode(),
            "rows": {row: list(entry) for row, entry in self.entries.items()},
        }

    def missing(self, texts: Texts) -> list[str]:
        """The ids of the rows that are to be embedded."""
        return [row for row, text in texts.items() if self.digest(row) != digest_of(text)]

    def digest(self, row: str) -> str | None:
        return self.entries[row][1] if row in self.entries else None

    def drop(self, rows: Sequence[str]) -> None:
        for row in rows:
            if row in self.entries:
                self.index.remove(self.entries.pop(row)[0])

    def add(self, texts: Texts, vectors: Sequence[Sequence[float]]) -> None:
        """Enter rows that are not in it. Raises ValueError for vectors that do not fit."""
        np, matrix = load(VECTORS), _array(vectors)
        if matrix.shape != (len(texts), self.dimensions) or not np.isfinite(matrix).all():
            raise ValueError(f"{self.embedder} made no {len(texts)} vectors of {self.dimensions} finite numbers")
        first = 1 + max((key for key, _ in self.entries.values()), default=-1)
        self.index.add(np.arange(first, first + len(texts), dtype=np.uint64), matrix)
        self.entries |= {row: (first + at, digest_of(text)) for at, (row, text) in enumerate(texts.items())}

    def nearest(self, vector: Sequence[float], count: int) -> list[tuple[float, str]]:
        """The nearest rows with their cosine distances, the nearest first."""
        if not self.entries:
            return []
        rows = {key: row for row, (key, _) in self.entries.items()}
        found = self.index.search(_array(vector), min(count, len(rows)))
        return [(float(distance), rows[int(key)]) for key, distance in zip(found.keys, found.distances, strict=True)]


def _array(numbers: Any) -> Any:
    return load(VECTORS).asarray(numbers, dtype="float32")


def batches(rows: Sequence[str]) -> list[Sequence[str]]:
    return [rows[start : start + _BATCH] for start in range(0, len(rows), _BATCH)]


def digest_of(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
