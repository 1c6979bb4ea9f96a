"""The vendors' schemas → `formats/keys.json`, the keys that each format's native objects have, for checks of wire-shape
rules. Run as a program it writes the file anew.

For each format: `objects`, each from its keys to the numbers of the objects under them (null: anything), the numbers of
the `items` of its list, and `also`: keys of dialects and of other spellings, which the format's tables read.
"""

from __future__ import annotations

import importlib
import json
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from support import ROOT, shared

from historycompat import formats
from historycompat.formats.apart import System
from historycompat.formats.kinds import Kinds
from historycompat.formats.lens import Lens

FILE = ROOT / "compiler" / "historycompat" / "formats" / "keys.json"
SCHEMAS = json.loads((ROOT / "tests" / "formats" / "schemas.json").read_text())

# Formats of several generations, whose keys are all known.
_MORE = {
    "model-message": ("ai-sdk.ModelMessage.v5", "ai-sdk.ModelMessage.v7"),
    "ui-message": ("ai-sdk.UIMessage.v5", "ai-sdk.UIMessage.v7"),
    "mastra": ("mastra.MastraMessageV3",),
}
_TWO_SPELLINGS = ("gemini", "google-adk")  # the schema has the API's, the Python SDK another

Object = dict[str, list[int] | None]


class _Collector:
    """The objects of one format's schemas; equal ones are one."""

    def __init__(self, *, snake: bool) -> None:
        self.snake = snake
        self.objects: list[Object] = []
        self._made: dict[str, int] = {}

    def items(self, schema: dict[str, Any]) -> set[int]:
        return self._of(schema.get("items", {}), schema)[0]

    def _of(self, node: Any, root: dict[str, Any], within: frozenset[str] = frozenset()) -> tuple[set[int], bool]:
        """The objects that a value can be or hold, lists left aside, and whether it may be any object."""
        if not isinstance(node, dict) or node.get("$ref") in within:
            return set(), True
        if "$ref" in node:
            within |= {node["$ref"]}
            target: Any = root
            for key in node["$ref"].removeprefix("#/").split("/"):
                target = target[key]
            return self._of(target, root, within)
        found: set[int] = set()
        free = False
        alternatives = [each for word in ("anyOf", "oneOf", "allOf") for each in node.get(word, ())]
        for each in alternatives:
            more, open_ = self._of(each, root, within)
            found |= more
            free |= open_
        if "properties" in node:
            found.add(self._object(node, root))
        elif not alternatives:
            free |= node.get("type", "object") == "object" and "const" not in node and "enum" not in node
        if "items" in node:
            more, open_ = self._of(node["items"], root, within)
            found |= more
            free |= open_
        elif node.get("type") == "array":
            free = True
        return found, free

    def _object(self, node: dict[str, Any], root: dict[str, Any]) -> int:
        name = f"{root.get('title')} {json.dumps(node, sort_keys=True)}"
        if name not in self._made:
            self._made[name] = len(self.objects)
            made: Object = {}
            self.objects.append(made)
            for key, value in node["properties"].items():
                found, free = self._of(value, root)
                for each in dict.fromkeys((key, snake_case(key))) if self.snake else (key,):
                    made[each] = None if free or not found else sorted(found)
        return self._made[name]


def snake_case(key: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", lambda match: "_" + match[1].lower(), key)


def _schemas(name: str) -> Iterator[dict[str, Any]]:
    own = SCHEMAS[name]["schema"]
    for each in (own, *(f"research/schemas/{more}.json" for more in _MORE.get(name, ()))):
        path = ROOT / "tests" / each
        yield json.loads((path if path.exists() else shared(each)).read_text())


def _also(name: str) -> set[str]:
    """The keys that the tables of a format name."""
    kind = formats.find(name)
    module = next(module for module in _modules() if module.FORMAT is kind)
    lens = getattr(module, "LENS", None)
    named = {*_shape_keys(kind)}
    if not isinstance(lens, Lens):
        return named
    roles = [*lens.roles._native.values(), lens.roles.other]
    fields = [each for role in roles for each in role.fields]
    named |= {*lens.roles.known_keys, *(lens.system.keys if isinstance(lens.system, System) else ()), *lens.tools.path}
    tables = [slot.kinds for role in roles for slot in role.slots] + [role.whole for role in roles if role.whole]
    fields += [each for table in tables for known in table.kinds for each in known.fields]
    named |= {key for each in fields for key in _names(each.native)}
    return named | {key for table in tables for key in _fixed(table)}


def _names(native: str | Iterable[str]) -> Iterator[str]:
    for path in [native] if isinstance(native, str) else native:
        yield from path.split(".")


def _fixed(table: Kinds) -> Iterator[str]:
    for kind in table.kinds:
        yield from kind.native


def _shape_keys(kind: formats.Format) -> Iterator[str]:
    shape = kind.shape
    yield from (key for key in (*shape.spine, shape.role, shape.parts) if isinstance(key, str))
    for site in (*shape.calls, *shape.results):
        yield from (*site.place, *site.id, *site.name, *site.state)


def _modules() -> Iterator[Any]:
    folder = Path(formats.__file__).parent
    for path in sorted(folder.glob("*.py")):
        module = importlib.import_module(f"historycompat.formats.{path.stem}")
        if hasattr(module, "FORMAT"):
            yield module


def table() -> dict[str, Any]:
    made = {}
    for name in formats.FORMATS:
        collector = _Collector(snake=name in _TWO_SPELLINGS)
        items = sorted({number for schema in _schemas(name) for number in collector.items(schema)})
        known = {key for each in collector.objects for key in each}
        also = sorted(key for key in _also(name) - known if not key.startswith("$"))
        made[name] = {"objects": collector.objects, "items": items, "also": also}
    return made


def text() -> str:
    lines = (f"{json.dumps(name)}: {json.dumps(each, separators=(',', ':'))}" for name, each in table().items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    sys.stdout.write(f"{FILE}\n")
    FILE.write_text(text())
