"""Many calls at once on one instance, and many histories through the rule for tool call ids."""

from __future__ import annotations

import asyncio
import copy
import random
import re
from collections import defaultdict
from typing import Any

import pytest

from historycompat import ProviderHistoryCompat, Ruleset, apply

CLAUDE = "anthropic/claude-sonnet-4-5"
REFUSAL = {"status": 400, "message": "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"}
CALLS = 1000


def conversation(ids: list[str], text: str = "go on") -> list[dict[str, Any]]:
    """A canonical prompt with one call and one result of each id."""
    prompt: list[dict[str, Any]] = [{"role": "user", "content": [{"type": "text", "text": text}]}]
    for id_ in ids:
        call = {"type": "tool-call", "toolCallId": id_, "toolName": "bash", "input": {"of": id_}}
        result = {
            "type": "tool-result",
            "toolCallId": id_,
            "toolName": "bash",
            "output": {"type": "text", "value": id_},
        }
        prompt += [{"role": "assistant", "content": [call]}, {"role": "tool", "content": [result]}]
    return [*prompt, {"role": "user", "content": [{"type": "text", "text": text}]}]


def renamed(before: list[Any], after: list[Any]) -> dict[str, str]:
    """New ids by old ones; calls and results are recognised by what they say."""
    new: dict[str, set[str]] = defaultdict(set)
    for message in after:
        for part in message["content"]:
            if "toolCallId" in part:
                said = part["input"]["of"] if part["type"] == "tool-call" else part["output"]["value"]
                new[said].add(part["toolCallId"])
    assert all(len(ids) == 1 for ids in new.values()), "a call and its result have parted"
    assert len(after) == len(before)
    return {old: ids.pop() for old, ids in new.items()}


async def test_a_thousand_concurrent_requests_of_one_instance_do_not_meet() -> None:
    compat = ProviderHistoryCompat()
    prompts = [conversation([f"id.{number}", f"id:{number}"], str(number)) for number in range(CALLS)]
    kept = copy.deepcopy(prompts)

    async def one(number: int) -> None:
        await asyncio.sleep(0)
        result = await asyncio.to_thread(compat.process_llm_request, prompt=prompts[number], model=CLAUDE)
        assert result is not None
        assert result.prompt[0]["content"][0]["text"] == str(number)
        ids = renamed(prompts[number], result.prompt)
        assert ids[f"id.{number}"] == f"id_{number}"
        assert ids[f"id:{number}"].startswith(f"id_{number}")
        assert len(set(ids.values())) == 2

    await asyncio.gather(*map(one, range(CALLS)))
    assert prompts == kept


async def test_a_thousand_concurrent_errors_of_one_instance_do_not_meet() -> None:
    compat = ProviderHistoryCompat()
    states: list[dict[str, Any]] = [{} for _ in range(CALLS)]

    async def one(number: int) -> None:
        rows: list[Any] = conversation([f"id.{number}"], str(number))
        before, first = copy.deepcopy(rows), rows[0]
        broken = number % 2 == 0
        error = REFUSAL if broken else {"status": 529, "message": "Overloaded"}
        await asyncio.sleep(0)
        result = await compat.process_api_error(error=error, message_list=rows, model=CLAUDE, state=states[number])
        if not broken:
            assert (result, rows, states[number]) == (None, before, {})
            return
        assert result is not None
        assert result.retry
        assert renamed(before, rows) == {f"id.{number}": f"id_{number}"}
        assert rows[0] is first
        assert states[number] == {"promoted": ["anthropic-tool-id-format"]}
        assert await compat.process_api_error(error=error, message_list=rows, model=CLAUDE, retry_count=1) is None

    await asyncio.gather(*map(one, range(CALLS)))


SPELLINGS = (
    "a.b",
    "a:b",
    "a_b",
    "a-b",
    "a/b",
    "a b",
    "a..b",
    "a_.b",
    "a_b_2",
    "a.b_2",
    "ab",
    "ä",
    "ö",
    ".",
    ":",
    "_",
    "b",
)
ACCEPTED = re.compile(r"[a-zA-Z0-9_-]+")
RULES = Ruleset.builtin().only("anthropic-tool-id-format")


def _stays_apart(rng: random.Random) -> None:
    known = rng.sample(SPELLINGS, rng.randint(1, 6))
    ids = ["a.b", "a:b", "a_b", *(id_ for id_ in known if id_ not in ("a.b", "a:b", "a_b"))]
    rng.shuffle(ids)
    prompt = conversation(ids)
    outcome = apply(prompt, model=CLAUDE, format="aisdk-v2", rules=RULES)
    new = renamed(prompt, outcome.messages)
    assert len(set(new.values())) == len(ids), f"two of {ids} became one: {new}"
    taken: set[str] = set()
    for old in ids:
        assert ACCEPTED.fullmatch(new[old])
        assert new[old] == old or not ACCEPTED.fullmatch(old) or old in taken, "a good id was renamed without need"
        taken.add(new[old])


def test_ids_that_would_become_one_stay_apart() -> None:
    rng = random.Random(1)
    for _ in range(2_000):
        _stays_apart(rng)


@pytest.mark.slow
def test_ids_that_would_become_one_stay_apart_in_every_order() -> None:
    rng = random.Random(2)
    for _ in range(100_000):
        _stays_apart(rng)
