"""AI SDK and Mastra histories → what tells their generations apart.

Many of these formats write plain turns alike; each has traits that only it has, and traits that it never has.

Facts: the order in which Mastra's own converter asks, and the signs it asks for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from historycompat.edits import value_at
from historycompat.formats.detection import Survey, words

Message = dict[str, Any]

_ROLES = ("system", "user", "assistant", "tool", "signal", "data")
_OLD_TYPES = ("redacted-reasoning",)
_NEW_TYPES = ("reasoning-file", "custom")
_NAMED_MEDIA = ("file-data", "file-url", "file-id", "image-data", "image-url", "image-file-id")
_REFERENCES = ("file-reference", "image-file-reference")
_FOREIGN_KEYS = ("tool_calls", "tool_call_id", "reasoning_content", "function_call", "refusal")
_KNOWN = words(
    "text file image reasoning reasoning-file redacted-reasoning custom source tool-call tool-result "
    "tool-approval-request tool-approval-response"
)


def traits_of(survey: Survey) -> frozenset[str]:
    """The traits that occur in a history."""
    if survey.traits is None:
        survey.traits = frozenset(trait for message in survey.sample() for trait in _of_message(message))
    return survey.traits


def _of_message(message: Message) -> Iterator[str]:
    content, parts = message.get("content"), message.get("parts")
    yield "known-role" if message.get("role") in _ROLES else "odd-role"
    if any(key in message for key in _FOREIGN_KEYS):
        yield "foreign"
    if isinstance(content, dict) and (content.get("format") == 2 or isinstance(content.get("parts"), list)):
        yield "row"
    elif isinstance(parts, list):
        yield "parts"
        yield from _of_ui(message, parts)
    elif "toolInvocations" in message or "experimental_attachments" in message:
        yield "ui-old"
    elif "threadId" in message or "resourceId" in message or ("createdAt" in message and "type" in message):
        yield "thread"
    if isinstance(content, str) and message.get("role") != "system":
        yield "string"
    yield from (key for key in ("providerOptions", "providerMetadata") if key in message)
    for part in content if isinstance(content, list) else ():
        yield from _of_part(part)


def _of_part(part: Any) -> Iterator[str]:
    if not isinstance(part, dict):
        return
    kind = part.get("type")
    yield "known-type" if isinstance(kind, str) and kind in _KNOWN else "odd-type"
    yield from (key for key in ("providerOptions", "providerMetadata") if key in part)
    if "experimental_providerMetadata" in part or "experimental_content" in part:
        yield "core"
    if kind == "image" and "image" in part:
        yield "image"
    if kind in _OLD_TYPES or "args" in part or "mimeType" in part or (kind == "tool-result" and "result" in part):
        yield "old"
    if kind == "reasoning" and "signature" in part:
        yield "old"
    if "mediaType" in part or (kind in ("tool-call", "tool-result") and ("input" in part or "output" in part)):
        yield "new"
    if kind in _NEW_TYPES or isinstance(value_at(part, ("data", "type")), str):
        yield "v4"
    if kind == "tool-approval-request":
        yield "model"
    if kind == "tool-approval-response":
        yield "approval"
    yield from _of_output(part.get("output"))


def _of_output(output: Any) -> Iterator[str]:
    if value_at(output, ("type",)) == "execution-denied":
        yield "approval"
    items = value_at(output, ("value",)) if value_at(output, ("type",)) == "content" else None
    for item in items if isinstance(items, list) else ():
        kind = value_at(item, ("type",))
        if kind in _NAMED_MEDIA:
            yield "v3"
        elif kind == "file":
            yield "v4"
        elif kind in _REFERENCES:
            yield "model"


def _of_ui(message: Message, parts: list[Any]) -> Iterator[str]:
    if any(key in message for key in ("toolInvocations", "experimental_attachments", "annotations")):
        yield "ui-old"
    yield "ui-old" if isinstance(message.get("content"), str) else "ui-new"
    if not parts:
        yield "ui-part"
    for part in parts:
        kind = value_at(part, ("type",))
        if not isinstance(kind, str):
            yield "odd-part"
        elif "toolInvocation" in part or "reasoning" in part or "mimeType" in part:
            yield "ui-old"
        elif "toolCallId" in part or "mediaType" in part or kind in ("source-url", "dynamic-tool"):
            yield "ui-new"
        if isinstance(kind, str):
            yield "ui-part"


def scorer(
    needs: Iterable[str] = (),
    own: Iterable[str] = (),
    against: Iterable[str] = (),
    *,
    base: float = 0.4,
) -> Callable[[Survey], float]:
    """How sure a format is: not at all without one of `needs` or with one of `against`, `base` otherwise, entirely with
    one of its `own`; `a+b` is a trait that two make together."""
    needs, against = frozenset(needs), frozenset(against)
    together = [frozenset(each.split("+")) for each in own]

    def score(survey: Survey) -> float:
        if not survey.roles:
            return 0.0
        traits = traits_of(survey)
        if (needs and not traits & needs) or traits & against or "known-role" not in traits:
            return 0.0
        sure = 1.0 if any(each <= traits for each in together) else base
        return sure * (0.8 if "odd-role" in traits else 1.0) * (0.8 if "odd-type" in traits else 1.0)

    return score
