"""Named cases of the wire formats: what one edit becomes in native objects, and where a shape has calls and results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from historycompat import formats
from historycompat.edits import Edit, Lineage, commit
from historycompat.formats.format import Reading
from historycompat.view import Context, View

FOLDER = Path(__file__).parent / "formats"
USER = {"role": "user", "content": [{"type": "text", "text": "hi"}]}


def payload(name: str) -> Any:
    return json.loads((FOLDER / f"{name}.json").read_text())["native"]


def after(name: str, native: Any, *edits: Edit) -> Any:
    """The native history with some edits of its canonical prompt."""
    kind = formats.find(name)
    reading = kind.read(native)
    lineage = Lineage()
    root, _ = commit({"messages": reading.messages}, edits, lineage)
    return kind.write(reading, root["messages"], reading.tools, reading.params, lineage)


def result(call: str, **more: Any) -> dict[str, Any]:
    return {"type": "tool-result", "toolCallId": call, "output": {"type": "text", "value": "lost"}, **more}


def signed(call: dict[str, Any], *path: str) -> Any:
    for key in path:
        call = call[key]
    return call


# OpenAI Responses


def test_a_new_output_has_the_type_of_its_call() -> None:
    native = payload("openai-responses/agent_run")[:6]
    new = [{"role": "tool", "content": [result("call_1"), result("call_2")]}]
    written = after("openai-responses", native, Edit("add", ("messages", 3), new[0]))
    assert written[6:] == [
        {"type": "function_call_output", "call_id": "call_1", "output": "lost"},
        {"type": "custom_tool_call_output", "call_id": "call_2", "output": "lost"},
    ]
    assert all(a is b for a, b in zip(written, native, strict=False))


def test_the_new_input_of_a_custom_tool_is_text() -> None:
    call = {"type": "custom_tool_call", "id": "ctc_1", "call_id": "c", "name": "f", "input": "ls"}
    (written,) = after("openai-responses", [call], Edit("replace", ("messages", 0, "content", 0, "input"), {"a": 1}))
    assert written == {**call, "input": '{"a":1}'}


def test_an_item_loses_its_id_with_the_option() -> None:
    native = payload("openai-responses/agent_run")
    places = [("messages", 2, "content", at, "providerOptions", "openai", "itemId") for at in (2, 3)]
    written = after("openai-responses", native, *(Edit("remove", place) for place in places))
    assert written[3] == {key: value for key, value in native[3].items() if key != "id"}
    assert written[3]["content"] is native[3]["content"]
    assert [a is b for a, b in zip(written, native, strict=True)].count(False) == 1


def test_one_of_two_summaries_leaves_the_item() -> None:
    native = payload("openai-responses/agent_run")
    written = after("openai-responses", native, Edit("remove", ("messages", 2, "content", 0)))
    assert written[2] == {**native[2], "summary": native[2]["summary"][1:]}
    assert written[2]["summary"][0] is native[2]["summary"][1]


def test_new_parts_of_one_id_are_one_item() -> None:
    said = {"openai": {"itemId": "msg_1"}}
    thought = {"openai": {"itemId": "rs_1", "reasoningEncryptedContent": "gAAA"}}
    content = [
        {"type": "reasoning", "text": "a", "providerOptions": thought},
        {"type": "reasoning", "text": "b", "providerOptions": thought},
        {"type": "text", "text": "c", "providerOptions": said},
        {"type": "text", "text": "d", "providerOptions": said},
        {"type": "text", "text": "e"},
    ]
    assert after("openai-responses", [], Edit("add", ("messages", 0), {"role": "assistant", "content": content})) == [
        {
            "type": "reasoning",
            "summary": [{"type": "summary_text", "text": "a"}, {"type": "summary_text", "text": "b"}],
            "id": "rs_1",
            "encrypted_content": "gAAA",
        },
        {
            "type": "message",
            "role": "assistant",
            "status": "completed",
            "content": [
                {"type": "output_text", "annotations": [], "text": "c"},
                {"type": "output_text", "annotations": [], "text": "d"},
            ],
            "id": "msg_1",
        },
        {"role": "assistant", "content": "e"},
    ]


CHAT_ITEMS: list[dict[str, Any]] = [
    {
        "role": "assistant",
        "content": "I will look.",
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"at":1}'}},
            {"id": "c2", "type": "function", "function": {"name": "ask", "arguments": "{}"}},
        ],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "worn"},
    {"role": "tool", "tool_call_id": "c2", "content": "no"},
]


def test_messages_of_the_chat_api_become_items_with_the_option() -> None:
    places = [(0, 1), (0, 2), (1, 0), (2, 0)]
    flags = [("messages", index, "content", at, "providerOptions", "openai", "chat") for index, at in places]
    assert after("openai-responses", CHAT_ITEMS, *(Edit("remove", flag) for flag in flags)) == [
        {"role": "assistant", "content": "I will look."},
        {"type": "function_call", "call_id": "c1", "name": "look", "arguments": '{"at":1}'},
        {"type": "function_call", "call_id": "c2", "name": "ask", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "worn"},
        {"type": "function_call_output", "call_id": "c2", "output": "no"},
    ]


def test_messages_of_the_chat_api_stay_such_when_other_things_change() -> None:
    calls = CHAT_ITEMS[0]["tool_calls"]
    written = after("openai-responses", CHAT_ITEMS, Edit("replace", ("messages", 0, "content", 1, "toolCallId"), "c_1"))
    assert written == [{**CHAT_ITEMS[0], "tool_calls": [{**calls[0], "id": "c_1"}, calls[1]]}, *CHAT_ITEMS[1:]]
    assert written[0]["tool_calls"][1] is calls[1]
    assert after("openai-responses", CHAT_ITEMS, Edit("remove", ("messages", 0, "content", 0)))[0] == {
        **CHAT_ITEMS[0],
        "content": None,
    }


def test_instructions_stay_a_text_and_a_text_input_becomes_a_list_only_when_edited() -> None:
    body = payload("openai-responses/text_body")
    texts = [{"type": "text", "text": "Be kind."}, {"type": "text", "text": "Be brief."}]
    assert after("openai-responses", body, Edit("replace", ("messages", 0, "content"), texts)) == {
        **body,
        "instructions": "Be kind.\n\nBe brief.",
    }
    assert after("openai-responses", body, Edit("add", ("messages", 2), USER))["input"] == [
        {"role": "user", "content": "Hello!"},
        {"role": "user", "content": "hi"},
    ]


# Gemini


def test_bytes_are_read_as_base64_and_stay_bytes() -> None:
    part = {"inline_data": {"mime_type": "image/png", "data": b"\x89PNG"}, "thought_signature": b"sig"}
    native = [{"role": "model", "parts": [part, {"text": "x", "thought_signature": b"sig"}]}]
    (message,) = formats.find("gemini").read(native).messages
    assert message["content"] == [
        {
            "type": "file",
            "data": "iVBORw==",
            "mediaType": "image/png",
            "providerOptions": {"google": {"thoughtSignature": "c2ln"}},
        },
        {"type": "text", "text": "x", "providerOptions": {"google": {"thoughtSignature": "c2ln"}}},
    ]
    written = after("gemini", native, Edit("replace", ("messages", 0, "content", 0, "data"), "iVBORwA="))
    assert written[0]["parts"][0] == {**part, "inline_data": {"mime_type": "image/png", "data": b"\x89PNG\x00"}}
    assert written[0]["parts"][1] is native[0]["parts"][1]
    place = ("messages", 0, "content", 1, "providerOptions", "google", "thoughtSignature")
    assert after("gemini", native, Edit("remove", place))[0]["parts"][1] == {"text": "x"}


def test_made_ids_are_not_written_and_others_are() -> None:
    native = payload("gemini/agent_run")
    place = ("messages", 1, "content", 3, "toolName")
    assert after("gemini", native, Edit("replace", place, "cost"))[1]["parts"][3] == {"functionCall": {"name": "cost"}}
    place = ("messages", 1, "content", 3, "toolCallId")
    renamed = after("gemini", native, Edit("replace", place, "c1"))[1]["parts"][3]
    assert renamed == {"functionCall": {"name": "price", "id": "c1"}}
    new = result("unidentified_2", toolName="price")
    answered = after("gemini", native, Edit("add", ("messages", 2, "content", 1), new))[2]["parts"][1]
    assert answered == {"functionResponse": {"name": "price", "response": {"output": "lost"}}}


def test_the_system_instruction_keeps_its_other_keys() -> None:
    body = payload("gemini/request_body")
    written = after("gemini", body, Edit("replace", ("messages", 0, "content"), "Be kind."))
    assert written["systemInstruction"] == {"role": "user", "parts": [{"text": "Be kind."}]}
    assert written["contents"] is body["contents"]


def test_function_declarations_are_tools_and_go_back_where_they_were() -> None:
    kind = formats.find("gemini")
    body = payload("gemini/request_body")
    reading = kind.read(body)
    assert reading.tools is not None
    assert [tool.get("name") for tool in reading.tools] == ["weather", "time", None]
    tools = [{**reading.tools[0], "name": "weather_now"}, *reading.tools[1:], {"type": "function", "name": "new"}]
    lineage = Lineage()
    lineage.record(tools[0], reading.tools[0])
    written = kind.write(reading, reading.messages, tools, reading.params, lineage)["tools"]
    old = body["tools"][0]["functionDeclarations"]
    assert written[0] == {"functionDeclarations": [{**old[0], "name": "weather_now"}, old[1]]}
    assert written[0]["functionDeclarations"][1] is old[1]
    assert written[1] is body["tools"][1]
    assert written[2] == {"functionDeclarations": [{"name": "new"}]}


# Bedrock


def test_a_cache_point_follows_its_block() -> None:
    native = payload("bedrock/agent_run")
    text = ("messages", 0, "content", 2, "filename")
    assert after("bedrock", native, Edit("replace", text, "m"))[0]["content"][3] is native[0]["content"][3]
    place = ("messages", 0, "content", 2, "providerOptions")
    assert after("bedrock", native, Edit("remove", place))[0]["content"] == native[0]["content"][:3]
    new = {"bedrock": {"cachePoint": {"type": "default"}}}
    marked = after("bedrock", native, Edit("add", ("messages", 0, "content", 0, "providerOptions"), new))
    assert marked[0]["content"][:2] == [{"text": "My brake squeaks."}, {"cachePoint": {"type": "default"}}]


def test_tools_of_a_tool_configuration_are_edited_alone() -> None:
    kind = formats.find("bedrock")
    body = payload("bedrock/request_body")
    reading = kind.read(body)
    assert reading.tools is not None
    written = kind.write(reading, reading.messages, reading.tools[1:], reading.params, Lineage())
    assert written["toolConfig"] == {"tools": body["toolConfig"]["tools"][1:], "toolChoice": {"auto": {}}}
    assert written["messages"] is body["messages"]
    assert reading.params is not None
    assert reading.params.keys() == {"modelId", "inferenceConfig"}


# Chat formats


def test_arguments_stay_text_or_object() -> None:
    native = payload("mistral-chat/agent_run")
    edits = [Edit("replace", ("messages", 2, "content", at, "input"), {"x": 1}) for at in (2, 3)]
    calls = after("mistral-chat", native, *edits)[2]["tool_calls"]
    assert [call["function"]["arguments"] for call in calls] == ['{"x":1}', {"x": 1}]


@pytest.mark.parametrize(
    ("at", "path"),
    [(0, ("extra_content", "google", "thought_signature")), (1, ("provider_specific_fields", "thought_signature"))],
)
def test_a_signature_on_a_call_stays_where_it_was(at: int, path: tuple[str, ...]) -> None:
    native = payload("openai-chat/signatures")
    place = ("messages", 1, "content", at, "providerOptions", "google", "thoughtSignature")
    call = after("openai-chat", native, Edit("replace", place, "bmV3"))[1]["tool_calls"][at]
    assert signed(call, *path) == "bmV3"
    assert call.keys() == native[1]["tool_calls"][at].keys()
    gone = after("openai-chat", native, Edit("remove", place))[1]["tool_calls"][at]
    assert "c2ln" not in json.dumps(gone)


def test_a_document_stays_one() -> None:
    native = payload("cohere-chat/agent_run")
    place = ("messages", 3, "content", 0, "output")
    changed = after("cohere-chat", native, Edit("replace", place, {"type": "json", "value": {"state": "new"}}))
    assert changed[3]["content"] == [{"type": "document", "document": {"id": "doc_1", "data": {"state": "new"}}}]
    assert after("cohere-chat", native, Edit("replace", place, {"type": "error-text", "value": "lost"}))[3] == {
        "role": "tool",
        "tool_call_id": "look_1",
        "content": "lost",
    }


# What formats refuse, and where their shapes have calls and results

IMAGE = {"type": "file", "data": "https://example.org/a.png", "mediaType": "image/*"}
PDF = {"type": "file", "data": "JVBERi0=", "mediaType": "application/pdf"}
PICTURE = {"type": "media", "data": "iVBORw0K", "mediaType": "image/png"}
SHOWN = {"type": "tool-result", "toolCallId": "c", "output": {"type": "content", "value": [PICTURE]}}


@pytest.mark.parametrize(
    ("name", "role", "part", "said"),
    [
        ("openai-responses", "assistant", PDF, "no such file"),
        ("openai-responses", "assistant", {"type": "tool-result", "toolCallId": "c"}, "no such tool-result"),
        ("openai-responses", "user", {"type": "reasoning", "text": "x"}, "no such reasoning"),
        ("gemini", "user", {"type": "tool-result", "toolCallId": "c"}, "stands in tool messages"),
        ("gemini", "user", {"type": "text", "text": "x", "providerOptions": {"google": {"x": 1}}}, "google.x"),
        ("gemini", "assistant", {"type": "tool-call", "providerExecuted": True}, "providerExecuted"),
        ("bedrock", "user", IMAGE, "no such file"),
        ("bedrock", "user", {**PDF, "mediaType": "application/zip"}, "no such file"),
        ("mistral-chat", "user", {**PDF, "mediaType": "video/mp4"}, "no such file"),
        ("mistral-chat", "user", {"type": "tool-call", "toolCallId": "c"}, "no such tool-call"),
        ("cohere-chat", "user", PDF, "no such file"),
        ("cohere-chat", "tool", SHOWN, "no such media"),
        ("ollama-chat", "user", IMAGE, "no such file"),
        ("ollama-chat", "tool", SHOWN, "no such media"),
    ],
)
def test_what_a_format_cannot_say_is_refused(name: str, role: str, part: dict[str, Any], said: str) -> None:
    reason = formats.find(name).carries({"role": role, "content": [part]}, 0)
    assert reason is not None
    assert said in reason


PAIRS = {
    "openai-responses/agent_run": [("call_1", "look", "call_1"), ("call_2", "run", "call_2")],
    "openai-responses/hosted_items": [("call_sh", None, "call_sh")],
    "gemini/request_body": [("fc-1", "weather", "fc-1")],
    "gemini/python_sdk": [(None, "weather", None)],
    "bedrock/request_body": [("tooluse_1", "weather", "tooluse_1")],
    "bedrock/hosted_tools": [("srv_1", "web_search", "srv_1")],
    "mistral-chat/request_body": [("aB3dE5gH7", "weather", "aB3dE5gH7")],
    "cohere-chat/agent_run": [("look_1", "look", "look_1"), ("price_1", "price", "price_1")],
    "ollama-chat/agent_run": [(None, "look", None), (None, "price", None), ("call_9", "look", "call_9")],
}


@pytest.mark.parametrize("name", PAIRS)
def test_shapes_have_calls_and_results_where_they_stand(name: str) -> None:
    kind = formats.find(name.partition("/")[0])
    view = View(kind.wrap(payload(name)), Context(), kind.shape)
    pairs = [(it.call, it.result) for it in view.pairing.occurrences]
    assert [(call.id, call.name, result.id) for call, result in pairs if call and result] == PAIRS[name]
    assert len(pairs) == len(PAIRS[name])


def test_a_reading_of_a_bare_list_knows_no_request() -> None:
    readings: list[Reading] = [kind.read([USER]) for kind in formats.FORMATS.values()]
    assert not any(reading.has_request for reading in readings)
