"""A selector and a body → the places it names; a place → the spelling each provider uses for it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

Pointer = tuple[str | int, ...]


class _Missing:
    def __repr__(self) -> str:
        return "MISSING"

    def __bool__(self) -> bool:
        return False


MISSING = _Missing()


class Place(NamedTuple):
    """A value of a body, or the fact that its last key is absent (`MISSING`)."""

    pointer: Pointer
    value: Any


Test = Callable[[dict[str, Any]], bool]
_SEGMENT = re.compile(r"([^.\[\]]+)(?:\[([^\]]*)\])?(?:\.|$)")
_CONDITION = re.compile(r"(!?)(\w+)(?:(!?=)(.+))?")


def select(body: Any, selector: str) -> Iterator[Place]:
    """Places named by `messages.*[role=tool].content`: `*` is any item of a list, `[...]` keeps the objects that satisfy
    every condition (`key=a|b`, `key!=a`, `key` there and not empty, `!key` absent, null or empty), joined by `&`."""
    places = [Place((), body)]
    for name, test in _parse(selector):
        places = [found for place in places for found in _step(place, name, test)]
    return iter(places)


def _step(place: Place, name: str, test: Test | None) -> Iterator[Place]:
    pointer, value = place
    if name == "*":
        if isinstance(value, list):
            for index, item in enumerate(value):
                if test is None or (isinstance(item, dict) and test(item)):
                    yield Place((*pointer, index), item)
    elif isinstance(value, dict):
        found = value.get(name, MISSING)
        if test is None or (isinstance(found, dict) and test(found)):
            yield Place((*pointer, name), found)


@cache
def _parse(selector: str) -> tuple[tuple[str, Test | None], ...]:
    return tuple((name, _filter(conditions)) for name, conditions in _SEGMENT.findall(selector))


def _filter(text: str) -> Test | None:
    if not text:
        return None
    tests = [_condition(part) for part in text.split("&")]
    return lambda item: all(test(item) for test in tests)


def _condition(text: str) -> Test:
    match = _CONDITION.fullmatch(text)
    if match is None:
        raise ValueError(f"not a condition: {text!r}")
    absent, key, operator, values = match.groups()
    if operator is None:
        return (lambda item: not item.get(key)) if absent else (lambda item: bool(item.get(key)))
    wanted = frozenset(values.split("|"))
    return lambda item: (hashable(item.get(key)) in wanted) is (operator == "=")


def hashable(value: Any) -> Any:
    """The value itself where it may be a key, else a text that stands for it."""
    return repr(value) if isinstance(value, dict | list) else value


def at(body: Any, pointer: Pointer) -> Any:
    for key in pointer:
        body = body[key]
    return body


def json_pointer(pointer: Pointer) -> str:
    return "".join("/" + str(key).replace("~", "~0").replace("/", "~1") for key in pointer)


def dotted(pointer: Pointer) -> str:
    """`messages.1.content.0`"""
    return ".".join(map(str, pointer))


def bracketed(pointer: Pointer) -> str:
    """`messages[1].content[0]`"""
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in pointer).lstrip(".")


def membered(pointer: Pointer) -> str:
    """`messages.2.member.content.1.member`, as AWS writes it (counted from one)."""
    return ".".join(f"{key + 1}.member" if isinstance(key, int) else key for key in pointer)


def tagged(body: Any, pointer: Pointer) -> str:
    """`messages.1.content.0.tool_use.id`: behind every object of a tagged union, its tag, as pydantic reports a place."""
    spelled: list[str] = []
    for depth, key in enumerate(pointer):
        spelled.append(str(key))
        value = at(body, pointer[: depth + 1]) if depth + 1 < len(pointer) else None
        if isinstance(value, dict) and isinstance(value.get("type"), str):
            spelled.append(value["type"])
    return ".".join(spelled)
