"""The states of messages, parts, calls and results, as one closed table each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from historycompat.edits import value_at
from historycompat.pairs import Occurrence
from historycompat.view import View

SYNTHETIC_NAMESPACE = "historycompat"


def is_empty(value: Any) -> bool:
    """Whether a content or a part says nothing: null, a blank string, no parts, or only parts that say nothing."""
    if value is None or value == []:
        return True
    if isinstance(value, str):
        return not value.strip()
    if isinstance(value, list):
        return all(isinstance(part, dict) and is_empty_part(part) for part in value)
    return False


def is_empty_part(part: Any) -> bool:
    return isinstance(part, dict) and part.get("type") == "text" and is_empty(part.get("text"))


def is_synthetic(value: Any) -> bool:
    """Whether a rule of ours inserted this message or part."""
    return value_at(value, ("providerOptions", SYNTHETIC_NAMESPACE, "synthetic")) is True


def marked_synthetic(value: dict[str, Any]) -> dict[str, Any]:
    options = value.get("providerOptions")
    options = options if isinstance(options, dict) else {}
    return {**value, "providerOptions": {**options, SYNTHETIC_NAMESPACE: {"synthetic": True}}}


# Each state of a message: whether message `index` of a view is in it. A closed list.
MESSAGE_STATES: dict[str, Callable[[View, int], bool]] = {
    "first": lambda view, index: index == 0,
    "last": lambda view, index: index == len(view.messages) - 1,
    "empty": lambda view, index: _message_is_empty(view, index),
    "late": lambda view, index: view.role(index) == "system" and any(_is_of_another(view, i) for i in range(index)),
    "open": lambda view, index: all(view.role(i) == "tool" for i in range(index + 1, len(view.messages))),
    "settled": lambda view, index: not MESSAGE_STATES["open"](view, index),
    "current": lambda view, index: all(
        view.role(i) in ("assistant", "tool") for i in range(index + 1, len(view.messages))
    ),
    "synthetic": lambda view, index: is_synthetic(view.messages[index]),
    "stale": lambda view, index: view.context.stale(view, index),
}

PART_STATES: dict[str, Callable[[list[Any], int], bool]] = {
    "empty": lambda parts, position: is_empty_part(parts[position]),
    "first": lambda parts, position: position == 0,
    "last": lambda parts, position: position == len(parts) - 1,
}

CALL_STATES: dict[str, Callable[[View, Occurrence], bool]] = {
    "orphan": lambda view, it: it.result is None,
    "duplicate": lambda view, it: it.call is not None and not view.pairing.is_first(True, it.call),
}

RESULT_STATES: dict[str, Callable[[View, Occurrence], bool]] = {
    "orphan": lambda view, it: it.call is None,
    "duplicate": lambda view, it: it.result is not None and not view.pairing.is_first(False, it.result),
    "late": lambda view, it: _is_late(view, it),
}


def _is_of_another(view: View, index: int) -> bool:
    """Whether a message, and not what merely stands where one should, is no system message."""
    return isinstance(view.messages[index], dict) and view.role(index) != "system"


def _message_is_empty(view: View, index: int) -> bool:
    message = view.messages[index]
    return isinstance(message, dict) and is_empty(message.get(view.shape.parts))


def _is_late(view: View, it: Occurrence) -> bool:
    """Neither in its call's message nor in the run of tool messages right behind that. What the provider itself ran has
    its result wherever the provider put it."""
    call, result = it.call, it.result
    if call is None or result is None or call.index == result.index or call.part.get("providerExecuted"):
        return False
    if result.index < call.index or view.role(result.index) not in view.shape.homes(result.site):
        return True
    return any(view.role(i) != "tool" for i in range(call.index + 1, result.index))
