"""Stores of histories: what they keep, who wins, what can be undone, and what a kill leaves behind."""

from __future__ import annotations

import asyncio
import copy
import json
import os
import pickle
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import jsonpatch
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from store_worker import THREAD, count, document

from historycompat.errors import Conflict, HistoryError, NothingToUndo, StoreError, UnknownHistory, UnknownStore
from historycompat.store import HistoryStore, PostgresStore, SqliteStore, open_store
from historycompat.store.patch import PatchError, apply, inverse

WORKER = Path(__file__).with_name("store_worker.py")
POISONED = {
    "messages": [{"role": "assistant", "content": [{"type": "tool-call", "toolCallId": "a.b", "toolName": "t"}]}]
}
REPAIRED = {
    "messages": [{"role": "assistant", "content": [{"type": "tool-call", "toolCallId": "a_b", "toolName": "t"}]}]
}
NEXT_TURN = {"role": "user", "content": "and then?"}


@pytest.fixture
def store(url: str) -> Iterator[HistoryStore]:
    with open_store(url) as opened:
        yield opened


def exact(value: Any) -> str:
    """Everything that a document is: types of numbers and order of keys too."""
    return json.dumps(value)


# Keeping


def test_create_load_replace(store: HistoryStore) -> None:
    assert store.create(THREAD, POISONED) == 1
    assert store.load(THREAD) == (1, POISONED)
    assert store.replace(THREAD, 1, REPAIRED) == 2
    assert store.load(THREAD) == (2, REPAIRED)
    assert store.history_of(THREAD) == []


def test_ids_come_in_order_and_in_pages(store: HistoryStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("historycompat.store.sql._PAGE", 3)
    assert list(store.ids()) == []
    ids = ["b", "a", "Z", "é", "a/b", "a b", "0", "\U0001f600", "\uffff"]
    for history_id in ids:
        store.create(history_id, None)
    assert list(store.ids()) == sorted(ids)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
    | st.sampled_from(["\0", "\ud800", "\udc00x", "é"]),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.characters(), inner),
    max_leaves=12,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(JSON, min_size=2, max_size=4))
def test_any_document_comes_back_exactly(store: HistoryStore, documents: list[Any]) -> None:
    history_id = f"t{sum(1 for _ in store.ids())}"
    store.create(history_id, documents[0])
    for revision, value in enumerate(documents[1:], 1):
        assert exact(store.load(history_id)[1]) == exact(documents[revision - 1])
        store.replace(history_id, revision, value, note="")
    for value in reversed(documents[:-1]):
        store.undo(history_id)
        assert exact(store.load(history_id)[1]) == exact(value)


def test_numbers_and_orders_that_databases_like_to_change(store: HistoryStore) -> None:
    text = '{"b": 1.0, "a": 1, "aa": -0.0, "long": 123456789012345678901234567890, "small": 1e-300, "nul": "\\u0000", "half": "\\ud83d"}'
    store.create(THREAD, json.loads(text))
    assert exact(store.load(THREAD)[1]) == exact(json.loads(text))


@pytest.mark.parametrize(
    "value",
    [float("nan"), float("inf"), (1, 2), {1: 2}, {"a": {None: 1}}, b"bytes", {"s": {1}}, object()],
    ids=lambda value: repr(value).partition(" at 0x")[0],
)
def test_what_is_not_json_is_refused(store: HistoryStore, value: Any) -> None:
    with pytest.raises(HistoryError, match="not JSON"):
        store.create(THREAD, value)
    store.create(THREAD, None)
    with pytest.raises(HistoryError, match="not JSON"):
        store.replace(THREAD, 1, value)
    assert store.load(THREAD) == (1, None)


def test_a_document_too_deep_is_refused(store: HistoryStore) -> None:
    nested: Any = []
    for _ in range(100_000):
        nested = [nested]
    with pytest.raises(HistoryError, match="not JSON"):
        store.create(THREAD, nested)


# Refusing


