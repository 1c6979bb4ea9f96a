"""A conversation that switches models, is stored, and goes on in another process: real clients, strict providers."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from agent_runs import PATHS
from cli_tools import environment
from strict_server import StrictServer

from historycompat.store import open_store

pytestmark = pytest.mark.integration
pytest.importorskip("openai", reason="the openai library is not installed")
pytest.importorskip("pydantic_ai", reason="the pydantic_ai library is not installed")

WORKER = Path(__file__).with_name("agent_scene_worker.py")


@pytest.fixture(params=["sqlite", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield str(tmp_path / "chats.db")
        return
    pytest.importorskip("psycopg", reason="the psycopg library is not installed")
    from postgres_server import running_server

    with running_server() as url:
        yield url


@pytest.mark.parametrize("path", PATHS)
def test_the_conversation_goes_on(path: str, store: str) -> None:
    with StrictServer() as server:
        first = _run("first", path, server, store)
        assert [told["repaired"] for told in first] == [0, 0, 0, 0]
        assert [told["steps"] for told in first] == [2, 2, 1, 1]
        assert server.refused == []
        assert {(each.route.provider, each.model) for each in server.accepted} == {
            ("anthropic", "claude-sonnet-4-6"),
            ("cerebras", "zai-glm-4.7"),
            ("openai", "gpt-4.1"),
        }
        server.clear()
        second = _run("second", path, server, store)
        assert [told["repaired"] for told in second] == [1, 0]
        assert [exchange.status for exchange in server.exchanges] == [400, 200, 200]
        assert {told["text"] for told in second} == {"All good now."}
    _stored(store)


def _stored(url: str) -> None:
    """The repair is in the store, noted with its reason, and can be undone."""
    with open_store(url) as opened:
        assert "functions.weather:0" not in json.dumps(opened.load("trip")[1])
        [repair] = opened.history_of("trip")
        assert repair.rules == ("anthropic-tool-id-format",)
        assert "String should match pattern" in repair.note
        opened.undo("trip")
        document = json.dumps(opened.load("trip")[1])
        assert "functions.weather:0" in document
        assert "And tomorrow?" in document


def _run(part: str, path: str, server: StrictServer, store: str) -> list[dict[str, Any]]:
    command = [sys.executable, str(WORKER), part, path, server.origin, store]
    ran = subprocess.run(command, capture_output=True, text=True, env=environment(), check=False)
    assert ran.returncode == 0, ran.stderr
    return [json.loads(line) for line in ran.stdout.splitlines()]
