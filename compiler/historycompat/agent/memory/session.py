"""One run and its thread: what is loaded before it, what it adds, and one write for each save."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any

from pydantic import Field

from historycompat.agent.memory import documents
from historycompat.agent.memory.documents import Document, States, Thread, row_id
from historycompat.agent.memory.options import MemoryOptions
from historycompat.agent.memory.recall import Recall, Recalled
from historycompat.agent.memory.resources import Resource
from historycompat.agent.memory.shelf import Shelf
from historycompat.agent.memory.texts import recalled_text, working_memory_text
from historycompat.edits import same
from historycompat.processors.message_list import Changes, Row

_log = logging.getLogger("historycompat.memory")


class MemorySession:
    """Made by `Memory.open`. `states` are those of processors, as they were saved: plain dicts, for the run to change.

    Raises StoreError where the store cannot be used, and then nothing is half-written. Faults of recall and of titles
    are logged (`historycompat.memory`) and cost no more than what was recalled, or the title.
    """

    def __init__(
        self, shelf: Shelf, recall: Recall | None, thread: Thread, options: MemoryOptions, stored: Document | None
    ) -> None:
        self.options = options
        self._shelf, self._recall, self._thread = shelf, recall, thread
        self._document = thread.opened(stored)
        self._is_stored = stored is not None
        self._resource = Resource(shelf, thread.resource)
        self._known, _ = documents.json_states(self._document["states"])
        self.states: States = self._document["states"]
        self._working_memory: str | None = None
        self._recalled = Recalled()

    async def recall(self, input_rows: Sequence[Row]) -> list[Row]:
        """The rows to load: the last ones, and those whose meaning is near to the last thing the user said."""
        rows = self._document["messages"]
        places = set(range(max(0, len(rows) - self.options.last_messages), len(rows)))
        known = set(map(row_id, (*input_rows, *(rows[place] for place in places))))
        with _logged("nothing was recalled"):
            self._recalled = await self._nearest(_question(input_rows), known)
        await self._load_working_memory()
        return [rows[place] for place in sorted(places.union(self._recalled.own))]

    async def _nearest(self, question: str, known: set[Any]) -> Recalled:
        wanted = self.options.semantic_recall
        if self._recall is None or wanted is None or not question:
            return Recalled()
        threads = await self._resource.threads() if wanted.scope == "resource" else []
        others = [thread for thread in threads if thread != self._thread.id]
        return await self._recall.find(question, self._document, others, known, wanted)

    def system_texts(self) -> list[str]:
        """Working memory, and what `recall` found in other threads of the resource."""
        working, texts = self.options.working_memory, []
        if working.enabled:
            texts.append(working_memory_text(self._working_memory, working.template))
        if self._recalled.others:
            texts.append(recalled_text(self._recalled.others))
        return texts

    def tools(self) -> list[Callable[..., Any]]:
        return [self.update_working_memory] if self.options.working_memory.enabled else []

    async def update_working_memory(
        self, memory: Annotated[str, Field(description="The whole new text of the working memory, as Markdown.")]
    ) -> str:
        """Replace the working memory, which is shown at the start of every conversation, by a new text."""
        if self.options.working_memory.scope == "resource":
            await self._resource.set_working_memory(memory)
        else:
            await self._store(lambda document: {**document, "working_memory": memory})
        self._working_memory = memory
        return "The working memory is updated."

    async def _load_working_memory(self) -> None:
        if self.options.working_memory.enabled:
            shared = self.options.working_memory.scope == "resource"
            own = self._document.get("working_memory")
            self._working_memory = await self._resource.working_memory() if shared else own

    # ---- writing ----

    async def save(
        self,
        changes: Changes,
        states: States | None = None,
        *,
        note: str | None = None,
        rules: Sequence[str] = (),
    ) -> None:
        """Write changes and states over what is stored by now, merged by the ids of rows.

        With a note or rules, edits, removals and rows that a repair made are a repair, which `undo` takes back. It is a
        write of its own, before that of the rest, so that an undo leaves alone what was said since.
        """
        changes = self._owned(changes)
        if self._is_stored and (note is not None or rules):
            repair, changes = documents.split(changes)
            await self._repair(repair, note, rules)
        kept = self._changed_states(states or {})

        def changed(document: Document) -> Document:
            rows = documents.with_changes(document["messages"], changes)
            return {**document, "messages": rows, "states": {**document["states"], **kept}}

        await self._store(changed)
        self._known |= kept

    async def _repair(self, changes: Changes, note: str | None, rules: Sequence[str]) -> None:
        """Only rows are written: a date would be another when somebody wants to undo this."""

        def repaired(stored: Document) -> Document:
            self._thread.opened(stored)
            rows = documents.with_changes(stored["messages"], changes)
            return stored if same(rows, stored["messages"]) else {**stored, "messages": rows}

        await self._shelf.update(self._thread.id, repaired, note=note, rules=rules)

    async def _store(self, change: Callable[[Document], Document]) -> None:
        if not self._is_stored:
            await self._resource.announce(self._thread.id)

        def changed(stored: Document | None) -> Document:
            document = change(self._thread.opened(stored))
            return stored if stored and same(document, stored) else {**document, "updated_at": documents.date()}

        self._document = await self._shelf.update(self._thread.id, changed)
        self._is_stored = True

    def _owned(self, changes: Changes) -> Changes:
        """Rows say whose they are, and of which thread."""
        owner = {"threadId": self._thread.id, "resourceId": self._thread.resource}
        added, edited = (tuple({**row, **owner} for row in rows) for rows in (changes.added, changes.edited))
        return Changes(added, edited, changes.removed)

    def _changed_states(self, states: States) -> States:
        kept, lost = documents.json_states(states)
        if lost:
            _log.warning("these processors have states that are no JSON and are not kept: %s", ", ".join(lost))
        return {processor: state for processor, state in kept.items() if not same(state, self._known.get(processor))}

    async def finish(self, generate_title: Callable[[list[Row]], Awaitable[str]]) -> None:
        """When the answer is saved: a title where one is wanted and missing, and the index. Never fails."""
        with _logged("a thread has no title"):
            await self._entitle(generate_title)
        with _logged("the index of a thread is not up to date"):
            if self._recall is not None and self._is_stored:
                await self._recall.refresh(self._document)

    async def _entitle(self, generate_title: Callable[[list[Row]], Awaitable[str]]) -> None:
        document = self._document
        if self.options.threads.generate_title is None or document["title"] or not document["messages"]:
            return
        title = " ".join((await generate_title(document["messages"])).split())
        if title:
            await self._store(lambda document: document if document["title"] else {**document, "title": title})


@contextmanager
def _logged(what: str) -> Iterator[None]:
    """Goes on after a fault that is not worth a run."""
    try:
        yield
    except Exception as error:
        _log.warning("%s: %s: %s", what, type(error).__name__, error)


def _question(rows: Sequence[Row]) -> str:
    """The last thing that the user said."""
    texts = (documents.text_of(row) for row in reversed(rows) if row.get("role") == "user")
    return next(filter(None, texts), "")
