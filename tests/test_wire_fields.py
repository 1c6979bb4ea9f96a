"""Keys in wire-shape rules are those of the format, and a misspelt one is refused with what was meant."""

from __future__ import annotations

import pytest
from support import ROOT
from wire_keys import FILE, text

from historycompat import formats
from historycompat.compiling import complaints_about, read_source
from historycompat.errors import Complaint
from historycompat.source import Source

BAD = [
    ("openai-chat", "drop path mesages[0]", "mesages", "messages"),
    ("openai-chat", "set tool_call.id to 'x' on message assistant", "tool_call", "tool_calls"),
    ("openai-chat", "drop path messages[*].tool_calls[?function.argument == '']", "argument", "arguments"),
    ("openai-chat", "unset refusals on message assistant", "refusals", "refusal"),
    ("anthropic", "drop path messages[*].content[?toolUseId == 'x']", "toolUseId", "tool_use_id"),
    ("anthropic", "unset cache_contrl on path messages[*].content[?type == 'text']", "cache_contrl", "cache_control"),
    ("gemini", "drop path contents[*].parts[?function_cal]", "function_cal", "function_call"),
    ("gemini", "set functionCall.nam to 'x' on path contents[*].parts[?functionCall]", "nam", "name"),
    ("bedrock", "drop path messages[*].content[?tooluse.name == 'x']", "tooluse", "toolUse"),
    ("openai-responses", "drop path input[?callId == 'x']", "callId", "call_id"),
    ("mastra", "set threadid to 'x' on message user", "threadid", "threadId"),
    ("langchain", "drop message where tool_call_ids == 'x'", "tool_call_ids", "tool_call_id"),
    ("pydantic-ai", "drop path messages[*].parts[?part_kinds == 'text']", "part_kinds", "part_kind"),
    ("cohere-chat", "set tool_plans to '' on message assistant", "tool_plans", "tool_plan"),
]

GOOD = [
    ("openai-chat", "unset reasoning_content on message assistant"),
    ("openai-chat", "rename toolCalls to tool_calls on message assistant"),
    ("openai-chat", "set tool_choice to 'auto' on prompt where $messages[0].role == 'user'"),
    ("openai-chat", "drop path messages[*].tool_calls[?function.name == 'x' && type == 'function']"),
    ("openai-chat", "unset x_vendor_field on path messages[*].content[*]"),
    ("anthropic", "unset cache_control on path messages[*].content[].content[?type == 'text']"),
    ("anthropic", "set input.whatever.key to `1` on call"),
    ("gemini", "unset thought_signature, thoughtSignature on path contents[*].parts[*]"),
    ("gemini", "drop path contents[*].parts[?function_call.name == 'x' || functionCall.name == 'x']"),
    ("bedrock", "unset toolUse.input.anything on path messages[*].content[?toolUse]"),
    ("openai-responses", "unset status on path input[?type == 'reasoning']"),
    ("mastra", "set content.metadata.mine to `true` on message user where has(@, 'colour')"),
    ("langchain", "unset additional_kwargs.tool_calls on message where type == 'ai'"),
    ("pydantic-ai", "drop path messages[*].parts[?part_kind == 'thinking' && !content]"),
    ("cohere-chat", "unset tool_plan on message assistant where tool_calls"),
]


def complaints(name: str, statement: str) -> list[Complaint]:
    source = Source("x.rules", f"pack p language 1\nrule one {{\n  format {name}\n  {statement}\n}}")
    return [each for each in complaints_about(source, "rules")[1] if each.is_error]


@pytest.mark.parametrize(("name", "statement", "written", "meant"), BAD)
def test_a_misspelt_key_is_refused(name: str, statement: str, written: str, meant: str) -> None:
    (complaint,) = complaints(name, statement)
    assert complaint.code == "E203"
    assert complaint.rule == "one"
    assert complaint.message == f"nothing that stands here in {name} has a key {written}"
    assert complaint.suggestion == f'did you mean "{meant}"?'
    assert complaint.span
    assert written in complaint.span.text


@pytest.mark.parametrize(("name", "statement"), GOOD)
def test_keys_of_the_format_and_of_others_pass(name: str, statement: str) -> None:
    assert complaints(name, statement) == []


@pytest.mark.parametrize("name", formats.FORMATS)
def test_every_format_knows_its_list(name: str) -> None:
    spine = str(formats.find(name).spine[0])
    (complaint,) = complaints(name, f"drop path {spine[:-1]}{spine[-1]}{spine[-1]}[0]")
    assert complaint.suggestion == f'did you mean "{spine}"?'
    assert complaints(name, f"drop path {spine}[0]") == []


def test_the_built_in_rules_name_no_misspelt_key() -> None:
    for path in sorted((ROOT / "builtin_rules").glob("*.yaml")):
        found = complaints_about(*read_source(path))[1]
        assert [each for each in found if each.message.startswith("nothing that stands here in ")] == []


def test_the_table_of_keys_is_current() -> None:
    assert FILE.read_text() == text(), "run python tests/wire_keys.py"
