"""The formats of message histories, in one table, and the way to the one a history is in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from historycompat.errors import UnknownFormat, did_you_mean
from historycompat.formats import (
    agent_framework,
    agno,
    aisdk_v1,
    aisdk_v2,
    aisdk_v3,
    aisdk_v4,
    anthropic,
    bedrock,
    cohere,
    core_message,
    gemini,
    google_adk,
    haystack,
    langchain,
    llama_index,
    mastra,
    mastra_v1,
    mistral,
    model_message,
    ollama,
    openai_agents,
    openai_chat,
    openai_responses,
    pydantic_ai,
    smolagents,
    strands,
    ui_message,
    ui_message_v4,
)
from historycompat.formats.detection import Survey
from historycompat.formats.format import Format

# Of formats that fit equally well the first is taken.
FORMATS: dict[str, Format] = {
    module.FORMAT.name: module.FORMAT
    for module in (
        openai_chat,
        anthropic,
        aisdk_v2,
        model_message,
        aisdk_v3,
        aisdk_v4,
        aisdk_v1,
        core_message,
        ui_message,
        ui_message_v4,
        mastra,
        mastra_v1,
        openai_agents,
        openai_responses,
        gemini,
        strands,
        bedrock,
        mistral,
        cohere,
        ollama,
        langchain,
        pydantic_ai,
        google_adk,
        llama_index,
        agent_framework,
        haystack,
        agno,
        smolagents,
    )
}

_ANYONES = ("messages", "prompt")  # keys of a message list that tell nothing of its format
_POSSIBLE = 0.2  # the least sureness at which a format is named at all


@dataclass(frozen=True, slots=True)
class Detection:
    """The format a history is in, how sure that is (0 to 1), and the names of others that it may be in, likeliest
    first."""

    format: Format
    confidence: float
    also: tuple[str, ...] = ()


def find(name: str) -> Format:
    """The format of a name. Raises UnknownFormat with the nearest name and all names."""
    if name in FORMATS:
        return FORMATS[name]
    hint = did_you_mean(str(name), FORMATS)
    raise UnknownFormat(f'there is no format "{name}"{": " + hint if hint else ""} ({_names()})')


def detect(history: Any) -> Detection:
    """The format that fits a history best. Raises UnknownFormat with what was seen where none does."""
    survey = Survey.of(history)
    scores = sorted(((-each.detect(survey), order, each) for order, each in enumerate(FORMATS.values())), key=_rank)
    likely = [(-score, each) for score, _, each in scores if -score >= _POSSIBLE]
    likely = [entry for entry in likely if _is_named(entry[1], history)] or likely
    if not likely:
        raise UnknownFormat(f"no format fits this history ({survey.describe()}); say which it is ({_names()})")
    confidence, best = likely[0]
    return Detection(best, confidence, tuple(each.name for _, each in likely[1:]))


def _is_named(kind: Format, history: Any) -> bool:
    """Whether a body holds its messages under a key that few formats have, this one among them."""
    return isinstance(history, dict) and kind.spine[0] not in _ANYONES and isinstance(history.get(kind.spine[0]), list)


def _rank(entry: tuple[float, int, Format]) -> tuple[float, int]:
    return entry[:2]


def _names() -> str:
    return "formats: " + ", ".join(FORMATS)
