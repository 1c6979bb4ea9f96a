"""A history that ends on a model turn, for a model that refuses that → one more user row, which is never saved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from historycompat.models.normalise import normalise
from historycompat.models.patterns import matcher
from historycompat.processors.message_list import MessageList, Row
from historycompat.processors.protocol import Processor
from historycompat.tree import ModelPattern

# Anthropic reads a trailing assistant message as a prefill, which later models refuse; Gemini refuses any model turn.
_NO_PREFILL = matcher([ModelPattern("anthropic/claude", bounds=((">=", "4.6"),))])
_NO_MODEL_TURN = matcher([ModelPattern("google/gemini", bounds=((">=", "3"),))])

_ANSWERED = frozenset({"result", "output-error"})


class TrailingAssistantGuard:
    """Lets a request end on a user turn, as the last processor that sees an input step.

    Gemini 3 and later always need it. Claude 4.6 and later need it under native structured output only (a schema, no
    separate model to structure with, and the schema not put into the prompt): elsewhere a prefill may be meant.
    """

    id = "trailing-assistant-guard"
    name = "Trailing Assistant Guard"

    def applies_to(self, model: Any) -> bool:
        """Whether the guard can have something to do for a model."""
        refs = normalise(model)
        return _NO_MODEL_TURN(refs) or _NO_PREFILL(refs)

    def process_input_step(
        self, *, message_list: MessageList, model: Any, structured_output: Any, **rest: Any
    ) -> MessageList | None:
        structured = _is_native(structured_output)
        if not message_list or not (self.applies_to(model) if structured else _NO_MODEL_TURN(normalise(model))):
            return None
        last = message_list[-1]
        if not ends_on_model_turn(last, message_list.drops_incomplete_tool_calls):
            return None
        text = "Generate the structured response." if structured else "Continue."
        message_list.add(_user_row(text, last), "context")
        return message_list


def guarded(processors: Sequence[Processor], model: Any) -> list[Processor]:
    """Input processors with the guard behind them, where it may be needed: any of them may choose another model."""
    guard = TrailingAssistantGuard()
    needed = processors or guard.applies_to(model)
    taken = {getattr(each, "id", None) for each in processors}  # what is no processor is refused by the runner
    return [*processors, guard] if needed and guard.id not in taken else list(processors)


def ends_on_model_turn(row: Row, drops_incomplete_tool_calls: bool = True) -> bool:
    """Whether the prompt made of a row ends with words of the model: not with a tool result, and not with nothing."""
    if row.get("role") != "assistant":
        return False
    for part in reversed(_parts(row)):
        if part.get("type") == "step-start":
            continue
        if part.get("type") != "tool-invocation":
            return True
        if part.get("toolInvocation", {}).get("state") in _ANSWERED or not drops_incomplete_tool_calls:
            return False
    return False


def _parts(row: Row) -> list[Mapping[str, Any]]:
    content = row.get("content")
    parts = content.get("parts") if isinstance(content, Mapping) else content
    if isinstance(parts, str):
        return [{"type": "text", "text": parts}] if parts else []
    return [part for part in parts or () if isinstance(part, Mapping)]


def _is_native(structured_output: Any) -> bool:
    said = structured_output if isinstance(structured_output, Mapping) else {}
    injected = said.get("json_prompt_injection") or said.get("jsonPromptInjection")
    return bool(said.get("schema")) and not said.get("model") and not injected


def _user_row(text: str, after: Row) -> Row:
    return {
        "role": "user",
        "content": {"format": 2, "parts": [{"type": "text", "text": text}]},
        "createdAt": _just_after(after.get("createdAt")),
    }


def _just_after(moment: Any) -> Any:
    """The present, or a millisecond after a moment that is not past; in the moment's own notation."""
    if isinstance(moment, str):
        try:
            return _just_after(datetime.fromisoformat(moment)).isoformat()
        except ValueError:
            return datetime.now(UTC).isoformat()
    if isinstance(moment, datetime):
        return max(datetime.now(moment.tzinfo), moment + timedelta(milliseconds=1))
    return datetime.now(UTC)
