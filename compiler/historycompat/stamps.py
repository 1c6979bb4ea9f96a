"""Stored rows → who wrote what: the provider stamps of assistant rows, found again by the signatures in a prompt."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from historycompat.edits import value_at

Stamp = dict[str, Any]


def origins(rows: Iterable[Any]) -> Callable[[dict[str, Any]], Stamp | None]:
    """A function that tells who wrote a canonical part, `{provider, model}`, or None.

    A row tells it of its reasoning parts by `content.metadata.provider` and `modelId`; a part is recognised by its
    Anthropic signature or redacted data, which are unique. Where two rows claim a signature the later one counts.
    """
    known: dict[str, Stamp] = {}
    for row in rows:
        stamp = _stamp(row)
        if stamp:
            for seal in _seals(value_at(row, ("content", "parts"))):
                known[seal] = stamp
    return lambda part: next((known[seal] for seal in _seals([part]) if seal in known), None)


def _stamp(row: Any) -> Stamp | None:
    if value_at(row, ("role",)) != "assistant" or value_at(row, ("content", "format")) != 2:
        return None
    provider = value_at(row, ("content", "metadata", "provider"))
    model = value_at(row, ("content", "metadata", "modelId"))
    return {"provider": provider, "model": model} if isinstance(provider, str) else None


def _seals(parts: Any) -> Iterator[str]:
    for part in parts if isinstance(parts, list) else []:
        if value_at(part, ("type",)) == "reasoning":
            for holder in ("providerOptions", "providerMetadata"):
                for key in ("signature", "redactedData"):
                    seal = value_at(part, (holder, "anthropic", key))
                    if isinstance(seal, str) and seal:
                        yield seal