def test_an_unknown_id_is_named_with_the_nearest(store: HistoryStore) -> None:
    store.create(THREAD, 1)
    for ask in (store.load, store.undo, store.history_of, lambda history_id: store.replace(history_id, 1, None)):
        with pytest.raises(UnknownHistory, match=r'holds no history "thred-1"; did you mean "thread-1"\?'):
            ask("thred-1")


@pytest.mark.parametrize("history_id", ["", "\0", "a\0b", "\ud800", None, 7], ids=repr)
def test_what_cannot_be_an_id(store: HistoryStore, history_id: Any) -> None:
    for ask in (
        store.load,
        store.undo,
        store.history_of,
        lambda one: store.create(one, 1),
        lambda one: store.replace(one, 1, 1),
    ):
        with pytest.raises(UnknownHistory, match="is no id"):
            ask(history_id)


def test_a_taken_id_is_a_conflict(store: HistoryStore) -> None:
    store.create(THREAD, 1)
    store.replace(THREAD, 1, 2)
    with pytest.raises(Conflict, match=r'"thread-1" is at revision 2, not 0: it exists already'):
        store.create(THREAD, 3)
    assert store.load(THREAD) == (2, 2)


@pytest.mark.parametrize("expected", [0, 1, 3])
def test_a_stale_write_is_told_both_revisions_and_writes_nothing(store: HistoryStore, expected: int) -> None:
    store.create(THREAD, 1)
    store.replace(THREAD, 1, 2, note="mine")
    with pytest.raises(Conflict, match=f"at revision 2, not {expected}: load it again") as caught:
        store.replace(THREAD, expected, 3, note="yours")
    assert (caught.value.history_id, caught.value.expected, caught.value.found) == (THREAD, expected, 2)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    assert store.load(THREAD) == (2, 2)
    assert [repair.note for repair in store.history_of(THREAD)] == ["mine"]


# Undoing


def test_a_repair_is_kept_and_undone(store: HistoryStore) -> None:
    store.create(THREAD, POISONED)
    store.replace(THREAD, 1, REPAIRED, note="refused: \ud800\0", rules=["anthropic-tool-id-format"])
    (repair,) = store.history_of(THREAD)
    assert (repair.revision, repair.note, repair.rules, repair.undone_by) == (
        2,
        "refused: \ud800\0",
        ("anthropic-tool-id-format",),
        None,
    )
    assert timedelta(0) <= datetime.now(UTC) - repair.at < timedelta(minutes=1)
    assert store.undo(THREAD) == 3
    assert store.load(THREAD) == (3, POISONED)
    assert [repair.undone_by for repair in store.history_of(THREAD)] == [3]
    with pytest.raises(NothingToUndo, match=THREAD):
        store.undo(THREAD)


def test_repairs_are_undone_last_first(store: HistoryStore) -> None:
    store.create(THREAD, {"a": 1, "b": 1})
    store.replace(THREAD, 1, {"a": 2, "b": 1}, rules=["one"])
    store.replace(THREAD, 2, {"a": 2, "b": 2}, rules=["two"])
    store.undo(THREAD)
    store.replace(THREAD, 4, {"a": 2, "b": 3}, rules=["three"])
    assert [store.undo(THREAD), store.load(THREAD)[1]] == [6, {"a": 2, "b": 1}]
    assert [store.undo(THREAD), store.load(THREAD)[1]] == [7, {"a": 1, "b": 1}]
    assert [(repair.rules, repair.undone_by) for repair in store.history_of(THREAD)] == [
        (("one",), 7),
        (("two",), 4),
        (("three",), 6),
    ]


def test_what_was_said_after_a_repair_survives_its_undoing(store: HistoryStore) -> None:
    store.create(THREAD, POISONED)
    store.replace(THREAD, 1, REPAIRED, note="")
    store.replace(THREAD, 2, {"messages": [*REPAIRED["messages"], NEXT_TURN]})
    store.undo(THREAD)
    assert store.load(THREAD) == (4, {"messages": [*POISONED["messages"], NEXT_TURN]})


