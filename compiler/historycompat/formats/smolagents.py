"""smolagents messages ⇄ canonical prompt.

Read and written as `openai-chat`, with two roles more: `tool-call` is read as an assistant message, `tool-response` as
one of the user, since models get both as texts. A tool response that names its call (`tool_call_id`) is its result, and
results are written so; smolagents itself names none, and ignores reasoning beside the content.

Facts: smolagents 1, `MessageRole`, `ChatMessage.from_dict`, `ActionStep.to_messages`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from historycompat.formats import openai_chat
from historycompat.formats.detection import Survey
from historycompat.formats.dialects import dialect
from historycompat.formats.format import OPAQUE
from historycompat.formats.kinds import Field, Kinds
from historycompat.formats.openai_chat import ASSISTANT, RESULT, SYSTEM, USER
from historycompat.formats.openai_parts import OURS
from historycompat.formats.roles import Role, Roles

NAME = "smolagents"

_CALL, _RESPONSE = "tool-call", "tool-response"
_HEADER = (Field("name", "providerOptions.openai.name"), Field("metadata", "metadata"))
_NAMED = "tool"  # the role of responses that name their call

RESPONSE = Kinds(
    NAME,
    "",
    [replace(kind, native={"role": _RESPONSE}) for kind in RESULT.kinds],
    mark=RESULT.mark,
    namespaces=OURS,
)


def role_of(message: Any) -> Any:
    """The role of a message; that of responses that name their call is another."""
    if not isinstance(message, dict):
        return OPAQUE
    role = message.get("role")
    return _NAMED if role == _RESPONSE and "tool_call_id" in message else role


LENS = replace(
    openai_chat.LENS,
    name=NAME,
    roles=Roles(
        [
            Role("system", "system", (SYSTEM,), _HEADER, text=True),
            Role("user", "user", (USER,), _HEADER),
            Role(_RESPONSE, "user", (USER,), _HEADER),
            Role("assistant", "assistant", ASSISTANT, _HEADER),
            Role(_CALL, "assistant", ASSISTANT, _HEADER),
            Role(_NAMED, "tool", whole=RESPONSE),
        ],
        other=Role(None, None, (USER,), _HEADER),
        name_of=role_of,
    ),
)

_DIALECT = dialect(openai_chat.FORMAT, LENS, "smolagents messages", lambda message: False)


def detect(survey: Survey) -> float:
    """Sure where a role of its own occurs; else as OpenAI's chat."""
    return 1.0 if _CALL in survey.roles or _RESPONSE in survey.roles else _DIALECT.detect(survey)


_SHAPE = openai_chat.FORMAT.shape

FORMAT = replace(
    _DIALECT,
    detect=detect,
    shape=replace(_SHAPE, results=tuple(replace(site, roles=(_RESPONSE,)) for site in _SHAPE.results)),
)
