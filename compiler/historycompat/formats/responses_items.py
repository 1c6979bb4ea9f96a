"""Items of OpenAI Responses ⇄ messages: what a model made in a row is one message, whose parts are virtual objects."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from historycompat.formats.detection import words
from historycompat.formats.folding import ITEM, PART, Virtual, grouped, parts_of, with_list
from historycompat.formats.format import OPAQUE
from historycompat.formats.kinds import Part

RUN = "$run"  # the key that holds what a model made in a row, in the message that stands for it

NEW = "$output"  # the type of an output that was not read
OUTPUT_OF = {"function_call": "function_call_output", "custom_tool_call": "custom_tool_call_output"}
OWN_CALLS = words("computer_call local_shell_call shell_call apply_patch_call")  # of tools that the client runs
HOSTED = OWN_CALLS | words(
    "web_search_call file_search_call code_interpreter_call image_generation_call mcp_call mcp_list_tools "
    "mcp_approval_request tool_search_call tool_search_output program program_output"
)
OUTPUTS = frozenset(OUTPUT_OF.values())
_WHOLE = HOSTED | OUTPUT_OF.keys()  # what a model makes that is one part
_OF_THOUGHTS = {"id": "id", "encrypted": "encrypted_content"}
_SAID = ("output_text", "input_text", "text")
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
        parts = _made_by_model(item)
        if parts is None:
            run = None
            messages.append(item)
        elif run is None:
            run = parts
            messages.append({RUN: run})
        else:
            run += parts
    return messages


def _made_by_model(item: Any) -> list[Any] | None:
    """The parts of an item that a model made; None for any other."""
    if not isinstance(item, dict):
        return None
    kind = item.get("type")
    if kind is None or kind == "message":
        return _texts(item) if item.get("role") == "assistant" else None
    if kind == "reasoning":
        return _thoughts(item)
    return [item] if isinstance(kind, str) and kind in _WHOLE else None


def _texts(item: Part) -> list[Any]:
    content = item.get("content")
    known = {"id": item["id"]} if item.get("id") is not None else {}
    if isinstance(content, str):
        return [{**known, "type": "said", ITEM: item, PART: {"text": content}}]
    if not isinstance(content, list) or not content or not all(map(_is_said, content)):
        return [item]
    parts = parts_of(item, "content", **known)
    return [{**part, "type": "refused" if "refusal" in part[PART] else "said"} for part in parts]


def _is_said(part: Any) -> bool:
    return isinstance(part, dict) and (
        (part.get("type") in _SAID and "text" in part) or (part.get("type") == "refusal" and "refusal" in part)
    )


def _thoughts(item: Part) -> list[Any]:
    place = _thought_key(item)
    known = {"type": "thought"}
    for name, key in _OF_THOUGHTS.items():
        if item.get(key) is not None:
            known[name] = item[key]
    held = item.get(place, [])
    if held == []:
        return [{**known, ITEM: item, PART: {"text": ""}}]
    readable = isinstance(held, list) and all(
        isinstance(part, dict) and {"type", "text"} <= part.keys() for part in held
    )
    return parts_of(item, place, **known) if readable else [item]


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
        yield _thought(item, group) if group[0]["type"] == "thought" else _message(item, group)


def _belongs(part: Virtual) -> Any:
    return (part.get("id"), part["type"] == "thought") if part.get("id") is not None else id(part)


def _message(item: Part | None, group: list[Virtual]) -> Part:
    texts = [part[PART] for part in group]
    if item is None:
        if "id" not in group[0] and group[0]["type"] == "said" and texts[0].keys() == {"text"}:
            return {"role": "assistant", "content": texts[0]["text"]}
        item = {"type": "message", "role": "assistant", "status": "completed"}
    elif isinstance(item.get("content"), str) and len(group) == 1 and texts[0].keys() == {"text"}:
        text = texts[0]["text"]
        return _marked(item if text is item["content"] else {**item, "content": text}, group[0], id="id")
    return _marked(with_list(item, "content", [_text(part) for part in texts]), group[0], id="id")


def _text(part: Part) -> Part:
    if "type" in part:
        return part
    return {"type": "refusal", **part} if "refusal" in part else {"type": "output_text", "annotations": [], **part}


def _thought(item: Part | None, group: list[Virtual]) -> Part:
    item = {"type": "reasoning", "summary": []} if item is None else item
    key = _thought_key(item)
    kind = "reasoning_text" if key == "content" else "summary_text"
    texts = [part[PART] for part in group]
    if len(texts) == 1 and texts[0] == {"text": ""}:
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
    if not isinstance(native, dict):
        return OPAQUE
    if RUN in native:
        return "assistant"
    kind = native.get("type")
    if kind is None or kind == "message":
        return native.get("role")
    return "tool" if isinstance(kind, str) and kind in OUTPUTS else OPAQUE
