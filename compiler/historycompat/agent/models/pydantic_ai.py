"""Model requests → the providers that pydantic-ai knows, through its direct requests."""

from __future__ import annotations

import json
from collections import ChainMap
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

from historycompat.agent.errors import AgentError
from historycompat.agent.models.clients import PerLoop, lost_connections, required
from historycompat.agent.models.naming import snake_case
from historycompat.agent.models.port import ModelRequest, SpecificationVersion
from historycompat.agent.models.prompts import PROMPT_FORMATS, as_format
from historycompat.agent.models.pydantic_answers import finish_of, info_of, parts_of, parts_of_event
from historycompat.agent.parts import ModelPart

_SETTINGS = {
    "temperature": "temperature",
    "max_tokens": "max_tokens",
    "top_p": "top_p",
    "top_k": "top_k",
    "presence_penalty": "presence_penalty",
    "frequency_penalty": "frequency_penalty",
    "stop_sequences": "stop_sequences",
    "seed": "seed",
    "headers": "extra_headers",
}

_BOTH = "google_supports_tool_combination"  # older models of Google take either tools or a schema


class PydanticAIModel:
    """A model of pydantic-ai: its object, its name such as `anthropic:claude-sonnet-4-5`, or a function that makes it.

    Of `provider_options` those under the name of the provider, or of its family (google for vertex), become settings of
    pydantic-ai: `{"anthropic": {"thinking": ...}}` is `anthropic_thinking`.

    The connections of an object are its owner's; otherwise each event loop has its own, which `aclose` closes. A stream
    that is left early closes its connection, but for Google: google-genai 2.34 leaves it open until Python collects it.
    """

    def __init__(
        self,
        model: Any,
        *,
        specification_version: SpecificationVersion = "v2",
        provider: str | None = None,
        model_id: str | None = None,
    ) -> None:
        infer = required("pydantic_ai.models").infer_model
        make: Callable[[], Any] = model if callable(model) else partial(infer, model)
        self._known = make()
        if self._known is model:
            self._models = None
        else:
            self._models = PerLoop[Any](lambda: _without_retries(make()), first=_without_retries(self._known))
        self.specification_version = specification_version
        self.provider, self.model_id = provider or self._known.system, model_id or self._known.model_name

    async def generate(self, request: ModelRequest) -> Sequence[ModelPart]:
        with self._connecting():
            response = await required("pydantic_ai.direct").model_request(self._here(), **self._asked(request))
        said = [part for each in response.parts for part in parts_of(response, each)]
        return [info_of(response, self._warnings(request)), *said, *finish_of(response)]

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelPart]:
        opened = required("pydantic_ai.direct").model_request_stream(self._here(), **self._asked(request))
        with self._connecting():
            async with opened as stream:
                async for event in stream:
                    for part in parts_of_event(stream, event):
                        yield part
            response = stream.get()
        yield info_of(response, self._warnings(request))
        for part in finish_of(response):
            yield part

    async def aclose(self) -> None:
        """Close the connections of this event loop, unless they are the owner's of an object."""
        if self._models is not None and (model := self._models.pop()):
            async with model:  # which closes on leaving
                pass

    def _here(self) -> Any:
        return self._known if self._models is None else self._models.here()

    def _connecting(self) -> AbstractContextManager[None]:
        return lost_connections(required("pydantic_ai.exceptions").ModelConnectionError)

    def _asked(self, request: ModelRequest) -> dict[str, Any]:
        return {
            "messages": self._messages(request.prompt),
            "model_settings": self._settings(request),
            "model_request_parameters": self._parameters(request),
        }

    def _messages(self, prompt: list[Any]) -> Any:
        messages = as_format(prompt, PROMPT_FORMATS[self.specification_version], "pydantic-ai")
        for message in messages:
            for part in message["parts"]:
                self._sign(part)
        adapter = required("pydantic_ai.messages").ModelMessagesTypeAdapter
        try:
            return adapter.validate_json(json.dumps(messages))
        except ValueError as error:
            raise AgentError("AGENT_BAD_MESSAGES", f"pydantic-ai has no place for this history: {error}") from error

    def _sign(self, part: dict[str, Any]) -> None:
        """Signatures on calls and texts are sent to whom they name only, and only Google puts any there."""
        if "thought_signature" in (part.get("provider_details") or {}) and self._known.system.startswith("google"):
            part["provider_name"] = self._known.system

    def _settings(self, request: ModelRequest) -> dict[str, Any]:
        given = {name: getattr(request.settings, ours) for ours, name in _SETTINGS.items()}
        settings = {name: value for name, value in given.items() if value is not None}
        settings |= self._own_settings(request)
        if request.tools:
            choice = request.tool_choice
            settings["tool_choice"] = choice if isinstance(choice, str) else [choice["tool_name"]]
        settings["max_retries"] = 0
        return {name: value for name, value in settings.items() if name not in self._known.unsupported_settings}

    def _warnings(self, request: ModelRequest) -> tuple[str, ...]:
        ignored = self._known.unsupported_settings
        names = [
            ours for ours, name in _SETTINGS.items() if name in ignored and getattr(request.settings, ours) is not None
        ]
        return tuple(f"{name} is no setting of {self.provider}/{self.model_id}: it was left out" for name in names)

    def _own_settings(self, request: ModelRequest) -> dict[str, Any]:
        family = self._known.system.partition("-")[0]
        given = [request.provider_options.get(name) or {} for name in dict.fromkeys((family, self.provider))]
        options = snake_case(ChainMap(*reversed(given)), deep=True)
        return {f"{family}_{key.removeprefix(f'{family}_')}": value for key, value in options.items()}

    def _parameters(self, request: ModelRequest) -> Any:
        tools = required("pydantic_ai.tools")
        parameters: dict[str, Any] = {
            "function_tools": [
                tools.ToolDefinition(
                    name=tool.name, description=tool.description, parameters_json_schema=dict(tool.parameters)
                )
                for tool in request.tools
            ]
        }
        if request.output_schema is not None:
            output = required("pydantic_ai.output").OutputObjectDefinition
            parameters["output_object"] = output(json_schema=dict(request.output_schema), name="answer")
            parameters["output_mode"] = "native" if self._forces_schemas(request) else "prompted"
        return required("pydantic_ai.models").ModelRequestParameters(**parameters)

    def _forces_schemas(self, request: ModelRequest) -> bool:
        """Whether the provider makes the model keep to a schema; where not, the model is told of it."""
        profile = self._known.profile
        if request.tools and self._known.system.startswith("google") and not profile.get(_BOTH):
            return False
        return bool(profile.get("supports_json_schema_output"))


def _without_retries(model: Any) -> Any:
    """For `max_retries` is no setting for botocore, which retries by a handler of each client (botocore 1.44)."""
    if model.system == "bedrock":
        service = model.client.meta.service_model.service_id.hyphenize()
        model.client.meta.events.unregister(f"needs-retry.{service}", unique_id=f"retry-config-{service}")
    return model
