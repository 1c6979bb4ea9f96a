"""Histories that many statements are tried on → one object for equal ones, with one view of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from historycompat.view import Context, View

Root = dict[str, Any]


@dataclass(slots=True)
class Histories:
    """Histories are told apart by their identity, so they are kept; equal messages are one object too."""

    _roots: dict[tuple[str | int, ...], Root] = field(default_factory=dict)
    _messages: dict[str, Any] = field(default_factory=dict)
    _met: set[int] = field(default_factory=set)
    _views: dict[int, View] = field(default_factory=dict)
    _alone: dict[int, View] = field(default_factory=dict)

    def known(self, root: Root) -> Root:
        """The first history that was equal to this one."""
        messages = [message if id(message) in self._met else self._first(message) for message in root["messages"]]
        around = repr({key: value for key, value in root.items() if key != "messages"})
        key: tuple[str | int, ...] = (around, *map(id, messages))
        if key not in self._roots:
            self._roots[key] = {**root, "messages": messages}
        return self._roots[key]

    def _first(self, message: Any) -> Any:
        found = self._messages.setdefault(repr(message), message)
        self._met.add(id(found))
        return found

    def view(self, root: Root, context: Context) -> View:
        """A known history as a statement sees it until the next one asks: pairs are the same in every context."""
        view = self._views.get(id(root))
        if view is None:
            view = self._views[id(root)] = View(root, context)
        view.context = context
        return view

    def alone(self, message: Any, context: Context) -> View:
        """A known message by itself."""
        view = self._alone.get(id(message))
        if view is None:
            view = self._alone[id(message)] = View({"messages": [message]}, context)
        view.context = context
        return view
