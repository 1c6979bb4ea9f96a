"""`historycompat explain` with an error in hand: every refusal that is known, however it is pasted, and what is not."""

from __future__ import annotations

import io
import json
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from command_line import run
from support import json_lines, shared

from historycompat import Ruleset, compile_rules
from historycompat.reference import nearest, refusals
from historycompat.reference.answers import answers, read
from historycompat.reference.rules import rule_page, rule_pages

Capture = pytest.CaptureFixture[str]

HERE = Path(__file__).parent
FATES = {row["entry"]: row for file in sorted((HERE / "catalogue").glob("*.jsonl")) for row in json_lines(file)}
RULES = list(Ruleset.builtin())
FROM_CATALOGUE = {refusal.id: refusal for refusal in refusals.reported()}


# ----- how people paste


def _body(said: str, status: int) -> str:
    return json.dumps({"error": {"message": said, "type": "invalid_request_error", "param": None, "code": None}})


def _openai(said: str, status: int) -> str:
    body = {"error": {"message": said, "type": "invalid_request_error", "param": None, "code": None}}
    return _traceback(f"openai.BadRequestError: Error code: {status} - {body}")


def _anthropic(said: str, status: int) -> str:
    body = {"type": "error", "error": {"type": "invalid_request_error", "message": said}, "request_id": "req_011CT4"}
    return _traceback(f"anthropic.BadRequestError: Error code: {status} - {body}")


def _google(said: str, status: int) -> str:
    body = {"error": {"code": status, "message": said, "status": "INVALID_ARGUMENT"}}
    return _traceback(f"google.genai.errors.ClientError: {status} INVALID_ARGUMENT. {body}")


def _boto3(said: str, status: int) -> str:
    return _traceback(
        "botocore.errorfactory.ValidationException: An error occurred (ValidationException) when calling the Converse "
        f"operation: {said}"
    )


def _litellm(said: str, status: int) -> str:
    return _traceback(
        f"litellm.exceptions.BadRequestError: litellm.BadRequestError: AnthropicException - {_body(said, status)}. "
        "Received Model Group=main\nAvailable Model Group Fallbacks=None"
    )


def _traceback(last: str) -> str:
    return (
        'Traceback (most recent call last):\n  File "/srv/agent/loop.py", line 42, in turn\n'
        "    reply = client.send(messages=history)\n            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
        f'  File "/srv/agent/client.py", line 7, in send\n    raise self._error(response)\n{last}\n'
    )


def _wrapped(said: str, status: int) -> str:
    return "\n".join(textwrap.wrap(f"2026-11-30 12:00:01 ERROR provider refused: {said}", 60, break_long_words=False))


def _cut(said: str, status: int) -> str:
    """As a terminal of 50 columns breaks it: in the middle of words, and with blanks lost at the ends of lines."""
    text = _openai(said, status)
    return "\n".join(line[at : at + 50].rstrip() for line in text.split("\n") for at in range(0, len(line), 50))


def _framed(said: str, status: int) -> str:
    lines = textwrap.wrap(_litellm(said, status), 70)
    return "\n".join(["╭─ Traceback ─╮", *(f"│ \x1b[31m{line:<70}\x1b[0m │" for line in lines), "╰─────────────╯"])


def _quoted(said: str, status: int) -> str:
    return "\n".join(f"> {line}" for line in textwrap.wrap(said, 50))


def _bare(said: str, status: int) -> str:
    return said


WAYS = [
    *(_bare, _body, _openai, _boto3, _cut, _framed),
    *(pytest.param(way, marks=pytest.mark.slow) for way in (_anthropic, _google, _litellm, _wrapped, _quoted)),
]


def _status(entry: dict[str, Any]) -> int:
    return FROM_CATALOGUE[entry["id"]].status[0] if FROM_CATALOGUE[entry["id"]].status[0] >= 400 else 400


@pytest.mark.parametrize("way", WAYS)
def test_every_reported_error_finds_its_rule_first(way: Callable[[str, int], str]) -> None:
    missed = []
    for entry in json_lines(shared("research/catalog.jsonl")):
        right = {*FATES[entry["id"]]["rules"], *FROM_CATALOGUE[entry["id"]].rules}
        for said in entry["errors"]:
            found = answers(read(way(said, _status(entry))), RULES)
            if not found or found[0].rule.name not in right:
                missed.append((entry["id"], said, [answer.rule.name for answer in found]))
    assert missed == []


def test_the_error_of_every_bug_report_finds_its_rule_first() -> None:
    for report in json_lines(shared("cases/bug_reports.jsonl")):
        found = answers(read(report["error"]), RULES)
        assert found, report["id"]
        assert found[0].rule.name in FROM_CATALOGUE[report["catalog_id"]].rules, report["id"]