@pytest.mark.parametrize(
    ("old", "repaired", "later"),
    [
        ([1, 2, 3], [1, 9, 3], [1, 8, 3]),
        ([1, 2, 3], [1, 3], [3]),
        ([1, 2, 3], [1, 3], [0, 1, 3]),
        ([1, 2, 3], [1, 2, 3, 4], [1, 2, 3]),
        ({"a": 1, "b": 2}, {"a": 1}, {"a": 1, "b": 3}),
        ({"a": 1}, {"a": 1, "b": 2}, {"a": 1}),
        ({"m": [{"x": 1}]}, {"m": [{"x": 2}]}, {"m": "summary"}),
        ({"m": [{"x": 1}]}, {"m": [{"x": 2}]}, ["m"]),
        ({"a": 1}, [1], [1, 2]),
    ],
)
def test_an_undoing_that_no_longer_fits_is_refused(store: HistoryStore, old: Any, repaired: Any, later: Any) -> None:
    store.create(THREAD, old)
    store.replace(THREAD, 1, repaired, note="")
    store.replace(THREAD, 2, later)
    with pytest.raises(Conflict, match=r'cannot be undone, ".*" has changed since'):
        store.undo(THREAD)
    assert store.load(THREAD) == (3, later)
    assert [repair.undone_by for repair in store.history_of(THREAD)] == [None]


# Patches


@given(JSON, JSON)
def test_an_inverse_leads_back_exactly(old: Any, new: Any) -> None:
    patch = inverse(old, new)
    assert exact(apply(copy.deepcopy(new), patch)) == exact(old)
    assert jsonpatch.apply_patch(new, patch) == old
    assert (patch == []) == (exact(old) == exact(new))


MESSAGE = st.fixed_dictionaries(
    {
        "role": st.sampled_from(["user", "assistant"]),
        "content": st.lists(
            st.fixed_dictionaries({"type": st.sampled_from("ab"), "id": st.integers(0, 2)}), max_size=3
        ),
    }
)


@given(st.lists(MESSAGE, max_size=6), st.lists(MESSAGE, max_size=6), st.lists(MESSAGE, min_size=1, max_size=3))
def test_an_inverse_leaves_what_was_appended(old: list[Any], new: list[Any], more: list[Any]) -> None:
    patch = inverse({"messages": old}, {"messages": new})
    later = {"messages": copy.deepcopy(new + more)}
    try:
        assert apply(later, patch) == {"messages": old + more}
    except PatchError:
        assert new == []  # all was removed: no neighbour is left that could tell the place


@pytest.mark.parametrize(
    ("old", "new", "patch"),
    [
        ({"a": 1, "b": 2}, {"a": 1}, [{"op": "add", "path": "/b", "value": 2}]),
        (
            {"b": 2, "a": 1},
            {"a": 1},
            [{"op": "test", "path": "", "value": {"a": 1}}, {"op": "replace", "path": "", "value": {"b": 2, "a": 1}}],
        ),
        (
            [{"id": "a.b"}, 1, 2],
            [{"id": "a_b"}, 2],
            [
                {"op": "test", "path": "/0", "value": {"id": "a_b"}},
                {"op": "test", "path": "/0/id", "value": "a_b"},
                {"op": "add", "path": "/1", "value": 1},
                {"op": "replace", "path": "/0/id", "value": "a.b"},
            ],
        ),
        (
            {"~/": 1},
            {"~/": 1.0},
            [{"op": "test", "path": "/~0~1", "value": 1.0}, {"op": "replace", "path": "/~0~1", "value": 1}],
        ),
    ],
)
def test_patches_are_small(old: Any, new: Any, patch: Any) -> None:
    assert inverse(old, new) == patch


def test_long_histories_are_compared_quickly() -> None:
    old = [{"role": "user", "content": "hello"}] * 20_000
    new = [*old[:10_000], {"role": "user", "content": "hi"}, *old[10_001:]]
    start = time.process_time()
    patch = inverse(old, new)
    assert [operation["op"] for operation in patch] == ["test", "replace"]
    assert time.process_time() - start < 2


# Competing


