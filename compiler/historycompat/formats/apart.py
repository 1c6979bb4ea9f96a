"""System prompt and tools of a request body, beside its messages ⇄ a system message and a list of tools."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from historycompat.edits import value_at, with_path, without_path
from historycompat.formats.kinds import Kinds, Writer
from historycompat.formats.readers import Links

Body = dict[str, Any]


@dataclass(frozen=True)
class System:
    """Where a body keeps a system prompt: under the first of `keys` that is there, else a new one under the first.

    It is read as a system message with the prompt under `at`; with `inside` the prompt lies in an object, under this
    key too. `only_text`: it is a string. `takes_new`: a system message that is new and comes first goes there.
    """

    keys: tuple[str, ...]
    at: str = "content"
    inside: bool = False
    only_text: bool = False
    takes_new: bool = True

    def key(self, body: Body) -> str | None:
        """The key that holds a prompt of a shape that can be read."""
        return next((key for key in self.keys if isinstance(self._prompt(body.get(key)), (str, list))), None)

    def lift(self, body: Body, key: str) -> Body:
        """The system message of the prompt under a key."""
        return {"role": "system", self.at: self._prompt(body[key])}

    def lower(self, message: Body, body: Body, key: str) -> Body:
        """The body with the prompt of a system message under a key."""
        prompt, old = message.get(self.at, ""), body.get(key)
        if prompt is self._prompt(old):
            return body
        if self.only_text and isinstance(prompt, list):
            prompt = "\n\n".join(str(value_at(part, ("text",), "")) for part in prompt)
        if self.inside:
            prompt = {**(old if isinstance(old, dict) else {}), self.at: prompt}
        return {**body, key: prompt}

    def _prompt(self, value: Any) -> Any:
        return value.get(self.at) if self.inside and isinstance(value, dict) else value


@dataclass(frozen=True)
class Tools:
    """Where a body keeps its tools: a list at a path, of these kinds. `unfold` and `fold` are for lists whose items
    hold several tools each: from such items to one object a tool, and back."""

    kinds: Kinds
    path: tuple[str, ...] = ("tools",)
    unfold: Callable[[list[Any]], list[Any]] = list
    fold: Callable[[list[Any]], list[Any]] = list

    def read(self, body: Body, links: Links) -> list[Any] | None:
        """The canonical tools; None where there is no list of them."""
        held = value_at(body, self.path)
        if not isinstance(held, list):
            return None
        return [self.kinds.read(tool, links, self.kinds) for tool in self.unfold(held)]

    def write(self, body: Body, tools: list[Any] | None, writer: Writer) -> Body:
        """The body with these tools."""
        if tools is None:
            return without_path(body, self.path, prune=True)
        return with_path(body, self.path, self.fold([self.kinds.write(tool, writer, self.kinds) for tool in tools]))
