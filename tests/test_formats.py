"""The laws of the message formats, over payload files, reported histories and generated prompts.

A payload file is `{"about": ..., "native": history, "canonical": what it is read as}`; `canonical` may be left out.
`schemas.json` names each vendor's own schema, and what the format says that the schema leaves out: unsigned thinking,
inputs that are no objects, results that no hosted tool gives, images in tool messages.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from canonical import broken_prompts, prompts
from hypothesis import given, settings
from hypothesis import strategies as st
from lens_laws import (
    broken_natives,
    comparable,
    edited,
    from_scratch,
    items_of,
    lost,
    most_lost,
    refused,
    rewritten,
    single_edits,
)
from support import json_lines, shared

from historycompat import formats
from historycompat.edits import Edit, Lineage, commit, same
from historycompat.errors import HistoryError, NotCarried, UnknownFormat
from historycompat.formats.folding import ITEM
from historycompat.formats.format import OPAQUE, SAYS, Format
from historycompat.formats.responses_items import RUN

FOLDER = Path(__file__).parent / "formats"
PAYLOADS = {
    path.relative_to(FOLDER).as_posix(): json.loads(path.read_text()) for path in sorted(FOLDER.glob("*/*.json"))
}
SCHEMAS = json.loads((FOLDER / "schemas.json").read_text())
NAMES = list(formats.FORMATS)
FEW = settings(max_examples=12)  # for each of 28 formats; tests/test_lens_laws.py has many

payloads = pytest.mark.parametrize("name", PAYLOADS)
every_format = pytest.mark.parametrize("name", NAMES)


def format_of(payload: str) -> Format:
    return formats.find(payload.partition("/")[0])


def reported() -> Iterator[dict[str, Any]]:
    for report in json_lines(shared("cases/bug_reports.jsonl")):
        if report["format"] in formats.FORMATS:
            yield report


# Reading


@payloads
def test_a_payload_is_read_as_its_file_says(name: str) -> None:
    payload = PAYLOADS[name]
    if "canonical" in payload:
        assert format_of(name).read(payload["native"]).messages == payload["canonical"]


@payloads
def test_reading_changes_nothing_and_an_unchanged_history_is_written_as_itself(name: str) -> None:
    native = PAYLOADS[name]["native"]
    before = copy.deepcopy(native)
    reading = format_of(name).read(native)
    assert rewritten(format_of(name), reading) is native
    assert rewritten(format_of(name), reading, list(reading.messages)) is native
    assert native == before


@payloads
def test_whatever_was_read_can_be_carried(name: str) -> None:
    kind = format_of(name)
    for message in kind.read(PAYLOADS[name]["native"]).messages:
        if isinstance(message, dict):
            parts = message["content"] if isinstance(message.get("content"), list) else []
            reasons = {at: kind.carries(message, at) for at in (None, *range(len(parts)))}
            expected = "a tool message holds a list of results" if not parts and message.get("role") == "tool" else None
            assert reasons == dict.fromkeys(reasons) | ({None: expected} if expected else {})


def test_reported_histories_pass_unchanged() -> None:
    for report in reported():
        kind = formats.find(report["format"])
        for native in (report["messages"], {**report["request"], kind.spine[0]: report["messages"]}):
            reading = kind.read(native)
            assert rewritten(kind, reading) is native, report["id"]
            assert rewritten(kind, reading, list(reading.messages)) is native, report["id"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("history", "said"),
    [
        ("hello", "a list of messages or a request body"),
        (None, "this is a NoneType"),
        ({"role": "user", "content": "hi"}, "put it into a list"),
        ({"model": "x", "messages": None}, 'it holds "model", "messages"'),
    ],
)
def test_what_is_no_history_is_refused_with_what_was_seen(name: str, history: Any, said: str) -> None:
    with pytest.raises(HistoryError, match=said):
        formats.find(name).read(history)


# Writing from scratch


@every_format
@FEW
@given(data=st.data(), empty=st.sampled_from(["list", "body"]))
def test_a_prompt_that_the_format_can_say_survives(name: str, data: st.DataObject, empty: str) -> None:
    kind = formats.find(name)
    prompt = data.draw(prompts(kind.says))
    native = from_scratch(kind, prompt, [] if empty == "list" else {kind.spine[0]: []})
    for message in prompt:
        parts = message["content"] if isinstance(message["content"], list) else []
        assert [kind.carries(message, at) for at in (None, *range(len(parts)))] == [None] * (len(parts) + 1)
    assert kind.read(native).messages == prompt


@every_format
@FEW
@given(data=st.data())
def test_a_prompt_beyond_the_format_settles(name: str, data: st.DataObject) -> None:
    """What the format degrades, it degrades once: the result is a prompt that it says exactly."""
    kind = formats.find(name)
    prompt = data.draw(prompts())
    try:
        native = from_scratch(kind, prompt, [])
    except NotCarried as refusal:
        _, _, index, _, position = refusal.pointer.split("/")
        assert kind.carries(prompt[int(index)], int(position))
        return
    settled = kind.read(native).messages
    again = kind.read(from_scratch(kind, copy.deepcopy(settled), [])).messages
    assert again == settled


@every_format
@FEW
@given(data=st.data())
def test_what_is_written_from_scratch_fits_the_vendors_schema(name: str, data: st.DataObject) -> None:
    kind = formats.find(name)
    says = kind.says - set(SCHEMAS[name]["without"])
    schema_validator(name).validate(from_scratch(kind, data.draw(prompts(says)), []))


@cache
def schema_validator(name: str) -> jsonschema.Draft202012Validator:
    path = FOLDER.parent / SCHEMAS[name]["schema"]
    path = path if path.exists() else shared(SCHEMAS[name]["schema"])
    return jsonschema.Draft202012Validator(json.loads(path.read_text()))


# Edits


@payloads
def test_one_edit_is_written_and_leaves_every_other_native_object_alone(name: str) -> None:
    kind = format_of(name)
    native = PAYLOADS[name]["native"]
    before = copy.deepcopy(native)
    reading = kind.read(native)
    for what, edits in single_edits(reading.messages):
        messages, lineage = edited(reading, *edits)
        index = edits[0].path[1]
        if index < len(messages) and isinstance(messages[index], dict) and refused(kind, messages[index]):
            continue
        written = rewritten(kind, reading, messages, lineage)
        assert comparable(kind, kind.read(written).messages) == comparable(kind, messages), what
        gone = lost(items_of(native), items_of(written))
        assert len(gone) <= most_lost(kind, reading, what), what
        assert native == before, what


@payloads
def test_an_edited_message_keeps_the_native_parts_that_were_not_edited(name: str) -> None:
    kind = format_of(name)
    reading = kind.read(PAYLOADS[name]["native"])
    for what, edits in single_edits(reading.messages):
        if not what.startswith("drop part"):
            continue
        messages, lineage = edited(reading, *edits)
        written = rewritten(kind, reading, messages, lineage)
        gone = lost(list(_parts(items_of(PAYLOADS[name]["native"]))), list(_parts(items_of(written))))
        assert len(gone) <= 1, what


COPIES = ("toolInvocations", "toolCallArgs")  # what rows say a second time


def _parts(items: list[Any]) -> Iterator[Any]:
    """The parts of native messages, without marks that go with the part before them."""
    for item in items:
        for key, value in item.items() if isinstance(item, dict) else ():
            if isinstance(value, list) and key not in COPIES:
                yield from (part for part in value if isinstance(part, dict) and part.keys() != {"cachePoint"})


@every_format
@FEW
@given(data=st.data())
def test_broken_histories_pass_and_can_be_edited(name: str, data: st.DataObject) -> None:
    kind = formats.find(name)
    native = data.draw(broken_natives(kind))
    before = copy.deepcopy(native)
    reading = kind.read(native)
    assert rewritten(kind, reading) is native
    assert rewritten(kind, reading, list(reading.messages)) is native
    choices = list(single_edits(reading.messages))
    what, edits = data.draw(st.sampled_from(choices))
    messages, lineage = edited(reading, *edits)
    written = rewritten(kind, reading, messages, lineage)
    assert len(lost(native, written)) <= most_lost(kind, reading, what)
    assert same(native, before)


@every_format
@FEW
@given(data=st.data())
def test_any_sequence_of_moves_keeps_native_objects(name: str, data: st.DataObject) -> None:
    """Messages in any order, some dropped: every kept message that stands alone is the native object it was."""
    kind = formats.find(name)
    native = from_scratch(kind, data.draw(prompts(kind.says)), [])
    reading = kind.read(native)
    order = data.draw(st.permutations(reading.messages))[: data.draw(st.integers(0, len(reading.messages)))]
    written = rewritten(kind, reading, order)
    assert comparable(kind, kind.read(written).messages) == comparable(kind, order)
    homes = reading.homes().values()
    alone = [items[0] for items, made in homes if len(made) == 1 and any(made[0] is m for m in order)]
    alone = [native for item in alone for native in natives_of(item)]
    assert all(any(item is other for other in written) for item in alone)


def natives_of(item: Any) -> list[Any]:
    """The native objects that an item of a reading stands for."""
    return [part.get(ITEM, part) for part in item[RUN]] if RUN in item else [item.get(ITEM, item)]


@payloads
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_edits_on_edits_are_written(name: str, data: st.DataObject) -> None:
    """Several statements, one after another, on messages that others copied, moved or merged before."""
    kind = format_of(name)
    native = PAYLOADS[name]["native"]
    reading = kind.read(native)
    root, lineage = {"messages": reading.messages}, Lineage()
    for number in range(data.draw(st.integers(2, 4))):
        # Each new id is one of its own: equal ones would make a pair of what stands apart.
        single = single_edits(root["messages"], f"changed_{number}")
        choices = [edits for _, edits in [*single, *merges(root["messages"])]]
        changed, _ = commit(root, data.draw(st.sampled_from(choices)), lineage)
        if not any(isinstance(m, dict) and refused(kind, m) for m in changed["messages"]):
            root = changed
    written = rewritten(kind, reading, root["messages"], lineage)
    order = _slot_order if "any-order" not in kind.says else lambda messages: messages
    assert order(comparable(kind, kind.read(written).messages)) == order(comparable(kind, root["messages"]))


def merges(messages: list[Any]) -> Iterator[tuple[str, tuple[Edit, ...]]]:
    """Neighbours of one role as one; not where a place that should hold a list holds something else."""
    for index, (one, two) in enumerate(pairwise(messages)):
        pair = [m for m in (one, two) if isinstance(m, dict) and isinstance(m.get("content"), list)]
        if any(part["type"] == OPAQUE for m in pair for part in m["content"] if isinstance(part, dict)):
            continue
        if len(pair) == 2 and one.get("role") == two.get("role") in ("user", "assistant"):
            at = ("messages", index)
            joined = [*one["content"], *two["content"]]
            yield f"merge {index}", (Edit("replace", (*at, "content"), joined), Edit("remove", ("messages", index + 1)))


def _slot_order(messages: list[Any]) -> list[Any]:
    """Messages with the parts of assistants in an order that says nothing."""
    for message in messages:
        if isinstance(message, dict) and message.get("role") == "assistant":
            message["content"] = sorted(message["content"], key=lambda part: json.dumps(part, sort_keys=True))
    return messages


# Named cases of writing


def chat(*messages: dict[str, Any]) -> list[dict[str, Any]]:
    return list(messages)


def test_merged_messages_unite_what_the_prompt_does_not_show() -> None:
    kind = formats.find("openai-chat")
    native = chat(
        {"role": "user", "content": "a", "x_client": 1},
        {"role": "user", "content": [{"type": "text", "text": "b", "x_part": 2}], "x_other": 3},
    )
    reading = kind.read(native)
    first, second = reading.messages
    messages, lineage = edited(
        reading,
        Edit("replace", ("messages", 0, "content"), [*first["content"], *second["content"]]),
        Edit("remove", ("messages", 1)),
    )
    (merged,) = rewritten(kind, reading, messages, lineage)
    assert merged == {
        "role": "user",
        "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b", "x_part": 2}],
        "x_client": 1,
        "x_other": 3,
    }
    assert merged["content"][1] is native[1]["content"][0]


def test_an_edited_call_keeps_what_its_format_alone_knows() -> None:
    kind = formats.find("openai-chat")
    call = {"id": "a.b", "index": 0, "type": "function", "function": {"arguments": '{ "a" : 1 }', "name": "f", "x": 1}}
    reading = kind.read(chat({"role": "assistant", "content": None, "tool_calls": [call], "x_turn": 7}))
    messages, lineage = edited(reading, Edit("replace", ("messages", 0, "content", 0, "toolCallId"), "a_b"))
    (written,) = rewritten(kind, reading, messages, lineage)
    assert json.dumps(written) == json.dumps(
        {"role": "assistant", "content": None, "tool_calls": [{**call, "id": "a_b"}], "x_turn": 7}
    )
    assert written["tool_calls"][0]["function"] is call["function"]


def test_a_reasoning_string_stays_a_copy_of_the_details() -> None:
    kind = formats.find("openai-chat")
    detail = {"type": "reasoning.text", "text": "long thought", "signature": "c2ln"}
    native = chat({"role": "assistant", "content": "x", "reasoning": "long thought", "reasoning_details": [detail]})
    reading = kind.read(native)
    shorter, lineage = edited(reading, Edit("replace", ("messages", 0, "content", 0, "text"), "thought"))
    assert rewritten(kind, reading, shorter, lineage)[0] == {
        "role": "assistant",
        "content": "x",
        "reasoning": "thought",
        "reasoning_details": [{**detail, "text": "thought"}],
    }
    gone, lineage = edited(reading, Edit("remove", ("messages", 0, "content", 0)))
    assert rewritten(kind, reading, gone, lineage) == chat({"role": "assistant", "content": "x"})


def test_an_inserted_result_joins_the_user_message_it_belongs_to() -> None:
    kind = formats.find("anthropic")
    native = chat(
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": n, "name": "f", "input": {}} for n in ("t1", "t2")],
        },
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "1"}, {"type": "text", "text": "go"}],
        },
    )
    reading = kind.read(native)
    result = {
        "type": "tool-result",
        "toolCallId": "t2",
        "toolName": "f",
        "output": {"type": "error-text", "value": "lost"},
    }
    messages, lineage = edited(reading, Edit("add", ("messages", 1, "content", 1), result))
    written = rewritten(kind, reading, messages, lineage)
    assert written[0] is native[0]
    assert written[1]["content"][1] == {"type": "tool_result", "tool_use_id": "t2", "content": "lost", "is_error": True}
    assert [written[1]["content"][0], written[1]["content"][2]] == native[1]["content"]


def test_the_result_of_a_hosted_tool_keeps_its_block_type() -> None:
    kind = formats.find("anthropic")
    native = PAYLOADS["anthropic/hosted_tools.json"]["native"]
    reading = kind.read(native)
    for position, changed in ((1, []), (3, {"type": "tool_search_tool_search_result", "tool_references": []})):
        place = ("messages", 1, "content", position, "output", "value")
        messages, lineage = edited(reading, Edit("replace", place, changed))
        written = rewritten(kind, reading, messages, lineage)[1]["content"]
        assert written[position] == {**native[1]["content"][position], "content": changed}
        assert [new is old for new, old in zip(written, native[1]["content"], strict=True)].count(False) == 1


def test_new_results_and_the_new_user_message_behind_them_are_one_native_message() -> None:
    prompt = [
        {
            "role": "tool",
            "content": [{"type": "tool-result", "toolCallId": "t", "output": {"type": "text", "value": "1"}}],
        },
        {"role": "user", "content": [{"type": "text", "text": "go"}]},
    ]
    native = from_scratch(formats.find("anthropic"), prompt, [])
    assert native == [
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "t", "content": "1"}, {"type": "text", "text": "go"}],
        }
    ]


@pytest.mark.parametrize(
    ("edits", "system", "first"),
    [
        ([Edit("replace", ("messages", 0, "content"), "Be kind.")], "Be kind.", "user"),
        ([Edit("remove", ("messages", 0))], None, "user"),
        ([Edit("replace", ("messages", 0, "role"), "user")], None, "user"),
        ([Edit("add", ("messages", 2), {"role": "system", "content": "late"})], "Be brief.", "user"),
    ],
)
def test_the_system_prompt_beside_the_messages_follows_its_message(edits: list[Edit], system: Any, first: str) -> None:
    kind = formats.find("anthropic")
    body = {"system": "Be brief.", "messages": [{"role": "user", "content": "hi"}], "model": "m"}
    reading = kind.read(body)
    messages, lineage = edited(reading, *edits)
    written = rewritten(kind, reading, messages, lineage)
    assert written.get("system") == system
    assert written["messages"][0]["role"] == first
    assert written["model"] == "m"


def test_tools_and_parameters_of_a_body_are_edited_alone() -> None:
    kind = formats.find("openai-chat")
    body = PAYLOADS["openai-chat/request_body.json"]["native"]
    reading = kind.read(body)
    assert reading.has_request
    assert reading.tools is not None
    assert reading.params == {"model": "gpt-5", "temperature": 0, "stream": True}
    tools = [{"type": "function", "name": "new", "inputSchema": {"type": "object"}}, *reading.tools]
    written = kind.write(reading, reading.messages, tools, {"model": "gpt-5", "top_p": 1}, Lineage())
    assert written["messages"] is body["messages"]
    assert written["tools"][0] == {"type": "function", "function": {"name": "new", "parameters": {"type": "object"}}}
    assert [written["tools"][1] is body["tools"][0], written["tools"][2] is body["tools"][1]] == [True, True]
    assert {key: value for key, value in written.items() if key not in ("messages", "tools")} == {
        "model": "gpt-5",
        "top_p": 1,
    }


@pytest.mark.parametrize(
    ("name", "role", "part", "said"),
    [
        (
            "openai-chat",
            "user",
            {"type": "tool-call", "toolCallId": "c", "toolName": "f", "input": {}},
            "no such tool-call",
        ),
        (
            "openai-chat",
            "assistant",
            {"type": "tool-call", "toolCallId": "c", "providerExecuted": True},
            "providerExecuted",
        ),
        ("openai-chat", "tool", {"type": "text", "text": "x"}, "no such text part"),
        ("openai-chat", "user", {"type": "file", "data": "AAAA", "mediaType": "video/mp4"}, "no such file part"),
        (
            "openai-chat",
            "user",
            {"type": "text", "text": "x", "providerOptions": {"openai": {"oops": 1}}},
            "openai.oops",
        ),
        ("anthropic", "user", {"type": "text", "text": "x", "shout": True}, "field shout"),
        ("anthropic", "user", {"type": "tool-result", "toolCallId": "t"}, "stands in tool messages"),
        ("anthropic", "tool", {"type": "text", "text": "x"}, "stands in user messages"),
        ("anthropic", "user", {"type": "file", "data": "?", "mediaType": "text/plain"}, "not base64"),
        ("anthropic", "user", {"type": OPAQUE, "format": "openai-chat", "at": "content", "value": {}}, "openai-chat"),
        ("aisdk-v2", "user", {"type": OPAQUE, "format": "anthropic", "at": "content", "value": {}}, "anthropic"),
    ],
)
def test_what_a_format_cannot_say_is_refused_with_the_reason(
    name: str, role: str, part: dict[str, Any], said: str
) -> None:
    reason = formats.find(name).carries({"role": role, "content": [part]}, 0)
    assert reason is not None
    assert said in reason


def test_writing_what_cannot_be_carried_names_the_place() -> None:
    kind = formats.find("openai-chat")
    prompt = [{"role": "user", "content": [{"type": "text", "text": "x"}, {"type": "reasoning", "text": "y"}]}]
    with pytest.raises(NotCarried) as refusal:
        from_scratch(kind, prompt, [])
    assert refusal.value.pointer == "/messages/0/content/1"


@every_format
def test_a_body_is_wrapped_around_a_bare_list_and_taken_off_again(name: str) -> None:
    kind = formats.find(name)
    messages = [{"role": "user", "content": "hi"}]
    key = kind.spine[0]
    assert kind.wrap(messages)[key] is messages
    assert kind.unwrap(kind.wrap(messages), messages) is messages
    body = {key: messages, "model": "m"}
    assert kind.unwrap(kind.wrap(body), body) is body


@every_format
def test_what_a_format_says_is_declared_in_known_words(name: str) -> None:
    assert formats.find(name).says <= SAYS.keys()


# Detection


@payloads
def test_payloads_are_recognised(name: str) -> None:
    found = formats.detect(PAYLOADS[name]["native"])
    assert format_of(name).name in (found.format.name, *found.also)
    if not name.endswith("/broken.json") and "plain" not in name:
        assert found.format is format_of(name)


# Its only message is one that OpenAI takes and Anthropic does not: nothing in it says Anthropic.
LOOKS_LIKE_ANOTHER = {"anthropic-image-url-part"}


def test_reported_histories_are_recognised() -> None:
    for report in reported():
        found = formats.detect(report["messages"])
        assert report["format"] in (found.format.name, *found.also) or report["id"] in LOOKS_LIKE_ANOTHER, report["id"]
        if not _is_plain(report["messages"]) and report["id"] not in LOOKS_LIKE_ANOTHER:
            assert found.format.name == report["format"], report["id"]


def _is_plain(messages: list[Any]) -> bool:
    """Whether messages have nothing but a role and a text, as several formats write them."""
    return all(message.keys() == {"role", "content"} and isinstance(message["content"], str) for message in messages)


SDK_MEDIA: list[tuple[dict[str, Any], set[str]]] = [
    ({"type": "image", "image": "iVBORw0KGgo="}, {"core-message", "model-message", "aisdk-v1"}),
    ({"type": "image", "image": "iVBORw0KGgo=", "mimeType": "image/png"}, {"core-message", "aisdk-v1"}),
    ({"type": "file", "data": "iVBORw0KGgo=", "mediaType": "image/png"}, {"model-message", "aisdk-v2"}),
    ({"type": "file", "data": "iVBORw0KGgo=", "mimeType": "image/png"}, {"core-message", "aisdk-v1"}),
]


@pytest.mark.parametrize(("part", "names"), SDK_MEDIA)
def test_media_of_the_ai_sdk_is_no_other_format_s(part: dict[str, Any], names: set[str]) -> None:
    found = formats.detect([{"role": "user", "content": [{"type": "text", "text": "Look!"}, part]}])
    assert found.format.name in names
    assert {
        each["type"] for each in found.format.read([{"role": "user", "content": [part]}]).messages[0]["content"]
    } == {"file"}


@pytest.mark.parametrize(
    ("history", "name"),
    [
        ({"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}, "gemini"),
        ({"contents": [{"role": "user", "parts": [{"seen": 1, "text": "hi"}]}]}, "gemini"),
        ([{"role": "user", "parts": [{"text": "hi"}]}], "gemini"),
        ([{"role": "user", "parts": [{"type": "text", "text": "hi"}]}], "ui-message"),
        ([{"role": "user", "parts": []}], "ui-message"),
        ({"input": [{"role": "user", "content": "hi"}]}, "openai-responses"),
        ({"input": [{"role": "user", "content": "hi"}], "model": "gpt-5"}, "openai-responses"),
        ({"id": 1, "messages": [{"role": "user", "parts": [{"text": "hi"}]}]}, "gemini"),
    ],
)
def test_a_body_is_in_a_format_that_reads_its_key(history: Any, name: str) -> None:
    assert formats.detect(history).format.name == name


def test_a_plain_history_fits_several_formats() -> None:
    found = formats.detect([{"role": "user", "content": "Hello!"}, {"role": "assistant", "content": "Hi."}])
    assert (found.format.name, found.also[:1]) == ("openai-chat", ("anthropic",))


@pytest.mark.parametrize("history", [[], {}, "text", [1, 2], [{"kind": "request", "what": "else"}], {"messages": [{}]}])
def test_what_no_format_explains_is_refused_with_what_was_seen(history: Any) -> None:
    with pytest.raises(UnknownFormat, match=r"no format fits this history \(.*formats: openai-chat, anthropic"):
        formats.detect(history)


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownFormat, match=r'did you mean "anthropic"\?'):
        formats.find("antropic")


@FEW
@given(history=broken_prompts())
def test_detection_never_fails_otherwise(history: list[Any]) -> None:
    with suppress(UnknownFormat):
        assert 0 < formats.detect(history).confidence <= 1
