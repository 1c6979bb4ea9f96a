"""The commands for those who write rules: check, test, fmt, explain, new."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from command_line import Ran, run
from ruamel.yaml import YAML
from support import ROOT, json_lines, shared

from historycompat import cases, reference
from historycompat.codes import CODES
from historycompat.compiling import compile_source, complaints_about
from historycompat.coverage import Coverage
from historycompat.error_patterns import pattern_for
from historycompat.language import meanings, vocabulary
from historycompat.language.unparse import error_pattern
from historycompat.reference.answers import read
from historycompat.rulesets import Ruleset
from historycompat.runtime.error_view import ErrorView
from historycompat.shorthand import as_yaml, messages, short
from historycompat.source import Source
from historycompat.starter import Evidence, starter
from historycompat.verbs import VERBS

Capture = pytest.CaptureFixture[str]

PACK = """\
language: 1
pack: demo
rules:
  - name: no-reasoning
    because: Groq refuses reasoning.
    see: [https://example.org/report]
    models: [groq/, cerebras/]
    on_error: [400 /reasoning_content. is unsupported/, /no thinking/]
    phase: both
    do:
      - drop assistant/reasoning where blank(text) || text == 'hmm'
      - drop assistant/text where text == 'never'
    tests:
      - name: it goes
        model: groq/llama
        given: [{assistant: [{reasoning: hmm}, hello]}]
        then: [{assistant: hello}]
"""


def _pack(tmp_path: Path, text: str = PACK, name: str = "demo.yaml") -> str:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def _case(**fields: object) -> str:
    """The demo pack with one more case."""
    case = {"name": "more", "model": "groq/llama", **fields}
    return PACK + "".join(
        f"{'      - ' if at == 0 else '        '}{k}: {json.dumps(v)}\n" for at, (k, v) in enumerate(case.items())
    )


# ----- test


def test_the_built_in_tests_pass(capfd: Capture) -> None:
    ran = run(capfd, "test")
    assert ran.code == 0, ran.out
    assert "passed" in ran.err


_THINKS = [{"assistant": [{"reasoning": "hmm"}, "hello"]}]
_SAYS = [{"assistant": "hello"}]

VERDICTS = {
    "noisy": {"given": _THINKS, "then": "unchanged"},
    "missing": {"given": [{"assistant": [{"reasoning": "else"}, "hello"]}], "then": _SAYS},
    "wrong": {"given": _THINKS, "then": [{"assistant": "bye"}]},
    "unusable": {"given": [{"asistant": "hello"}], "then": "unchanged"},
    "noisy: stored": {"given": _THINKS, "then": _SAYS, "stored": "changed", "error": "no thinking"},
}


@pytest.mark.parametrize("kind", ["noisy", "missing", "wrong", "unusable"])
def test_verdicts(kind: str, tmp_path: Path, capfd: Capture) -> None:
    ran = run(capfd, "test", _pack(tmp_path, _case(**VERDICTS[kind])))
    assert ran.code == 1
    assert ran.out.startswith(f"{kind}  no-reasoning: more\n")
    assert f"2 tests: 1 passed, 1 {kind}" in ran.err
    if kind == "wrong":
        assert "    - - assistant: bye\n    + - assistant: hello\n" in ran.out


def test_what_is_stored_after_an_error(tmp_path: Path, capfd: Capture) -> None:
    error = {"status": 400, "message": "no thinking"}
    lossy = {"given": _THINKS, "then": _SAYS, "error": error}
    assert run(capfd, "test", _pack(tmp_path, _case(**lossy, stored="unchanged"))).code == 0
    ran = run(capfd, "test", _pack(tmp_path, _case(**lossy, stored=_SAYS)))
    assert ran.code == 1
    assert "another history is stored than expected" in ran.out
    unusable = run(capfd, "test", _pack(tmp_path, _case(given=_THINKS, then=_SAYS, stored="unchanged")))
    assert unusable.out.startswith("unusable")
    assert re.match(r".*\n  .*demo\.yaml:\d+:\d+: ", unusable.out)


def test_what_no_test_shows(tmp_path: Path, capfd: Capture) -> None:
    ran = run(capfd, "test", "--coverage", _pack(tmp_path))
    assert ran.code == 1
    for gap in (
        "model pattern is never matched: cerebras/",
        "error pattern is never matched: /reasoning_content. is unsupported/",
        "error pattern is never matched: /no thinking/",
        "condition is never true: blank(text)",
        "condition is never false: text == 'hmm'",
        "statement is never used: drop assistant/text where text == 'never'",
        "condition is never true: text == 'never'",
    ):
        assert gap in ran.out
    assert "model pattern is never matched: groq/" not in ran.out
    assert len(ran.out.splitlines()) == 7


def test_a_case_changes_nothing_by_being_watched() -> None:
    for rule in Ruleset.builtin():
        assert list(cases.run_cases(Coverage(rule).rule)) == list(cases.run_cases(rule))


def test_chosen_tests(tmp_path: Path, capfd: Capture) -> None:
    file = _pack(tmp_path, _case(**VERDICTS["noisy"]))
    assert run(capfd, "test", file, "-k", "it goes").code == 0
    assert run(capfd, "test", file, "-k", "NO-REASONING").code == 1


def test_a_choice_of_no_test(tmp_path: Path, capfd: Capture) -> None:
    ran = run(capfd, "test", _pack(tmp_path), "-k", "no-reasonin g")
    assert (ran.code, ran.out) == (2, "")
    assert "no test has 'no-reasonin g' in its name" in ran.err
    assert 'did you mean "no-reasoning"?' in ran.err


def test_json_and_junit(tmp_path: Path, capfd: Capture) -> None:
    file = _pack(tmp_path, _case(**VERDICTS["wrong"]))
    ran = run(capfd, "test", file, "--coverage", "--output-format", "json")
    told = json.loads(ran.out)
    assert (ran.code, told["passed"], told["failed"]) == (1, 1, 1)
    assert told["files"][0]["tests"][1]["verdict"] == "wrong"
    assert told["files"][0]["coverage"]["gaps"]
    root = ElementTree.fromstring(run(capfd, "test", file, "--output-format", "junit").out)
    suite = root.find("testsuite")
    assert suite is not None
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    assert [case.get("classname") for case in suite.iter("testcase")] == ["no-reasoning"] * 2


def test_files_that_are_none(tmp_path: Path, capfd: Capture) -> None:
    bad = _pack(tmp_path, PACK.replace("drop assistant/text", "dorp assistant/text"))
    other = _pack(tmp_path, PACK, "demo.txt")
    for file, said in ((bad, "E104"), (str(tmp_path / "no.yaml"), "no such file"), (other, "E112")):
        ran = run(capfd, "test", file)
        assert ran.code == 2
        assert said in ran.err


def test_the_short_form_there_and_back() -> None:
    for rule in Ruleset.builtin():
        for case in rule.meaning.tests if rule.meaning.format is None else ():
            history = messages(case["given"])
            assert messages(short(history)) == history
            assert messages(YAML(typ="safe", pure=True).load("\n".join(as_yaml(history)))) == history


# ----- fmt


def test_fmt_writes_once(tmp_path: Path, capfd: Capture) -> None:
    file = _pack(tmp_path)
    assert run(capfd, "fmt", "--check", file).code == 1
    assert Path(file).read_text(encoding="utf-8") == PACK
    assert run(capfd, "fmt", file).code == 0
    formatted = Path(file).read_text(encoding="utf-8")
    assert formatted != PACK
    assert run(capfd, "fmt", "--check", file).code == 0
    assert run(capfd, "fmt", file).code == 0
    assert Path(file).read_text(encoding="utf-8") == formatted


def test_fmt_to_the_other_form(tmp_path: Path, capfd: Capture) -> None:
    file = _pack(tmp_path)
    refused = run(capfd, "fmt", "--to", "rules", file)
    assert refused.code == 2
    assert "--drop-tests" in refused.err
    assert run(capfd, "fmt", "--to", "rules", "--drop-tests", file).code == 0
    rules = tmp_path / "demo.rules"
    assert rules.read_text(encoding="utf-8").startswith("pack demo language 1\n\nrule no-reasoning {\n")
    again = run(capfd, "fmt", "--to", "yaml", str(rules))
    assert again.code == 2
    assert "exists already" in again.err


def test_fmt_leaves_what_it_cannot_read(tmp_path: Path, capfd: Capture) -> None:
    broken = PACK.replace("drop assistant/text", "dorp assistant/text")
    file = _pack(tmp_path, broken)
    ran = run(capfd, "fmt", file)
    assert ran.code == 2
    assert "E104" in ran.err
    assert Path(file).read_text(encoding="utf-8") == broken


# ----- check

MISTAKES = """\
language: 1
pack: demo
rules:
  - name: first
    model: [groq/]
    do: [drop asistant/reasoning, "dorp assistant/text"]
  - name: second
    do:
      - drop assistant:setled/reasoning where !providerOptions.anthropic && $message.role == assistant
      - drop assistant/reasoning where txt == ''
      - 'drop message where role == "asistant" || role == ''usr'''
      - drop message where content == null
"""

MENDED = """\
language: 1
pack: demo
rules:
  - name: first
    models: [groq/]
    do: [drop assistant/reasoning, "drop assistant/text"]
  - name: second
    do:
      - drop assistant:settled/reasoning where !(providerOptions.anthropic) && $message.role == 'assistant'
      - drop assistant/reasoning where text == ''
      - 'drop message where role == ''assistant'' || role == ''user'''
      - drop message where content == `null`
"""


def test_certain_fixes(tmp_path: Path, capfd: Capture) -> None:
    file = _pack(tmp_path, MISTAKES)
    ran = run(capfd, "check", "--fix", file)
    assert Path(file).read_text(encoding="utf-8") == MENDED
    assert not {"E1", "E2"} & {code[:2] for code in ran.out.split()}
    assert ran.err.count(" wrote ") == 11


# Files as newcomers write them, and what `--fix` makes of them.
WRITTEN = {
    "yaml": (
        """\
language: 1
pack: demo
rules:
  - title: eaten
    reason: Groq says: no reasoning.
    link: https://example.org/#1
    provider: */gpt-oss
    if: !has($params, 'x')
    steps:
      - convert assistant/reasoning into text {text: text}
      - drop assistant/text where text == 'a # b'
      - remove assistant/reasoning if text = 'a' and text is 'b' or text === 'c';
      - drop assistant/tool-call where input.n = 5
      - set providerOptions.a.b = 'c' on assistant/text
      - >-
        drop assistant/text
        where blank(text)
  - name: named
    models: [claude-opus >= 4.6, not anthropic, ^gpt-5, house]
    do: drop user/text:empty
  - name: doubtful
    because: Refused by Groq. # see the ticket
    see: *links
    strip: user/text
    do: drop assistant/text
""",
        """\
language: 1
pack: demo
rules:
  - name: eaten
    because: 'Groq says: no reasoning.'
    see: https://example.org/#1
    models: '*/gpt-oss'
    when: '!has($params, ''x'')'
    do:
      - 'convert assistant/reasoning into text {text: text}'
      - 'drop assistant/text where text == ''a # b'''
      - drop assistant/reasoning where text == 'a' && text == 'b' || text == 'c'
      - drop assistant/tool-call where input.n == `5`
      - set providerOptions.a.b to 'c' on assistant/text
      - |-
        drop assistant/text
        where blank(text)
  - name: named
    models: [anthropic/claude-opus >= 4.6, not anthropic/, ^openai/gpt-5, house]
    do: drop user/text:empty
  - name: doubtful
    because: Refused by Groq. # see the ticket
    see: *links
    strip: user/text
    do: drop assistant/text
""",
    ),
    "rules": (
        """\
// ours
rule tidy {
  because: "It is refused."
  models groq/x => 4;
  delete assistant/reasoning when text = 'a';
  filter user/text
}
""",
        """\
# ours
rule tidy {
  because "It is refused."
  models groq/x >= 4
  drop assistant/reasoning where text == 'a'
  filter user/text
}
""",
    ),
}


@pytest.mark.parametrize("kind", WRITTEN)
def test_what_newcomers_write_is_fixed(kind: str, tmp_path: Path, capfd: Capture) -> None:
    given, mended = WRITTEN[kind]
    file = _pack(tmp_path, given, f"demo.{kind}")
    for _ in range(2):
        run(capfd, "check", "--fix", file)
        assert Path(file).read_text(encoding="utf-8") == mended


def test_a_field_is_not_renamed_to_one_that_is_there(tmp_path: Path, capfd: Capture) -> None:
    text = PACK.replace("    because:", "    reason: It is so.\n    because:")
    file = _pack(tmp_path, text)
    assert "E107" in run(capfd, "check", "--fix", file).out
    assert Path(file).read_text(encoding="utf-8") == text


def test_no_fix_where_none_is_certain(tmp_path: Path, capfd: Capture) -> None:
    text = MISTAKES.replace("txt", "wholly_else").replace("usr", "nobody")
    file = _pack(tmp_path, text)
    run(capfd, "check", "--fix", file)
    left = Path(file).read_text(encoding="utf-8")
    assert "wholly_else" in left
    assert "nobody" in left


def test_check_for_programs(tmp_path: Path, capfd: Capture) -> None:
    file = _pack(tmp_path, MISTAKES)
    found = json.loads(run(capfd, "check", file, "--output-format", "json").out)
    assert found[0] | {"file": ""} == {
        "code": "E107", "severity": "error", "message": 'a rule has no field "model"', "file": "", "rule": "first",
        "start": {"line": 5, "column": 5}, "end": {"line": 5, "column": 10}, "suggestion": 'did you mean "models"?',
        "fix": {"start": {"line": 5, "column": 5}, "end": {"line": 5, "column": 10}, "text": "models"},
    }  # fmt: skip
    commands = run(capfd, "check", file, "--output-format", "github").out.splitlines()
    assert len(commands) == len(found)
    assert commands[0].startswith("::error file=")
    assert "line=5,col=5::E107 " in commands[0]
    sarif = json.loads(run(capfd, "check", file, "--output-format", "sarif").out)
    (told,) = sarif["runs"]
    assert [result["ruleId"] for result in told["results"]] == [one["code"] for one in found]
    assert told["results"][0]["locations"][0]["physicalLocation"]["region"]["startLine"] == 5
    assert {rule["id"] for rule in told["tool"]["driver"]["rules"]} == {one["code"] for one in found}


# ----- explain


def _explained(capfd: Capture, *words: str) -> str:
    ran = run(capfd, "explain", *words)
    assert ran.code == 0, ran.err
    return ran.out


def test_everything_with_a_page_is_explained(capfd: Capture) -> None:
    rule = Ruleset.builtin()["orphan-tool-result"]
    assert _explained(capfd, "orphan-tool-result") == reference.rule_page(rule)
    assert _explained(capfd, "e201") == reference.code_page("E201")
    assert _explained(capfd, "map", "ids") == _explained(capfd, "map_ids") == reference.verb_page("map_ids")
    assert _explained(capfd, "$prev") == reference.variable_page("prev")
    assert _explained(capfd, ":late") == reference.state_page("late")
    assert _explained(capfd, "on_error") == reference.field_page("on_error")
    both = reference.field_page("error") + "\n" + reference.variable_page("error")
    assert _explained(capfd, "error") == both
    assert _explained(capfd, "$error") == reference.variable_page("error")
    assert _explained(capfd, "where") == reference.target_page("where")
    assert _explained(capfd, "call") == reference.target_page("call") + "\n" + reference.variable_page("call")


def test_an_unknown_word(capfd: Capture) -> None:
    ran = run(capfd, "explain", "drp")
    assert (ran.code, ran.out) == (2, "")
    assert 'did you mean "drop"?' in ran.err


def test_every_state_and_variable_has_a_meaning() -> None:
    states = {(kind, state) for kind, all_ in vocabulary.STATES.items() if kind != "part" for state in all_}
    assert set(meanings.STATES) == states | {("part", state) for state in vocabulary.STATES_BEHIND_TYPE}
    assert set(meanings.VARIABLES) == frozenset().union(*vocabulary.VARIABLES.values())
    for meaning in (*meanings.STATES.values(), *meanings.VARIABLES.values()):
        source = Source("meaning.rules", f"rule example {{\n  {meaning.example}\n}}\n")
        assert [c for c in complaints_about(source, "rules")[1] if c.is_error] == []


# ----- new


def _assert_good(text: str) -> None:
    """A pack that draws no complaint and passes its tests."""
    source = Source("new.yaml", text)
    assert complaints_about(source, "yaml")[1] == [], text
    for rule in compile_source(source, "yaml"):
        verdicts = list(cases.run_cases(rule))
        assert len(verdicts) == 2
        assert all(verdict.passed for verdict in verdicts), (verdicts, text)


def test_a_new_pack_is_good() -> None:
    _assert_good(starter("my-rule"))
    _assert_good(starter("my-rule", model="mistral/mistral-large-latest"))


@pytest.mark.parametrize(
    ("error", "does"),
    [
        ("messages[1]: unknown key 'trace_id'", "unset trace_id on path messages[*]"),
        ("messages.1.trace_id: not permitted", "unset trace_id on path messages[*]"),
        ("messages[1].trace_id: must be short", "report"),
        ("unexpected 'cache-mark'", 'unset "cache-mark" on path messages[*].content[*]'),
        ("messages[1].content: must not be hello", None),
        ("unknown key 'trace'", None),
    ],
)
def test_a_start_takes_away_the_key_that_only_the_wire_has(error: str, does: str | None) -> None:
    asked = {"role": "user", "content": [{"type": "text", "text": "hi", "cache-mark": True}]}
    history = [asked, {"role": "assistant", "content": "hello", "trace_id": "tr-18"}]
    for sent in (history, {"model": "one", "messages": history}):
        text = starter("my-rule", evidence=Evidence(error, sent, "acme/one"))
        assert f"      - {does or 'report'}" in text.replace("|-\n        ", "")
        assert ("    format: openai-chat\n" in text) is (does is not None)
        assert ("stands in what was sent" in text) is (does is not None)
        _assert_good(text)


def test_a_start_takes_a_key_away_wherever_it_stands() -> None:
    said = "contents.1.parts.0.seen: unknown field"
    sent = {"contents": [{"role": "user", "parts": [{"text": "hi", "seen": 1}], "seen": 1}]}
    text = starter("my-rule", evidence=Evidence(said, sent, "acme/one"))
    assert "      - unset seen on path contents[*]\n      - unset seen on path contents[*].parts[*]\n" in text
    _assert_good(text)


def test_every_reported_refusal_gives_a_good_start() -> None:
    for report in json_lines(shared("cases/bug_reports.jsonl")):
        if report["format"] == "langchain":
            continue
        error = {"status": report["status"], "message": report["error"]}
        _assert_good(
            starter(
                report["id"], evidence=Evidence(error, report["messages"], f"{report['provider']}/{report['model']}")
            )
        )


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        (
            "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
            r"/messages\.\d+\.content\.\d+\.tool_use\.id: String should match pattern '[^']*'/i",
        ),
        (
            "Tool call id was call_PTLP8xhu3uwZk4l3 but must be short.",
            r"/Tool call id was [\w-]+ but must be short\./i",
        ),
        (
            "Invalid 'messages[36].tool_calls[0].id': string too long. Expected a string.",
            r"/Invalid 'messages\[\d+\]\.tool_calls\[\d+\]\.id': string too long/i",
        ),
        ("Duplicate item found with id msg_1. Remove it.", r"/Duplicate item found with id [\w-]+/i"),
        ("role 'system' is not supported on this model", "/role 'system' is not supported on this model/i"),
    ],
)
def test_patterns_leave_open_what_varies(text: str, pattern: str) -> None:
    found = pattern_for(ErrorView.of(text))
    assert found
    assert error_pattern(found) == pattern


_SAID = "the frobnicator does not like this history"
_BODY = f'{{"error": {{"message": "{_SAID}"}}}}'


@pytest.mark.parametrize(
    ("text", "status"),
    [
        (f"400 {_SAID}", 400),
        (f"400 Bad Request: {_SAID}", 400),
        (f"400 {_BODY}", 400),
        (f"Error code: 422 - {_SAID}", 422),
        (f"Error code: 400 - {{'error': {{'message': '{_SAID}'}}}}", 400),
        (f"openai.BadRequestError: Error code: 400 - {_BODY}", 400),
        (f"litellm.BadRequestError: OpenAIException - {_SAID}", None),
        (f"AI_APICallError: 400 {_SAID}", 400),
        (f"API error occurred: Status 400. Body: {_BODY}", 400),
        (f"[GoogleGenerativeAI Error]: Error fetching from https://example.org/v1: [400 Bad Request] {_SAID}", 400),
        (f"An error occurred (ValidationException) when calling the Converse operation: {_SAID}", None),
        (f"HTTP/1.1 500 Internal Server Error: {_SAID}", 500),
        (f"(413) {_SAID}", 413),
        (f"Request failed with status code 503: {_SAID}", 503),
        (f"500: {_SAID}", 500),
        (
            f"APICallError [AI_APICallError]: {_SAID}\n  at x.mjs:1:1 {{\n  statusCode: 400,\n  isRetryable: false\n}}",
            400,
        ),
    ],
)
def test_a_start_tells_the_status_apart_from_the_words(text: str, status: int | None, tmp_path: Path) -> None:
    for given in (text, {"message": text}, ValueError(text)):
        made = starter("my-rule", evidence=Evidence(given, model="acme/one"))
        assert f"      - {f'{status} ' if status else ''}/{_SAID}/i\n" in made
    _assert_good(made)
    assert read(text).texts[0] == _SAID
    assert read(text).status == status


def test_a_number_ahead_may_be_no_status() -> None:
    made = starter("my-rule", evidence=Evidence("500 items are too many for the frobnicator"))
    assert r"- /\d+ items are too many for the frobnicator/i" in made


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[{'role': 'user'}]", "history.json:1:3: this is not JSON"),
        ('{"role": "user", "content": "hi"}', "history.json: this is a single message"),
        ("42", "history.json: there are no messages in it"),
        ('{"id": 1, "thread": [{"role": "user", "content": "hello"}]}', ""),
    ],
)
def test_new_takes_a_history_as_other_commands_do(text: str, says: str, tmp_path: Path, capfd: Capture) -> None:
    (tmp_path / "error.txt").write_text("400 the frobnicator says no", encoding="utf-8")
    (tmp_path / "history.json").write_text(text, encoding="utf-8")
    files = ("--from-error", str(tmp_path / "error.txt"), "--history", str(tmp_path / "history.json"))
    ran = run(capfd, "new", "my-rule", *files)
    assert (ran.code, says in ran.err) == (2 if says else 0, True)
    assert ("given: [{user: hello}]" in ran.out) is (not says)


def test_new_tells_of_rules_that_answer_the_error_already(tmp_path: Path, capfd: Capture) -> None:
    error = tmp_path / "error.txt"
    error.write_text("Error code: 400 - Unexpected role 'user' after role 'tool'", encoding="utf-8")
    new = ("new", "my-rule", "--from-error", str(error), "--model")
    assert "note: mistral-user-after-tool may answer this error already" in run(capfd, *new, "mistral/large").err
    assert run(capfd, *new, "groq/llama").err == ""


@pytest.mark.parametrize(
    ("model", "pattern", "doubt"),
    [
        ("groq/llama", "groq/", ""),
        ("acme/frontier-1", "acme/", "no provider that is known here is named acme"),
        ("antropic/claude-opus", "antropic/", 'did you mean "anthropic"?'),
        ("house-model", "*/house-model", "no provider is known for house-model"),
        ("two words", None, "two words makes no model pattern"),
    ],
)
def test_a_model_is_kept_as_it_is_given(
    model: str, pattern: str | None, doubt: str, tmp_path: Path, capfd: Capture
) -> None:
    error = _pack(tmp_path, "the frobnicator was not amused today", "error.txt")
    for ran in (_new(capfd, "a", "-m", model), _new(capfd, "a", "-m", model, "--from-error", error)):
        assert ran.code == 0
        assert (f"    models: ['{pattern}']\n" in ran.out or f"    models: [{pattern}]\n" in ran.out) == bool(pattern)
        assert doubt in ran.err
        assert bool(ran.err) == bool(doubt)
        _assert_good(ran.out)


def _new(capfd: Capture, *arguments: str) -> Ran:
    return run(capfd, "new", *arguments)


def test_new_from_files(tmp_path: Path, capfd: Capture) -> None:
    error = _pack(tmp_path, '{"status": 400, "message": "roles must really alternate here"}', "error.json")
    history = _pack(tmp_path, '[{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]', "history.json")
    output = tmp_path / "rule.yaml"
    arguments = ("alternate", "--from-error", error, "--history", history, "--model", "groq/llama", "-o", str(output))
    assert _new(capfd, *arguments).code == 0
    made = output.read_text(encoding="utf-8")
    assert "- merge message user|assistant" in made
    assert "400 /roles must really alternate here/i" in made
    _assert_good(made)
    again = _new(capfd, *arguments)
    assert (again.code, output.read_text(encoding="utf-8")) == (2, made)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("My Rule",), "kebab-case"),
        (("a", "--from-error", "no-such-file"), "no-such-file"),
        (("a", "--from-error", sys.executable), "this is not text"),
        (("a", "--history", "x.json"), "--from-error"),
    ],
)
def test_new_says_what_is_missing(arguments: tuple[str, ...], said: str, capfd: Capture) -> None:
    ran = _new(capfd, *arguments)
    assert ran.code == 2
    assert said in ran.err


def test_every_code_has_an_example_that_draws_it() -> None:
    silent = [
        name for name in CODES if name[0] == "E" and name != "E112" and "compiler says" not in reference.code_page(name)
    ]
    assert silent == []
    assert set(VERBS) == {name for name in VERBS if reference.verb_page(name)}


def test_the_hooks_name_commands_that_exist() -> None:
    hooks = YAML(typ="safe", pure=True).load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert {hook["entry"] for hook in hooks} == {"historycompat check", "historycompat fmt", "historycompat test"}


# ----- rules


def _files(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}


def test_rules_write_their_pages_anew(tmp_path: Path, capfd: Capture) -> None:
    folder = tmp_path / "made" / "pages"
    ran = run(capfd, "rules", "--docs", str(folder))
    assert ran.code == 0
    assert _files(folder) == dict(reference.rule_pages(Ruleset.builtin()))
    assert run(capfd, "rules", "--docs", str(folder), "--model", "groq/llama", "-r", _pack(tmp_path)).code == 0
    assert "no-reasoning.md" in _files(folder)
    assert len(_files(folder)) < 80
    assert [path.name for path in folder.parent.iterdir()] == ["pages"]  # nothing of the old ones, nothing half-made


def test_rules_lose_nobodys_files(tmp_path: Path, capfd: Capture) -> None:
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    (tmp_path / "README.md").write_text("# Rules of the house", encoding="utf-8")
    before = _files(tmp_path)
    for place, said in (
        (tmp_path, "'README.md' and 1 more is none of these pages"),
        (tmp_path / "notes.txt", "no fol"),
    ):
        ran = run(capfd, "rules", "--docs", str(place))
        assert (ran.code, ran.out) == (2, "")
        assert said in ran.err
    assert _files(tmp_path) == before
    assert run(capfd, "rules", str(tmp_path)).code == 2  # without --docs


def test_rules_for_a_model_nobody_knows(tmp_path: Path, capfd: Capture) -> None:
    ran = run(capfd, "rules", "--model", "antropic/claude")
    assert ran.code == 0
    told = " ".join(ran.err.split())
    assert 'antropic/claude names no provider that the rules know (did you mean "anthropic"?)' in told
    assert re.search(r"only the rules for every provider look at it \d+ rules for antropic/claude", told)
    for unlike in ("nobody/x", "acme/x", "house", "staging:x"):
        assert "did you mean" not in run(capfd, "rules", "--model", unlike).err
    own = tmp_path / "own.rules"
    own.write_text("rule mine {\n  models nobody/\n  drop assistant/reasoning\n}\n", encoding="utf-8")
    assert "note" not in run(capfd, "rules", "--model", "nobody/x", "--rules", str(own)).err
    assert "note" not in run(capfd, "rules", "--model", "claude-opus-5").err
    assert "note" not in run(capfd, "rules", "--model", "groq/anything").err
