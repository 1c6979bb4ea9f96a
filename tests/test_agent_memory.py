"""The memory of agents: what a run loads, what is left of it when others write too, and what a kill leaves behind."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from command_line import run
from memory_worker import PARTS, THREAD

from historycompat import formats
from historycompat.agent.errors import AgentError
from historycompat.agent.memory import Memory, MemoryOptions, MemorySession
from historycompat.agent.memory.options import checked
from historycompat.errors import Conflict, HistoryError, StoreError, UnknownHistory
from historycompat.processors.message_list import Changes, MessageList
from historycompat.store import open_store

ALICE, BOB = "alice", "bob"
WORKER = Path(__file__).with_name("memory_worker.py")
REFUSAL = "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"  # Anthropic, status 400
RULE = "anthropic-tool-id-format"


def row(name: str, text: str = "", role: str = "user", at: int | None = None) -> dict[str, Any]:
    """A stored row; `at` is its minute."""
    when = {} if at is None else {"createdAt": f"2026-05-01T10:{at:02}:00.000Z"}
    return {
        "id": name,
        "role": role,
        **when,
        "content": {"format": 2, "parts": [{"type": "text", "text": text or name}]},
    }


def called(name: str, call: str) -> dict[str, Any]:
    """A row with a call and its result."""
    invocation = {"state": "result", "toolCallId": call, "toolName": "bash", "args": {}, "result": "ok"}
    parts = [{"type": "tool-invocation", "toolInvocation": invocation}, {"type": "text", "text": "done"}]
    return {"id": name, "role": "assistant", "content": {"format": 2, "parts": parts}}


def ids(rows: Sequence[dict[str, Any]]) -> list[str]:
    return [each["id"] for each in rows]


@pytest.fixture
async def memory(url: str) -> AsyncIterator[Memory]:
    opened = Memory(url)
    yield opened
    opened.close()


async def keep(memory: Memory, *rows: dict[str, Any], thread: Any = THREAD, resource: str = ALICE) -> MemorySession:
    session = await memory.open(thread, resource)
    await session.save(Changes(added=rows))
    return session


async def no_title(rows: list[dict[str, Any]]) -> str:
    raise AssertionError("no title is wanted")


# Threads


async def test_a_thread_is_stored_at_its_first_save_and_comes_back(memory: Memory) -> None:
    session = await memory.open({"id": THREAD, "title": "Trip", "metadata": {"colour": "red"}}, ALICE)
    assert await session.recall([row("a")]) == []
    assert list(memory.store.ids()) == []
    await session.save(Changes(added=(row("a"), row("b", role="assistant"))))
    [listed] = await memory.threads(ALICE)
    assert listed == await memory.thread(THREAD)
    assert (listed["id"], listed["title"], listed["metadata"]) == (THREAD, "Trip", {"colour": "red"})
    assert listed["created_at"] <= listed["updated_at"]
    owner = {"threadId": THREAD, "resourceId": ALICE}
    assert await memory.messages(THREAD) == [{**row("a"), **owner}, {**row("b", role="assistant"), **owner}]


async def test_metadata_is_merged_and_a_title_replaced_with_the_next_save(memory: Memory) -> None:
    await keep(memory, row("a"), thread={"id": THREAD, "title": "Trip", "metadata": {"colour": "red", "n": 1}})
    await keep(memory, thread={"id": THREAD, "metadata": {"n": 2}})
    assert (await memory.threads(ALICE))[0]["metadata"] == {"colour": "red", "n": 2}
    await keep(memory, thread={"id": THREAD, "title": "Journey"})
    assert (await memory.threads(ALICE))[0]["title"] == "Journey"


async def test_a_save_of_nothing_writes_nothing(memory: Memory) -> None:
    session = await keep(memory, row("a"))
    assert memory.store.load(THREAD)[0] == 1
    await session.save(Changes(), session.states)
    await session.save(Changes(edited=(row("a"),)), session.states)
    assert memory.store.load(THREAD)[0] == 1


async def test_threads_are_listed_by_resource_the_last_written_first(memory: Memory) -> None:
    for thread, resource in (("a", ALICE), ("b", BOB), ("c", ALICE)):
        await keep(memory, row("x"), thread=thread, resource=resource)
        await asyncio.sleep(0.002)
    assert ids(await memory.threads(ALICE)) == ["c", "a"]
    await keep(memory, row("y"), thread="a")
    assert ids(await memory.threads(ALICE)) == ["a", "c"]
    assert ids(await memory.threads(BOB)) == ["b"]
    assert await memory.threads("nobody") == []


async def test_a_thread_that_was_announced_and_never_stored_is_not_listed(memory: Memory) -> None:
    session = await memory.open(THREAD, ALICE)
    await session._resource.announce(THREAD)
    assert await memory.threads(ALICE) == []
    await session.save(Changes(added=(row("a"),)))
    assert ids(await memory.threads(ALICE)) == [THREAD]


async def test_a_thread_of_another_resource_is_refused(memory: Memory) -> None:
    late = await memory.open(THREAD, BOB)
    await keep(memory, row("a"))
    with pytest.raises(AgentError, match="'thread-1' belongs to resource 'alice', not to 'bob'") as caught:
        await memory.open(THREAD, BOB)
    assert caught.value.code == "AGENT_THREAD_OF_ANOTHER_RESOURCE"
    with pytest.raises(AgentError, match="belongs to resource 'alice'"):
        await late.save(Changes(added=(row("b"),)))
    assert ids(await memory.messages(THREAD)) == ["a"]


@pytest.mark.parametrize(
    ("thread", "resource", "complaint"),
    [
        ("", ALICE, "memory.thread is no id of a thread: ''"),
        ("a\0b", ALICE, "is no id of a thread"),
        ("\ud800", ALICE, "is no id of a thread"),
        (7, ALICE, "is no id of a thread: 7"),
        ("historycompat:resource/bob", ALICE, "is no id of a thread"),
        (THREAD, "", "memory.resource is no id"),
        (THREAD, None, "memory.resource is no id"),
        ({"id": THREAD, "name": "x"}, ALICE, "memory.thread has no 'name': there are id, title and metadata"),
        ({"id": THREAD, "title": 1}, ALICE, "memory.thread.title is no text"),
        ({"id": THREAD, "metadata": [1]}, ALICE, "memory.thread.metadata is no JSON object"),
        ({"id": THREAD, "metadata": {"x": {1}}}, ALICE, "memory.thread.metadata is no JSON object"),
    ],
)
async def test_what_is_no_thread_or_resource(memory: Memory, thread: Any, resource: Any, complaint: str) -> None:
    with pytest.raises(AgentError) as caught:
        await memory.open(thread, resource)
    assert caught.value.code == "AGENT_BAD_OPTION"
    assert complaint in str(caught.value)


async def test_a_history_that_is_no_thread_is_left_alone(memory: Memory) -> None:
    memory.store.create(THREAD, [{"role": "user", "content": "hello"}])
    with pytest.raises(AgentError, match="no thread of an agent"):
        await memory.open(THREAD, ALICE)
    assert await memory.thread(THREAD) is None
    with pytest.raises(AgentError, match="no thread of an agent"):
        await memory.messages(THREAD)
    with pytest.raises(UnknownHistory, match='no history "other"'):
        await memory.messages("other")


# What a run loads


@pytest.mark.parametrize(
    ("options", "loaded"),
    [
        (None, [f"r{n}" for n in range(2, 12)]),
        ({"last_messages": 3}, ["r9", "r10", "r11"]),
        ({"lastMessages": 1}, ["r11"]),
        ({"last_messages": 99}, [f"r{n}" for n in range(12)]),
        ({"last_messages": 0}, []),
        ({"last_messages": False}, []),
        (MemoryOptions(last_messages=2), ["r10", "r11"]),
    ],
    ids=repr,
)
async def test_the_last_messages(memory: Memory, options: Any, loaded: list[str]) -> None:
    await keep(memory, *(row(f"r{n}") for n in range(12)))
    session = await memory.open(THREAD, ALICE, options)
    assert ids(await session.recall([row("new")])) == loaded
    assert session.system_texts() == []
    assert session.tools() == []


async def test_options_of_a_call_go_over_those_of_the_memory(url: str) -> None:
    memory = Memory(url, options={"last_messages": 2, "threads": {"generate_title": {"instructions": "short"}}})
    session = await memory.open(THREAD, ALICE, {"threads": {"generateTitle": True}, "lastMessages": 5})
    assert session.options.last_messages == 5
    assert session.options.threads.generate_title is not None
    assert session.options.threads.generate_title.instructions == "short"
    off = await memory.open(THREAD, ALICE, {"threads": {"generate_title": False}})
    assert off.options.threads.generate_title is None
    assert off.options.last_messages == 2
    memory.close()


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"last_mesages": 3}, 'memory.options.last_mesages is no option; did you mean "last_messages"?'),
        ({"lastMesages": 3}, 'memory.options.lastMesages is no option; did you mean "lastMessages"?'),
        ({"last_messages": 3, "lastMessages": 4}, "is there in both spellings; write one"),
        ({"zzz": 3}, "is no option; there are last_messages, semantic_recall, working_memory, threads"),
        ({"semantic_recall": {"topk": 3}}, 'memory.options.semantic_recall.topk is no option; did you mean "top_k"?'),
        ({"semanticRecall": {"messageRange": {"befor": 1}}}, 'did you mean "before"?'),
        ({"semantic_recall": {"scope": "all"}}, "semantic_recall.scope: Input should be 'resource' or 'thread'"),
        ({"semantic_recall": {"top_k": 0}}, "semantic_recall.top_k: Input should be greater than or equal to 1"),
        ({"last_messages": True}, "memory.options.last_messages: Input should be a valid integer"),
        ({"last_messages": -1}, "memory.options.last_messages: Input should be greater than or equal to 0"),
        ({"working_memory": {"enabled": "yes"}}, "working_memory.enabled: Input should be a valid boolean"),
        ({"threads": {"generate_titel": True}}, 'threads.generate_titel is no option; did you mean "generate_title"?'),
        ([], "options of a memory are a mapping or MemoryOptions, not []"),
    ],
    ids=repr,
)
def test_options_that_are_none(options: Any, complaint: str) -> None:
    with pytest.raises(AgentError) as caught:
        checked(options)
    assert caught.value.code == "AGENT_BAD_OPTION"
    assert complaint in str(caught.value)


async def test_states_come_back_as_they_were_saved(memory: Memory, caplog: pytest.LogCaptureFixture) -> None:
    session = await memory.open(THREAD, ALICE)
    assert session.states == {}
    session.states["compat"] = {"promoted": ["r1"]}
    session.states["odd"] = {"lock": object()}
    await session.save(Changes(), session.states)
    assert "no JSON and are not kept: odd" in caplog.text
    other = await memory.open(THREAD, ALICE)
    assert other.states == {"compat": {"promoted": ["r1"]}}
    other.states["counter"] = {"n": 1}
    session.states["compat"]["promoted"].append("r2")
    await other.save(Changes(), other.states)
    await session.save(Changes(), session.states)
    expected = {"compat": {"promoted": ["r1", "r2"]}, "counter": {"n": 1}}
    assert (await memory.open(THREAD, ALICE)).states == expected


# What is written


async def test_a_run_with_a_message_list(memory: Memory) -> None:
    await keep(memory, *(row(f"r{n}") for n in range(4)))
    session = await memory.open(THREAD, ALICE, {"last_messages": 2})
    rows = MessageList(await session.recall([]))
    rows[0]["content"]["parts"][0]["text"] = "edited"
    rows.remove("r3")
    rows.add(row("in"), "input")
    rows.add(row("context"), "context")
    rows.add(row("out", role="assistant"), "response")
    await session.save(rows.changed(), session.states)
    saved = await memory.messages(THREAD)
    assert ids(saved) == ["r0", "r1", "r2", "in", "out"]
    assert saved[2]["content"]["parts"] == [{"type": "text", "text": "edited"}]


async def test_changes_are_merged_over_what_others_wrote(memory: Memory) -> None:
    await keep(memory, *(row(name) for name in "abcd"))
    one, two = await memory.open(THREAD, ALICE), await memory.open(THREAD, ALICE)
    await one.save(Changes(added=(row("e"),), edited=(row("a", "by one"),), removed=("c",)))
    await two.save(Changes(added=(row("f"), row("e", "by two")), edited=(row("b", "by two"), row("c", "too late"))))
    saved = await memory.messages(THREAD)
    said = {each["id"]: each["content"]["parts"][0]["text"] for each in saved}
    assert said == {"a": "by one", "b": "by two", "d": "d", "e": "by two", "f": "f"}
    assert list(said) == ["a", "b", "d", "e", "f"]


async def test_new_rows_stand_last_whatever_their_clock_says_and_those_of_repairs_by_their_date(memory: Memory) -> None:
    await keep(memory, row("a", at=1), row("b", at=3))
    await keep(memory, row("c", at=2), row("historycompat-1", at=1), row("historycompat-0", at=0))
    await keep(memory, row("historycompat-9"))
    expected = ["historycompat-0", "a", "historycompat-1", "b", "c", "historycompat-9"]
    assert ids(await memory.messages(THREAD)) == expected


async def test_twenty_sessions_that_save_at_once_lose_nothing(url: str) -> None:
    """Half of them share a connection, the others have their own."""
    memories = [Memory(url) for _ in range(11)]

    async def turns(number: int) -> None:
        session = await memories[max(0, number - 9)].open(THREAD, ALICE)
        for turn in range(3):
            added = (row(f"q{number}.{turn}"), row(f"a{number}.{turn}", role="assistant"))
            await session.save(Changes(added=added), {f"p{number}": {"turn": turn}})

    await asyncio.gather(*map(turns, range(20)))
    saved = ids(await memories[0].messages(THREAD))
    assert sorted(saved) == sorted(f"{kind}{n}.{turn}" for kind in "qa" for n in range(20) for turn in range(3))
    for number in range(20):
        own = [name for name in saved if name[1:].split(".")[0] == str(number)]
        assert own == [f"{kind}{number}.{turn}" for turn in range(3) for kind in "qa"]
    assert all(after == f"a{before[1:]}" for before, after in zip(saved[::2], saved[1::2], strict=True))
    assert (await memories[0].open(THREAD, ALICE)).states == {f"p{n}": {"turn": 2} for n in range(20)}
    assert len(await memories[0].threads(ALICE)) == 1
    for memory in memories:
        memory.close()


async def test_threads_made_at_once_are_all_listed(url: str) -> None:
    memories = [Memory(url) for _ in range(4)]
    await asyncio.gather(*(keep(memories[n % 4], row("a"), thread=f"t{n:02}") for n in range(20)))
    assert sorted(ids(await memories[0].threads(ALICE))) == [f"t{n:02}" for n in range(20)]
    for memory in memories:
        memory.close()


async def test_an_endless_conflict_is_told(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody writes between each load and its write."""
    session = await keep(memory, row("a"))
    load = memory.store.load

    def interfering(history: str) -> Any:
        revision, document = load(history)
        memory.store.replace(history, revision, document)
        return revision, document

    monkeypatch.setattr(memory.store, "load", interfering)
    monkeypatch.setattr("historycompat.agent.memory.shelf._ATTEMPTS", 5)
    with pytest.raises(Conflict, match='"thread-1" is at revision 6, not 5'):
        await session.save(Changes(added=(row("b"),)))
    monkeypatch.undo()
    assert ids(await memory.messages(THREAD)) == ["a"]


