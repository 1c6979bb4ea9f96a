"""Places named by selectors → those whose value fails one test."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from strict_server import signing
from strict_server.conversation import Request
from strict_server.paths import MISSING, Place, at, hashable, select
from strict_server.predicates.finding import Finding, Findings, Predicate

Selectors = str | list[str]
Fails = Callable[[Any, Any], bool]

JSON_TYPES: dict[str, type | tuple[type, ...]] = {
    "string": str,
    "array": list,
    "object": dict,
    "number": (int, float),
    "null": type(None),
}


def places(request: Request, selectors: Selectors) -> list[Place]:
    chosen = [selectors] if isinstance(selectors, str) else selectors
    return [place for selector in chosen for place in select(request.body, selector)]


def type_name(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    return next((name for name, python in JSON_TYPES.items() if isinstance(value, python)), "undefined")


def with_article(name: str) -> str:
    return name if name == "null" else f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def loads(text: Any) -> Any:
    """The JSON value of a string; `MISSING` where it is none."""
    try:
        return json.loads(text)
    except (TypeError, ValueError):
        return MISSING


def _opaque(value: Any) -> bool:
    return isinstance(value, str) and re.fullmatch(r"[A-Za-z0-9+/_=-]+", value) is not None


def _foreign(value: Any, provider: str) -> bool:
    if value is MISSING:
        return False
    token = signing.read(value)
    return not _opaque(value) or (token is not None and token.provider != provider)


FAILS: dict[str, Fails] = {
    "unlike": lambda value, pattern: isinstance(value, str) and re.fullmatch(pattern, value) is None,
    "like": lambda value, pattern: isinstance(value, str) and re.search(pattern, value) is not None,
    "longer": lambda value, limit: isinstance(value, str) and len(value) > limit,
    "equal": lambda value, wrong: value is not MISSING and value == wrong,
    "among": lambda value, wrong: isinstance(value, str) and value in wrong,
    "not_among": lambda value, right: isinstance(value, str) and value not in right,
    "empty": lambda value, _: value is not MISSING and value in ("", [], {}),
    "void": lambda value, _: value is MISSING or value in (None, "", []),
    "blank": lambda value, _: isinstance(value, str) and value != "" and not value.strip(),
    "wordless": lambda value, _: isinstance(value, str) and not value.strip(),
    "absent": lambda value, _: value is MISSING,
    "null": lambda value, _: value is None or value is MISSING,
    "present": lambda value, _: value is not MISSING and value is not None,
    "not_type": lambda value, name: value is not MISSING and type_name(value) not in name.split("|"),
    "is_type": lambda value, name: value is not MISSING and type_name(value) in name.split("|"),
    "not_json": lambda value, _: isinstance(value, str) and loads(value) is MISSING,
    "not_json_object": lambda value, _: isinstance(value, str) and not isinstance(loads(value), dict),
    "foreign": _foreign,
}
"""Tests by name: whether the value fails, given the entry's `arg`."""


def value_test(fails: Fails) -> Predicate:
    def predicate(request: Request, /, *, at: Selectors, arg: Any = None) -> Findings:
        for pointer, value in places(request, at):
            if fails(value, arg):
                yield Finding(pointer, _describe(request, pointer, value))

    return predicate


def _describe(request: Request, pointer: tuple[str | int, ...], value: Any) -> dict[str, Any]:
    parent = at(request.body, pointer[:-1])
    fields = {"value": value, "json": json.dumps(value, default=repr), "found": with_article(type_name(value))}
    fields["length"] = len(value) if isinstance(value, str | list) else 0
    if isinstance(parent, dict):
        fields |= {name: parent.get(name) for name in ("role", "type", "id", "tool_call_id")}
    return fields


def unknown_keys(
    request: Request, /, *, at: Selectors, known: list[str] | dict[str, list[str]], by: str = "role"
) -> Findings:
    """Keys an object may not have; `known` lists the right ones, or lists them by the object's role or type."""
    for pointer, value in places(request, at):
        if not isinstance(value, dict):
            continue
        right = known.get(str(value.get(by, "")), known.get("*")) if isinstance(known, dict) else known
        for key in value if right is not None else ():
            if right is not None and key not in right:
                yield Finding((*pointer, key), {"role": value.get("role"), "type": value.get("type")})


def prefix_by_type(request: Request, /, *, at: str, prefixes: dict[str, str]) -> Findings:
    """Ids that do not begin with the letters of their item's type; an item without type is a message."""
    for pointer, item in places(request, at):
        prefix = prefixes.get(str(item.get("type", "message"))) if isinstance(item, dict) else None
        identifier = item.get("id") if prefix else None
        if isinstance(identifier, str) and not identifier.startswith(f"{prefix}_"):
            yield Finding((*pointer, "id"), {"value": identifier, "prefix": prefix})


def repeated(request: Request, /, *, at: Selectors) -> Findings:
    """Every value that an earlier place holds already."""
    seen: set[Any] = set()
    for pointer, value in places(request, at):
        if not isinstance(value, str):
            continue
        if value in seen:
            yield Finding(pointer, {"value": value})
        seen.add(value)


def more_than(request: Request, /, *, key: str, limit: int) -> Findings:
    """More objects with this key in the whole request than the limit."""
    count = _count(request.body, key)
    if count > limit:
        yield Finding((), {"count": count, "limit": limit})


def _count(value: Any, key: str) -> int:
    if isinstance(value, list):
        return sum(_count(item, key) for item in value)
    if isinstance(value, dict):
        inner = (item for name, item in value.items() if name not in ("input", "input_schema"))
        return int(value.get(key) is not None) + sum(_count(item, key) for item in inner)
    return 0


def not_declared(request: Request, /, *, at: Selectors, tools: str) -> Findings:
    """Names of tools that the request does not declare."""
    declared = {hashable(value) for _, value in places(request, tools)}
    for pointer, value in places(request, at):
        if value is not MISSING and hashable(value) not in declared:
            yield Finding(pointer, {"value": value})


PREDICATES: dict[str, Predicate] = {name: value_test(fails) for name, fails in FAILS.items()}
PREDICATES |= {
    "unknown_keys": unknown_keys,
    "prefix_by_type": prefix_by_type,
    "repeated": repeated,
    "more_than": more_than,
    "not_declared": not_declared,
}
