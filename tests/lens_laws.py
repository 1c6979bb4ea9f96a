"""What the tests of the lens laws share: edits, what a format may lose, native histories that are broken."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

from canonical import joined_neighbours, prompts
from hypothesis import strategies as st

from historycompat.edits import Edit, Lineage, commit, value_at
from historycompat.formats.format import Format, Reading
from historycompat.formats.pairing import is_made
from historycompat.formats.values import as_text


def rewritten(kind: Format, reading: Reading, messages: Any = None, lineage: Lineage | None = None) -> Any:
    """What a format writes for edited messages of a reading."""
    messages = reading.messages if messages is None else messages
    return kind.write(reading, messages, reading.tools, reading.params, lineage or Lineage())


def from_scratch(kind: Format, prompt: list[Any], empty: Any) -> Any:
    reading = kind.read(empty)
    return kind.write(reading, prompt, reading.tools, reading.params, Lineage())


Made = tuple[list[Any], Lineage]


def edited(reading: Reading, *edits: Edit) -> Made:
    lineage = Lineage()
    root, _ = commit({"messages": reading.messages}, edits, lineage)
    return root["messages"], lineage


def single_edits(messages: list[Any], new_id: str = "changed_id") -> Iterator[tuple[str, tuple[Edit, ...]]]:
    """Every single edit of a few kinds: another text, input or output, a dropped part or message, an inserted message."""
    new = {"role": "user", "content": [{"type": "text", "text": "inserted"}]}
    for index, message in enumerate(messages):
        at = ("messages", index)
        yield f"drop message {index}", (Edit("remove", at),)
        yield f"insert before {index}", (Edit("add", at, new),)
        parts = message.get("content") if isinstance(message, dict) else None
        if isinstance(parts, str):
            yield f"say {index}", (Edit("replace", (*at, "content"), "changed"),)
        for position, part in enumerate(parts if isinstance(parts, list) else []):
            if isinstance(part, dict):
                place = (*at, "content", position)
                if len(parts) > 1:
                    yield f"drop part {index}/{position}", (Edit("remove", place),)
                yield from (
                    (f"set {key} of {index}/{position}", (Edit("replace", (*place, *key.split(".")), value),))
                    for key, value in (
                        ("text", f"changed {index}/{position}"),
                        ("input", {"changed": True}),
                        ("toolCallId", new_id),
                        ("output", {"type": "text", "value": "changed"}),
                    )
                    if key in part and (key != "output" or message.get("role") == "tool")
                )
    yield "append", (Edit("add", ("messages", len(messages)), new),)


def comparable(kind: Format, messages: list[Any]) -> list[Any]:
    """Messages without what the format derives: names and ids of results where calls give them, messages without
    parts, the bounds of neighbouring assistant messages."""
    kept = [message for message in map(_without_cache_points, copy.deepcopy(messages)) if not _is_empty(message)]
    for message in kept:
        content = message.get("content") if isinstance(message, dict) else None
        for part in content if isinstance(content, list) else []:
            is_result = isinstance(part, dict) and part.get("type") == "tool-result"
            if isinstance(part, dict) and isinstance(part.get("providerOptions"), dict):
                _settle_options(part)
            if "result-names" not in kind.says and is_result:
                part.pop("toolName", None)
            if "hosted-calls" in kind.says and is_result and _is_text(part.get("output")):
                part["output"]["type"] = "text"  # what hosted tools give is all JSON
            if (
                "result-ids" not in kind.says
                and isinstance(part, dict)
                and (is_result or is_made(part.get("toolCallId")))
            ):
                part.pop("toolCallId", None)
        if isinstance(message, dict) and message.get("role") == "system" and _is_plain(content):
            message["content"] = content[0]["text"]
        elif "many-texts" not in kind.says and isinstance(content, list):
            message["content"] = joined_texts(content)
    return kept if "neighbours" in kind.says else joined_neighbours(kept)


def _settle_options(part: dict[str, Any]) -> None:
    """Take away what goes with a part but is not its own, and say the input of a custom tool as the text it is."""
    options = {name: value for name, value in part["providerOptions"].items() if name != "bedrock"}
    part["providerOptions"] = options
    if not options:
        del part["providerOptions"]
    if value_at(options, ("openai", "type")) == "custom" and "input" in part:
        part["input"] = as_text(part["input"])


def _is_empty(message: Any) -> bool:
    return isinstance(message, dict) and message.get("content") in ([], None)


def _without_cache_points(message: Any) -> Any:
    """Cache points go with the part before them, whatever that is by now."""
    if isinstance(message, dict) and isinstance(message.get("content"), list):
        message["content"] = [part for part in message["content"] if not _is_cache_point(part)]
    return message


def _is_cache_point(part: Any) -> bool:
    value = part.get("value") if isinstance(part, dict) else None
    return isinstance(value, dict) and value.keys() == {"cachePoint"}


def _is_text(output: Any) -> bool:
    return isinstance(output, dict) and output.get("type") == "json" and isinstance(output.get("value"), str)


def _is_plain(content: Any) -> bool:
    """Whether a content is one text, which a system message says as a string too."""
    return (
        isinstance(content, list)
        and len(content) == 1
        and isinstance(content[0], dict)
        and content[0].keys() == {"type", "text"}
    )


def joined_texts(parts: list[Any]) -> list[Any]:
    """Parts with all texts as one, and all reasoning."""
    joined: list[Any] = []
    for part in parts:
        kind = part.get("type") if isinstance(part, dict) else None
        first = next((one for one in joined if isinstance(one, dict) and one.get("type") == kind), None)
        if first is not None and kind in ("text", "reasoning"):
            first["text"] = f"{first['text']}\n\n{part['text']}"
        else:
            joined.append(part)
    return joined


def refused(kind: Format, message: dict[str, Any]) -> bool:
    content = message.get("content")
    places = (None, *range(len(content) if isinstance(content, list) else 0))
    return any(kind.carries(message, place) for place in places)


def most_lost(kind: Format, reading: Reading, what: str) -> int:
    """The native items that one edit may touch: one, or where items are parts all that a dropped message has."""
    if "neighbours" in kind.says or not what.startswith("drop message"):
        return 1
    content = reading.messages[int(what.split()[-1])]["content"]
    return max(1, len(content) if isinstance(content, list) else 0)


def items_of(native: Any) -> list[Any]:
    """The messages of a native history, and a system prompt beside them."""
    if isinstance(native, list):
        return native
    held = next(native[key] for key in ("messages", "prompt", "contents", "input") if key in native)
    beside = [native[key] for key in ("system", "systemInstruction", "instructions") if key in native]
    return [*beside, *(held if isinstance(held, list) else [])]


def lost(old: list[Any], new: list[Any]) -> list[Any]:
    return [item for item in old if not any(item is other for other in new)]


@st.composite
def broken_natives(draw: Callable[..., Any], kind: Format) -> list[Any]:
    """A native history of a valid prompt, with native objects damaged as canonical ones are by `broken_prompts`."""
    native = copy.deepcopy(from_scratch(kind, draw(prompts(kind.says)), []))
    for _ in range(draw(st.integers(1, 3))):
        holders = [node for node in walk(native) if node]
        if holders:
            holder = draw(st.sampled_from(holders))
            key = draw(st.sampled_from(sorted(holder) if isinstance(holder, dict) else range(len(holder))))
            odd = (
                st.none()
                | st.booleans()
                | st.integers()
                | st.text(max_size=4)
                | st.just([])
                | st.just({})
                | st.just(["x", {}])
            )
            if isinstance(holder, dict) and draw(st.booleans()):
                del holder[key]
            else:
                holder[key] = draw(odd)
    return native


def walk(value: Any) -> Iterator[Any]:
    if isinstance(value, (dict, list)):
        yield value
        for inner in value.values() if isinstance(value, dict) else value:
            yield from walk(inner)
