"""Hypothesis strategies for canonical prompts: valid ones, as far as a format can say them, and broken ones."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from historycompat.formats.format import SAYS

Message = dict[str, Any]

EVERYTHING = frozenset(SAYS)
VENDORS = ("anthropic", "openai", "google")

texts = st.text(max_size=12)
filled = st.text(min_size=1, max_size=12).filter(str.strip)
names = st.sampled_from(["read", "write", "web_fetch_2", "get-weather"])
scalars = (
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | texts
)
json_values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
objects = st.dictionaries(st.text(max_size=5), json_values, max_size=3)
options = st.dictionaries(
    st.sampled_from(VENDORS), st.dictionaries(st.text(min_size=1, max_size=5), scalars, max_size=2)
)
base64_texts = st.binary(max_size=9).map(lambda data: base64.b64encode(data).decode())


def _with_options(part: st.SearchStrategy[Message], says: frozenset[str]) -> st.SearchStrategy[Message]:
    if "any-options" not in says:
        return part
    return st.builds(lambda value, more: {**value, "providerOptions": more} if more else value, part, options)


def text_parts(says: frozenset[str] = EVERYTHING) -> st.SearchStrategy[Message]:
    return _with_options(st.builds(lambda text: {"type": "text", "text": text}, texts), says)


def reasoning_parts(says: frozenset[str] = EVERYTHING) -> st.SearchStrategy[Message]:
    return _with_options(st.builds(lambda text: {"type": "reasoning", "text": text}, texts), says)


def _file(data: str, media: str) -> Message:
    return {"type": "file", "data": data, "mediaType": media}


def file_parts(says: frozenset[str] = EVERYTHING) -> st.SearchStrategy[Message]:
    """Images and documents; what comes from the web has the media type that every format can keep."""
    images = st.builds(_file, base64_texts, st.sampled_from(["image/png", "image/jpeg"]))
    kinds = [images, st.just(_file("https://example.org/a.png", "image/*"))] if "user-files" in says else []
    if "documents" in says:
        kinds.append(st.builds(_file, base64_texts, st.just("application/pdf")))
    return _with_options(st.one_of(kinds), says)


def outputs(says: frozenset[str] = EVERYTHING) -> st.SearchStrategy[Message]:
    media = st.builds(lambda data: {"type": "media", "data": data, "mediaType": "image/png"}, base64_texts)
    values: dict[str, st.SearchStrategy[Any]] = {
        "text": texts,
        "json": json_values,
        "error-text": texts,
        "error-json": json_values,
        "content": st.lists(st.builds(lambda text: {"type": "text", "text": text}, texts) | media, max_size=3),
    }
    kinds = [kind for kind in values if kind == "text" or f"output-{kind}" in says]
    return st.sampled_from(kinds).flatmap(
        lambda kind: st.builds(lambda value: {"type": kind, "value": value}, values[kind])
    )


@st.composite
def _calls(draw: Callable[..., Any], says: frozenset[str], start: int) -> list[Message]:
    inputs = objects | json_values if "any-input" in says else objects
    return [
        {"type": "tool-call", "toolCallId": f"call_{start + at}", "toolName": draw(names), "input": draw(inputs)}
        for at in range(draw(st.integers(1, 3)))
    ]


@st.composite
def _hosted(draw: Callable[..., Any], says: frozenset[str], number: int) -> list[Message]:
    """A call that the provider ran, and its result."""
    call = {"toolCallId": f"srvtoolu_{number}", "toolName": "web_search"}
    output = {"type": "json", "value": draw(json_values)}
    return [
        {"type": "tool-call", **call, "input": draw(objects), "providerExecuted": True},
        {"type": "tool-result", **call, "output": output},
    ]


@st.composite
def _turn(draw: Callable[..., Any], says: frozenset[str], number: int) -> list[Message]:
    """An assistant message and the tool messages that answer its calls."""
    calls = draw(_calls(says, number * 10)) if draw(st.booleans()) else []
    reasoning = [draw(reasoning_parts(says))] if "reasoning" in says and draw(st.booleans()) else []
    most = 2 if "many-texts" in says else 1
    spoken = draw(st.lists(text_parts(says), min_size=0 if calls else 1, max_size=most))
    content = [*reasoning, *spoken, *calls]
    if "any-order" in says:
        content = draw(st.permutations([*content, *draw(st.lists(reasoning_parts(says), max_size=1))]))
    if "hosted-calls" in says and draw(st.booleans()):
        content = [*draw(_hosted(says, number)), *content]
    if "assistant-files" in says and draw(st.booleans()):
        content = [*content, draw(file_parts(says))]
    return [{"role": "assistant", "content": content}, *draw(_answers(says, calls))]


@st.composite
def _answers(draw: Callable[..., Any], says: frozenset[str], calls: list[Message]) -> list[Message]:
    results = [
        {
            "type": "tool-result",
            "toolCallId": call["toolCallId"],
            "toolName": draw(names) if "result-names" in says and draw(st.booleans()) else call["toolName"],
            "output": draw(outputs(says)),
        }
        for call in calls
    ]
    if results and "results-together" in says and draw(st.booleans()):
        return [{"role": "tool", "content": results}]
    return [{"role": "tool", "content": [result]} for result in results]


def system_messages(says: frozenset[str] = EVERYTHING) -> st.SearchStrategy[Message]:
    content = texts | st.lists(text_parts(says), min_size=1, max_size=2) if "system-parts" in says else texts
    return st.builds(lambda value: {"role": "system", "content": value}, content)


def user_messages(says: frozenset[str] = EVERYTHING) -> st.SearchStrategy[Message]:
    most = 2 if "many-texts" in says else 1
    parts = st.lists(text_parts(says), min_size=0 if "empty-messages" in says else 1, max_size=most)
    if says & {"user-files", "documents"}:
        parts = st.builds(lambda said, shown: [*said, *shown], parts, st.lists(file_parts(says), max_size=2))
    return st.builds(lambda value: {"role": "user", "content": value}, parts)


@st.composite
def prompts(draw: Callable[..., Any], says: frozenset[str] = EVERYTHING) -> list[Message]:
    """A prompt in which every call is answered once, behind it, and ids are unique; `says` limits what it may hold."""
    prompt = draw(st.lists(system_messages(says), max_size=2))
    for number in range(draw(st.integers(0, 3))):
        prompt += draw(st.lists(user_messages(says), max_size=2))
        if draw(st.booleans()):
            prompt += draw(_turn(says, number))
    return prompt if "neighbours" in says else joined_neighbours(prompt)


def joined_neighbours(prompt: list[Any]) -> list[Any]:
    """A prompt in which neighbouring assistant messages are one."""
    joined: list[Any] = []
    for message in prompt:
        before = joined[-1] if joined else None
        if _is_spoken(message) and _is_spoken(before):
            joined[-1] = {**before, "content": [*before["content"], *message["content"]]}
        else:
            joined.append(message)
    return joined


def _is_spoken(message: Any) -> bool:
    return isinstance(message, dict) and message.get("role") == "assistant" and isinstance(message.get("content"), list)


def _part_at(draw: Callable[..., Any], prompt: list[Any]) -> tuple[list[Any], int] | None:
    lists = [
        m["content"] for m in prompt if isinstance(m, dict) and isinstance(m.get("content"), list) and m["content"]
    ]
    content = draw(st.sampled_from(lists)) if lists else None
    return None if content is None else (content, draw(st.integers(0, len(content) - 1)))


def _drop_message(draw: Callable[..., Any], prompt: list[Any]) -> None:
    del prompt[draw(st.integers(0, len(prompt) - 1))]


def _repeat_message(draw: Callable[..., Any], prompt: list[Any]) -> None:
    prompt.insert(draw(st.integers(0, len(prompt))), draw(st.sampled_from(prompt)))


def _swap_messages(draw: Callable[..., Any], prompt: list[Any]) -> None:
    at = draw(st.integers(0, len(prompt) - 1))
    prompt.append(prompt.pop(at))


def _wrong_role(draw: Callable[..., Any], prompt: list[Any]) -> None:
    at = draw(st.integers(0, len(prompt) - 1))
    role = draw(st.sampled_from(["user", "assistant", "tool", "system", "ai", "", None, 3]))
    prompt[at] = {**prompt[at], "role": role} if isinstance(prompt[at], dict) else prompt[at]


def _odd_content(draw: Callable[..., Any], prompt: list[Any]) -> None:
    at = draw(st.integers(0, len(prompt) - 1))
    if isinstance(prompt[at], dict):
        prompt[at] = {
            **prompt[at],
            "content": draw(st.none() | texts | st.just([]) | objects | st.lists(scalars, max_size=2)),
        }


def _drop_part(draw: Callable[..., Any], prompt: list[Any]) -> None:
    if found := _part_at(draw, prompt):
        del found[0][found[1]]


def _odd_part(draw: Callable[..., Any], prompt: list[Any]) -> None:
    if found := _part_at(draw, prompt):
        found[0][found[1]] = draw(
            st.none() | texts | objects | objects.map(lambda value: {**value, "type": "no-such-type"})
        )


def _odd_field(draw: Callable[..., Any], prompt: list[Any]) -> None:
    if (found := _part_at(draw, prompt)) and isinstance(part := found[0][found[1]], dict) and part:
        key = draw(st.sampled_from(sorted(part)))
        kept = {name: value for name, value in part.items() if name != key}
        found[0][found[1]] = kept if draw(st.booleans()) else {**kept, key: draw(json_values)}


def _odd_message(draw: Callable[..., Any], prompt: list[Any]) -> None:
    prompt.insert(draw(st.integers(0, len(prompt))), draw(scalars | objects))


DAMAGES = (
    _drop_message,
    _repeat_message,
    _swap_messages,
    _wrong_role,
    _odd_content,
    _drop_part,
    _odd_part,
    _odd_field,
    _odd_message,
)


@st.composite
def broken_prompts(
    draw: Callable[..., Any], says: frozenset[str] = EVERYTHING, damages: tuple[Any, ...] = DAMAGES
) -> list[Any]:
    """A prompt with one to four damages of the kinds that stored histories have: lost, doubled or misplaced messages and
    parts, wrong roles, contents, parts and fields of another shape. With the default damages, not only objects are
    messages."""
    prompt: list[Any] = [
        {**message, "content": list(message["content"]) if isinstance(message["content"], list) else message["content"]}
        for message in draw(prompts(says))
    ]
    for damage in draw(st.lists(st.sampled_from(damages), min_size=1, max_size=4)):
        if prompt:
            damage(draw, prompt)
    return prompt


SHAPELY = (_drop_message, _repeat_message, _swap_messages, _drop_part)
"""Damages after which every message and part still has a valid shape."""
