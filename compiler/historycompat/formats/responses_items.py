"""Items of OpenAI Responses ⇄ messages: what a model made in a row is one message, whose parts are virtual objects."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from historycompat.formats.detection import words
from historycompat.formats.folding import ITEM, PART, Virtual, grouped, with_list
from historycompat.formats.format import OPAQUE
from historycompat.formats.kinds import Part

RUN = "$run"  # the key that holds what a model made in a row, in the message that stands for it

CALLED = "tool_calls"  # where the chat API keeps calls, which are items here
NEW = "$output"  # the type of an output that was not read
OUTPUT_OF = {"function_call": "function_call_output", "custom_tool_call": "custom_tool_call_output"}
OWN_CALLS = words("computer_call local_shell_call shell_call apply_patch_call")  # of tools that the client runs
HOSTED = OWN_CALLS | words(
    "web_search_call file_search_call code_interpreter_call image_generation_call mcp_call mcp_list_tools "
    "mcp_approval_request tool_search_call tool_search_output program program_output"
)
OUTPUTS = frozenset(OUTPUT_OF.values())
_OUTPUT_TYPES = tuple(OUTPUTS)  # for what may not be hashable
_OF_THOUGHTS = {"id": "id", "encrypted": "encrypted_content"}
_UNSAID = {"text": ""}
"""What stands for the text of a reasoning item without any."""

_SAID = {"refusal": ("refused", "refusal"), **dict.fromkeys(words("output_text input_text text"), ("said", "text"))}
"""The type of the virtual object, and the key of the text, by the type of what a model's message holds."""
ITEM_TYPES = (
    HOSTED
    | OUTPUTS
    | OUTPUT_OF.keys()
    | {f"{kind}_output" for kind in OWN_CALLS}
    | words(
        "message reasoning item_reference compaction compaction_trigger configuration_update additional_tools "
        "mcp_approval_response"
    )
)


def unfold(items: list[Any]) -> list[Any]:
    """Items as messages: what a model made in a row as one, everything else as it is."""
    messages: list[Any] = []
    run: list[Any] | None = None
    for item in items:
        try:
            parts_of = _PARTS_OF.get(item.get("type"))
        except (AttributeError, TypeError):  # no object, or with a type that is no text
            parts_of = None
        parts = None if parts_of is None else parts_of(item)
        if parts is None:
            run = None
            messages.append(item)
        elif run is None:
            run = parts
            messages.append({RUN: run})
        else:
            run += parts
    return messages


def _texts(item: Part) -> list[Any] | None:
    """The parts of an assistant's message; None for any other."""
    if item.get("role") != "assistant":
        return None
    return _said(item) if CALLED not in item else _called(item)


def _said(item: Part) -> list[Any]:
    content, id_ = item.get("content"), item.get("id")
    if isinstance(content, str):
        return [{"type": "said", ITEM: item, PART: {"text": content}, "id": id_}]
    if not isinstance(content, list) or not content:
        return [item]
    parts = []
    for part in content:
        try:
            kind, key = _SAID[part["type"]]
        except (KeyError, TypeError):
            return [item]
        if key not in part:
            return [item]
        parts.append({"type": kind, ITEM: item, PART: part, "id": id_})
    return parts


def _called(item: Part) -> list[Any]:
    """The parts of a message of the chat API, which has calls beside its content."""
    calls = item[CALLED]
    said = _said(item) if item.get("content") else []
    if said == [item] or not isinstance(calls, list) or not all(map(_is_call, calls)):
        return [item]
    return said + [{"type": "called", ITEM: item, PART: call} for call in calls] or [item]


def _is_call(call: Any) -> bool:
    return isinstance(call, dict) and isinstance(call.get("function"), dict)


def _thoughts(item: Part) -> list[Any]:
    held = item.get("summary") or item.get("content") or item.get("summary", [])
    if not isinstance(held, list):
        return [item]
    id_, encrypted = item.get("id"), item.get("encrypted_content")
    parts = []
    for part in held or [_UNSAID]:
        if part is not _UNSAID and not (isinstance(part, dict) and "type" in part and "text" in part):
            return [item]
        parts.append({"type": "thought", ITEM: item, PART: part, "id": id_, "encrypted": encrypted})
    return parts


def _whole(item: Part) -> list[Any]:
    return [item]


