"""Stored threads: refused once, repaired for good, whoever asks next and whoever is killed meanwhile."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from poisoned import ANTHROPIC, anthropic_history
from strict_server import StrictServer
from thread_worker import THREAD, Provider, ask

from historycompat.errors import Conflict
from historycompat.store import PostgresStore, open_store

WORKER = Path(__file__).with_name("thread_worker.py")
REPAIRED = anthropic_history(foreign="functions_bash_0")
RULE = ("anthropic-tool-id-format",)


@pytest.fixture
def provider() -> Iterator[StrictServer]:
    with StrictServer() as running:
        yield running


@pytest.fixture
def url(url: str) -> str:
    """The URL of a store that holds one poisoned thread."""
    with open_store(url) as store:
        store.create(THREAD, ANTHROPIC)
    return url


def _worker(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, str(WORKER), *arguments], stdout=subprocess.PIPE, text=True)


def _turn(url: str, provider: StrictServer, question: str) -> list[int]:
    with _worker("turn", url, provider.url("anthropic"), question) as process:
        printed, _ = process.communicate()
    assert process.returncode == 0
    statuses: list[int] = json.loads(printed)
    return statuses


def test_a_repaired_thread_is_resumed_in_other_processes_without_a_second_refusal(
    url: str, provider: StrictServer
) -> None:
    assert _turn(url, provider, "and now?") == [400, 200]
    assert _turn(url, provider, "and then?") == [200]
    assert _turn(url, provider, "what else?") == [200]
    with open_store(url) as store:
        revision, messages = store.load(THREAD)
        assert messages[: len(ANTHROPIC)] == REPAIRED
        assert [message["content"] for message in messages[len(ANTHROPIC) :: 2]] == [
            "and now?",
            "and then?",
            "what else?",
        ]
        [repair] = store.history_of(THREAD)
        assert (repair.rules, repair.note, revision) == (RULE, "refused", 8)
        store.undo(THREAD)
        assert store.load(THREAD)[1] == ANTHROPIC + messages[len(ANTHROPIC) :]


def test_of_two_concurrent_repairs_one_wins_and_the_other_is_told(url: str, provider: StrictServer) -> None:
    """Both are refused before either repairs."""
    gate = threading.Barrier(2)
    outcomes: list[Any] = []

    def run() -> None:
        client = Provider(provider.url("anthropic"))

        def send(messages: list[Any]) -> Any:
            try:
                return client.ask(messages)
            finally:
                if client.statuses == [400]:
                    gate.wait()

        with open_store(url) as store:
            try:
                outcomes.append(ask(store, send, *store.load(THREAD))["role"])
            except Conflict as conflict:
                outcomes.append(conflict)
                outcomes.append(ask(store, client.ask, *store.load(THREAD))["role"])
                assert client.statuses == [400, 200]

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    [conflict] = [outcome for outcome in outcomes if isinstance(outcome, Conflict)]
    assert (conflict.expected, conflict.found) == (1, 2)
    assert [outcome for outcome in outcomes if outcome is not conflict] == ["assistant", "assistant"]
    with open_store(url) as store:
        assert store.load(THREAD) == (2, REPAIRED)
        assert [repair.revision for repair in store.history_of(THREAD)] == [2]


def _killed(url: str, provider: StrictServer, delay: float) -> int:
    """Let a worker repair and undo until it is killed; the last revision that it was sure of."""
    with _worker("loop", url, provider.url("anthropic")) as process:
        assert process.stdout
        first = process.stdout.readline()
        time.sleep(delay)
        process.send_signal(signal.SIGKILL)
        *_, last = [first, *(line for line in process.stdout if line.endswith("\n"))]
    return int(last)


def _wait_for_the_server(store: PostgresStore) -> None:
    """Wait until the killed client's transaction is over: the server notices its death a little later."""
    others = "SELECT 1 FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
    while store._execute(store._connection, others):
        time.sleep(0.01)


def _survives_kills(url: str, provider: StrictServer, rounds: int) -> None:
    rng = random.Random(rounds)
    for _ in range(rounds):
        sure = _killed(url, provider, rng.uniform(0, 0.05))
        with open_store(url) as store:
            if isinstance(store, PostgresStore):
                _wait_for_the_server(store)
            revision, messages = store.load(THREAD)
            assert sure <= revision <= sure + 2, "a finished write was lost"
            *undone, last = store.history_of(THREAD)
            assert all(repair.undone_by == repair.revision + 1 for repair in undone)
            assert last.rules == RULE
            if last.undone_by is None:
                assert (revision, messages) == (last.revision, REPAIRED)
                store.undo(THREAD)
                messages = store.load(THREAD)[1]
            assert messages == ANTHROPIC


def test_killed_during_a_repair_a_thread_is_whole(url: str, provider: StrictServer) -> None:
    _survives_kills(url, provider, 10)


@pytest.mark.slow
def test_killed_at_many_points_of_a_repair_a_thread_is_whole(url: str, provider: StrictServer) -> None:
    _survives_kills(url, provider, 200)
