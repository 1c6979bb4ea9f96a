"""Native items that name their role, or hold their message, in their own way ⇄ messages with a role.

A message has the native item it stands for under `ITEM`; new ones have none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from historycompat.formats.folding import ITEM
from historycompat.formats.format import OPAQUE
from historycompat.formats.writing import shallow_same

Message = dict[str, Any]

PASSED = "$passed"


@dataclass(frozen=True)
class Envelope:
    """How the items of a history are messages.

    `opened(item)` is the message that an item stands for, a new object with the very values of the item; None for one
    that only passes through, which has no `role`. `closed(message, item, items)` is the item of an edited message, or
    of a new one (None), which is made like the other `items`.
    """

    opened: Callable[[Message], Message | None]
    closed: Callable[[Message, Message | None, list[Message]], Message]

    def unfold(self, items: list[Any]) -> list[Any]:
        """The messages of items."""
        return [self._unfolded(item) if isinstance(item, dict) else item for item in items]

    def _unfolded(self, item: Message) -> Message:
        message = self.opened(item)
        if message is None:
            return passed(item)
        message[ITEM] = item
        return message

    def fold(self, messages: list[Any]) -> list[Any]:
        """The inverse of `unfold`: items as they were, but for what was edited."""
        items = [each[ITEM] for each in messages if isinstance(each, dict) and ITEM in each]
        return [self._folded(message, items) if isinstance(message, dict) else message for message in messages]

    def _folded(self, message: Message, items: list[Message]) -> Message:
        if ITEM not in message:
            return self.closed(message, None, items) if "role" in message else message.get(PASSED, message)
        item: Message = message[ITEM]
        said = {key: value for key, value in message.items() if key != ITEM}
        same = self.opened(item)
        return item if same is not None and shallow_same(said, same) else self.closed(said, item, items)


def passed(item: Message) -> Message:
    """An item that only passes through: held by an object that has no role where its own would make it a message."""
    return {PASSED: item} if "role" in item else item


def role_of(message: Any) -> Any:
    """The role of an unfolded item; OPAQUE for one that only passes through."""
    return message.get("role") if isinstance(message, dict) and ITEM in message else OPAQUE