def test_every_reported_error_is_in_the_table() -> None:
    entries = {entry["id"]: entry for entry in json_lines(shared("research/catalog.jsonl"))}
    assert set(FROM_CATALOGUE) == set(entries)
    known = {rule.name for rule in RULES}
    for refusal in FROM_CATALOGUE.values():
        assert refusal.rules
        assert set(refusal.rules) <= known
        assert refusal.reason or FATES[refusal.id]["by"] == "rule"
        for said in entries[refusal.id]["errors"]:
            assert refusal in refusals.recognised([said], [refusal]), said


def test_the_index_has_every_reported_error() -> None:
    index = dict(rule_pages(RULES))["README.md"]
    absent = [said for refusal in refusals.reported() for said in refusal.says if f" {said} " not in _codes(index)]
    assert absent == []


def _codes(index: str) -> str:
    return index.replace("`` ", " ").replace(" ``", " ").replace("- `", " ").replace("`: [", " : [")


# ----- what is said then

PACK = """\
language: 1
pack: demo
rules:
  - name: no-reasoning
    because: Groq refuses reasoning.
    see: [https://example.org/report]
    models: [groq/, cerebras/]
    on_error: [400 /reasoning_content. is unsupported/, /no thinking/]
    do: [drop assistant/reasoning]
    tests:
      - model: groq/llama
        error: {status: 400, message: "there is no thinking in groqland, says call_17"}
        given: [{assistant: [{reasoning: hmm}, hello]}]
        then: [{assistant: hello}]
"""


def _explained(capfd: Capture, *words: str) -> str:
    ran = run(capfd, "explain", *words)
    assert ran.code == 0, ran.err
    return ran.out


def _file(folder: Path, data: str | bytes, name: str = "error.txt") -> str:
    path = folder / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return str(path)


def _piped(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(data), isatty=lambda: False))


SAID = "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"


def test_a_page_says_what_why_and_how(tmp_path: Path, capfd: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    said = _explained(capfd, SAID)
    assert said.startswith(f"# `anthropic-tool-id-format` answers this error\n\n> {SAID}\n\nSeen at anthropic")
    for part in (
        "Anthropic accepts only letters, digits,",
        "It repairs before every request, and wakes on this error too.",
        "- Renames tool call ids",
        "+ - assistant: [{call: bash, id: functions_bash_0,",
        "historycompat repair history.json --model anthropic/claude-sonnet-4-5 --error @error.txt\n",
        'outcome = historycompat.repair(messages, error=error, model="anthropic/claude-sonnet-4-5")\n',
    ):
        assert part in said
    pasted = _framed(SAID, 400)
    for words in (("-e", SAID), (f"@{_file(tmp_path, SAID)}",), ("-e", f"@{_file(tmp_path, SAID.encode('utf-16'))}")):
        assert _explained(capfd, *words) == said
    _piped(monkeypatch, pasted.encode())
    assert "# `anthropic-tool-id-format` answers this error\n" in _explained(capfd, "-")


def test_the_command_on_the_page_repairs(tmp_path: Path, capfd: Capture) -> None:
    """What is explained of a framed traceback is what `repair` does with it."""
    history = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": [
        {"type": "tool_use", "id": "a.b", "name": "ls", "input": {}}]}, {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "a.b", "content": "a.py"}]}]  # fmt: skip
    ran = run(
        capfd, "repair", _file(tmp_path, json.dumps(history), "history.json"),
        "--model", "anthropic/claude-sonnet-4-5", "--error", f"@{_file(tmp_path, _framed(SAID, 400))}",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)[1]["content"][0]["id"] == "a_b"


def test_a_rule_before_the_request_is_found_by_its_error(capfd: Capture) -> None:
    said = _explained(
        capfd, "The response was filtered due to the prompt triggering Azure OpenAI's content management policy."
    )
    assert said.startswith("# `azure-system-reminder-transform` answers this error\n")
    assert "It needs no error: it repairs before every request." in said
    assert "historycompat apply history.json --model azure/gpt-5\n" in said


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        ("input_transformations: model_binding_mismatch", "there is nothing to repair"),
        ("invalid request: all elements in history must have a message.", "Cohere's retired v1 chat endpoint"),
    ],
)
def test_what_is_out_of_reach_has_its_reason(error: str, reason: str, capfd: Capture) -> None:
    assert reason in _explained(capfd, error)


