"""Where an HTTP request goes: the format of its body, and the model as rules know it."""

from __future__ import annotations

from typing import Any

import pytest

from historycompat import formats
from historycompat.integrations.wires import HOSTS, PATHS, Address, addressed
from historycompat.models.patterns import known_providers

MESSAGES = {"messages": [{"role": "user", "content": "hi"}]}

ADDRESSES: dict[str, tuple[dict[str, Any], Address | None]] = {
    "api.openai.com/v1/chat/completions": ({**MESSAGES, "model": "gpt-5"}, Address("openai/gpt-5", "openai-chat")),
    "api.openai.com/v1/responses": ({"input": [], "model": "gpt-5"}, Address("openai/gpt-5", "openai-responses")),
    "api.openai.com/v1/embeddings": ({"input": ["a text"], "model": "text-embedding-3-small"}, None),
    "team.openai.azure.com/openai/deployments/x/chat/completions": (
        {**MESSAGES, "model": "gpt-5"},
        Address("azure/gpt-5", "openai-chat"),
    ),
    "api.anthropic.com/v1/messages": (
        {**MESSAGES, "model": "claude-sonnet-4-5"},
        Address("anthropic/claude-sonnet-4-5", "anthropic"),
    ),
    "api.anthropic.com/v1/messages/count_tokens": (
        {**MESSAGES, "model": "claude-sonnet-4-5"},
        Address("anthropic/claude-sonnet-4-5", "anthropic"),
    ),
    "api.anthropic.com/v1/messages/batches": ({"requests": []}, None),
    "us-east5-aiplatform.googleapis.com/v1/projects/p/models/claude-sonnet-4-5%4020250929:streamRawPredict": (
        MESSAGES,
        Address("vertex/claude-sonnet-4-5@20250929", "anthropic"),
    ),
    "aiplatform.googleapis.com/v1/publishers/anthropic/models/claude-sonnet-4-5:rawPredict": (
        MESSAGES,
        Address("vertex/claude-sonnet-4-5", "anthropic"),
    ),
    "generativelanguage.googleapis.com/v1beta/models/gemini-3-pro:streamGenerateContent": (
        {"contents": []},
        Address("google/gemini-3-pro", "gemini"),
    ),
    "openrouter.ai/api/v1/chat/completions": (
        {**MESSAGES, "model": "anthropic/claude-sonnet-4.5"},
        Address("openrouter/anthropic/claude-sonnet-4.5", "openai-chat"),
    ),
    "api.deepseek.com/anthropic/v1/messages": (
        {**MESSAGES, "model": "deepseek-chat"},
        Address("deepseek/deepseek-chat", "anthropic"),
    ),
    "127.0.0.1/v1/chat/completions": ({**MESSAGES, "model": "team-alias"}, Address("team-alias", "openai-chat")),
    "api.mistral.ai/v1/chat/completions": (
        {**MESSAGES, "model": "mistral-large-latest"},
        Address("mistral/mistral-large-latest", "mistral-chat"),
    ),
    "api.cohere.com/v2/chat": ({**MESSAGES, "model": "command-a"}, Address("cohere/command-a", "cohere-chat")),
    "bedrock-runtime.us-east-1.amazonaws.com/model/us.anthropic.claude-sonnet-4-5-v1%3A0/converse": (
        MESSAGES,
        Address("bedrock/us.anthropic.claude-sonnet-4-5-v1:0", "bedrock"),
    ),
    "127.0.0.1/api/chat": ({**MESSAGES, "model": "qwen3"}, Address("qwen3", "ollama-chat")),
    "127.0.0.1/own/way": ({**MESSAGES, "model": "qwen3"}, Address("qwen3", None)),
    "gateway.example/v1/chat/completions": ({**MESSAGES, "model": 7}, Address("", "openai-chat")),
    "notopenai.com/v1/chat/completions": ({**MESSAGES, "model": "m"}, Address("m", "openai-chat")),
    "gateway.example/v1/anything": ({"model": "m"}, None),
}


@pytest.mark.parametrize("url", ADDRESSES)
def test_a_request_says_whom_it_asks(url: str) -> None:
    host, _, path = url.partition("/")
    body, address = ADDRESSES[url]
    assert addressed(host, f"/{path}", body) == address


@pytest.mark.parametrize("body", [None, [], "text", {"messages": "text"}])
def test_a_body_without_a_history_is_for_nobody(body: Any) -> None:
    assert addressed("gateway.example", "/own/way", body) is None


def test_the_tables_name_what_is_known() -> None:
    assert set(HOSTS.values()) <= known_providers()
    assert {name for _, name, _ in PATHS} <= formats.FORMATS.keys()
