"""Stored rows → who wrote what: the provider stamps of assistant rows, found again by the signatures in a prompt."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from historycompat.edits import value_at

Stamp = dict[str, Any]


def origins(rows: Iterable[Any]) -> Callable[[dict[str, Any]], Stamp | None]:
    """A function that tells who wrote a canonical part, `{provider, model}`, or None.

    A row tells it of its parts by `content.metadata.provider` and `modelId`; reasoning is recognised by its Anthropic
    signature or redacted data, a call that a provider ran by its id. Where two rows claim one, the later one counts.
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
        kind = value_at(part, ("type",))
        told = isinstance(kind, str) and (kind == "reasoning" or bool(part.get("providerExecuted")))
        for path in _SEALS.get(kind, ()) if told else ():
            seal = value_at(part, path)
            if isinstance(seal, str) and seal:
                yield seal


# What tells a part from all others: signatures, and the ids of calls that a provider ran itself.
_SEALS: dict[Any, tuple[tuple[str, ...], ...]] = {
    "reasoning": tuple(
        (holder, "anthropic", key)
        for holder in ("providerOptions", "providerMetadata")
        for key in ("signature", "redactedData")
    ),
    "tool-call": (("toolCallId",),),
    "tool-invocation": (("toolInvocation", "toolCallId"),),
}
