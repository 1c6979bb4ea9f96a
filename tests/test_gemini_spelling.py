"""Gemini's contents in the API's spelling and in the Python SDK's: an author's spelling is kept, for new parts too."""

from __future__ import annotations

import re
from typing import Any

import pytest

from historycompat import apply, compile_rules, formats

RULES = compile_rules(
    """pack p language 1
rule touch {
  set text to 'changed' on */text
}
rule call {
  set input to {path: 'changed'} on call
}
rule ids {
  map ids unless /^x/ prefix "x"
}
rule sign {
  insert part {type: 'text', text: 'new', providerOptions: {google: {thoughtSignature: 'c2ln'}}}
    at_start message assistant where content[0].text != 'new'
}
rule answer {
  answer call:orphan with {type: 'text', value: 'lost'}
}
rule show {
  insert message {role: 'user', content: [{type: 'file', data: 'iVBORw0K', mediaType: 'image/png'}]} at_end
    where $messages[-1].content[0].type != 'file'
}""",
    kind="rules",
)

CONTENTS = [
    {"role": "user", "parts": [{"text": "hi"}, {"inlineData": {"mimeType": "image/png", "data": "iVBORw0K"}}]},
    {"role": "user", "parts": [{"fileData": {"fileUri": "https://example.org/a.pdf", "mimeType": "application/pdf"}}]},
    {
        "role": "model",
        "parts": [
            {"text": "hmm", "thought": True, "thoughtSignature": "YQ=="},
            {"functionCall": {"id": "c1", "name": "f", "args": {}}, "thoughtSignature": "Yg=="},
        ],
    },
    {"role": "user", "parts": [{"functionResponse": {"id": "c1", "name": "f", "response": {"output": "x"}}}]},
    {"role": "model", "parts": [{"functionCall": {"id": "c2", "name": "f", "args": {}}}]},
]


def snake(value: Any) -> Any:
    """The same in the SDK's spelling."""
    if isinstance(value, dict):
        return {re.sub(r"(?<=[a-z])([A-Z])", r"_\1", key).lower(): snake(each) for key, each in value.items()}
    return [snake(each) for each in value] if isinstance(value, list) else value


def test_both_spellings_are_read_alike() -> None:
    kind = formats.find("gemini")
    assert kind.read(snake(CONTENTS)).messages == kind.read(CONTENTS).messages


def repaired(native: Any) -> Any:
    outcome = apply(native, model="google/gemini-3-pro", format="gemini", rules=RULES)
    assert not outcome.faults
    return outcome.messages


def test_each_is_written_in_its_own_spelling() -> None:
    camel = repaired(CONTENTS)
    assert repaired(snake(CONTENTS)) == snake(camel)
    assert [key for content in camel for part in content["parts"] for key in part if "_" in key] == []
    result, image = camel[-1]["parts"]
    assert result["functionResponse"]["response"] == {"output": "lost"}
    assert image == {"inlineData": {"mimeType": "image/png", "data": "iVBORw0K"}}


@pytest.mark.integration
@pytest.mark.parametrize("contents", [CONTENTS, snake(CONTENTS)], ids=["camel", "snake"])
def test_the_sdk_takes_both(contents: Any) -> None:
    types = pytest.importorskip("google.genai.types", reason="google-genai is not installed", exc_type=ImportError)
    for content in repaired(contents):
        types.Content.model_validate(content)
