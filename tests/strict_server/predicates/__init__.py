"""Predicates by the name that refusal entries use."""

from __future__ import annotations

from strict_server.predicates import media, order, pairing, reasoning, values
from strict_server.predicates.finding import Finding, Predicate, Words

PREDICATES: dict[str, Predicate] = {
    **values.PREDICATES,
    **pairing.PREDICATES,
    **order.PREDICATES,
    **reasoning.PREDICATES,
    **media.PREDICATES,
}

__all__ = ["PREDICATES", "Finding", "Predicate", "Words"]
