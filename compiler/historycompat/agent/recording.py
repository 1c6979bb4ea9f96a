"""The rows of a run ⇄ the thread that they are kept in, if there is one."""

from __future__ import annotations

from typing import Any

from historycompat.agent.calling import answer_of
from historycompat.agent.errors import words_of
from historycompat.agent.memory import MemorySession
from historycompat.agent.memory.options import TitleOptions
from historycompat.agent.messages import ROWS, text_row
from historycompat.agent.models.port import LanguageModel, ModelRequest
from historycompat.agent.models.prompts import PROMPT_FORMATS, as_format, prompt_for
from historycompat.agent.models.resolve import resolve
from historycompat.agent.parts import TextDelta
from historycompat.agent.plan import Plan
from historycompat.agent.tools import Tools
from historycompat.processor import PROMOTED
from historycompat.processors.message_list import MessageList, Row

States = dict[str, dict[str, Any]]


class Recording:
    """Loads rows into a message list, and saves what differs. Without a thread it does nothing."""

    def __init__(self, plan: Plan, message_list: MessageList) -> None:
        self._plan, self._list = plan, message_list
        self._session: MemorySession | None = None
        self._promoted: frozenset[str] = frozenset()

    async def open(self, incoming: list[Row]) -> States:
        """Load what is remembered; the states of processors as they were when the thread was saved."""
        recollection = self._plan.recollection
        if recollection is None:
            return {}
        self._session = await recollection.memory.open(recollection.thread, recollection.resource, recollection.options)
        self._title_writer()  # a model that is none is told before anything is asked of the other
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
            note = f"{type(refusal).__name__}: {words_of(refusal)}"
            await self._session.save(self._list.changed(), states, note=note, rules=rules)
        self._promoted = promoted
        self._list.mark_saved()

    async def finish(self) -> None:
        """What is done once a run has ended well: a title for a thread that has none, where that is wanted."""
        if self._session is not None:
            await self._session.finish(self._title)

    async def _title(self, rows: list[Row]) -> str:
        plan, model = self._plan, self._title_writer()
        conversation = as_format(
            [*rows, text_row(self._title_wanted.instructions or _TITLE)], ROWS, PROMPT_FORMATS["v2"]
        )
        asked = ModelRequest(prompt_for(model.specification_version, conversation), abort_signal=plan.abort_signal)
        pieces = answer_of(model, asked, streaming=False, max_retries=plan.max_retries, retry_delay=plan.retry_delay)
        return "".join([piece.text async for piece in pieces if isinstance(piece, TextDelta)]).strip()

    def _title_writer(self) -> LanguageModel:
        model = self._title_wanted.model
        return resolve(model, self._plan.model.specification_version) if model else self._plan.model

    @property
    def _title_wanted(self) -> TitleOptions:
        wanted = self._session.options.threads.generate_title if self._session else None
        return wanted or TitleOptions()


def _promoted(states: States) -> frozenset[str]:
    return frozenset(rule for state in states.values() for rule in state.get(PROMOTED, ()))


_TITLE = "Answer with a title of at most 8 words for this conversation, without quotes, and with nothing else."