@pytest.mark.parametrize("fails", ["replace", "create"])
async def test_a_fault_of_the_database_is_a_store_error_and_nothing_is_half_written(tmp_path: Path, fails: str) -> None:
    """A trigger of the database itself refuses the write of the thread."""
    memory = Memory(tmp_path / "chats.db")
    if fails == "replace":
        await keep(memory, row("a"))
    session = await memory.open(THREAD, ALICE)
    on = "UPDATE" if fails == "replace" else "INSERT"
    trigger = f"CREATE TRIGGER fault BEFORE {on} ON historycompat_history WHEN NEW.id = '{THREAD}'"
    memory.store._connection.execute(f"{trigger} BEGIN SELECT RAISE(ABORT, 'the disk is full'); END")  # type: ignore[attr-defined]
    with pytest.raises(StoreError, match="the disk is full"):
        await session.save(Changes(added=(row("b"), row("c"))), {"p": {"n": 1}})
    assert ids(await memory.threads(ALICE)) == ([THREAD] if fails == "replace" else [])
    memory.store._connection.execute("DROP TRIGGER fault")  # type: ignore[attr-defined]
    await session.save(Changes(added=(row("b"), row("c"))), {"p": {"n": 1}})
    assert ids(await memory.messages(THREAD))[-2:] == ["b", "c"]
    assert ids(await memory.threads(ALICE)) == [THREAD]
    memory.close()


