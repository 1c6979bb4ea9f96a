"""A provider and its reasoning → an opaque token that only this server can have minted for it, and back."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
from typing import Any, NamedTuple

_SEAL = "strict1"
_ITEM_ID = re.compile(r"([a-z]+)_55([0-9a-f]{24})([0-9a-f]{2})")


class Token(NamedTuple):
    """What a signature vouches for: who minted it, the exact text, the conversation before it, the block before it."""

    provider: str
    text: str
    prefix: str
    previous: str


def sign(provider: str, text: str, *, prefix: str = "", previous: str = "") -> str:
    """The signature of a thinking block (or redacted data, thought signature, encrypted content) with this text.

    `prefix` is `prefix_digest` of the conversation it answers and `previous` the signature of the thinking block before
    it in the same message; "" leaves either unbound."""
    fields = (_SEAL, provider, digest(text), prefix, digest(previous) if previous else "")
    return base64.b64encode("|".join(fields).encode()).decode()


def minter(provider: str) -> str:
    """The name under which a provider signs: Anthropic's own endpoints sign alike, whatever their age."""
    return "anthropic" if provider.startswith("anthropic") else provider


def read(signature: Any) -> Token | None:
    """The token of a signature that this server minted for any provider; None for every other value."""
    if not isinstance(signature, str):
        return None
    try:
        seal, *fields = base64.b64decode(signature, validate=True).decode().split("|")
    except (binascii.Error, UnicodeDecodeError):
        return None
    return Token(*fields) if seal == _SEAL and len(fields) == 4 else None


def digest(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True, ensure_ascii=False, default=repr)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def prefix_digest(body: dict[str, Any], messages_before: int) -> str:
    """What a thinking block of the Anthropic message at this index is bound to: system, tools and every earlier message.

    Cache marks and thinking blocks do not count, and a plain string is the same as one text block."""
    history = body.get("messages")
    earlier = history[:messages_before] if isinstance(history, list) else []
    return digest([_canonical(body.get("system")), _canonical(body.get("tools")), [_message(item) for item in earlier]])


def _message(message: Any) -> Any:
    if not isinstance(message, dict):
        return message
    return [message.get("role"), _canonical(message.get("content"))]


def _canonical(value: Any) -> Any:
    if isinstance(value, str):
        return [{"type": "text", "text": value}]
    if not isinstance(value, list):
        return value or []
    return [_unmarked(block) for block in value if not _is_thinking(block)]


def _unmarked(block: Any) -> Any:
    if not isinstance(block, dict):
        return block
    return {key: value for key, value in block.items() if key != "cache_control"}


def _is_thinking(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") in ("thinking", "redacted_thinking")


def item_id(prefix: str, seed: str, index: int = 0) -> str:
    """The id of an OpenAI Responses item: all items of one response that reasoned carry the same seed."""
    return f"{prefix}_55{hashlib.sha256(seed.encode()).hexdigest()[:24]}{index:02x}"


def required_reasoning(identifier: Any) -> str | None:
    """The id of the reasoning item that an item minted by this server came with."""
    match = _ITEM_ID.fullmatch(identifier) if isinstance(identifier, str) else None
    return None if match is None or match[1] == "rs" else f"rs_55{match[2]}00"
