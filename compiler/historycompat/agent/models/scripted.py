"""A script → a model in this process that says it: for examples, for tests, and where no provider is at hand."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any, Self, TypeAlias

from historycompat.agent.errors import Aborted, AgentError
from historycompat.agent.models.port import ModelRequest, SpecificationVersion
from historycompat.agent.models.turns import CutOff, Pause, Turn, pieces_of
from historycompat.agent.parts import ModelPart
from historycompat.processors.abort_signal import pause as wait

__all__ = ["CutOff", "Pause", "Script", "ScriptedModel", "Turn"]

Script: TypeAlias = Sequence[Turn] | Callable[[ModelRequest], Turn]

_SETTINGS = ("provider", "model_id", "specification_version", "pause")
_COPIED = ("prompt", "tools", "settings", "output_schema", "provider_options")


class ScriptedModel:
    """A model that says one turn of a script for each request, or what a function of the request returns.

    A turn is a text, an exception to raise, a sequence of model parts with texts, exceptions, `Pause` and `CutOff`
    among them, a function of the request, or plain data, in which every key may be missing and an error comes after
    what was said before it:

        {pause, reasoning, text, tool_calls: [{name, input, id}], error: {status, body, headers}, finish_reason, usage,
         cut_off}

    Texts come word by word; ResponseInfo, AnswerFinish and ids of calls are made up where a turn has none. `pause` is
    the time in seconds before each piece. `requests` are copies of what was asked. An AgentError tells of a request
    too many, and of what is no turn; Aborted is raised once the abort signal of the request is given.
    """

    def __init__(
        self,
        script: Script,
        *,
        provider: str = "scripted",
        model_id: str = "scripted",
        specification_version: SpecificationVersion = "v2",
        pause: float = 0.0,
    ) -> None:
        if isinstance(script, str) or not (callable(script) or isinstance(script, Sequence)):
            raise AgentError("AGENT_BAD_OPTION", f"{script!r} is no script: it is a list of turns, or a function")
        self.script, self.pause = script, pause
        self.provider, self.model_id, self.specification_version = provider, model_id, specification_version
        self.requests: list[ModelRequest] = []

    @classmethod
    def from_file(cls, path: str | Path, **options: Any) -> Self:
        """The model of a JSON or YAML file: a list of turns as plain data, or an object of `turns` and options.

        Raises AgentError where the file cannot be read or holds something else.
        """
        data = _load(Path(path))
        settings = dict(data) if isinstance(data, Mapping) else {"turns": data}
        turns = settings.pop("turns", None)
        unknown = [key for key in settings if key not in _SETTINGS]
        if unknown or not isinstance(turns, list):
            wrong = f"unknown key {unknown[0]!r}" if unknown else "there is no list of turns"
            expected = f"a list of turns, or an object of turns, {', '.join(_SETTINGS)}"
            raise AgentError("AGENT_BAD_OPTION", f"{path}: {wrong} (a script is {expected})")
        return cls(turns, **{**settings, **options})

    async def generate(self, request: ModelRequest) -> Sequence[ModelPart]:
        return [part async for part in self.stream(request)]

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelPart]:
        turn = self._next_turn(request)
        for piece in pieces_of(turn, request, f"{self.provider}/{self.model_id}"):
            await _wait(piece.seconds if isinstance(piece, Pause) else self.pause, request.abort_signal)
            if isinstance(piece, Exception):
                raise piece
            if isinstance(piece, CutOff):
                return
            if not isinstance(piece, Pause):
                yield piece

    def _next_turn(self, request: ModelRequest) -> Turn:
        self.requests.append(replace(request, **{name: deepcopy(getattr(request, name)) for name in _COPIED}))
        asked = len(self.requests)
        if callable(self.script):
            return self.script(request)
        if asked > len(self.script):
            raise AgentError(
                "AGENT_BAD_OPTION",
                f"the script of {self.provider}/{self.model_id} is at its end: it has {len(self.script)} turns and "
                f"this is request {asked}; add a turn, or give a function of the request",
            )
        return self.script[asked - 1]


async def _wait(seconds: float, signal: Any) -> None:
    """Lets others run in any case, and ends with the signal."""
    await asyncio.sleep(0)
    if not await wait(seconds, signal):
        raise Aborted()


def _load(path: Path) -> Any:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise AgentError("AGENT_BAD_OPTION", f"the script {path} cannot be read: {error}") from error
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        return json.loads(text) if path.suffix == ".json" else YAML(typ="safe", pure=True).load(text)
    except (ValueError, YAMLError) as error:
        raise AgentError("AGENT_BAD_OPTION", f"the script {path} is not well-formed: {error}") from error
