"""An accepted request → what the model answers, before any wire format."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from typing import Any

from strict_server import models, signing
from strict_server.conversation import Request
from strict_server.predicates.values import loads
from strict_server.providers import PROVIDERS

_CALL = re.compile(r"\bcall\s+([A-Za-z0-9_-]+)(?:\s+(\{[^{}]*\}))?")
_THINKS_UNASKED = (
    "gpt-5",
    "o1",
    "o3",
    "o4",
    "codex",
    "deepseek-reasoner",
    "deepseek-v4",
    "kimi-k2-thinking",
    "gpt-oss",
)


@dataclass(frozen=True, slots=True)
class Call:
    id: str
    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Reply:
    """Text, or calls; thinking where the request asks for it, with the signature of the provider."""

    seed: str
    text: str
    calls: tuple[Call, ...]
    thinking: str | None
    signature: str
    input_tokens: int
    output_tokens: int


def plan(request: Request, text: str) -> Reply:
    """The reply to a request; a last user text that says `call <tool>` (with or without a JSON object behind) is obeyed."""
    raw = json.dumps(request.body, sort_keys=True, default=repr)
    seed = hashlib.sha256(f"{request.provider}{raw}".encode()).hexdigest()
    said = _last_text(request)
    declared = _declared(request.body) if PROVIDERS[request.provider].tools else set()
    names = [match for match in _CALL.findall(said) if match[0] in declared]
    calls = tuple(
        Call(_call_id(request, f"{seed}{index}"), name, loads(arguments) or {})
        for index, (name, arguments) in enumerate(names)
    )
    thinking = "The user wants an answer." if _thinks(request) else None
    return Reply(seed, text, calls, thinking, _signature(request, thinking or ""), len(raw) // 4, len(text) // 4 + 1)


def _last_text(request: Request) -> str:
    if isinstance(request.body.get("input"), str):
        return str(request.body["input"])
    if request.wire == "cohere-v1":
        return str(request.body.get("message", ""))
    last = request.turns[-1] if request.turns else None
    if last is None or last.role != "user":
        return ""
    return " ".join(str(_text_of(part.raw, part.value)) for part in last.parts if part.kind in ("text", "other"))


def _text_of(raw: Any, value: Any) -> Any:
    return raw.get("text", value) if isinstance(raw, dict) else value


def _declared(value: Any) -> set[str]:
    """Every name in the tool declarations, whatever their shape."""
    if isinstance(value, dict) and ("tools" in value or "toolConfig" in value):
        return _names([value.get("tools"), value.get("toolConfig")])
    return set()


def _names(value: Any) -> set[str]:
    if isinstance(value, list):
        return set().union(*map(_names, value))
    if not isinstance(value, dict):
        return set()
    own = {value["name"]} if isinstance(value.get("name"), str) else set()
    keys = ("function", "functionDeclarations", "function_declarations", "tools", "toolSpec")
    return own.union(*(_names(value.get(key)) for key in keys))


def _thinks(request: Request) -> bool:
    body = request.body
    extra = body.get("additionalModelRequestFields")
    for holder in (body, extra if isinstance(extra, dict) else {}):
        thinking = holder.get("thinking")
        if isinstance(thinking, dict):
            return thinking.get("type") in ("enabled", "adaptive")
    if request.wire == "gemini":
        config = body.get("generationConfig")
        wanted = config.get("thinkingConfig") if isinstance(config, dict) else None
        return isinstance(wanted, dict) and any(map(wanted.get, ("includeThoughts", "include_thoughts")))
    if request.wire == "responses" or request.provider in ("deepseek", "moonshot", "groq", "cerebras"):
        return models.matches(request.model, _THINKS_UNASKED)
    return False


def _signature(request: Request, thinking: str) -> str:
    provider = signing.minter(request.provider)
    if request.wire != "anthropic":
        return signing.sign(provider, thinking)
    return signing.sign(provider, thinking, prefix=signing.prefix_digest(request.body, len(request.turns)))


_ID_PREFIXES = {"anthropic": "toolu_01", "bedrock": "tooluse_"}


def _call_id(request: Request, seed: str) -> str:
    letters = hashlib.sha256(seed.encode()).hexdigest()
    if request.provider.startswith("mistral"):
        return letters[:9]
    return _ID_PREFIXES.get(request.wire, "call_") + letters[:22]
