"""The providers' refusals, as one strict local server and as functions on a request."""

from strict_server.providers import PROVIDERS, Route, route
from strict_server.server import Exchange, StrictServer
from strict_server.signing import item_id, prefix_digest, sign
from strict_server.table import Refusal, check, entries, refusals

__all__ = [
    "PROVIDERS", "Exchange", "Refusal", "Route", "StrictServer", "check", "entries", "item_id", "prefix_digest",
    "refusals", "route", "sign",
]  # fmt: skip