async def test_a_row_that_is_no_json_is_refused_and_nothing_is_written(memory: Memory) -> None:
    session = await keep(memory, row("a"))
    with pytest.raises(HistoryError, match="not JSON"):
        await session.save(Changes(added=(row("b"), {"id": "c", "content": {1, 2}})))
    assert ids(await memory.messages(THREAD)) == ["a"]


def test_a_killed_process_leaves_the_old_or_the_new(url: str) -> None:
    """The worker saves some rows and a state at once; the kill comes at any moment."""
    moments = random.Random(7)
    for _ in range(4):
        worker = subprocess.Popen([sys.executable, str(WORKER), url], stdout=subprocess.PIPE, text=True)
        assert worker.stdout is not None
        worker.stdout.readline()
        time.sleep(moments.uniform(0, 0.08))
        os.kill(worker.pid, signal.SIGKILL)
        told = worker.stdout.read().split()
        worker.wait()
        worker.stdout.close()
        with open_store(url) as store:
            document = store.load(THREAD)[1]
        turns = document["states"]["worker"]["turns"]
        assert ids(document["messages"]) == [f"{turn}.{part}" for turn in range(turns) for part in PARTS]
        assert not told or turns > int(told[-1])


# Repairs


POISONED = (row("u1", at=1), called("a1", "functions.bash:0"), row("u2", at=5))


