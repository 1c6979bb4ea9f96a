"""One process of the scene in test_agent_scene.py: `python agent_scene_worker.py PART PATH ORIGIN STORE`.

Prints what was said and what was repaired, one JSON object a line.
"""

from __future__ import annotations

import asyncio
import json
import sys
import warnings
from typing import Any

from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.providers.anthropic import AnthropicProvider

from historycompat.agent import Agent, LanguageModel, Memory, OpenAIModel, PydanticAIModel, ScriptedModel

THREAD: Any = {"thread": "trip", "resource": "ada"}
KIMI = {
    "reasoning": "Look.",
    "tool_calls": [{"name": "weather", "input": {"city": "Rome"}, "id": "functions.weather:0"}],
}


def weather(city: str) -> str:
    """Tells the weather in a city."""
    return f"clear sky over {city}"


class Scene:
    def __init__(self, path: str, origin: str, store: str) -> None:
        self.path, self.origin = path, origin
        self.version: Any = "v1" if path == "legacy" else "v2"
        self.agent = Agent(model=self.scripted(), tools=[weather], memory=Memory(store), retry_delay=0.0)

    def scripted(self) -> LanguageModel:
        facts: dict[str, Any] = {"provider": "moonshotai", "model_id": "kimi-k2-thinking"}
        return ScriptedModel([KIMI, "Clear sky."], specification_version=self.version, **facts)

    def claude(self, **names: str) -> LanguageModel:
        provider = {"api_key": "any", "base_url": f"{self.origin}/anthropic"}
        return PydanticAIModel(
            AnthropicModel("claude-sonnet-4-6", provider=AnthropicProvider(**provider)),
            specification_version=self.version,
            **names,
        )

    def chat(self, provider: str, model_id: str) -> LanguageModel:
        return OpenAIModel(
            model_id,
            base_url=f"{self.origin}/{provider}/v1",
            api_key="any",
            provider=provider,
            specification_version=self.version,
        )

    async def ask(self, question: str, model: LanguageModel) -> None:
        run = self.agent.stream_legacy if self.path == "legacy" else self.agent.stream
        result = run(question, model=model, memory=THREAD)
        kinds = [part.type async for part in result.full_stream]
        told = {"text": await result.text, "repaired": kinds.count("repaired"), "steps": len(await result.steps)}
        print(json.dumps(told), flush=True)

    async def first(self) -> None:
        await self.ask("How is the weather in Rome?", self.scripted())
        await self.ask('And in Oslo? Please call weather {"city": "Oslo"}', self.claude())
        await self.ask("How do I get there?", self.chat("cerebras", "zai-glm-4.7"))
        await self.ask("What do I pack?", self.chat("openai", "gpt-4.1"))

    async def second(self) -> None:
        hidden = self.claude(provider="acme", model_id="large")
        await self.ask("And in the evening?", hidden)
        await self.ask("And tomorrow?", hidden)


if __name__ == "__main__":
    part, *arguments = sys.argv[1:]
    warnings.simplefilter("ignore", DeprecationWarning)
    asyncio.run(getattr(Scene(*arguments), part)())
