"""One conversation, four models, two processes: what was refused, what was repaired, what was saved.

Run it as it is: the models are scripted, and as strict as the real ones. Both paths of the agent are taken.
"""

import asyncio
import logging
import re
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

from historycompat.agent import Agent, APICallError, Memory, ScriptedModel

THREAD = {"thread": "trip-to-rome", "resource": "ada"}
ANTHROPIC_ID = re.compile("[a-zA-Z0-9_-]+")


def weather(city: str) -> str:
    """Tells the weather in a city."""
    return f"clear sky over {city}"


def parts(request, kind):
    contents = (message["content"] for message in request.prompt if message["role"] == "assistant")
    return [part for content in contents for part in content if part["type"] == kind]


def as_anthropic_does(request):
    for call in parts(request, "tool-call"):
        if not ANTHROPIC_ID.fullmatch(call["toolCallId"]):
            message = "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"
            return refused(message)
    return "It is the best of days for the Forum."


def as_cerebras_does(request):
    if parts(request, "reasoning"):
        return refused("messages.1.assistant.reasoning_content: property is unsupported")
    return "Take the bus 64."


def refused(message):
    print(f"  refused: {message}")
    return APICallError(message, status=400)


def model(name, *turns):
    """A scripted model, for the path that is taken."""
    provider, _, model_id = name.partition("/")
    version = "v1" if LEGACY else "v2"
    return ScriptedModel(turns, provider=provider, model_id=model_id, specification_version=version)


async def ask(agent, question, answering):
    print(f"{answering.provider}/{answering.model_id}: {question}")
    run = agent.stream_legacy if LEGACY else agent.stream
    print(f"  {await run(question, model=answering, memory=THREAD).text}")


async def first_process(store):
    kimi = {
        "reasoning": "I should look.",
        "tool_calls": [{"name": "weather", "input": {"city": "Rome"}, "id": "functions.weather:0"}],
    }
    agent = Agent(model=model("moonshotai/kimi-k2-thinking"), tools=[weather], memory=Memory(store))
    await ask(agent, "How is the weather in Rome?", model("moonshotai/kimi-k2-thinking", kimi, "Clear sky."))
    await ask(agent, "What shall we do?", model("anthropic/claude-sonnet-4-5", as_anthropic_does))
    await ask(agent, "How do we get there?", model("cerebras/zai-glm-4.7", as_cerebras_does))


async def second_process(store):
    """A gateway that nobody knows hides a Claude: only its refusal tells."""
    agent = Agent(model=model("acme/large"), memory=Memory(store))
    await ask(agent, "And in the evening?", model("acme/large", as_anthropic_does, as_anthropic_does))
    await ask(agent, "And tomorrow?", model("acme/large", as_anthropic_does))


def tell_repairs():
    def tell(record):
        facts = getattr(record, "historycompat", None)
        if facts:
            where = "what is sent" if facts["phase"] == "before" else "the stored history, and saved"
            print(f"  {facts['rule']}: {facts['edits']} repaired in {where}")
        return False

    log = logging.getLogger("historycompat")
    log.setLevel(logging.INFO)
    log.addFilter(tell)


def both_paths():
    with tempfile.TemporaryDirectory() as folder:
        for path in ("new", "legacy"):
            print(f"--- the {path} path ---", flush=True)
            for process in ("first", "second"):
                subprocess.run([sys.executable, __file__, path, process, str(Path(folder) / f"{path}.db")], check=True)


if len(sys.argv) == 1:
    both_paths()
else:
    _, path, process, store = sys.argv
    LEGACY = path == "legacy"
    warnings.simplefilter("ignore", DeprecationWarning)
    tell_repairs()
    asyncio.run((first_process if process == "first" else second_process)(store))
