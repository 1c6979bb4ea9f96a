"""Blocks that each mark what is before them for a cache ⇄ a mark on the block before.

A marked block is a virtual one: the block with the value of its mark under `CACHE`, and with the native blocks under
`ITEM` (new ones have none). So a mark behind the last of some results is no message of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from historycompat.formats.folding import ITEM
from historycompat.formats.writing import old_if_same, shallow_same

POINT = "cachePoint"
CACHE = "$cachePoint"


def unfold(messages: list[Any], may_have: Callable[[dict[str, Any]], Any]) -> list[Any]:
    """Messages with marks on blocks, where a block `may_have` one; a mark behind another stays."""
    return [_unfolded(message, may_have) if _has_points(message) else message for message in messages]


def _has_points(message: Any) -> bool:
    content = message.get("content") if isinstance(message, dict) else None
    for block in content if isinstance(content, list) else ():  # noqa: SIM110 - `any` takes twice as long
        if isinstance(block, dict) and POINT in block:
            return True
    return False


def _is_point(block: Any) -> bool:
    return isinstance(block, dict) and block.keys() == {POINT} and block[POINT] is not None


def _unfolded(message: dict[str, Any], may_have: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
    blocks: list[Any] = []
    for block in message["content"]:
        last = blocks[-1] if blocks else None
        if _is_point(block) and isinstance(last, dict) and CACHE not in last and may_have(last) is not None:
            blocks[-1] = {**last, CACHE: block[POINT], ITEM: (last, block)}
        else:
            blocks.append(block)
    return {**message, "content": blocks, ITEM: message}


def fold(messages: list[Any]) -> list[Any]:
    """The inverse of `unfold`: native messages and blocks as they were, but for what was edited."""
    return [_folded(message) if isinstance(message, dict) else message for message in messages]


def _folded(message: dict[str, Any]) -> dict[str, Any]:
    content, native = message.get("content"), message.get(ITEM)
    if isinstance(content, list):
        blocks = [native_block for block in content for native_block in _blocks(block)]
        content = old_if_same(blocks, native["content"] if native else content)
    folded = {key: value for key, value in message.items() if key != ITEM} | ({"content": content} if content else {})
    same = native or message
    return same if shallow_same(folded, same) else folded


def _blocks(block: Any) -> list[Any]:
    if not isinstance(block, dict) or (CACHE not in block and ITEM not in block):
        return [block]
    said = {key: value for key, value in block.items() if key not in (CACHE, ITEM)}
    old, point = block.get(ITEM, ({}, {}))
    said = old if shallow_same(said, old) else said
    if CACHE not in block:
        return [said]
    return [said, point if point.get(POINT) is block[CACHE] else {POINT: block[CACHE]}]
