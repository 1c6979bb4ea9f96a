"""What a hook returned → its effect on the rows, or a clear refusal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from historycompat.errors import did_you_mean
from historycompat.processors.arguments import InputResult, InputStepResult, Signal
from historycompat.processors.calling import Bound
from historycompat.processors.errors import Code, ProcessorError
from historycompat.processors.message_list import MessageList, Row, Source

ROW_FIELDS = frozenset(InputResult.__annotations__)
STEP_FIELDS = frozenset(InputStepResult.__annotations__)
SIGNAL_FIELDS = frozenset(Signal.__annotations__)


def take_rows(returned: Any, by: Bound, message_list: MessageList, given: list[Row], source: Source) -> None:
    """Rows of an input or output hook: the message list itself, rows, or a mapping of rows and system messages."""
    if isinstance(returned, Mapping):
        take_fields(_checked(returned, by, ROW_FIELDS), by, message_list, given, source)
    elif isinstance(returned, MessageList):
        _same_list(returned, by, message_list)
    elif returned is not None:
        message_list.accept(_rows(returned, by), given, source)


def take_step(returned: Any, by: Bound, message_list: MessageList, given: list[Row]) -> dict[str, Any]:
    """Rows as above, and the settings of the step that a hook changes."""
    if not isinstance(returned, Mapping):
        take_rows(returned, by, message_list, given, "input")
        return {}
    fields = _checked(returned, by, STEP_FIELDS)
    if "messages" in fields and "message_list" in fields:
        code: Code = "PROCESSOR_RETURNED_MESSAGES_AND_MESSAGE_LIST"
        raise ProcessorError(code, "return messages or message_list, not both", by.id)
    if not isinstance(fields.get("retry_count", 0), int):
        raise _unknown(fields["retry_count"], by, "retry_count is a number")
    if "message_list" in fields:
        _same_list(fields.pop("message_list"), by, message_list)
    take_fields(fields, by, message_list, given, "input")
    return {name: value for name, value in fields.items() if name not in ROW_FIELDS}


def take_fields(
    fields: Mapping[str, Any], by: Bound, message_list: MessageList, given: list[Row], source: Source
) -> None:
    if fields.get("system_messages") is not None:
        message_list.system_messages[:] = _rows(fields["system_messages"], by)
    if fields.get("messages") is not None:
        take_rows(fields["messages"], by, message_list, given, source)


def member(returned: Any, by: Bound, name: str, others: tuple[str, ...] = ()) -> Any:
    """One member of a mapping or object that a hook returned; None where it says nothing.

    Raises ProcessorError for a value that has no such member.
    """
    if returned is None:
        return None
    if isinstance(returned, Mapping):
        return _checked(returned, by, frozenset({name, *others})).get(name)
    if not any(hasattr(returned, each) for each in (name, *others)):
        raise _unknown(returned, by, f'return {{"{name}": ...}} or None')
    return getattr(returned, name, None)


def signal_of(returned: Any, by: Bound) -> Any:
    """A signal that a hook returned, or None."""
    if returned is not None and not isinstance(returned, Mapping):
        raise _unknown(returned, by, 'return a signal, {"contents": ...}, or None')
    return None if returned is None else _checked(returned, by, SIGNAL_FIELDS)


def nothing(returned: Any, by: Bound, message_list: MessageList) -> None:
    """Of a hook whose result would have no effect."""
    if returned is not None and returned is not message_list:
        raise _unknown(returned, by, "return None, and edit the message_list")


def _same_list(returned: Any, by: Bound, message_list: MessageList) -> None:
    if returned is not message_list:
        message = "edit the message_list that the hook is given, and return that one; another one is not taken"
        raise ProcessorError("PROCESSOR_RETURNED_EXTERNAL_MESSAGE_LIST", message, by.id)


def _rows(returned: Any, by: Bound) -> list[Row]:
    if isinstance(returned, list | tuple) and all(isinstance(row, dict) for row in returned):
        return list(returned)
    raise _unknown(returned, by, "return a list of rows, each a dict")


def _checked(returned: Mapping[str, Any], by: Bound, known: frozenset[str]) -> dict[str, Any]:
    for name in returned:
        if name not in known:
            hint = did_you_mean(str(name), known) or f"there are {', '.join(sorted(known))}"
            message = f"{by.hook.name} returned a field that does not exist, {name!r}: {hint}"
            raise ProcessorError("PROCESSOR_RETURNED_UNKNOWN_FIELD", message, by.id)
    return dict(returned)


def _unknown(returned: object, by: Bound, advice: str) -> ProcessorError:
    message = f"{by.hook.name} returned {type(returned).__name__}: {advice}"
    return ProcessorError("PROCESSOR_RETURNED_UNKNOWN_VALUE", message, by.id)
