"""An edit is in the native history or a fault: no format swallows one, whatever the verb."""

from __future__ import annotations

import copy
import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lens_laws import broken_natives
from ruamel.yaml import YAML

from historycompat import Ruleset, apply, compile_rules, formats
from historycompat.edits import same
from historycompat.errors import HistoryError, RuleError
from historycompat.runtime.outcome import Outcome

HERE = Path(__file__).parent
PAYLOADS = {path.relative_to(HERE / "formats").as_posix(): path for path in sorted((HERE / "formats").glob("*/*.json"))}
MODEL = "openai/gpt-5"

# What some format or other has no place for, beside the statements of the verbs.
PHANTOMS = (
    "set providerOptions to 'x' on */text",
    "set providerOptions to {elsewhere: {mark: 'x'}} on */text",
    "set providerOptions to {elsewhere: {mark: 'x'}} on message user",
    "set providerOptions.elsewhere.mark to `true` on */*",
    "set metadata.mark to `true` on message assistant",
    "set name to 'ann' on message user",
    "set colour to 'red' on call",
    "set output to {type: 'json', value: output.value} on result",
    "set mediaType to 'image/*' on */file",
    "set params.temperature to `0` on prompt",
    "unset role on message user",
    "unset type on */text",
    "unset toolName on result",
    "drop path messages[0].role",
    "rename text to words on user/text",
    "reorder tool-call, text on message assistant",
    "move message user:last to end",
)
WRITTEN = tuple(
    [case["statement"] for case in YAML(typ="safe", pure=True).load(HERE / "verb_statements.yaml") if "safety" in case]
    + [*PHANTOMS]
)


@cache
def rule(statement: str) -> Ruleset:
    return compile_rules(f"pack p language 1\nrule one {{\n  {statement}\n}}", kind="rules")


def compiles(statement: str) -> bool:
    try:
        rule(statement)
    except RuleError:  # what the compiler knows to be wrong needs no look at run time
        return False
    return True


STATEMENTS = tuple(filter(compiles, WRITTEN))


def check(name: str, native: Any, statement: str) -> Outcome:
    """The outcome of one statement, whose account agrees with the native history."""
    before = copy.deepcopy(native)
    outcome = apply(native, model=MODEL, format=name, rules=rule(statement))
    assert same(native, before), statement
    assert outcome.changed == (not same(outcome.messages, native)), statement
    assert outcome.changed == bool(outcome.trace), statement
    assert outcome.changed or outcome.messages is native, statement
    for fault in outcome.faults:
        assert not outcome.changed
        if "cannot carry" in fault.reason:
            assert fault.reason.startswith(formats.find(name).title), fault
            assert fault.pointer, fault
    return outcome


@pytest.mark.parametrize("payload", PAYLOADS)
def test_every_statement_is_seen_or_a_fault(payload: str) -> None:
    native = json.loads(PAYLOADS[payload].read_text())["native"]
    for statement in STATEMENTS:
        check(payload.partition("/")[0], native, statement)


@pytest.mark.parametrize("name", formats.FORMATS)
@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(data=st.data())
def test_in_broken_histories_too(name: str, data: st.DataObject) -> None:
    native = data.draw(broken_natives(formats.find(name)))
    for statement in data.draw(st.lists(st.sampled_from(STATEMENTS), min_size=1, max_size=4)):
        try:
            check(name, native, statement)
        except HistoryError:  # there is no list of messages left
            return


@pytest.mark.parametrize(
    ("name", "statement", "pointer", "key"),
    [
        (
            "openai-chat",
            "set providerOptions to {x: 'y'} on user/text",
            "/messages/0/content/0/providerOptions",
            "providerOptions.x",
        ),
        ("anthropic", "drop path messages[*].role", "/messages/0/role", "role"),
        ("anthropic", "drop path messages[0].role", "/messages/0/role", "role"),
        (
            "mistral-chat",
            "set providerOptions.x.y to `1` on user/text",
            "/messages/0/content/0/providerOptions",
            "providerOptions.x.y",
        ),
    ],
)
def test_the_fault_names_format_place_and_key(name: str, statement: str, pointer: str, key: str) -> None:
    native = [{"role": "user", "content": "hi"}]
    outcome = apply(native, model=MODEL, format=name, rules=rule(statement))
    assert outcome.messages is native
    (fault,) = outcome.faults
    assert fault.pointer == pointer
    assert fault.reason.startswith(f"{formats.find(name).title} cannot carry it: there is no place for this edit of")
    assert key in fault.reason


def test_a_fault_spares_the_other_rules() -> None:
    text = """pack p language 1
    rule lost {
      set text to 'x' on user/text
      set providerOptions.elsewhere.mark to `true` on user/text
    }
    rule kept {
      set text to 'y' on user/text
    }"""
    outcome = apply(
        [{"role": "user", "content": "hi"}], model=MODEL, format="openai-chat", rules=compile_rules(text, kind="rules")
    )
    assert outcome.messages == [{"role": "user", "content": "y"}]
    assert [fault.rule for fault in outcome.faults] == ["lost"]
    assert [record.rule for record in outcome.trace] == ["kept"]


def test_a_bare_list_has_no_place_for_the_keys_of_a_body() -> None:
    text = "pack p language 1\nrule one {\n  format openai-chat\n  set temperature to `0` on prompt\n}"
    native = [{"role": "user", "content": "hi"}]
    rules = compile_rules(text, kind="rules")
    outcome = apply(native, model=MODEL, format="openai-chat", rules=rules)
    assert outcome.messages is native
    assert outcome.faults[0].reason == "OpenAI chat cannot carry it: there is no place for this edit of temperature"
    body = {"messages": native}
    assert apply(body, model=MODEL, format="openai-chat", rules=rules).messages == {**body, "temperature": 0}


def test_edits_that_cancel_each_other_are_no_change() -> None:
    text = """pack p language 1
    rule there {
      set text to 'x' on user/text
    }
    rule back {
      set text to 'hi' on user/text where text == 'x'
    }"""
    native = [{"role": "user", "content": "hi"}]
    outcome = apply(native, model=MODEL, format="openai-chat", rules=compile_rules(text, kind="rules"))
    assert outcome.messages is native
    assert not outcome.changed
    assert not outcome.faults
