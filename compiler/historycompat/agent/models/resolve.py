"""The name of a model, such as `anthropic/claude-sonnet-4-5` → the model."""

from __future__ import annotations

import os
from functools import lru_cache
from typing import Any, NamedTuple

from historycompat.agent.errors import AgentError
from historycompat.agent.models.openai import OpenAIModel
from historycompat.agent.models.port import LanguageModel, ModelRequest, SpecificationVersion
from historycompat.agent.models.pydantic_ai import PydanticAIModel
from historycompat.agent.models.scripted import ScriptedModel
from historycompat.errors import did_you_mean
from historycompat.models.providers import ALIASES


class Chat(NamedTuple):
    """A server of the chat completions API, and the environment variable with its key; local ones need none."""

    base_url: str
    key: str | None = None


class Direct(NamedTuple):
    """A provider that pydantic-ai speaks to by itself: its name there, and the variables one of which has the key."""

    name: str
    keys: tuple[str, ...] = ()


# Base URLs and variables are those of the providers' own documentation. `{NAME}_BASE_URL` overrules a base URL.
PROVIDERS: dict[str, Chat | Direct] = {
    "alibaba": Chat("https://dashscope-intl.aliyuncs.com/compatible-mode/v1", "DASHSCOPE_API_KEY"),
    "cerebras": Chat("https://api.cerebras.ai/v1", "CEREBRAS_API_KEY"),
    "deepinfra": Chat("https://api.deepinfra.com/v1/openai", "DEEPINFRA_API_KEY"),
    "deepseek": Chat("https://api.deepseek.com", "DEEPSEEK_API_KEY"),
    "fireworks": Chat("https://api.fireworks.ai/inference/v1", "FIREWORKS_API_KEY"),
    "github-models": Chat("https://models.github.ai/inference", "GITHUB_TOKEN"),
    "groq": Chat("https://api.groq.com/openai/v1", "GROQ_API_KEY"),
    "huggingface": Chat("https://router.huggingface.co/v1", "HF_TOKEN"),
    "moonshot": Chat("https://api.moonshot.ai/v1", "MOONSHOT_API_KEY"),
    "nvidia": Chat("https://integrate.api.nvidia.com/v1", "NVIDIA_API_KEY"),
    "openai": Chat("https://api.openai.com/v1", "OPENAI_API_KEY"),
    "openrouter": Chat("https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
    "perplexity": Chat("https://api.perplexity.ai", "PERPLEXITY_API_KEY"),
    "sambanova": Chat("https://api.sambanova.ai/v1", "SAMBANOVA_API_KEY"),
    "together": Chat("https://api.together.xyz/v1", "TOGETHER_API_KEY"),
    "vercel": Chat("https://ai-gateway.vercel.sh/v1", "AI_GATEWAY_API_KEY"),
    "xai": Chat("https://api.x.ai/v1", "XAI_API_KEY"),
    "zai": Chat("https://api.z.ai/api/paas/v4", "ZAI_API_KEY"),
    "llamacpp": Chat("http://localhost:8080/v1"),
    "lmstudio": Chat("http://localhost:1234/v1"),
    "ollama": Chat("http://localhost:11434/v1"),
    "vllm": Chat("http://localhost:8000/v1"),
    "anthropic": Direct("anthropic", ("ANTHROPIC_API_KEY",)),
    "bedrock": Direct("bedrock"),  # AWS finds its credentials in many places
    "cohere": Direct("cohere", ("CO_API_KEY",)),
    "google": Direct("google", ("GOOGLE_API_KEY", "GEMINI_API_KEY")),
    "mistral": Direct("mistral", ("MISTRAL_API_KEY",)),
    "vertex": Direct("google-cloud"),
}
SCRIPTED = "scripted"
_SCRIPTS = (".json", ".yaml", ".yml")
_MEMBERS = ("specification_version", "provider", "model_id", "generate", "stream")


def resolve(model: Any, specification_version: SpecificationVersion = "v2") -> LanguageModel:
    """The model of a name `provider/model`; a LanguageModel is what it is.

    Providers are those of PROVIDERS in any of their usual spellings. Equal names share one model, and so its
    connections. `scripted/FILE.yaml` is a script that begins anew each time, any other `scripted/NAME` a model that
    repeats what it is told. Raises AgentError for an unknown provider, a missing API key, and what is no model.
    """
    if not isinstance(model, str):
        if lacking := [member for member in _MEMBERS if not hasattr(model, member)]:
            what = f"{model!r} is no model: it has no {', '.join(lacking)}"
            raise _unknown(f"{what} (give a LanguageModel, or a name such as openai/gpt-5)")
        known: LanguageModel = model
        return known
    provider, slash, name = model.partition("/")
    if not (slash and provider and name):
        raise _unknown(f'"{model}" is no model: its name is provider/model, {_like(model)}')
    if provider == SCRIPTED:
        return _scripted(name, specification_version)
    return _of_provider(_spelling(provider), name, specification_version)


def _like(name: str) -> str:
    """What was meant by a name that lacks a half."""
    provider, _, rest = name.partition(":")
    if rest and provider.lower() in ALIASES:
        return f"did you mean {provider}/{rest}?"
    if name == SCRIPTED:
        return f"did you mean {SCRIPTED}/demo?"
    return f"did you mean openai/{name}?" if name and "/" not in name else "such as openai/gpt-5"


def _spelling(provider: str) -> str:
    """The name of a provider in the table."""
    [name, *others] = ALIASES.get(provider.lower(), (provider,))
    if not others and name in PROVIDERS:
        return name
    known = [SCRIPTED, *PROVIDERS]
    hint = did_you_mean(provider.lower(), known)
    raise _unknown(
        f'there is no provider "{provider}"{": " + hint if hint else ""} (there are {", ".join(sorted(known))}; '
        "for any other give an OpenAIModel with its base_url, or a PydanticAIModel)"
    )


def _of_provider(name: str, model_id: str, version: SpecificationVersion) -> LanguageModel:
    provider = PROVIDERS[name]
    if isinstance(provider, Direct):
        if provider.keys:
            _key(name, *provider.keys)
        return _direct(f"{provider.name}:{model_id}", name, model_id, version)
    key = _key(name, provider.key) if provider.key else None
    base_url = os.environ.get(f"{name.upper().replace('-', '_')}_BASE_URL") or provider.base_url
    return _chat(model_id, base_url, key, name, version)


def _key(provider: str, *variables: str) -> str:
    found = next(filter(None, map(os.environ.get, variables)), None)
    if found is None:
        raise AgentError(
            "AGENT_BAD_OPTION",
            f"there is no API key for {provider}: set the environment variable {' or '.join(variables)}",
        )
    return found


@lru_cache(maxsize=64)
def _chat(model_id: str, base_url: str, key: str | None, name: str, version: SpecificationVersion) -> OpenAIModel:
    return OpenAIModel(model_id, base_url=base_url, api_key=key, provider=name, specification_version=version)


@lru_cache(maxsize=64)
def _direct(model: str, name: str, model_id: str, version: SpecificationVersion) -> PydanticAIModel:
    return PydanticAIModel(model, provider=name, model_id=model_id, specification_version=version)


def _scripted(name: str, version: SpecificationVersion) -> ScriptedModel:
    if name.endswith(_SCRIPTS):
        return ScriptedModel.from_file(name, specification_version=version)
    return ScriptedModel(_repeats, model_id=name, specification_version=version)


def _repeats(request: ModelRequest) -> str:
    """What the user said last."""
    said = [message for message in request.prompt if message.get("role") == "user"]
    content = said[-1].get("content") if said else ""
    texts = [part.get("text") or "" for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    return f"You said: {' '.join(filter(None, texts)) or content}"


def _unknown(message: str) -> AgentError:
    return AgentError("AGENT_UNKNOWN_MODEL", message)
