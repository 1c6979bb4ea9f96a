"""Canonical prompt → the prompt of a model's specification, and that → the format of a client library."""

from __future__ import annotations

from typing import Any

from historycompat import formats
from historycompat.agent.models.port import SpecificationVersion
from historycompat.conversion import convert

PROMPT_FORMATS: dict[SpecificationVersion, str] = {"v1": "aisdk-v1", "v2": "aisdk-v2"}


def prompt_for(version: SpecificationVersion, canonical: list[Any]) -> list[Any]:
    """The prompt that a model of that specification takes. What rules were told of the authors stays here."""
    own = [{key: value for key, value in each.items() if key != "metadata"} for each in canonical]
    return as_format(own, PROMPT_FORMATS["v2"], PROMPT_FORMATS[version])  # type: ignore[no-any-return]


def as_format(prompt: list[Any], source: str, target: str) -> Any:
    """A prompt in another format: a message list, or a request body where the system prompt stands apart there."""
    return convert(prompt, formats.find(source), formats.find(target)).history
