"""ProviderHistoryCompat: the contract of both hooks, rules of every kind side by side, and what a conversation remembers."""

from __future__ import annotations

import asyncio
import copy
from pathlib import Path
from typing import Any

import pytest
from support import json_lines, shared

from historycompat import CompatRule, ProviderHistoryCompat, Ruleset, compile_rules
from historycompat.code_rules import BadRule
from historycompat.processors.message_list import MessageList
from historycompat.processors.run import Run
from historycompat.processors.runner import ProcessorRunner

CLAUDE = {"provider": "anthropic.messages", "modelId": "claude-sonnet-4-5"}
ID_ERROR = "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"
THINKING_ERROR = {"status": 400, "message": "I cannot read this thinking."}

TRANSIENT = """
language: 1
pack: team
rules:
  - name: team-drop-thinking
    models: [anthropic/]
    safety: lossy
    on_error: 400 /cannot read this thinking/
    do: drop assistant/reasoning
"""


def prompt() -> list[dict[str, Any]]:
    call = {"type": "tool-call", "toolCallId": "a.b", "toolName": "ls", "input": {}}
    output = {"type": "text", "value": "ok"}
    thinking = {"type": "reasoning", "text": "hmm", "providerOptions": {"anthropic": {"signature": "s"}}}
    return [
        {"role": "user", "content": [{"type": "text", "text": "go"}]},
        {"role": "assistant", "content": [thinking, call]},
        {"role": "tool", "content": [{"type": "tool-result", "toolCallId": "a.b", "toolName": "ls", "output": output}]},
    ]


def row(message: dict[str, Any]) -> dict[str, Any]:
    return {"id": f"row-{id(message)}", **message}


async def refused(compat: ProviderHistoryCompat, rows: list[Any], error: Any = ID_ERROR, **more: Any) -> Any:
    return await compat.process_api_error(error=error, message_list=rows, **more)


def test_identity() -> None:
    (recorded,) = [c for c in json_lines(shared("cases/upstream_behaviour.jsonl")) if c["kind"] == "identity"]
    compat = ProviderHistoryCompat()
    assert {"id": compat.id, "name": compat.name} == recorded["expect"]


def test_before_the_request_only_the_outgoing_prompt_changes() -> None:
    given = prompt()
    kept = copy.deepcopy(given)
    result = ProviderHistoryCompat().process_llm_request(prompt=given, model=CLAUDE)
    assert result is not None
    assert given == kept
    assert result.prompt[1]["content"][1]["toolCallId"] == result.prompt[2]["content"][0]["toolCallId"] == "a_b"
    assert (result.first_edit, result.faults) == (1, ())
    assert [record.rule for record in result.trace] == ["anthropic-tool-id-format"] * 2
    assert ProviderHistoryCompat().process_llm_request(prompt=result.prompt, model=CLAUDE) is None


async def test_after_an_error_the_rows_themselves_are_repaired() -> None:
    rows = prompt()
    held = list(rows)
    result = await refused(ProviderHistoryCompat(), rows, model=CLAUDE)
    assert (result.retry, result.rule) == (True, "anthropic-tool-id-format")
    assert result.changed == (held[1], held[2])
    assert all(row is old for row, old in zip(rows, held, strict=True))
    assert rows[2]["content"][0]["toolCallId"] == "a_b"
    assert await refused(ProviderHistoryCompat(), rows, model=CLAUDE) is None


@pytest.mark.parametrize(
    "more",
    [{"retry_count": 1}, {"error": "Rate limit exceeded"}, {"error": None}, {"model": "mistral/mistral-large-latest"}],
    ids=str,
)
async def test_nothing_to_retry(more: dict[str, Any]) -> None:
    rows = prompt()
    assert await refused(ProviderHistoryCompat(), rows, **more) is None
    assert rows == prompt()


async def test_a_model_of_unknown_name_is_no_obstacle_to_a_known_error() -> None:
    rows = prompt()
    assert (await refused(ProviderHistoryCompat(), rows, model="team/prod")).retry
    assert rows[2]["content"][0]["toolCallId"] == "a_b"


async def test_a_transient_repair_is_not_stored_but_remembered(tmp_path: Path) -> None:
    file = tmp_path / "team.yaml"
    file.write_text(TRANSIENT)
    compat = ProviderHistoryCompat(additional_rules=[file])
    rows, state = prompt(), {}
    result = await refused(compat, rows, THINKING_ERROR, model=CLAUDE, state=state)
    assert (result.rule, result.changed) == ("team-drop-thinking", ())
    assert rows == prompt()
    sent = compat.process_llm_request(prompt=rows, model=CLAUDE, state=state)
    assert sent is not None
    assert [part["type"] for part in sent.prompt[1]["content"]] == ["tool-call"]
    other = compat.process_llm_request(prompt=rows, model=CLAUDE, state={})
    assert other is not None
    assert [part["type"] for part in other.prompt[1]["content"]] == ["reasoning", "tool-call"]


