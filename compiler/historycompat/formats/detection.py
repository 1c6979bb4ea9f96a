"""Native history → which formats it may be in, from one look at its roles, keys and part types."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

_LISTS = ("messages", "prompt", "contents", "input", "events")
_LOOK = 200  # messages looked at from either end: enough to tell, and the same cost for any length


@dataclass(slots=True)
class Survey:
    """What occurs in a history. `types` counts the `type` of parts (`{key}` of their first key where they have none,
    None for parts that are no objects); `contents` counts, by `(role, kind of content)`, `str`, `list` and so on."""

    history: Any
    messages: list[Any]
    roles: Counter[Any] = field(default_factory=Counter)
    keys: Counter[Any] = field(default_factory=Counter)
    types: Counter[Any] = field(default_factory=Counter)
    contents: Counter[tuple[Any, str]] = field(default_factory=Counter)
    traits: frozenset[str] | None = None  # what a family of formats found out, for the next of them

    @classmethod
    def of(cls, history: Any) -> Survey:
        survey = cls(history, _messages(history))
        for message in survey.sample():
            survey._look(message)
        return survey

    def sample(self) -> Iterator[dict[str, Any]]:
        whole = len(self.messages) <= 2 * _LOOK
        looked = self.messages if whole else self.messages[:_LOOK] + self.messages[-_LOOK:]
        return (message for message in looked if isinstance(message, dict))

    def _look(self, message: dict[str, Any]) -> None:
        role = message.get("role", message.get("type"))
        role = role if isinstance(role, str) else None
        self.roles[role] += 1
        self.keys.update(message.keys())
        content = message.get("content", message.get("parts"))
        self.contents[role, type(content).__name__] += 1
        for part in content if isinstance(content, list) else ():
            self.types[_mark(part)] += 1

    def describe(self) -> str:
        """What was seen, in a line, for people."""
        if not self.roles:
            return "no message objects"
        seen = {"roles": self.roles, "message keys": self.keys, "part types": self.types}
        lists = (f"{what} {', '.join(map(str, list(found)[:8]))}" for what, found in seen.items() if found)
        return "; ".join(lists)


def words(text: str) -> frozenset[str]:
    """The words of a text: the short way to write marks down."""
    return frozenset(text.split())


@dataclass(frozen=True)
class Marks:
    """The signs of a format.

    `roles` and `types` are all it knows (`*` in front of a type is any beginning); `strings` are the roles whose
    content may be a string, `lists` those whose content may be a list. `own_roles`, `own_keys`, `own_types` and
    `own_body` (keys of a request body) speak for it wherever they occur; `foreign_keys` and `foreign_body` against it.
    """

    roles: frozenset[str]
    types: frozenset[str]
    strings: frozenset[str] = frozenset()
    lists: frozenset[str] = frozenset()
    own_roles: frozenset[str] = frozenset()
    own_keys: frozenset[str] = frozenset()
    own_types: frozenset[str] = frozenset()
    own_body: frozenset[str] = frozenset()
    foreign_keys: frozenset[str] = frozenset()
    foreign_body: frozenset[str] = frozenset()

    def score(self, survey: Survey) -> float:
        """How sure these signs are, 0 to 1: half for how much of the history fits, half for what only they explain."""
        if not survey.roles:
            return 0.0
        fits = self._share(survey.roles, self.roles) * self._contents_share(survey)
        if survey.types:
            fits *= self._share(survey.types, self.types)
        own = self._count(survey.keys, self.own_keys) + self._count(survey.types, self.own_types)
        own += self._count(survey.roles, self.own_roles)
        strange = sum(survey.types.values()) - self._count(survey.types, self.types)
        if isinstance(survey.history, dict):
            own += len(self.own_body & survey.history.keys())
            strange += len(self.foreign_body & survey.history.keys())
        strange += self._count(survey.keys, self.foreign_keys)
        return 0.5 * fits + (0.5 * own / (own + strange) if own else -0.2 * (strange > 0))

    def _contents_share(self, survey: Survey) -> float:
        total = sum(survey.contents.values())
        good = 0
        for (role, kind), count in survey.contents.items():
            allowed = self.strings if kind == "str" else self.lists if kind == "list" else None
            good += count if allowed is None or role in allowed or role not in self.roles else 0
        return good / total

    def _share(self, seen: Counter[Any], known: frozenset[str]) -> float:
        return self._count(seen, known) / sum(seen.values())

    @staticmethod
    def _count(seen: Counter[Any], known: frozenset[str]) -> int:
        endings = tuple(word[1:] for word in known if word.startswith("*"))
        return sum(
            count
            for mark, count in seen.items()
            if mark in known or (endings and isinstance(mark, str) and mark.endswith(endings))
        )


def holds_messages(body: dict[str, Any]) -> bool:
    """Whether a mapping may be a request body: it has messages, whatever they are, under a key of one."""
    return isinstance(body.get("input"), str) or any(isinstance(body.get(key), list) for key in _LISTS)


def _messages(history: Any) -> list[Any]:
    if isinstance(history, dict):
        if isinstance(history.get("input"), str):  # OpenAI Responses: the text of a user
            return [{"role": "user", "content": history["input"]}]
        history = next((history[key] for key in _LISTS if isinstance(history.get(key), list)), [])
    return history if isinstance(history, list) else []


def _mark(part: Any) -> str | None:
    if not isinstance(part, dict):
        return None
    kind = part.get("type")
    if isinstance(kind, str):
        return f"{kind} of AI SDK" if _is_sdk_media(kind, part) else kind
    return next((f"{{{key}}}" for key in part if isinstance(key, str)), None)


def _is_sdk_media(kind: str, part: dict[str, Any]) -> bool:
    """Whether media is said as the AI SDK does; other formats have parts of these types that look otherwise."""
    return (kind == "image" and "image" in part) or (
        kind == "file" and "data" in part and ("mediaType" in part or "mimeType" in part)
    )
