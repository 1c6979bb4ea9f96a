"""The pieces of an answer → the stored row that holds them, growing as they come."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from historycompat.agent.errors import AgentError, words_of
from historycompat.agent.messages import now
from historycompat.agent.parts import File, ModelPart, Options, Reasoning, Source, TextDelta, ToolCall, ToolResult
from historycompat.processors.message_list import MessageList, Row

RowPart = dict[str, Any]


class AnswerRow:
    """The assistant's row of a run, in its message list from the first piece on; every step adds to it.

    Another model, or a new `message_id`, begins another row.
    """

    def __init__(self, message_list: MessageList, owners: dict[str, str]) -> None:
        self._list, self._owners = message_list, owners
        self.message_id = str(uuid4())
        self._author: dict[str, str] = {}
        self._open_reasoning = False

    def rotate(self) -> str:
        """Begin another row with the next piece; its id."""
        self.message_id = str(uuid4())
        return self.message_id

    def go_on_in(self, message_id: str) -> None:
        """Add the next pieces to a row of this id. Raises AgentError where it is a row that is no answer."""
        source = self._list.source_of(message_id)
        if source not in (None, "response"):
            message = f"message_id {message_id!r} is that of a row of source {source}: an answer needs one of its own"
            raise AgentError("AGENT_BAD_OPTION", message)
        self.message_id = message_id

    def begin_step(self, provider: str, model_id: str) -> None:
        author = {"provider": provider, "modelId": model_id}
        if author != self._author and self._row is not None:
            self.rotate()
        self._author, self._open_reasoning = author, False
        if self._row is not None:
            self._parts.append({"type": "step-start"})

    def add(self, part: ModelPart) -> None:
        match part:
            case TextDelta():
                self._extend_text(part)
            case Reasoning():
                self._extend_reasoning(part)
            case ToolCall():
                self._parts.append(_invocation(part))
            case ToolResult():
                self.settle(part)
            case File(data=data, media_type=media_type):
                self._parts.append({"type": "file", "data": data, "mimeType": media_type})
            case Source(url=url, title=title, id=source_id):
                cited = {"sourceType": "url", "id": source_id or url, "url": url, **({"title": title} if title else {})}
                self._parts.append({"type": "source", "source": cited})

    def settle(self, result: ToolResult) -> None:
        """Put a result where its call stands."""
        waiting = [call for call in self._open_calls() if call["toolCallId"] == result.tool_call_id]
        # Some models give all calls of an answer the same id.
        call = next((call for call in waiting if call["args"] == result.input), next(iter(waiting), None))
        if call is not None:
            told = {"state": "output-error", "errorText": str(result.output)}
            call.update(told if result.is_error else {"state": "result", "result": result.output})

    def fail(self, error: Exception) -> None:
        """Say in the row that the answer ended here."""
        if self._row is not None:
            self._parts.append({"type": "error", "error": {"name": type(error).__name__, "message": words_of(error)}})

    # ---- the row ----

    @property
    def _row(self) -> Row | None:
        # By id, since a rejected answer is taken back by putting copies in the place of rows.
        return next((row for row in reversed(self._list) if row["id"] == self.message_id), None)

    @property
    def _parts(self) -> list[RowPart]:
        row = self._row
        if row is None:
            content = {"format": 2, "parts": [{"type": "step-start"}], "metadata": self._author}
            self._list.add(
                {"id": self.message_id, "role": "assistant", "createdAt": now(), "content": content, **self._owners},
                "response",
            )
            row = self._row
        parts: list[RowPart] = row["content"]["parts"] if row else []
        return parts

    def _open_calls(self) -> list[dict[str, Any]]:
        """Calls without a result, the last first; some may stand in a row before the last one."""
        parts = [part for row in self._list.rows("response") for part in row["content"].get("parts", ())]
        invocations = [part["toolInvocation"] for part in parts if part["type"] == "tool-invocation"]
        return [each for each in reversed(invocations) if each.get("state") == "call"]

    def _extend_text(self, piece: TextDelta) -> None:
        parts = self._parts
        if parts[-1]["type"] != "text":
            if not piece.text:
                return
            parts.append({"type": "text", "text": ""})
        parts[-1]["text"] += piece.text
        _note(parts[-1], piece.provider_options)

    def _extend_reasoning(self, piece: Reasoning) -> None:
        parts = self._parts
        if not (self._open_reasoning and parts[-1]["type"] == "reasoning"):
            parts.append({"type": "reasoning", "reasoning": "", "details": [{"type": "text", "text": ""}]})
        part = parts[-1]
        part["reasoning"] += piece.text
        part["details"][0]["text"] += piece.text
        _note(part, piece.provider_options)
        self._open_reasoning = not piece.end


def _note(part: RowPart, options: Options | None) -> None:
    if options:
        part["providerMetadata"] = {**part.get("providerMetadata", {}), **options}


def _invocation(call: ToolCall) -> RowPart:
    told = {"state": "call", "toolCallId": call.tool_call_id, "toolName": call.tool_name, "args": call.input}
    part: RowPart = {"type": "tool-invocation", "toolInvocation": told}
    if call.provider_executed:
        part["providerExecuted"] = True
    _note(part, call.provider_options)
    return part
