"""What the tests of the agent share: scripted models, and both paths behind one face."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, Literal

from historycompat.agent import Agent, Answer, ScriptedModel, StreamResult

Path = Literal["new", "legacy"]
PATHS: tuple[Path, ...] = ("new", "legacy")
OWNER = {"thread": "t1", "resource": "ada"}


def scripted(*turns: Any, path: Path = "legacy", **facts: Any) -> ScriptedModel:
    return ScriptedModel(turns, specification_version="v1" if path == "legacy" else "v2", **facts)


def agent(*turns: Any, path: Path = "legacy", model: ScriptedModel | None = None, **facts: Any) -> Agent:
    """An agent that waits for nothing before it tries again."""
    return Agent(model=model or scripted(*turns, path=path), **{"retry_delay": 0.0, **facts})


def model_of(given: Agent) -> ScriptedModel:
    assert isinstance(given.model, ScriptedModel)
    return given.model


def stream(given: Agent, messages: Any = "hi", path: Path = "legacy", **options: Any) -> StreamResult:
    if path == "new":
        return given.stream(messages, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return given.stream_legacy(messages, **options)


async def generate(given: Agent, messages: Any = "hi", path: Path = "legacy", **options: Any) -> Answer:
    if path == "new":
        return await given.generate(messages, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return await given.generate_legacy(messages, **options)


def call(name: str, given: Mapping[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """A turn that calls one tool."""
    return {"tool_calls": [{"name": name, "input": dict(given or {})}], **more}


def said(model: ScriptedModel, request: int = -1) -> list[tuple[str, str]]:
    """Role and text of every message that a model was sent."""
    return [(message["role"], _text(message["content"])) for message in model.requests[request].prompt]


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return " ".join(part["text"] for part in content if part["type"] == "text")


def weather(city: str) -> dict[str, str]:
    """Tells the weather in a city."""
    return {"city": city, "sky": "clear"}
