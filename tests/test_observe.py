"""What is logged of rules that fire or fail, and that nothing is done for nobody."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import pytest
from poisoned import ALIAS, FOREIGN_ID, anthropic_history

from historycompat import CompatRule, Outcome, ProviderHistoryCompat, Ruleset, apply, repair
from historycompat.session import Session

CLAUDE = "anthropic/claude-sonnet-4-5"
REFUSAL = {"status": 400, "message": "tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"}
RULE = "anthropic-tool-id-format"


@pytest.fixture(autouse=True)
def _levels() -> Iterator[None]:
    loggers = [logging.getLogger(name) for name in ("historycompat", "historycompat.values")]
    levels = [logger.level for logger in loggers]
    yield
    for logger, level in zip(loggers, levels, strict=True):
        logger.setLevel(level)


def lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [f"{record.levelname} {record.getMessage()}" for record in caplog.records]


def test_each_rule_that_fires_is_a_line(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    apply(anthropic_history(), model=CLAUDE)
    repair(anthropic_history(), error=REFUSAL, model=ALIAS)
    Session(model={"provider": "anthropic", "modelId": "claude-sonnet-4-5"}).prepare(anthropic_history())
    apply([{"role": "user", "content": "hi"}], model=CLAUDE)
    assert lines(caplog) == [
        f"INFO rule={RULE} phase=before model='{CLAUDE}' edits=2",
        f"INFO rule={RULE} phase=after model='{ALIAS}' edits=2",
        f"INFO rule={RULE} phase=before model='{CLAUDE}' edits=2",
    ]
    facts: Any = [vars(record)["historycompat"] for record in caplog.records]
    assert facts[0] == {"rule": RULE, "phase": "before", "model": CLAUDE, "edits": 2}


def test_values_are_told_only_where_their_own_logger_is_asked(caplog: pytest.LogCaptureFixture) -> None:
    logging.getLogger("historycompat").setLevel(logging.DEBUG)
    apply(anthropic_history(), model=CLAUDE)
    assert FOREIGN_ID not in caplog.text
    logging.getLogger("historycompat.values").setLevel(logging.DEBUG)
    apply(anthropic_history(), model=CLAUDE)
    assert lines(caplog)[-2:] == [
        f"DEBUG rule={RULE} replace '/messages/1/content/0/toolCallId': '{FOREIGN_ID}' -> 'functions_bash_0'",
        f"DEBUG rule={RULE} replace '/messages/2/content/0/toolCallId': '{FOREIGN_ID}' -> 'functions_bash_0'",
    ]


def test_a_model_cannot_write_lines_of_its_own(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    apply(anthropic_history(), model="anthropic/claude\nINFO all is well")
    assert "\n" not in caplog.records[0].getMessage()


def test_a_rule_that_fails_is_a_warning_without_what_it_saw(caplog: pytest.LogCaptureFixture) -> None:
    def fail(**_: Any) -> None:
        raise ValueError("the secret of the message")

    compat = ProviderHistoryCompat(rules=Ruleset(), additional_rules=[CompatRule("broken", apply_to_prompt=fail)])
    compat.process_llm_request(prompt=[{"role": "user", "content": [{"type": "text", "text": "hi"}]}], model=CLAUDE)
    [line] = lines(caplog)
    assert line.startswith("WARNING rule broken failed and was rolled back (")
    assert "secret" not in caplog.text


@pytest.mark.parametrize("level", [logging.WARNING, logging.ERROR])
def test_where_nobody_listens_the_account_is_not_made(level: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """At the level that Python starts with, too."""
    monkeypatch.setattr(Outcome, "_told", lambda outcome: pytest.fail("the account was made"))
    logging.getLogger("historycompat").setLevel(level)
    outcome = apply(anthropic_history(), model=CLAUDE)
    assert outcome.changed
