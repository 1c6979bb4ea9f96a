"""Client libraries: imported when they are needed first, with clients that belong to event loops."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, Generic, TypeVar
from weakref import WeakKeyDictionary

from historycompat.agent.errors import AgentError

Client = TypeVar("Client")


def required(module: str) -> Any:
    """The module. Raises AgentError that says what to install where it is missing."""
    try:
        return import_module(module)
    except ImportError as error:
        what = f"{module} cannot be imported ({error})"
        raise AgentError("AGENT_BAD_OPTION", f'{what}: pip install "historycompat[agent]"') from error


class PerLoop(Generic[Client]):
    """A client for each event loop, since a pool of connections works in the loop that opened them only.

    `first` is one that is made already and not used yet.
    """

    def __init__(self, make: Callable[[], Client], first: Client | None = None) -> None:
        self._make, self._first = make, first
        self._clients: WeakKeyDictionary[asyncio.AbstractEventLoop, Client] = WeakKeyDictionary()

    def here(self) -> Client:
        loop = asyncio.get_running_loop()
        if loop not in self._clients:
            self._clients[loop] = self._first or self._make()
            self._first = None
        return self._clients[loop]

    def pop(self) -> Client | None:
        """The client of the running loop, which forgets it."""
        return self._clients.pop(asyncio.get_running_loop(), None)


@contextmanager
def lost_connections(*kinds: type[Exception]) -> Iterator[None]:
    """Errors of these kinds, which have no status, are marked as worth another try, as the AI SDK marks its own."""
    try:
        yield
    except kinds as error:
        error.is_retryable = True  # type: ignore[attr-defined]
        raise
