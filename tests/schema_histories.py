"""A JSON Schema of message lists and a source of randomness → a history that fits it, and damage to such histories."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

Schema = dict[str, Any]

_WORDS = ("a", "b", "", " ", "héllo", "two\nlines", "<think>hmm</think>x")
_IDS = ("c1", "c2", "c3", "call.4")
_POOLS: tuple[tuple[tuple[str, ...], tuple[Any, ...]], ...] = (
    (("mime", "mediatype", "media_type"), ("image/png", "application/pdf", "audio/wav")),
    (("name",), ("ls", "cat")),
    (("url", "uri", "image"), ("https://example.org/a.png", "data:image/png;base64,iVBORw0K", "iVBORw0K")),
    (("data", "bytes"), ("iVBORw0K", "https://example.org/a.pdf", "")),
    (("arguments", "args", "input"), ("{}", '{"path": "x"}', "no json", "")),
    (("createdat", "timestamp", "date"), ("2026-01-01T00:00:00Z",)),
    (("id",), _IDS),
)
_TYPES = ("string", "object", "array", "number", "boolean", "null")
_ODD = (None, True, 3, "", "odd", [], {}, ["x", {}], [None], {"type": "no-such-type"}, {"role": "user"})
_DEEP = 7


class Maker:
    """Histories that fit a schema: each property that may be missing is there now and then, each alternative is
    taken; short lists, and ids from a pool so small that calls and results meet."""

    def __init__(self, schema: Schema, random: Random) -> None:
        self.schema, self.random = schema, random

    def history(self) -> list[Any]:
        return [self._made(self.schema["items"], "", 0) for _ in range(self.random.randint(1, 6))]

    def _resolved(self, schema: Any) -> Schema:
        while isinstance(schema, dict) and "$ref" in schema:
            found: Any = self.schema
            for key in schema["$ref"].removeprefix("#/").split("/"):
                found = found[key]
            schema = found
        return schema if isinstance(schema, dict) else {}

    def _made(self, schema: Any, key: str, depth: int) -> Any:
        schema = self._resolved(schema)
        for word in ("anyOf", "oneOf"):
            if word in schema:
                rest = {name: value for name, value in schema.items() if name != word}
                return self._made({**rest, **self._resolved(self.random.choice(schema[word]))}, key, depth + 1)
        if "allOf" in schema:
            return self._made(self._joined(schema), key, depth + 1)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return self.random.choice(schema["enum"])
        kind = schema.get("type") or ("object" if "properties" in schema else self.random.choice(_TYPES[:3]))
        return self._of_type(self.random.choice(kind) if isinstance(kind, list) else kind, schema, key, depth)

    def _joined(self, schema: Schema) -> Schema:
        joined = {name: value for name, value in schema.items() if name != "allOf"}
        for each in map(self._resolved, schema["allOf"]):
            both = {**joined.get("properties", {}), **each.get("properties", {})}
            joined = {**joined, **each, "required": [*joined.get("required", ()), *each.get("required", ())]}
            joined |= {"properties": both} if both else {}
        return joined

    def _of_type(self, kind: str, schema: Schema, key: str, depth: int) -> Any:
        match kind:
            case "object":
                return self._object(schema, depth)
            case "array":
                most = 0 if depth > _DEEP else 3
                items = schema.get("items", {"type": "string"})
                least = min(schema.get("minItems", 0), 1)
                return [self._made(items, key, depth + 1) for _ in range(self.random.randint(least, max(least, most)))]
            case "string":
                return _prefix(schema.get("pattern", "")) + self._text(key)
            case "boolean":
                return self.random.random() < 0.5
            case "null":
                return None
        return self.random.choice((0, 1, 7))

    def _object(self, schema: Schema, depth: int) -> dict[str, Any]:
        likely = 0.0 if depth > _DEEP else 0.35
        needed = schema.get("required", ())
        properties = schema.get("properties", {})
        made = {
            name: self._made(each, name, depth + 1)
            for name, each in properties.items()
            # What tells alternatives apart is there, though it may have a default.
            if name in needed or "const" in each or self.random.random() < likely
        }
        made |= {name: self._text(name) for name in needed if name not in properties}
        if schema.get("maxProperties") == 1 and properties:
            name = self.random.choice(list(properties))
            return {name: self._made(properties[name], name, depth + 1)}
        more = schema.get("additionalProperties", True)
        if not made and more and depth <= _DEEP and self.random.random() < 0.5:
            made["path"] = self._text("") if more is True else self._made(more, "path", depth + 1)
        return made

    def _text(self, key: str) -> str:
        lower = key.lower()
        return str(self.random.choice(next((pool for names, pool in _POOLS if lower.endswith(names)), _WORDS)))


def _prefix(pattern: str) -> str:
    """The letters that a pattern begins with."""
    found = re.match(r"\^([\w:-]+)", pattern)
    return found[1] if found else ""


def damaged(history: list[Any], random: Random) -> None:
    """Break a history in place as stored ones are: lost, doubled and misplaced messages and parts, wrong roles, contents,
    parts and fields of other shapes, keys that nobody knows."""
    for _ in range(random.randint(1, 4)):
        random.choice(_DAMAGES)(history, random)


def _nodes(value: Any) -> Iterator[Any]:
    if isinstance(value, (dict, list)):
        if value:
            yield value
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _nodes(inner)


def _somewhere(history: list[Any], random: Random) -> tuple[Any, Any] | None:
    nodes = list(_nodes(history))
    if not nodes:
        return None
    holder = random.choice(nodes)
    return holder, random.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))


def _lose(history: list[Any], random: Random) -> None:
    if place := _somewhere(history, random):
        del place[0][place[1]]


def _replace(history: list[Any], random: Random) -> None:
    if place := _somewhere(history, random):
        place[0][place[1]] = copy.deepcopy(random.choice(_ODD))


def _extend(history: list[Any], random: Random) -> None:
    objects = [node for node in _nodes(history) if isinstance(node, dict)]
    if objects:
        random.choice(objects)[random.choice(("x_extra", "content", "id", "providerOptions"))] = copy.deepcopy(
            random.choice(_ODD)
        )


def _double(history: list[Any], random: Random) -> None:
    if lists := [node for node in _nodes(history) if isinstance(node, list)]:
        chosen = random.choice(lists)
        chosen.insert(random.randint(0, len(chosen)), copy.deepcopy(random.choice(chosen)))


def _misplace(history: list[Any], random: Random) -> None:
    if history:
        history.append(history.pop(random.randrange(len(history))))


def _misname(history: list[Any], random: Random) -> None:
    if objects := [message for message in history if isinstance(message, dict)]:
        random.choice(objects)["role"] = random.choice(("user", "assistant", "tool", "system", "model", "", None, 3))


_DAMAGES: tuple[Callable[[list[Any], Random], None], ...] = (_lose, _replace, _extend, _double, _misplace, _misname)
