"""Wire-shape statements about calls and results, in the formats that keep them in a place or a way of their own.

A case is what one format's history looks like with a call that nobody answered and an id that is none; each statement
gives what becomes of that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from historycompat import apply, compile_rules, formats
from historycompat.conversion import convert
from historycompat.view import Context, View

Json = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """The history, the body of a result, and the history after each statement."""

    history: list[Json]
    body: str
    answered: list[Json]
    dropped: list[Json]
    renamed: list[Json]


def user(text: str) -> Json:
    return {"id": "u", "role": "user", "parts": [{"type": "text", "text": text}]}


def ui_row(*parts: Json) -> Json:
    return {"id": "a", "role": "assistant", "parts": list(parts)}


def static(id_: str, **more: Any) -> Json:
    return {"type": "tool-read", "toolCallId": id_, "state": "input-available", "input": {}, **more}


def dynamic(id_: str, **more: Any) -> Json:
    return {"type": "dynamic-tool", "toolName": "ls", "toolCallId": id_, "state": "input-available", **more}


def row(*parts: Json) -> Json:
    return {"id": "a", "role": "assistant", "createdAt": "2026-01-01", "content": {"format": 2, "parts": list(parts)}}


def old_row(*parts: Json) -> Json:
    return {"id": "a", "role": "assistant", "content": "", "parts": list(parts)}


def invoked(id_: str, state: str = "call", **more: Any) -> Json:
    inner = {"state": state, "toolCallId": id_, "toolName": "read", "args": {}, **more}
    return {"type": "tool-invocation", "toolInvocation": inner}


def asked(*ids: str) -> Json:
    calls = [{"part_kind": "tool-call", "tool_name": "read", "args": {}, "tool_call_id": id_} for id_ in ids]
    return {"kind": "response", "parts": calls}


def returned(*ids: str) -> Json:
    parts = [{"part_kind": "tool-return", "tool_name": "read", "tool_call_id": id_, "content": "x"} for id_ in ids]
    return {"kind": "request", "parts": parts}


def blocks(*ids: str) -> Json:
    calls = [{"block_type": "tool_call", "tool_call_id": id_, "tool_name": "read", "tool_kwargs": {}} for id_ in ids]
    return {"role": "assistant", "blocks": calls, "additional_kwargs": {}}


def block_result(id_: str) -> Json:
    extra = {"tool_call_id": id_, "name": "read"}
    return {"role": "tool", "additional_kwargs": extra, "blocks": [{"block_type": "text", "text": "x"}]}


def event(*ids: str) -> Json:
    calls = [{"functionCall": {"id": id_, "name": "read", "args": {}}} for id_ in ids]
    return {"author": "agent", "content": {"role": "model", "parts": calls}}


def event_result(id_: str, author: str = "agent") -> Json:
    part = {"functionResponse": {"id": id_, "name": "read", "response": {"output": "x"}}}
    return {"author": author, "content": {"role": "user", "parts": [part]}}


def item(id_: str, kind: str = "function_call") -> Json:
    said = {"arguments": "{}"} if kind == "function_call" else {"input": "x"}
    return {"type": kind, "call_id": id_, "name": "read", **said}


def item_output(id_: str, kind: str = "function_call_output") -> Json:
    return {"type": kind, "call_id": id_, "output": "x"}


DONE = {"state": "output-available", "output": "x"}

CASES = {
    "ui-message": Case(
        [user("go"), ui_row(static("a.1", **DONE), dynamic("b")), ui_row(static("c"))],
        "{state: 'output-available', output: 'x'}",
        [user("go"), ui_row(static("a.1", **DONE), dynamic("b", **DONE)), ui_row(static("c", **DONE))],
        [user("go"), ui_row(static("a.1", **DONE))],
        [user("go"), ui_row(static("a_1", **DONE), dynamic("b")), ui_row(static("c"))],
    ),
    "ui-message-v4": Case(
        [old_row(invoked("a.1", "result", result="x"), invoked("b"))],
        "{toolInvocation: {state: 'result', result: 'x'}}",
        [old_row(invoked("a.1", "result", result="x"), invoked("b", "result", result="x"))],
        [old_row(invoked("a.1", "result", result="x"))],
        [old_row(invoked("a_1", "result", result="x"), invoked("b"))],
    ),
    "mastra": Case(
        [row(invoked("a.1", "result", result="x"), invoked("b")), row(invoked("c"))],
        "{toolInvocation: {state: 'result', result: 'x'}}",
        [
            row(invoked("a.1", "result", result="x"), invoked("b", "result", result="x")),
            row(invoked("c", "result", result="x")),
        ],
        [row(invoked("a.1", "result", result="x"))],
        [row(invoked("a_1", "result", result="x"), invoked("b")), row(invoked("c"))],
    ),
    "pydantic-ai": Case(
        [asked("a.1", "b"), returned("a.1"), asked("c")],
        "{content: 'x'}",
        [asked("a.1", "b"), returned("a.1", "b"), asked("c"), returned("c")],
        [asked("a.1"), returned("a.1")],
        [asked("a_1", "b"), returned("a_1"), asked("c")],
    ),
    "llama-index": Case(
        [blocks("a.1", "b"), block_result("a.1")],
        "{blocks: [{block_type: 'text', text: 'x'}]}",
        [blocks("a.1", "b"), block_result("a.1"), block_result("b")],
        [blocks("a.1"), block_result("a.1")],
        [blocks("a_1", "b"), block_result("a_1")],
    ),
    "google-adk": Case(
        [event("a.1"), event_result("a.1"), event("b")],
        "{functionResponse: {response: {output: 'x'}}}",
        [event("a.1"), event_result("a.1"), event("b"), event_result("b", "user")],
        [event("a.1"), event_result("a.1")],
        [event("a_1"), event_result("a_1"), event("b")],
    ),
    "openai-responses": Case(
        [item("a.1"), item("b"), item_output("a.1"), item("c", "custom_tool_call")],
        "{output: 'x'}",
        [
            item("a.1"),
            item("b"),
            item_output("a.1"),
            item("c", "custom_tool_call"),
            item_output("b"),
            item_output("c", "custom_tool_call_output"),
        ],
        [item("a.1"), item_output("a.1")],
        [item("a_1"), item("b"), item_output("a_1"), item("c", "custom_tool_call")],
    ),
}

every_case = pytest.mark.parametrize("name", CASES)


_CONTENT = "{content: 'x'}"
_RESULT = "{result: 'x'}"
_TYPED = "{output: {type: 'text', value: 'x'}}"
_GOOGLE = "{functionResponse: {response: {output: 'x'}}}"
_CONVERSE = "{toolResult: {content: [{text: 'x'}]}}"
BODIES = {name: case.body for name, case in CASES.items()} | {
    **dict.fromkeys(("openai-chat", "anthropic", "mistral-chat", "cohere-chat", "ollama-chat"), _CONTENT),
    **dict.fromkeys(("langchain", "agno", "smolagents"), _CONTENT),
    **dict.fromkeys(("aisdk-v2", "aisdk-v3", "aisdk-v4", "model-message"), _TYPED),
    **dict.fromkeys(("aisdk-v1", "core-message", "mastra-v1", "agent-framework"), _RESULT),
    **dict.fromkeys(("gemini", "google-adk"), _GOOGLE),
    **dict.fromkeys(("bedrock", "strands"), _CONVERSE),
    "openai-agents": CASES["openai-responses"].body,
    "haystack": "{tool_call_result: {result: 'x'}}",
}


def after(name: str, statement: str) -> Any:
    """The history of a case after one statement, which does nothing more when it runs again."""
    text = f"rule wire {{ format {name} safety lossy {statement} }}"
    rules = compile_rules(text, kind="rules")
    outcome = apply(CASES[name].history, model="any/model", format=name, rules=rules, errors="raise")
    assert apply(outcome.messages, model="any/model", format=name, rules=rules).messages is outcome.messages
    return outcome.messages


@every_case
def test_an_orphan_is_answered_where_the_format_keeps_results(name: str) -> None:
    assert after(name, f"answer call:orphan with {CASES[name].body}") == CASES[name].answered


@every_case
def test_an_orphan_goes_and_takes_an_empty_message_with_it(name: str) -> None:
    assert after(name, "drop call:orphan") == CASES[name].dropped


@every_case
def test_an_id_is_made_right_in_a_call_and_its_result(name: str) -> None:
    statement = 'map ids unless /^[a-z0-9_]+$/ replacing /[^a-z0-9_]/ with "_"'
    assert after(name, statement) == CASES[name].renamed


def test_a_result_in_the_object_of_its_call_is_that_calls_whatever_the_ids() -> None:
    rows = [row(invoked("same"), invoked("same", "result", result="x"))]
    kind = formats.find("mastra")
    pairs = View(kind.wrap(rows), Context(), kind.shape).pairing.occurrences
    assert [(it.call and it.call.position, it.result and it.result.position) for it in pairs] == [(0, None), (1, 1)]


@pytest.mark.parametrize("name", formats.FORMATS)
@pytest.mark.parametrize("is_partly", [False, True], ids=["none answered", "one answered"])
def test_an_answer_of_any_format_is_one_to_its_reader(name: str, is_partly: bool) -> None:
    calls = [{"type": "tool-call", "toolCallId": id_, "toolName": "ls", "input": {}} for id_ in "ab"]
    output = {"type": "text", "value": "x"}
    result = {"type": "tool-result", "toolCallId": "a", "toolName": "ls", "output": output}
    prompt = [
        {"role": "user", "content": [{"type": "text", "text": "go"}]},
        {"role": "assistant", "content": calls},
        *([{"role": "tool", "content": [result]}] if is_partly else []),
        {"role": "user", "content": [{"type": "text", "text": "on"}]},
    ]
    canonical, kind = formats.find("aisdk-v2"), formats.find(name)
    rules = compile_rules(
        f"rule wire {{ format {name} safety lossy answer call:orphan with {BODIES[name]} }}", kind="rules"
    )
    native = convert(prompt, canonical, kind).history
    answered = apply(native, model="any/model", format=name, rules=rules, errors="raise").messages
    said = [
        (message["role"], part.get("toolCallId", part.get("text")), part.get("output"))
        for message in convert(answered, kind, canonical).history
        for part in message["content"]
    ]
    assert said[:3] == [("user", "go", None), ("assistant", "a", None), ("assistant", "b", None)]
    assert sorted(said[3:-1]) == [("tool", "a", output), ("tool", "b", output)]
    assert said[-1] == ("user", "on", None)