async def test_rules_of_every_kind_run_side_by_side_behind_the_built_in_ones(tmp_path: Path) -> None:
    seen: list[Any] = []

    def note(prompt: list[Any], model: Any) -> list[Any]:
        seen.append((prompt[1]["content"][1]["toolCallId"], model))
        return [*prompt, {"role": "user", "content": [{"type": "text", "text": "noted"}]}]

    file = tmp_path / "team.rules"
    file.write_text("pack team language 1\nrule team-last { drop user/text where text == 'noted' on_empty fill \"N\" }")
    compiled = compile_rules("pack p language 1\nrule up { set text to 'GO' on user/text:first }", kind="rules")
    compat = ProviderHistoryCompat(
        additional_rules=[CompatRule("note", apply_to_prompt=note), file, *compiled, compiled.without("up")]
    )
    result = compat.process_llm_request(prompt=prompt(), model=CLAUDE)
    assert result is not None
    assert seen == [("a_b", CLAUDE)]
    assert result.prompt[-1]["content"][0]["text"] == "GO"
    assert list(result.outcome.rules) == ["anthropic-tool-id-format", "note", "team-last", "up"]


async def test_a_rule_in_code_that_fails_is_rolled_back_and_the_next_one_runs() -> None:
    def spoil(messages: list[Any]) -> bool:
        messages.clear()
        raise RuntimeError("half-way")

    def mend(messages: list[Any]) -> bool:
        messages[0]["content"][0]["text"] = "mended"
        return True

    rules = [CompatRule("spoil", ["oops"], fix=spoil), CompatRule("mend", ["oops"], fix=mend)]
    rows = prompt()
    result = await refused(ProviderHistoryCompat(additional_rules=rules), rows, "oops")
    assert result.rules == ("mend",)
    assert [(fault.rule, fault.reason) for fault in result.faults] == [("spoil", "half-way")]
    assert rows[0]["content"][0]["text"] == "mended"
    assert len(rows) == 3


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: CompatRule("r", fix=lambda messages: True), "needs error_patterns"),
        (lambda: CompatRule("r"), "needs fix, apply_to_prompt, or both"),
        (lambda: CompatRule("", apply_to_prompt=lambda **_: None), "needs a name"),
    ],
)
def test_a_rule_that_could_never_run_is_refused(make: Any, message: str) -> None:
    with pytest.raises(BadRule, match=message):
        make()


def test_rules_take_the_place_of_the_built_in_ones() -> None:
    compat = ProviderHistoryCompat(rules=Ruleset.builtin().only("cerebras-strip-reasoning-content"))
    assert compat.process_llm_request(prompt=prompt(), model=CLAUDE) is None
    assert compat.process_llm_request(prompt=prompt(), model="cerebras/zai-glm-4.7") is not None


async def test_the_runner_calls_both_hooks_and_keeps_what_was_learned(tmp_path: Path) -> None:
    file = tmp_path / "team.yaml"
    file.write_text(TRANSIENT)
    compat = ProviderHistoryCompat(additional_rules=[file])
    run = Run(ProcessorRunner(input=[compat], error=[compat]), MessageList(map(row, prompt())))
    request = await run.process_llm_request(prompt(), CLAUDE)
    assert [part["type"] for part in request.prompt[1]["content"]] == ["reasoning", "tool-call"]
    assert request.prompt[1]["content"][1]["toolCallId"] == "a_b"
    assert await run.process_api_error(THINKING_ERROR)
    request = await run.process_llm_request(prompt(), CLAUDE)
    assert [part["type"] for part in request.prompt[1]["content"]] == ["tool-call"]
    assert not await run.process_api_error(THINKING_ERROR)


async def test_a_thousand_conversations_on_one_instance() -> None:
    compat = ProviderHistoryCompat()

    async def conversation(number: int) -> None:
        rows = prompt()
        rows[0]["content"][0]["text"] = f"question {number}"
        for row, part in ((1, 1), (2, 0)):
            rows[row]["content"][part]["toolCallId"] = f"call.{number}"
        state: dict[str, Any] = {}
        sent = compat.process_llm_request(prompt=rows, model=CLAUDE, state=state)
        await asyncio.sleep(0)
        assert sent is not None
        assert sent.prompt[0]["content"][0]["text"] == f"question {number}"
        result = await refused(compat, rows, model=CLAUDE, state=state)
        await asyncio.sleep(0)
        assert result.retry
        assert rows[2]["content"][0]["toolCallId"] == f"call_{number}"

    await asyncio.gather(*map(conversation, range(1000)))
