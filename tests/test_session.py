"""A conversation over several requests: one refusal is paid once, and valid thinking stays."""

from __future__ import annotations

import json
from typing import Any

import pytest

from historycompat import HistoryError, compile_rules
from historycompat.session import Session

BOUND = "anthropic/claude-opus-5-5"

RULES = compile_rules(
    """
language: 1
pack: session
rules:
  - name: drop-thinking
    models: [anthropic/]
    safety: lossy
    on_error: 400 /cannot read this thinking/
    do: drop assistant/reasoning
  - name: drop-stale-thinking
    models: [anthropic/]
    safety: lossy
    do: drop assistant:stale/reasoning
"""
)
REFUSAL = {"status": 400, "message": "I cannot read this thinking."}


def user(text: str, **more: Any) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "text", "text": text, **more}]}


def answer(text: str) -> dict[str, Any]:
    thinking = {"type": "reasoning", "text": f"about {text}", "providerOptions": {"anthropic": {"signature": text}}}
    return {"role": "assistant", "content": [thinking, {"type": "text", "text": text}]}


def thoughts(messages: list[Any]) -> list[str]:
    return [part["text"] for message in messages for part in message["content"] if part["type"] == "reasoning"]


def conversation(session: Session, turns: int) -> list[Any]:
    history: list[Any] = []
    for number in range(turns):
        history.append(user(f"q{number}"))
        assert not session.prepare(history).changed
        history.append(answer(f"a{number}"))
    return history


def test_what_an_error_woke_runs_before_every_later_request() -> None:
    session = Session(RULES, model=BOUND, format="aisdk-v2")
    history = [user("q"), answer("a"), user("go on")]
    assert not session.prepare(history).changed
    outcome = session.repair(history, REFUSAL)
    assert thoughts(outcome.messages) == []
    assert outcome.stored is history
    assert session.promoted == ("drop-thinking",)
    assert thoughts(session.prepare(history).messages) == []
    loaded = Session.load(json.loads(json.dumps(session.dump())), RULES, model=BOUND, format="aisdk-v2")
    assert thoughts(loaded.prepare(history).messages) == []
    assert session.repair(history, "Rate limit exceeded").messages is history


def test_thinking_stays_while_what_stands_before_it_stays() -> None:
    session = Session(RULES, model=BOUND, format="aisdk-v2")
    history = [*conversation(session, 5), user("more")]
    assert thoughts(session.prepare(history).messages) == [f"about a{number}" for number in range(5)]


def test_thinking_goes_only_behind_an_edit() -> None:
    session = Session(RULES, model=BOUND, format="aisdk-v2")
    history = [*conversation(session, 4), user("more")]
    history[4] = user("q2, but otherwise")
    assert thoughts(session.prepare(history).messages) == ["about a0", "about a1"]


def test_thinking_that_was_written_behind_a_repair_stays_valid() -> None:
    session = Session(RULES, model=BOUND, format="aisdk-v2")
    history = [*conversation(session, 2), user("more")]
    history[0] = user("q0, but otherwise")
    assert thoughts(session.prepare(history).messages) == []
    history += [answer("a2"), user("and more")]
    assert thoughts(session.prepare(history).messages) == ["about a2"]
    assert thoughts(session.prepare(history).messages) == ["about a2"]


def test_moving_a_cache_mark_makes_nothing_stale() -> None:
    session = Session(RULES, model=BOUND, format="aisdk-v2")
    history = [*conversation(session, 3), user("more")]
    mark = {"providerOptions": {"anthropic": {"cacheControl": {"type": "ephemeral"}}}}
    history[0] = user("q0", **mark)
    assert len(thoughts(session.prepare(history).messages)) == 3


@pytest.mark.parametrize("dumped", [{}, {"version": 99}, [], None])
def test_what_is_no_session_is_refused(dumped: Any) -> None:
    with pytest.raises(HistoryError, match="no session"):
        Session.load(dumped)