def test_status_and_model(tmp_path: Path, capfd: Capture) -> None:
    rules = ("--rules", _file(tmp_path, PACK, "demo.yaml"))
    body = json.dumps({"status": 500, "message": "the reasoning_contentx is unsupported"})
    said = _explained(capfd, body, *rules)
    assert said.startswith("# `no-reasoning` is for this error under another status\n")
    assert "It sleeps: it waits for status 400, and this is 500.\n" in said
    said = _explained(capfd, json.dumps({"status": 400, "message": "messages.1.seed: Extra inputs are not permitted"}))
    assert said.startswith("# `anthropic-extra-message-fields` answers this error, and 2 more\n")
    said = _explained(capfd, "there is no thinking in groqland", "-m", "openai/gpt-5", *rules)
    assert said.startswith("# No rule answers this error for openai/gpt-5\n")
    assert "- `no-reasoning`: Groq refuses reasoning. (For `groq/` and `cerebras/`.)\n" in said
    said = _explained(capfd, "there is no thinking in groqland", "-m", "groq/llama", *rules)
    assert said.startswith("# `no-reasoning` answers this error for groq/llama\n")


def test_for_a_model_of_unknown_make_the_error_decides(tmp_path: Path, capfd: Capture) -> None:
    ours = PACK.replace("no-reasoning", "our-own").replace("groq/", "acme/")
    rules = ("--rules", _file(tmp_path, PACK, "demo.yaml"), "--rules", _file(tmp_path, ours, "ours.yaml"))
    said = _explained(capfd, "there is no thinking in groqland", "-m", "acme/one", *rules)
    assert said.startswith("# `our-own` answers this error for acme/one, and 1 more\n")
    mine, _, other = said.partition("## no-reasoning")
    why = "Who made acme/one is not known: after this error, and not before it, the rule runs for it too."
    assert why not in mine
    assert why in other
    assert why not in _explained(capfd, "there is no thinking in groqland", *rules)


def test_a_pack_knows_the_errors_of_its_tests() -> None:
    (rule,) = compile_rules(PACK)
    assert "there is no thinking in groqland, says call_17" in rule_page(rule)
    (answer,) = answers(read("There is no thin\nking in groqland, says call_99"), [rule])
    assert answer.rule is rule


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"\x7fELF\x02\x01\xff\xfe", "this is not text in UTF-8 (byte 6)"),
        (b"PK\x03\x04\0\0", "this is a binary file"),
        (b" \n", "there is nothing in it"),
    ],
)
def test_what_is_no_text(data: bytes, said: str, tmp_path: Path, capfd: Capture) -> None:
    file = _file(tmp_path, data)
    commands = (("explain", f"@{file}"), ("explain", "-e", f"@{file}"), ("new", "a", "--from-error", file),
                ("repair", "-m", "groq/llama", "-e", f"@{file}", file))  # fmt: skip
    for command in commands:
        ran = run(capfd, *command)
        assert (ran.code, ran.out) == (2, "")
        assert said in ran.err


def test_one_thing_at_a_time(tmp_path: Path, capfd: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    for words in ((), ("drop", "-e", "text"), ("@no-such-file",), ("-e", " ")):
        assert run(capfd, "explain", *words).code == 2
    _piped(monkeypatch, b"[]")
    ran = run(capfd, "repair", "-m", "groq/llama", "-e", "-")
    assert "standard input cannot be the error and the history" in ran.err


# ----- what nothing matches

OTHERS = (HERE / "errors" / "not_of_histories.txt").read_text(encoding="utf-8").splitlines()


def test_what_is_near_is_near(monkeypatch: pytest.MonkeyPatch) -> None:
    """The threshold, measured: see `nearest.NEAR`."""
    told = nearest.errors_of
    several = [(refusal, said) for refusal in refusals.reported() for said in refusal.says if len(refusal.says) > 1]
    found = 0
    several = several[::2]  # it takes a while
    for refusal, said in several:
        monkeypatch.setattr(nearest, "errors_of", lambda rule, said=said: _others(told(rule), rule, said))
        found += bool({near.rule.name for near in nearest.nearest([said], RULES)[:3]} & set(refusal.rules))
    monkeypatch.setattr(nearest, "errors_of", told)
    assert found / len(several) > 0.55
    assert sum(bool(nearest.nearest([said], RULES)) for said in OTHERS) <= 3


def _others(errors: Any, rule: Any, said: str) -> Any:
    """The errors of a rule without a wording, and without the patterns that know it."""
    known = {f"/{trigger.pattern}/" for trigger in rule.triggers if trigger.search(said) is not None}
    return [(told, words) for told, words in errors if told != said and told not in known]


def test_what_nothing_matches(tmp_path: Path, capfd: Capture) -> None:
    said = _explained(capfd, "Function calling is not enabled for models/gemma-3", "-m", "google/gemma-3")
    assert said.startswith("# Nothing matches this error\n")
    assert "- `system-text-without-system-role` answers `Developer instruction is not enabled for" in said
    assert "historycompat new my-rule --from-error error.txt --history history.json --model google/gemma-3" in said
    said = _explained(capfd, "The frobnicator was not amused")
    assert "No rule comes near by its words either" in said


@pytest.mark.parametrize("said", OTHERS)
def test_what_is_not_about_a_history_is_not_claimed(said: str) -> None:
    assert answers(read(said), RULES) == []
