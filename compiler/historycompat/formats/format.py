"""Native history ⇄ canonical prompt: what a message format is, and what its read gives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from historycompat.edits import Lineage
from historycompat.errors import HistoryError
from historycompat.formats.detection import Survey
from historycompat.formats.readers import Links
from historycompat.view import Shape

OPAQUE = "opaque"
"""Type of the canonical parts, and role of the canonical messages, that stand for what canonical prompts cannot say:
`{"type": "opaque", "format": name of the format, "at": message key, "value": the native object}`."""

# What a format may say exactly: such a canonical prompt, written from scratch and read again, is equal to itself.
# Text, reasoning-free turns, calls with their results and plain text outputs are said by every format.
SAYS: dict[str, str] = {
    "system-parts": "a system message that is a list of texts",
    "user-files": "images of a user",
    "documents": "documents (PDF) of a user",
    "assistant-files": "files of an assistant",
    "reasoning": "one reasoning part, at the start of an assistant message",
    "any-order": "assistant parts in any order, with several reasoning parts",
    "any-input": "tool inputs that are no objects",
    "results-together": "several results in one tool message",
    "result-names": "a result's tool name apart from its call's",
    "hosted-calls": "calls that the provider runs, with their results in the assistant message",
    "output-json": "tool outputs of type json",
    "output-error-text": "tool outputs of type error-text",
    "output-error-json": "tool outputs of type error-json",
    "output-content": "tool outputs that are a list of texts and images",
    "any-options": "options of any provider, on messages and parts",
    "empty-messages": "messages without parts",
    "many-texts": "several texts in one message",
    "neighbours": "neighbouring assistant messages that stay apart",
    "result-ids": "a result's id apart from its call's",
}


@dataclass(slots=True)
class Reading:
    """A history as read. Nothing in it is ever mutated.

    `messages` are canonical messages. `tools` (canonical, or None) and `params` (the other keys of the body, raw) are
    known for whole request bodies only (`has_request`). `items` are the native messages, `splits` the number of
    canonical messages of those that gave several, by index. `links` gives, by the id of a canonical part, the native
    part and where it stood; ids stay valid because the reading keeps the objects alive.
    """

    messages: list[Any]
    native: Any
    tools: list[Any] | None = None
    params: dict[str, Any] | None = None
    has_request: bool = False
    items: list[Any] = field(default_factory=list, repr=False)
    splits: dict[int, int] = field(default_factory=dict, repr=False)
    links: Links = field(default_factory=Links, repr=False)

    def homes(self) -> dict[int, Home]:
        """By the id of each canonical message: its native items, and the canonical messages that these were read as."""
        homes: dict[int, Home] = {}
        rest = iter(self.messages)
        for index, item in enumerate(self.items):
            made = tuple(islice(rest, self.splits.get(index, 1)))
            home = ((item,), made)
            for message in made:
                homes[id(message)] = home
        return homes


Home = tuple[tuple[Any, ...], tuple[dict[str, Any], ...]]
"""The native items of one stretch of a history, and the canonical messages they were read as."""


@dataclass(frozen=True)
class Format:
    """One message format: a lens between its native shape and the canonical prompt.

    `read(native)` never fails on a broken history; HistoryError only where there are no messages at all.
    `write(reading, messages, tools, params, lineage)` puts edits back into the native history: what was not edited is
    the same object, `reading.native` itself where nothing was. `detect(survey)` says how sure it is, 0 to 1.
    `carries(message, position)` is the reason why a message (its header for None, else that part) cannot be said, or
    None. `shape` maps the native body to messages, parts, calls and results; `wrap` and `unwrap` turn a native history
    into that body and back. `says` are the keys of `SAYS` that hold.
    """

    name: str
    title: str
    read: Callable[[Any], Reading]
    write: Callable[[Reading, list[Any], list[Any] | None, dict[str, Any] | None, Lineage], Any]
    detect: Callable[[Survey], float]
    carries: Callable[[dict[str, Any], int | None], str | None]
    shape: Shape
    wrap: Callable[[Any], dict[str, Any]]
    unwrap: Callable[[dict[str, Any], Any], Any]
    says: frozenset[str]

    @property
    def spine(self) -> tuple[str | int, ...]:
        """The path of the message list in a body."""
        return self.shape.spine


def messages_of(native: Any, *keys: str) -> list[Any]:
    """The message list of a history: the list itself, or the body's first list under `keys`.

    Raises HistoryError, with what was seen and what was expected.
    """
    if isinstance(native, list):
        return native
    expected = " or ".join(f'"{key}"' for key in keys)
    if not isinstance(native, dict):
        raise HistoryError(
            f"a history is a list of messages or a request body with {expected}; this is a {type(native).__name__}"
        )
    for key in keys:
        if isinstance(native.get(key), list):
            found: list[Any] = native[key]
            return found
    if "role" in native:
        raise HistoryError("this is a single message: a history is a list of messages, so put it into a list")
    seen = ", ".join(f'"{key}"' for key in list(native)[:8]) or "nothing"
    raise HistoryError(f"the body holds no list of messages under {expected}; it holds {seen}")
