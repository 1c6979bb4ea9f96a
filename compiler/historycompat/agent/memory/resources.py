"""What belongs to a resource and not to one thread: which threads it has, and its working memory."""

from __future__ import annotations

from typing import Any

from historycompat.agent.memory.documents import RESERVED
from historycompat.agent.memory.shelf import Shelf


class Resource:
    """The document of a resource: `{"resource_id", "threads": [ids], "working_memory": text or None}`."""

    def __init__(self, shelf: Shelf, resource: str) -> None:
        self._shelf, self._resource = shelf, resource
        self._id = f"{RESERVED}resource/{resource}"

    async def threads(self) -> list[str]:
        """The ids of its threads, oldest first. One may have been announced and never stored."""
        return list((await self._read())["threads"])

    async def announce(self, thread: str) -> None:
        """Enter a thread, before it is stored: so no stored thread is ever missing."""

        def entered(stored: Any) -> Any:
            document = stored or self._new()
            threads = document["threads"]
            return stored if thread in threads else {**document, "threads": [*threads, thread]}

        await self._shelf.update(self._id, entered)

    async def working_memory(self) -> str | None:
        text: str | None = (await self._read())["working_memory"]
        return text

    async def set_working_memory(self, text: str) -> None:
        await self._shelf.update(self._id, lambda stored: {**(stored or self._new()), "working_memory": text})

    async def _read(self) -> Any:
        return await self._shelf.read(self._id) or self._new()

    def _new(self) -> dict[str, Any]:
        return {"resource_id": self._resource, "threads": [], "working_memory": None}