_PARTS_OF: dict[Any, Callable[[Part], list[Any] | None]] = {
    None: _texts,
    "message": _texts,
    "reasoning": _thoughts,
    **dict.fromkeys(HOSTED | OUTPUT_OF.keys(), _whole),
}
"""The parts of an item that a model made, by its type."""


def _thought_key(item: Part) -> str:
    return "content" if item.get("content") and not item.get("summary") else "summary"


def fold(messages: list[Any]) -> list[Any]:
    """The items of messages. A new output becomes that of its call's kind."""
    items: list[Any] = []
    for message in messages:
        items += _items(message[RUN]) if isinstance(message, dict) and RUN in message else [message]
    if not any(_kind(item) == NEW for item in items):
        return items
    calls = {_call_id(item): _kind(item) for item in items if _kind(item) in OUTPUT_OF}
    return [_typed(item, calls) if _kind(item) == NEW else item for item in items]


def _kind(item: Any) -> str:
    kind = item.get("type") if isinstance(item, dict) else None
    return kind if isinstance(kind, str) else ""


def _call_id(item: Part) -> str:
    call = item.get("call_id")
    return call if isinstance(call, str) else ""


def _typed(item: Part, calls: dict[str, str]) -> Part:
    return {**item, "type": OUTPUT_OF[calls.get(_call_id(item), "function_call")]}


def _items(run: list[Any]) -> Iterator[Any]:
    used: set[int] = set()
    for group in grouped(run, _belongs):
        if not isinstance(group, list):
            yield group
            continue
        item = group[0].get(ITEM)
        if item is not None and id(item) in used:  # a second item with this id would be refused
            item, group = None, [{key: value for key, value in each.items() if key != "id"} for each in group]
        used.add(id(item))
        if group[0]["type"] == "thought":
            yield _thought(item, group)
        elif CALLED in (item or ()) or any(part["type"] == "called" for part in group):
            yield _chat_message(item or {"role": "assistant", "content": None}, group)
        else:
            yield _message(item, group)


def _belongs(part: Virtual) -> Any:
    return (part.get("id"), part["type"] == "thought") if part.get("id") is not None else id(part)


def _message(item: Part | None, group: list[Virtual]) -> Part:
    texts = [part[PART] for part in group]
    if item is None:
        if group[0].get("id") is None and group[0]["type"] == "said" and texts[0].keys() == {"text"}:
            return {"role": "assistant", "content": texts[0]["text"]}
        item = {"type": "message", "role": "assistant", "status": "completed"}
    elif isinstance(item.get("content"), str) and len(group) == 1 and texts[0].keys() == {"text"}:
        text = texts[0]["text"]
        return _marked(item if text is item["content"] else {**item, "content": text}, group[0], id="id")
    return _marked(with_list(item, "content", [_text(part) for part in texts]), group[0], id="id")


def _chat_message(item: Part, group: list[Virtual]) -> Part:
    said = [part for part in group if part["type"] != "called"]
    calls = [part[PART] for part in group if part["type"] == "called"]
    if said:
        item = _message(item, said)
    elif item.get("content"):
        item = {**item, "content": None}
    if calls or not item.get(CALLED):
        return with_list(item, CALLED, calls)
    return {key: value for key, value in item.items() if key != CALLED}


def _text(part: Part) -> Part:
    if "type" in part:
        return part
    return {"type": "refusal", **part} if "refusal" in part else {"type": "output_text", "annotations": [], **part}


def _thought(item: Part | None, group: list[Virtual]) -> Part:
    item = {"type": "reasoning", "summary": []} if item is None else item
    key = _thought_key(item)
    kind = "reasoning_text" if key == "content" else "summary_text"
    texts = [part[PART] for part in group]
    if texts == [_UNSAID]:
        texts = []
    item = with_list(item, key, [part if "type" in part else {"type": kind, **part} for part in texts])
    return _marked(item, group[0], **_OF_THOUGHTS)


def _marked(item: Part, part: Virtual, **keys: str) -> Part:
    """The item with what its first part says of it."""
    for name, key in keys.items():
        if part.get(name) != item.get(key):
            item = {k: v for k, v in item.items() if k != key} | ({key: part[name]} if name in part else {})
    return item


def role_of(native: Any) -> Any:
    """The role of an item or a run."""
    try:
        kind = native.get("type")
    except AttributeError:  # no object
        return OPAQUE
    if kind is None or kind == "message":
        return "assistant" if RUN in native else native.get("role")
    return "tool" if kind in _OUTPUT_TYPES else OPAQUE
