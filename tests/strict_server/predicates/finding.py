"""A place and what is wrong there → the words a message template may use."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from strict_server import paths
from strict_server.conversation import Part, Request, Turn
from strict_server.paths import Pointer


@dataclass(frozen=True, slots=True)
class Finding:
    """One defect: its place in the body and the fields of the message template that only the predicate knows."""

    pointer: Pointer
    fields: Mapping[str, Any] = field(default_factory=dict)


Findings = Iterator[Finding]
Predicate = Callable[..., Findings]
"""Called with the request and the `args` of the entry as keywords."""


def found(place: Turn | Part, **fields: Any) -> Finding:
    return Finding(place.pointer, fields)


class Words(dict[str, Any]):
    """The fields of a message template: spellings of the place, made only when the template asks for them."""

    def __init__(self, request: Request, finding: Finding) -> None:
        super().__init__(finding.fields)
        self._body, self._pointer, self._model = request.body, finding.pointer, request.model

    def __missing__(self, name: str) -> Any:
        value = _SPELLINGS[name](self)
        self[name] = value
        return value

    @property
    def pointer(self) -> Pointer:
        return self._pointer

    @property
    def body(self) -> Any:
        return self._body

    @property
    def model(self) -> str:
        return self._model

    def owner(self) -> Any:
        """The id of the innermost object around the place that has one."""
        around = [paths.at(self._body, self._pointer[:depth]) for depth in range(len(self._pointer))]
        return next((value["id"] for value in reversed(around) if isinstance(value, dict) and "id" in value), None)

    def index(self, depth: int) -> int:
        numbers = [key for key in self._pointer if isinstance(key, int)]
        return numbers[depth] if depth < len(numbers) else 0


_SPELLINGS: dict[str, Callable[[Words], Any]] = {
    "dotted": lambda words: paths.dotted(words.pointer),
    "parent": lambda words: paths.dotted(words.pointer[:-1]),
    "brackets": lambda words: paths.bracketed(words.pointer),
    "member": lambda words: paths.membered(words.pointer),
    "tagged": lambda words: paths.tagged(words.body, words.pointer),
    "i": lambda words: words.index(0),
    "next": lambda words: words.index(0) + 1,
    "j": lambda words: words.index(1),
    "k": lambda words: words.index(2),
    "key": lambda words: words.pointer[-1],
    "owner": lambda words: words.owner(),
    "model": lambda words: words.model,
}
