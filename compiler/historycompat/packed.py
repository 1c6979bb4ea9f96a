"""Checked rules ⇄ JSON: what is loaded where rules need not be read and checked again."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

from historycompat import ir
from historycompat.source import Place
from historycompat.tree import Expr, ModelPattern

# Nodes are written as ["Name", field, ...], tuples as ["", item, ...], sets as ["set", item, ...] and plain JSON lists
# as ["list", item, ...]; objects and scalars are themselves.
_NODES: dict[str, type[Any]] = {
    each.__name__: each
    for each in (Expr, ModelPattern, Place, ir.MapStep, ir.Pattern, ir.Rule, ir.Statement, ir.Target, ir.Trigger)
}


def pack(value: Any) -> Any:
    """A checked rule, or anything in one, as JSON."""
    if is_dataclass(value):
        return [type(value).__name__, *(pack(getattr(value, field.name)) for field in fields(value))]
    if isinstance(value, tuple):
        return ["", *map(pack, value)]
    if isinstance(value, frozenset):
        return ["set", *map(pack, sorted(value))]
    if isinstance(value, list):
        return ["list", *map(pack, value)]
    return {key: pack(item) for key, item in value.items()} if isinstance(value, dict) else value


def unpack(value: Any) -> Any:
    """The inverse of `pack`."""
    if isinstance(value, dict):
        return {key: unpack(item) for key, item in value.items()}
    if not isinstance(value, list):
        return value
    name, *items = value
    node = _NODES.get(name)
    if node is not None:
        return node(*map(unpack, items))
    return _CONTAINERS[name](map(unpack, items))


_CONTAINERS: dict[str, Any] = {"": tuple, "set": frozenset, "list": list}
