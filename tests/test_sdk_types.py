"""Histories that a repair touched everywhere are what the vendors' own SDKs take: their types and validators say so.

Each validator is skipped where its SDK is not installed; all of them run with `-m integration`.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from canonical import prompts
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lens_laws import from_scratch

from historycompat import apply, compile_rules, formats

pytestmark = [pytest.mark.integration, pytest.mark.filterwarnings("ignore")]

HERE = Path(__file__).parent
SCHEMAS = json.loads((HERE / "formats" / "schemas.json").read_text())
Validate = Callable[[list[Any]], object]

# One rule for each statement: what one format cannot carry must not undo the others.
STATEMENTS = (
    "set text to 'changed' on */text",
    "set text to 'changed' on assistant/reasoning",
    "set content to 'changed' on message system where type(content) == 'string'",
    "set input to {path: 'changed'} on call where type(input) == 'object'",
    "set output to {type: 'text', value: 'changed'} on tool/tool-result",
    "map ids unless /^[a-zA-Z0-9]{9}$/ hash 9",
    "merge message user",
    "merge message assistant",
    "insert message {role: 'user', content: [{type: 'text', text: 'inserted'}]} at_end"
    " where $messages[-1].role != 'user'",
)
RULES = compile_rules(
    "pack p language 1\n" + "\n".join(f"rule r-{at} {{\n  {each}\n}}" for at, each in enumerate(STATEMENTS)),
    kind="rules",
)


def sdk(name: str) -> Any:
    return pytest.importorskip(name, reason=f"the vendor's SDK is not installed ({name})", exc_type=ImportError)


def exhausted(value: Any) -> None:
    """Go through all of a validated value: pydantic checks an `Iterable` as it is read."""
    if isinstance(value, dict):
        for each in value.values():
            exhausted(each)
    elif isinstance(value, Iterable) and not isinstance(value, (str, bytes)):
        for each in value:
            exhausted(each)


def typed(kind: Any) -> Validate:
    adapter = sdk("pydantic").TypeAdapter(list[kind])
    return lambda native: exhausted(adapter.validate_python(native))


def each(take: Callable[[Any], object]) -> Validate:
    return lambda native: [take(copy.deepcopy(item)) for item in native]


def openai_chat() -> Validate:
    return typed(sdk("openai.types.chat").ChatCompletionMessageParam)


def openai_responses() -> Validate:
    return typed(sdk("openai.types.responses").ResponseInputItemParam)


def openai_agents() -> Validate:
    return typed(sdk("agents.items").TResponseInputItem)


def anthropic() -> Validate:
    return typed(sdk("anthropic.types").MessageParam)


def gemini() -> Validate:
    return each(sdk("google.genai.types").Content.model_validate)


def google_adk() -> Validate:
    return each(sdk("google.adk.events").Event.model_validate)


def mistral() -> Validate:
    models = sdk("mistralai.client.models")
    return typed(models.ChatCompletionRequestMessage)


def bedrock() -> Validate:
    session = sdk("botocore.session").get_session()
    validate = sdk("botocore.validate").ParamValidator()
    model = session.get_service_model("bedrock-runtime")
    shape = model.operation_model("Converse").input_shape

    def check(native: list[Any]) -> None:
        report = validate.validate({"modelId": "m", "messages": native}, shape)
        if report.has_errors():
            raise ValueError(report.generate_report())

    return check


def pydantic_ai() -> Validate:
    adapter: Validate = sdk("pydantic_ai.messages").ModelMessagesTypeAdapter.validate_python
    return adapter


def langchain() -> Validate:
    messages = sdk("langchain_core.messages")

    def take(message: Any) -> object:
        if "lc" in message:
            return sdk("langchain_core.load.load").load(message)
        stored = message if "data" in message else {"type": message["type"], "data": message}
        return messages.messages_from_dict([stored])

    return each(take)


def llama_index() -> Validate:
    return each(sdk("llama_index.core.llms").ChatMessage.model_validate)


def haystack() -> Validate:
    return each(sdk("haystack.dataclasses").ChatMessage.from_dict)


def strands() -> Validate:
    validate = typed(sdk("strands.types.content").Message)
    # The system prompt is not among the messages of an agent.
    return lambda native: validate([message for message in native if message["role"] != "system"])


def agno() -> Validate:
    return each(sdk("agno.models.message").Message.from_dict)


def smolagents() -> Validate:
    return each(sdk("smolagents.models").ChatMessage.from_dict)


def agent_framework() -> Validate:
    return each(sdk("agent_framework").Message.from_dict)


def cohere() -> Validate:
    return typed(sdk("cohere").ChatMessageV2)


def ollama() -> Validate:
    return each(sdk("ollama").Message.model_validate)


VALIDATORS: dict[str, Callable[[], Validate]] = {
    "openai-chat": openai_chat,
    "openai-responses": openai_responses,
    "openai-agents": openai_agents,
    "anthropic": anthropic,
    "gemini": gemini,
    "google-adk": google_adk,
    "mistral-chat": mistral,
    "bedrock": bedrock,
    "pydantic-ai": pydantic_ai,
    "langchain": langchain,
    "llama-index": llama_index,
    "haystack": haystack,
    "strands": strands,
    "agno": agno,
    "smolagents": smolagents,
    "agent-framework": agent_framework,
    "cohere-chat": cohere,
    "ollama-chat": ollama,
}


def messages_of(name: str, native: Any) -> list[Any]:
    found: list[Any] = native[formats.find(name).spine[0]] if isinstance(native, dict) else native
    return found


def accepted(validate: Validate, native: list[Any]) -> bool:
    try:
        validate(native)
    except Exception:
        return False
    return True


def payloads(name: str) -> list[Any]:
    return [json.loads(path.read_text())["native"] for path in sorted((HERE / "formats" / name).glob("*.json"))]


@pytest.mark.parametrize("name", VALIDATORS)
def test_repaired_payloads_stay_valid(name: str) -> None:
    validate = VALIDATORS[name]()
    valid = [native for native in payloads(name) if accepted(validate, messages_of(name, native))]
    if not valid:
        pytest.skip(f"each payload of {name} has something that its SDK does not take")
    for native in valid:
        outcome = apply(native, model="openai/gpt-5", format=name, rules=RULES)
        assert outcome.changed
        validate(messages_of(name, outcome.messages))


@pytest.mark.parametrize("name", VALIDATORS)
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_what_is_written_and_repaired_is_valid(name: str, data: st.DataObject) -> None:
    validate = VALIDATORS[name]()
    kind = formats.find(name)
    native = from_scratch(kind, data.draw(prompts(kind.says - set(SCHEMAS[name]["without"]))), [])
    validate(native)
    validate(apply(native, model="openai/gpt-5", format=name, rules=RULES).messages)
