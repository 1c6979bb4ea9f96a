"""The address and body of an HTTP request → the message format it is in, and whose model it asks."""

from __future__ import annotations

import re
from typing import Any, NamedTuple
from urllib.parse import unquote

# What a path ends in, the format of its bodies, and the provider where that holds for one only. On other paths a list
# of `messages` tells its format itself.
PATHS = (
    (re.compile(r"/chat/completions$"), "mistral-chat", "mistral"),
    (re.compile(r"/chat/completions$"), "openai-chat", None),
    (re.compile(r"/responses(?:/compact|/input_tokens)?$"), "openai-responses", None),
    (re.compile(r"/messages(?:/count_tokens)?$"), "anthropic", None),
    (re.compile(r"/models/(?P<model>[^/]+):(?:rawPredict|streamRawPredict)$"), "anthropic", None),
    (re.compile(r"/models/(?P<model>[^/]+):(?:generateContent|streamGenerateContent|countTokens)$"), "gemini", None),
    (re.compile(r"/model/(?P<model>[^/]+)/(?:invoke|invoke-with-response-stream)$"), "anthropic", None),
    (re.compile(r"/model/(?P<model>[^/]+)/(?:converse|converse-stream)$"), "bedrock", None),
    (re.compile(r"/v2/chat$"), "cohere-chat", None),
    (re.compile(r"/api/chat$"), "ollama-chat", None),
)

# What a host's name ends in, and the provider there, in front of whose models a path of makers may stand.
HOSTS = {
    "amazonaws.com": "bedrock",
    "anthropic.com": "anthropic",
    "azure.com": "azure",
    "cerebras.ai": "cerebras",
    "cohere.com": "cohere",
    "deepinfra.com": "deepinfra",
    "deepseek.com": "deepseek",
    "fireworks.ai": "fireworks",
    "generativelanguage.googleapis.com": "google",
    "googleapis.com": "vertex",
    "groq.com": "groq",
    "mistral.ai": "mistral",
    "moonshot.ai": "moonshot",
    "moonshot.cn": "moonshot",
    "openai.com": "openai",
    "openrouter.ai": "openrouter",
    "perplexity.ai": "perplexity",
    "together.ai": "together",
    "together.xyz": "together",
    "x.ai": "xai",
    "z.ai": "zai",
}


class Address(NamedTuple):
    """A model as rules know it (`azure/gpt-5`), and the format of the body; None is to be detected."""

    model: str
    format: str | None


def addressed(host: str, path: str, body: Any) -> Address | None:
    """Whom a request with a history is for; None where it holds none."""
    if not isinstance(body, dict):
        return None
    provider = _provider(host)
    for pattern, wire, only in PATHS:
        match = pattern.search(path)
        if match and only in (None, provider):
            return Address(_full(provider, match.groupdict().get("model") or body.get("model")), wire)
    if isinstance(body.get("messages"), list):
        return Address(_full(provider, body.get("model")), None)
    return None


def _provider(host: str) -> str | None:
    labels = host.lower().split(".")
    endings = (".".join(labels[start:]) for start in range(len(labels)))
    return next((HOSTS[ending] for ending in endings if ending in HOSTS), None)


def _full(provider: str | None, written: object) -> str:
    model = unquote(written) if isinstance(written, str) else ""
    return f"{provider}/{model.removeprefix(f'{provider}/')}" if provider else model
