"""Model requests → the chat completions API, which many providers speak, through the openai client library."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from historycompat.agent.models.chat_answers import ChatAnswer
from historycompat.agent.models.clients import PerLoop, lost_connections, required
from historycompat.agent.models.naming import snake_case
from historycompat.agent.models.port import ModelRequest, SpecificationVersion, ToolSpec
from historycompat.agent.models.prompts import PROMPT_FORMATS, as_format
from historycompat.agent.parts import ModelPart
from historycompat.api import apply
from historycompat.rulesets import Ruleset

_SETTINGS = {
    "temperature": "temperature",
    "max_tokens": "max_tokens",
    "top_p": "top_p",
    "presence_penalty": "presence_penalty",
    "frequency_penalty": "frequency_penalty",
    "stop_sequences": "stop",
    "seed": "seed",
}
# Where `max_tokens` is refused by newer models.
_RENAMED = {"openai": {"max_tokens": "max_completion_tokens"}}

# Where a JSON Schema is refused as response format.
_WITHOUT_SCHEMAS = frozenset({"deepseek", "moonshot", "zai"})


_FORMAT = "openai-chat"


class OpenAIModel:
    """A model behind any server that speaks OpenAI's chat completions API.

    `base_url` and `api_key` are those of the openai library, which reads OPENAI_BASE_URL and OPENAI_API_KEY where they
    are missing; for another `provider` than openai that key is not sent. `client` is an AsyncOpenAI to use instead, of
    whose settings only the retries are overruled. `headers` go with every request. Of `provider_options` those under
    the name of the provider join the request body; `top_k` has no place in this API and is left out. `rules`, by
    default the built-in ones, make the messages acceptable in the words of the API.

    Without `client` each event loop gets its own, which `aclose` closes.
    """

    def __init__(
        self,
        model_id: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        provider: str = "openai",
        client: Any = None,
        specification_version: SpecificationVersion = "v2",
        headers: Mapping[str, str] | None = None,
        rules: Ruleset | None = None,
    ) -> None:
        self.model_id, self.provider, self.specification_version = model_id, provider, specification_version
        self._rules = rules
        self._library = library = required("openai")
        key = api_key if api_key or provider == "openai" else "none"
        self._given = None if client is None else client.with_options(max_retries=0, default_headers=headers)
        self._clients = PerLoop[Any](
            lambda: library.AsyncOpenAI(base_url=base_url, api_key=key, default_headers=headers, max_retries=0)
        )

    async def generate(self, request: ModelRequest) -> Sequence[ModelPart]:
        response = await self._create(request)
        answer = ChatAnswer(response.headers, _warnings(request))
        return [*answer.feed(response.parse().model_dump(exclude_unset=True)), *answer.end()]

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelPart]:
        response = await self._create(request, stream=True, stream_options={"include_usage": True})
        answer = ChatAnswer(response.headers, _warnings(request))
        async with response.parse() as chunks:
            async for chunk in chunks:
                for part in answer.feed(chunk.model_dump(exclude_unset=True)):
                    yield part
        for part in answer.end():
            yield part

    async def aclose(self) -> None:
        """Close the connections of this event loop, unless the client was given."""
        if client := self._clients.pop():
            await client.close()

    async def _create(self, request: ModelRequest, **more: Any) -> Any:
        client = self._given or self._clients.here()
        with lost_connections(self._library.APIConnectionError):
            return await client.chat.completions.with_raw_response.create(
                **self._body(request),
                **more,
                extra_headers=dict(request.settings.headers or {}),
                extra_body=snake_case(request.provider_options.get(self.provider) or {}),
            )

    def _body(self, request: ModelRequest) -> dict[str, Any]:
        names = {**_SETTINGS, **_RENAMED.get(self.provider, {})}
        settings = {name: getattr(request.settings, ours) for ours, name in names.items()}
        body: dict[str, Any] = {
            "model": self.model_id,
            "messages": self._messages(request.prompt),
            **{name: value for name, value in settings.items() if value is not None},
        }
        if request.tools:
            body["tools"] = list(map(_tool, request.tools))
            body["tool_choice"] = _choice(request.tool_choice)
        if request.output_schema is not None:
            body |= self._structured(dict(request.output_schema), body["messages"])
        return body

    def _messages(self, prompt: list[Any]) -> Any:
        """Only here the messages are in the words of the API, of which each provider knows others."""
        messages = as_format(prompt, PROMPT_FORMATS[self.specification_version], _FORMAT)
        return apply(messages, model=f"{self.provider}/{self.model_id}", format=_FORMAT, rules=self._rules).messages

    def _structured(self, schema: dict[str, Any], messages: list[Any]) -> dict[str, Any]:
        """The answer's text shall be JSON: by the schema, or by telling the model what it is."""
        if self.provider not in _WITHOUT_SCHEMAS:
            wanted = {"name": "answer", "schema": schema}
            return {"response_format": {"type": "json_schema", "json_schema": wanted}}
        told = {"role": "system", "content": f"Answer with JSON that fits this JSON Schema: {json.dumps(schema)}"}
        return {"response_format": {"type": "json_object"}, "messages": [told, *messages]}


def _tool(tool: ToolSpec) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}
    return {"type": "function", "function": function}


def _warnings(request: ModelRequest) -> tuple[str, ...]:
    return () if request.settings.top_k is None else ("top_k is no setting of chat completions: it was left out",)


def _choice(choice: Any) -> Any:
    if isinstance(choice, str):
        return choice
    return {"type": "function", "function": {"name": choice["tool_name"]}}
