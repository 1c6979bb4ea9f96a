"""Names of models → who makes them and how their versions are written: data of the model normaliser.

Sources: the model pages of the vendors and of Bedrock, Vertex AI, Azure, OpenRouter and Fireworks. All names are lower
case. A word that is missing here leaves the maker and the version unknown, never an error.
"""

from __future__ import annotations

from typing import NamedTuple

# What is no part of a model's name, at its end: `:free` and the like, `[1m]`; Bedrock's revision; dates.
VARIANT = (
    r"(?::(?:beta|cheapest|exacto|extended|fastest|floor|free|nitro|online|preferred|thinking|latest)|\[[^\[\]]*\])$"
)
REVISION = r"(?:-v\d+|-\d+(?=:))?(?::\d+)?(?::\d+k)?$"
_MONTH, _DAY = r"(?:0[1-9]|1[0-2])", r"(?:0[1-9]|[12]\d|3[01])"
DATE = (
    rf"[-@]20\d\d(?:-{_MONTH}-{_DAY}|{_MONTH}{_DAY})(?![0-9a-z])"
    rf"|-(?:{_MONTH}-20\d\d|{_MONTH}-{_DAY}|2\d{_MONTH}(?:{_DAY})?|{_MONTH}{_DAY})$"
    r"|@(?:latest|default)$"
)

# How a version is written behind the family's name; words and one letter (`-k2`, `-v3.2`) may come first. A number is
# no version when it has three digits or a leading zero (dates), or a size behind it (`70b`, `8x7b`, `32k`).
_END = r"(?!\d|\.\d|[\d.]*[bkmx](?![a-z]))"
_FIRST = r"(?:-[a-z]+)*?-?[a-z]?([1-9]\d?"
_NEXT = r"(?:0|[1-9]\d?)"
WITH_DOTS = rf"{_FIRST}(?:[.p]{_NEXT})*){_END}"  # gpt-4.1, kimi-k2p5
WITH_DASHES = rf"{_FIRST}(?:[.p-]{_NEXT})?){_END}"  # claude-opus-4-6, llama3-3-70b

# Versions that dropped their dot: Azure's `gpt-35-turbo`, GitHub Copilot's `claude-opus-41`.
READ_AS = {("openai", "35"): (3, 5), ("anthropic", "41"): (4, 1)}


class Family(NamedTuple):
    """A word in model names: who makes such models, how their versions are written, what else they count as.

    With `leads` the word says so only at the start of a name: it is common, and deployments have names of their own.
    """

    maker: str
    version: str | None = WITH_DOTS
    leads: bool = False
    counts_as: str | None = None


FAMILIES = {
    "claude": Family("anthropic", WITH_DASHES),
    "gpt": Family("openai"),
    "chatgpt": Family("openai"),
    "codex": Family("openai", leads=True),
    "davinci": Family("openai", None),
    "computer": Family("openai", None, leads=True),
    "o1": Family("openai", leads=True),
    "o3": Family("openai", leads=True),
    "o4": Family("openai", leads=True),
    "o5": Family("openai", leads=True),
    "gemini": Family("google"),
    "gemma": Family("google", counts_as="gemini"),  # one API serves both, and refuses the same
    "learnlm": Family("google", counts_as="gemini"),
    "mistral": Family("mistral"),
    "mixtral": Family("mistral"),
    "ministral": Family("mistral"),
    "magistral": Family("mistral"),
    "devstral": Family("mistral"),
    "codestral": Family("mistral"),
    "pixtral": Family("mistral"),
    "voxtral": Family("mistral"),
    "deepseek": Family("deepseek"),
    "grok": Family("xai", WITH_DASHES),
    "llama": Family("meta", WITH_DASHES),
    "codellama": Family("meta", WITH_DASHES),
    "muse": Family("meta", leads=True),
    "qwen": Family("alibaba"),
    "qwq": Family("alibaba", None),
    "qvq": Family("alibaba", None),
    "kimi": Family("moonshot"),
    "moonshot": Family("moonshot"),
    "glm": Family("zai"),
    "chatglm": Family("zai"),
    "command": Family("cohere", None, leads=True),
    "aya": Family("cohere", None, leads=True),
    "nova": Family("amazon", leads=True),
    "titan": Family("amazon", leads=True),
    "sonar": Family("perplexity", None, leads=True),
    "minimax": Family("minimax"),
    "jamba": Family("ai21", WITH_DASHES),
    "phi": Family("microsoft", leads=True),
    "nemotron": Family("nvidia"),
    "granite": Family("ibm", leads=True),
    "hermes": Family("nousresearch", leads=True),
    "ernie": Family("baidu", leads=True),
    "hunyuan": Family("tencent"),
    "doubao": Family("bytedance", WITH_DASHES),
    "seed": Family("bytedance", WITH_DASHES, leads=True),
    "mimo": Family("xiaomi", leads=True),
    "step": Family("stepfun", leads=True),
    "palmyra": Family("writer", leads=True),
    "mercury": Family("inception", leads=True),
    "lfm": Family("liquid", leads=True),
    "olmo": Family("allenai", leads=True),
    "reka": Family("reka", leads=True),
    "solar": Family("upstage", leads=True),
}

# What a model counts as when its name says nothing: one of its maker's main line, of unreadable version.
MAIN_LINE = {
    "alibaba": "qwen",
    "amazon": "nova",
    "anthropic": "claude",
    "cohere": "command",
    "deepseek": "deepseek",
    "google": "gemini",
    "meta": "llama",
    "minimax": "minimax",
    "mistral": "mistral",
    "moonshot": "kimi",
    "openai": "gpt",
    "perplexity": "sonar",
    "xai": "grok",
    "zai": "glm",
}
