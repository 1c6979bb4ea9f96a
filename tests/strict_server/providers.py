"""providers.toml → the providers, and a name or a URL → the route to one of them."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote


class Route(NamedTuple):
    """A provider and the wire format that is spoken to it; written `openai/responses`, or `mistral` for its first wire."""

    provider: str
    wire: str

    def __str__(self) -> str:
        return f"{self.provider}/{self.wire}"


@dataclass(frozen=True, slots=True)
class Provider:
    name: str
    wires: tuple[str, ...]
    error: Mapping[str, Any]
    type: str
    code: str | int | None = None
    param: str | None = None
    base: str | None = None
    tools: bool = True


def _load() -> dict[str, Provider]:
    rows = tomllib.loads(Path(__file__).with_name("providers.toml").read_text(encoding="utf-8"))
    full = {name: {**rows[row["like"]]} if "like" in row else row for name, row in rows.items()}
    return {name: Provider(**{**row, "name": name, "wires": tuple(row["wires"])}) for name, row in full.items()}


PROVIDERS = _load()

FORMATS = {
    "openai-chat": Route("openai", "chat"),
    "openai-responses": Route("openai", "responses"),
    "gemini": Route("google", "gemini"),
}
"""Names of message formats that stand for the provider who made them; the others are named after theirs."""


def route(name: str | Route) -> Route:
    """The route of `provider`, `provider/wire` or a message format; KeyError for a name that is none of them."""
    if isinstance(name, Route):
        return name
    if name in FORMATS:
        return FORMATS[name]
    provider, _, wire = name.partition("/")
    wires = PROVIDERS[provider].wires
    if wire and wire not in wires:
        raise KeyError(name)
    return Route(provider, wire or wires[0])


class Target(NamedTuple):
    """What a URL asks for; `model` where the path names it."""

    route: Route
    model: str | None
    stream: bool


_PATHS = (
    (re.compile(r"/chat/completions$"), "chat"),
    (re.compile(r"/responses$"), "responses"),
    (re.compile(r"/messages$"), "anthropic"),
    (re.compile(r"/models/(?P<model>[^/]+):(?P<verb>rawPredict|streamRawPredict)$"), "anthropic"),
    (re.compile(r"/model/(?P<model>[^/]+)/(?P<verb>invoke|invoke-with-response-stream)$"), "anthropic"),
    (re.compile(r"/models/(?P<model>[^/]+):(?P<verb>generateContent|streamGenerateContent)$"), "gemini"),
    (re.compile(r"/model/(?P<model>[^/]+)/(?P<verb>converse|converse-stream)$"), "bedrock"),
    (re.compile(r"/api/chat$"), "ollama"),
    (re.compile(r"/v1/chat$"), "cohere-v1"),
)


def target(path: str) -> Target | None:
    """The target of `/{provider}/...`, whatever version segments the client puts between; None for an unknown path."""
    provider, _, rest = path.partition("?")[0].lstrip("/").partition("/")
    for pattern, wire in _PATHS:
        match = pattern.search(f"/{rest}")
        if match and provider in PROVIDERS and wire in PROVIDERS[provider].wires:
            named = match.groupdict()
            stream = "stream" in named.get("verb", "").lower()
            return Target(Route(provider, wire), unquote(named["model"]) if "model" in named else None, stream)
    return None


def base_path(where: Route) -> str:
    """What the official client of this route expects behind the host in its base URL."""
    base = PROVIDERS[where.provider].base
    if base is None:
        base = "/v1" if where.wire in ("chat", "responses") else ""
    return f"/{where.provider}{base}"
