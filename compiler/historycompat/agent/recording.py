"""The rows of a run ⇄ the thread that they are kept in, if there is one."""

from __future__ import annotations

from functools import partial
from typing import Any

from historycompat.agent.memory import MemorySession
from historycompat.agent.messages import ROWS, text_row
from historycompat.agent.models.port import LanguageModel, ModelRequest
from historycompat.agent.models.prompts import PROMPT_FORMATS, as_format, prompt_for
from historycompat.agent.models.resolve import resolve
from historycompat.agent.parts import TextDelta
from historycompat.agent.plan import Recollection
from historycompat.agent.tools import Tools
from historycompat.processor import PROMOTED
from historycompat.processors.message_list import MessageList, Row

States = dict[str, dict[str, Any]]


class Recording:
    """Loads rows into a message list, and saves what differs. Without a thread it does nothing."""

    def __init__(self, recollection: Recollection | None, message_list: MessageList) -> None:
        self._recollection, self._list = recollection, message_list
        self._session: MemorySession | None = None
        self._promoted: frozenset[str] = frozenset()

    async def open(self, incoming: list[Row]) -> States:
        """Load what is remembered; the states of processors as they were when the thread was saved."""
        if self._recollection is None:
            return {}
        recollection = self._recollection
        self._session = await recollection.memory.open(recollection.thread, recollection.resource, recollection.options)
        self._list.add(await self._session.recall(incoming), "memory")
        self._promoted = _promoted(self._session.states)
        return self._session.states

    def tools(self) -> Tools:
        return self._session.tools() if self._session else ()

    def system_texts(self) -> list[str]:
        return self._session.system_texts() if self._session else []

    async def save(self, states: States, refusal: Exception | None = None) -> None:
        """Write what changed; after a refusal it is noted as a repair, which can be undone."""
        if self._session is None:
            return
        promoted = _promoted(states)
        if refusal is None:
            await self._session.save(self._list.changed(), states)
        else:
            rules = tuple(sorted(promoted - self._promoted or promoted))
            note = f"{type(refusal).__name__}: {refusal}"
            await self._session.save(self._list.changed(), states, note=note, rules=rules)
        self._promoted = promoted
        self._list.mark_saved()

    async def finish(self, model: LanguageModel) -> None:
        """What is done once a run has ended well: a title for a thread that has none, where that is wanted."""
        if self._session is None:
            return
        wanted = self._session.options.threads.generate_title
        writer = resolve(wanted.model, model.specification_version) if wanted and wanted.model else model
        instructions = (wanted and wanted.instructions) or _TITLE
        await self._session.finish(partial(_title, writer, instructions))


def _promoted(states: States) -> frozenset[str]:
    return frozenset(rule for state in states.values() for rule in state.get(PROMOTED, ()))


_TITLE = "Answer with a title of at most 8 words for this conversation, without quotes, and with nothing else."


async def _title(model: LanguageModel, instructions: str, rows: list[Row]) -> str:
    conversation = as_format([*rows, text_row(instructions)], ROWS, PROMPT_FORMATS["v2"])
    pieces = await model.generate(ModelRequest(prompt_for(model.specification_version, conversation)))
    return "".join(piece.text for piece in pieces if isinstance(piece, TextDelta)).strip()