async def test_the_command_line_repairs_and_undoes_a_thread(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    memory = Memory(tmp_path / "chats.db")
    await keep(memory, *POISONED, thread={"id": THREAD, "title": "Trip"})
    document = memory.store.load(THREAD)[1]
    assert formats.detect(document).format.name == "mastra"
    place = ("--store", str(tmp_path / "chats.db"), "--thread", THREAD)
    done = run(capfd, "repair", *place, "--model", "anthropic/claude-sonnet-4-5", "--error", REFUSAL)
    assert done.code == 0, done.err
    assert "read as mastra" in done.err
    repaired = memory.store.load(THREAD)[1]
    assert repaired["messages"][1]["content"]["parts"][0]["toolInvocation"]["toolCallId"] == "functions_bash_0"
    assert {key: value for key, value in repaired.items() if key != "messages"} == {
        key: value for key, value in document.items() if key != "messages"
    }
    await keep(memory, row("u3"))
    assert run(capfd, "undo", *place).code == 0
    assert (await memory.messages(THREAD))[:3] == document["messages"]
    assert ids(await memory.messages(THREAD)) == ["u1", "a1", "u2", "u3"]
    memory.close()


async def test_a_repair_of_a_run_is_noted_and_undone_without_what_was_said_since(memory: Memory) -> None:
    await keep(memory, *POISONED)
    before = await memory.messages(THREAD)
    session = await memory.open(THREAD, ALICE)
    rows = MessageList(await session.recall([]))
    rows[1]["content"]["parts"][0]["toolInvocation"]["toolCallId"] = "functions_bash_0"
    rows.insert(2, row("historycompat-made", at=2))
    rows.remove("u2")
    rows.add(row("u3"), "input")
    await session.save(rows.changed(), {"compat": {"promoted": [RULE]}}, note="refused", rules=[RULE])
    rows.mark_saved()
    rows.add(row("a3", role="assistant"), "response")
    await session.save(rows.changed())
    assert ids(await memory.messages(THREAD)) == ["u1", "a1", "historycompat-made", "u3", "a3"]
    [repair] = memory.store.history_of(THREAD)
    assert (repair.note, repair.rules) == ("refused", (RULE,))
    memory.store.undo(THREAD)
    after = await memory.messages(THREAD)
    assert after[:3] == before
    assert ids(after) == ["u1", "a1", "u2", "u3", "a3"]
    assert (await memory.open(THREAD, ALICE)).states == {"compat": {"promoted": [RULE]}}


async def test_a_note_without_a_change_is_no_repair(memory: Memory) -> None:
    session = await keep(memory, row("a"))
    await session.save(Changes(added=(row("b"),)), note="refused")
    assert memory.store.history_of(THREAD) == []
    assert ids(await memory.messages(THREAD)) == ["a", "b"]


# Titles


async def test_a_thread_without_a_title_gets_one_once(memory: Memory) -> None:
    asked: list[list[str]] = []

    async def title(rows: list[dict[str, Any]]) -> str:
        asked.append(ids(rows))
        return "  A trip\nto Rome "

    session = await memory.open(THREAD, ALICE, {"threads": {"generate_title": True}})
    await session.finish(title)
    await session.save(Changes(added=(row("a"), row("b"))))
    await session.finish(title)
    await session.finish(title)
    assert asked == [["a", "b"]]
    listed = await memory.thread(THREAD)
    assert listed is not None
    assert listed["title"] == "A trip to Rome"


async def test_titles_are_not_made_unasked_nor_over_others(memory: Memory) -> None:
    session = await keep(memory, row("a"))
    await session.finish(no_title)
    titled = await memory.open({"id": THREAD, "title": "Mine"}, ALICE, {"threads": {"generate_title": True}})
    await titled.save(Changes(added=(row("b"),)))
    await titled.finish(no_title)
    listed = await memory.thread(THREAD)
    assert listed is not None
    assert listed["title"] == "Mine"


async def test_a_title_that_cannot_be_made_costs_nothing_but_the_title(
    memory: Memory, caplog: pytest.LogCaptureFixture
) -> None:
    session = await memory.open(THREAD, ALICE, {"threads": {"generate_title": {"model": object()}}})
    await session.save(Changes(added=(row("a"),)))
    await session.finish(no_title)
    assert "a thread has no title: AssertionError" in caplog.text
    assert ids(await memory.messages(THREAD)) == ["a"]


# Working memory


@pytest.mark.parametrize(("scope", "shared"), [("thread", False), ("resource", True)])
async def test_working_memory(memory: Memory, scope: str, shared: bool) -> None:
    options = {"working_memory": {"enabled": True, "template": "# Name:", "scope": scope}}
    session = await memory.open(THREAD, ALICE, options)
    await session.recall([row("a")])
    [text] = session.system_texts()
    assert "<working_memory>\n# Name:\n</working_memory>" in text
    [update] = session.tools()
    assert update.__name__ == "update_working_memory"
    await update(memory="# Name: Ann")
    await session.save(Changes(added=(row("a"),)))
    assert "# Name: Ann" in session.system_texts()[0]

    async def seen(thread: str, resource: str) -> bool:
        later = await memory.open(thread, resource, options)
        await later.recall([])
        return "# Name: Ann" in later.system_texts()[0]

    assert await seen(THREAD, ALICE)
    assert await seen("another", ALICE) is shared
    assert not await seen("third", BOB)
    assert ids(await memory.messages(THREAD)) == ["a"]


async def test_the_tool_of_working_memory_tells_models_what_it_takes(memory: Memory) -> None:
    from historycompat.agent.tools import tool

    session = await memory.open(THREAD, ALICE, {"workingMemory": {"enabled": True}})
    spec = tool(session.tools()[0]).spec
    assert spec.name == "update_working_memory"
    assert spec.description.startswith("Replace the working memory")
    assert spec.parameters["properties"]["memory"]["type"] == "string"
    assert spec.parameters["required"] == ["memory"]