def test_of_two_concurrent_repairs_one_wins_and_the_other_is_told(url: str) -> None:
    with open_store(url) as one, open_store(url) as other:
        one.create(THREAD, 0)
        for revision in range(1, 20):
            outcomes = _race(
                [
                    partial(store.replace, THREAD, revision, name, note="")
                    for name, store in (("one", one), ("other", other))
                ]
            )
            assert {type(outcome) for outcome in outcomes} == {int, Conflict}
            assert one.load(THREAD)[0] == revision + 1
        assert [repair.revision for repair in other.history_of(THREAD)] == list(range(2, 21))


def _race(actions: list[Any]) -> list[Any]:
    """The results, or the errors, of actions that start at the same moment."""
    gate, outcomes = threading.Barrier(len(actions)), []

    def run(action: Any) -> None:
        gate.wait()
        try:
            outcomes.append(action())
        except StoreError as error:
            outcomes.append(error)

    threads = [threading.Thread(target=run, args=(action,)) for action in actions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return outcomes


def test_threads_share_a_store(store: HistoryStore) -> None:
    store.create(THREAD, 0)
    _race([lambda: count(store, 20)] * 8)
    assert store.load(THREAD) == (161, 160)


async def test_asynchronous_callers_go_through_threads(store: HistoryStore) -> None:
    await asyncio.gather(*(asyncio.to_thread(store.create, f"t{number}", number) for number in range(50)))
    assert sorted(await asyncio.gather(*(asyncio.to_thread(store.load, history_id) for history_id in store.ids()))) == [
        (1, number) for number in range(50)
    ]


def test_processes_share_a_store(url: str) -> None:
    with open_store(url) as store:
        store.create(THREAD, 0)
    workers = [_worker("count", url, "25") for _ in range(4)]
    assert [worker.wait() for worker in workers] == [0] * 4
    for worker in workers:
        worker.communicate()
    with open_store(url) as store:
        assert store.load(THREAD) == (101, 100)


def test_processes_make_a_new_store_together(url: str) -> None:
    script = f"import sys; sys.path.insert(0, {str(WORKER.parents[1] / 'compiler')!r}); from historycompat.store import open_store; open_store({url!r}).create(sys.argv[1], 1)"
    workers = [subprocess.Popen([sys.executable, "-c", script, str(number)]) for number in range(8)]
    assert [worker.wait() for worker in workers] == [0] * 8
    with open_store(url, must_exist=True) as store:
        assert list(store.ids()) == [str(number) for number in range(8)]


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_opens_the_store_anew(store: HistoryStore) -> None:
    store.create(THREAD, 0)
    child = os.fork()
    if not child:
        try:
            store.replace(THREAD, 1, 1)
            store.close()  # type: ignore[attr-defined]
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert store.replace(THREAD, 2, 2) == 3


def test_a_closed_store_opens_again(store: HistoryStore) -> None:
    store.create(THREAD, 1)
    store.close()  # type: ignore[attr-defined]
    store.close()  # type: ignore[attr-defined]
    assert store.load(THREAD) == (1, 1)


# Being killed


def _worker(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, str(WORKER), *arguments], stdout=subprocess.PIPE, text=True)


def _killed(url: str, delay: float) -> int:
    """Let a worker repair until it is killed; the last revision that it was sure of."""
    with _worker("repair", url) as worker:
        assert worker.stdout
        first = worker.stdout.readline()
        time.sleep(delay)
        worker.send_signal(signal.SIGKILL)
        *_, last = [first, *(line for line in worker.stdout if line.endswith("\n"))]
    return int(last)


def _wait_for_the_server(store: PostgresStore) -> None:
    """Wait until the killed client's transaction is over: the server notices its death a little later."""
    others = "SELECT 1 FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
    while store._execute(store._connection, others):
        time.sleep(0.01)


