"""A prompt as one statement sees it: a snapshot with its messages, parts, pairs and states, and the selected places."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from historycompat.edits import Lineage, Pointer, value_at
from historycompat.pairs import Half, Occurrence, Pairing, Site


@dataclass(frozen=True, slots=True)
class Shape:
    """How a body maps to messages, parts, calls and results. The default is that of the AI SDK's prompts, which are the
    canonical prompt where they are not `native`, a host's own.

    Where there are as many results as calls, those of one number belong together.
    """

    spine: Pointer = ("messages",)
    role: str = "role"
    parts: str = "content"
    calls: tuple[Site, ...] = (Site("content", "tool-call", ("toolCallId",), ("toolName",)),)
    results: tuple[Site, ...] = (Site("content", "tool-result", ("toolCallId",), ("toolName",)),)
    native: bool = True

    def answering(self, call: Site) -> Site:
        """Where a result of a call that stands at a site goes."""
        return self.results[self.calls.index(call) if len(self.calls) == len(self.results) else 0]

    def pairs(self, types: frozenset[str] | None) -> bool:
        """Whether parts of some types (None: any) may be calls or results."""
        sites = (*self.calls, *self.results)
        return types is None or any(not site.type or site.type.endswith("*") or site.type in types for site in sites)

    def homes(self, result: Site) -> tuple[str, ...]:
        """The roles of the messages that may hold results; a new one gets the first."""
        made = dict(result.fresh).get((self.role,))
        return result.roles or (made or "tool",)


CANONICAL = Shape(native=False)


@dataclass(slots=True)
class Context:
    """What holds for a whole run: the model (`{chain, provider, vendor, name, version}`, and as the host gave it), the
    error that woke the rules (`{status, text, groups}` or None), who wrote each message, which messages say their
    content as one string in their own format, what the run notes down."""

    model: dict[str, Any] = field(default_factory=lambda: {"chain": []})
    given_model: Any = None
    error: dict[str, Any] | None = None
    origin: Callable[[dict[str, Any]], dict[str, Any] | None] = lambda holder: _stamp(holder)
    stale: Callable[[View, int], bool] = lambda view, index: False
    is_string: Callable[[dict[str, Any]], bool] = lambda message: False
    lineage: Lineage = field(default_factory=Lineage)
    notes: list[str] = field(default_factory=list)

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)


class View:
    """One snapshot. `root` is `{"messages": [...], "tools"?: ..., "params"?: ...}`, or a native body."""

    def __init__(self, root: dict[str, Any], context: Context, shape: Shape = CANONICAL) -> None:
        self.root = root
        self.context = context
        self.shape = shape
        messages = value_at(root, shape.spine)
        self.messages: list[Any] = messages if isinstance(messages, list) else []
        self._indexes: dict[frozenset[str] | None, list[int]] = {}

    def path(self, index: int, *rest: str | int) -> Pointer:
        """The pointer of message `index`, or of a place inside it."""
        return (*self.shape.spine, index, *rest)

    def indexes(self, roles: frozenset[str] | None) -> list[int]:
        """Which messages have one of these roles; all that are objects for None. Sought once for all rules."""
        found = self._indexes.get(roles)
        if found is None:
            found = [i for i, m in enumerate(self.messages) if isinstance(m, dict) and self._is_among(m, roles)]
            self._indexes[roles] = found
        return found

    def _is_among(self, message: dict[str, Any], roles: frozenset[str] | None) -> bool:
        role = message.get(self.shape.role)
        return roles is None or (isinstance(role, str) and role in roles)

    def role(self, index: int) -> Any:
        message = self.messages[index]
        return message.get(self.shape.role) if isinstance(message, dict) else None

    def parts(self, index: int) -> list[Any]:
        """The parts of a message; none where its content is a string or missing."""
        message = self.messages[index]
        content = message.get(self.shape.parts) if isinstance(message, dict) else None
        return content if isinstance(content, list) else []

    @cached_property
    def pairing(self) -> Pairing:
        return Pairing(self._halves())

    def _halves(self) -> Iterator[tuple[bool, Half]]:
        for index, message in enumerate(self.messages):
            if isinstance(message, dict):
                yield from self._halves_in(index, message)

    def _halves_in(self, index: int, message: dict[str, Any]) -> Iterator[tuple[bool, Half]]:
        role = message.get(self.shape.role)
        for is_call, sites in ((True, self.shape.calls), (False, self.shape.results)):
            for site in sites:
                if site.roles and role not in site.roles:
                    continue
                if site.within is None:
                    if site.holds(message):
                        yield is_call, Half(self.path(index), index, None, message, site)
                    continue
                held = value_at(message, site.place)
                for position, part in enumerate(held if isinstance(held, list) else []):
                    if isinstance(part, dict) and site.holds(part):
                        yield is_call, Half(self.path(index, *site.place, position), index, position, part, site)


@dataclass(slots=True, eq=False)
class Hit:
    """A selected place. Conditions read its properties as `$variables`; `value` is what they read as `@`."""

    path: Pointer
    value: Any
    view: View
    index: int | None = None
    position: int | None = None
    occurrence: Occurrence | None = None

    @property
    def messages(self) -> list[Any]:
        return self.view.messages

    @property
    def tools(self) -> Any:
        return self.view.root.get("tools")

    @property
    def params(self) -> Any:
        return self.view.root.get("params")

    @property
    def model(self) -> dict[str, Any]:
        return self.view.context.model

    @property
    def error(self) -> dict[str, Any] | None:
        return self.view.context.error

    @property
    def message(self) -> Any:
        return None if self.index is None else self.view.messages[self.index]

    @property
    def prev(self) -> Any:
        return self._neighbour(-1)

    @property
    def next(self) -> Any:
        return self._neighbour(1)

    def _neighbour(self, step: int) -> Any:
        if self.index is None:
            return None
        at = self.index + step
        return self.view.messages[at] if 0 <= at < len(self.view.messages) else None

    @property
    def parent(self) -> Any:
        return None

    @property
    def call(self) -> Any:
        return self.occurrence.call.part if self.occurrence and self.occurrence.call else None

    @property
    def result(self) -> Any:
        return self.occurrence.result.part if self.occurrence and self.occurrence.result else None

    @property
    def origin(self) -> dict[str, Any] | None:
        holders = (holder for holder in (self.value, self.message) if isinstance(holder, dict))
        return next((origin for holder in holders if (origin := self.view.context.origin(holder))), None)


class PathHit(Hit):
    """A place selected by `path`: its neighbours are its siblings in its own list, its parent holds that list."""

    __slots__ = ()

    def __init__(self, path: Pointer, value: Any, view: View) -> None:
        numbers = [at for at, key in enumerate(path) if isinstance(key, int)]
        own = path[numbers[-1]] if numbers else None
        super().__init__(path, value, view, index=own if isinstance(own, int) else None)

    @property
    def _list_path(self) -> Pointer:
        numbers = [at for at, key in enumerate(self.path) if isinstance(key, int)]
        return self.path[: numbers[-1]] if numbers else ()

    def _neighbour(self, step: int) -> Any:
        if self.index is None or self.index + step < 0:
            return None
        return value_at(self.view.root, (*self._list_path, self.index + step))

    @property
    def message(self) -> Any:
        spine = self.view.shape.spine
        inside = self.path[: len(spine)] == spine and len(self.path) > len(spine)
        return value_at(self.view.root, self.path[: len(spine) + 1]) if inside else None

    @property
    def parent(self) -> Any:
        list_path = self._list_path
        return value_at(self.view.root, list_path[:-1]) if list_path else None


def _stamp(holder: dict[str, Any]) -> dict[str, Any] | None:
    """Who wrote a message, where its host keeps that in `metadata` as `provider` and `modelId`."""
    metadata = holder.get("metadata")
    if not isinstance(metadata, dict) or not isinstance(metadata.get("provider"), str):
        return None
    return {"provider": metadata["provider"], "model": metadata.get("modelId")}


Select = Callable[[View], list[Hit]]
Compute = Callable[[Any, Hit], Any]