def _survives_kills(url: str, rounds: int) -> None:
    rng = random.Random(rounds)
    with open_store(url) as store:
        store.create(THREAD, document(0))
    for _ in range(rounds):
        sure = _killed(url, rng.uniform(0, 0.03))
        with open_store(url) as store:
            if isinstance(store, PostgresStore):
                _wait_for_the_server(store)
            revision, found = store.load(THREAD)
            assert revision in (sure, sure + 1)
            assert found == document(found["number"])
            assert store.history_of(THREAD)[-1].revision == revision
            assert store.undo(THREAD) == revision + 1
            assert store.load(THREAD)[1] == document(found["number"] - 1)
            if isinstance(store, SqliteStore):
                assert store._connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_killed_at_any_moment_nothing_is_lost_or_half_written(url: str) -> None:
    _survives_kills(url, 30)


@pytest.mark.slow
def test_killed_at_many_moments_nothing_is_lost_or_half_written(url: str) -> None:
    _survives_kills(url, 200)


# Opening


def test_a_file_is_opened_by_path_or_url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with open_store(tmp_path / "a.db") as store:
        store.create(THREAD, 1)
    for name in ("a.db", "sqlite:///a.db", f"sqlite:///{tmp_path}/a.db", str(tmp_path / "a.db")):
        with open_store(name, must_exist=True) as store:
            assert store.load(THREAD) == (1, 1)


def test_a_store_in_memory() -> None:
    with open_store("sqlite:///:memory:") as store:
        store.create(THREAD, 1)
        assert list(store.ids()) == [THREAD]


def test_other_tables_of_the_file_are_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "app.db"
    with sqlite3.connect(path) as app:
        app.execute("CREATE TABLE history (id)")
    app.close()
    with open_store(path) as store:
        store.create(THREAD, 1)
        assert store.load(THREAD) == (1, 1)


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("mysql://host/db", '"mysql://host/db" is no store: write a path, sqlite:///PATH or postgresql'),
        ("sqllite:///a.db", 'did you mean "sqlite"?'),
        ("postgre://host/db", 'did you mean "postgresql"?'),
        ("sqlite://a.db", "write sqlite:///path/of/file.db"),
        ("", "a store needs a name"),
        ("sqlite:///", "a store needs a name"),
        ("{tmp}", "unable to open database file"),
        ("{tmp}/no/such/a.db", 'there is no folder "{tmp}/no/such"'),
        ("{tmp}/text.db", "file is not a database"),
        pytest.param(
            "postgresql://tester:secret@127.0.0.1:1/none",
            "postgresql://127.0.0.1/none cannot be opened",
            marks=pytest.mark.skipif(find_spec("psycopg") is None, reason="psycopg is not installed"),
        ),
    ],
)
def test_what_cannot_be_opened(tmp_path: Path, url: str, message: str) -> None:
    (tmp_path / "text.db").write_text("no database at all, but long enough to look like one" * 20)
    with pytest.raises(UnknownStore) as caught:
        open_store(url.format(tmp=tmp_path))
    assert message.format(tmp=tmp_path) in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_store_that_must_exist(tmp_path: Path) -> None:
    with pytest.raises(UnknownStore, match=r'there is no store ".*a.db"'):
        open_store(tmp_path / "a.db", must_exist=True)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.postgres
def test_tables_that_must_exist(server: str, url: str) -> None:
    if url == server:
        with pytest.raises(UnknownStore, match="holds no histories"):
            open_store(url, must_exist=True)


def test_psycopg_is_asked_for_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(UnknownStore, match=r'pip install "historycompat\[postgres\]"'):
        PostgresStore("postgresql://localhost/none")


def test_a_database_error_is_a_store_error(tmp_path: Path) -> None:
    with open_store(tmp_path / "a.db") as store:
        store._connection.execute("DROP TABLE historycompat_history")
        with pytest.raises(StoreError, match=r"a\.db: no such table"):
            store.load(THREAD)


@pytest.mark.postgres
def test_a_lost_connection_is_opened_again(server: str) -> None:
    with open_store(server) as store, open_store(server) as other:
        own = store._execute(store._connection, "SELECT pg_backend_pid()")[0][0]
        other._execute(other._connection, "SELECT pg_terminate_backend(?)", own)
        with pytest.raises(StoreError):
            list(store.ids())
        assert isinstance(list(store.ids()), list)
