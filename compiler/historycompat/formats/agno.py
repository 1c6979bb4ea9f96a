"""Agno messages ⇄ canonical prompt.

Read and written as `openai-chat`, but for tool messages, whose name is `tool_name` and whose failure is
`tool_call_error`, and for reasoning, which is `reasoning_content`. Media beside the content, redacted reasoning and
`provider_data` stay as they are.

Degraded when written: what `openai-chat` degrades, except failed texts; provider options of reasoning.

Facts: agno 3.1.10, `Message.to_dict`.
"""

from __future__ import annotations

from historycompat.formats.apart import Tools
from historycompat.formats.detection import Marks, words
from historycompat.formats.framework_parts import outcome
from historycompat.formats.kinds import Field, Kind, Kinds
from historycompat.formats.lens import Lens
from historycompat.formats.openai_chat import CALLS, SYSTEM, TEXT, TOOLS, USER
from historycompat.formats.openai_parts import ITEMS, OURS, PARTS
from historycompat.formats.readers import unless_none
from historycompat.formats.reasoning_dialects import STRING
from historycompat.formats.roles import Role, Roles, Slot
from historycompat.pairs import Site
from historycompat.view import Shape

NAME = "agno"

RESULT = Kinds(
    NAME,
    "",
    [
        Kind(
            "tool",
            "tool-result",
            (
                Field("tool_call_id", "toolCallId", unless_none),
                Field("tool_name", "toolName", unless_none),
                outcome("content", "tool_call_error", (True,), False, ITEMS),
            ),
            native={"role": "tool"},
        )
    ],
    mark=lambda native: "tool",
    typeless=True,
)
"""A tool message, which is its result."""

_HEADER = (Field("name", "providerOptions.openai.name", unless_none),)

ASSISTANT = (
    Slot(Kinds(NAME, "reasoning_content", ()), string=STRING, only_strings=True),
    Slot(PARTS, string=TEXT, brief=True, empty=None),
    Slot(CALLS),
)

LENS = Lens(
    NAME,
    Roles(
        [
            Role("system", "system", (SYSTEM,), _HEADER, text=True),
            Role("developer", "system", (SYSTEM,), _HEADER, text=True),
            Role("user", "user", (USER,), _HEADER),
            Role("assistant", "assistant", ASSISTANT, _HEADER),
            Role("tool", "tool", whole=RESULT),
        ],
        other=Role(None, None, (USER,), _HEADER),
    ),
    tools=Tools(TOOLS),
    namespaces=OURS,
)

FORMAT = LENS.format(
    "Agno messages",
    Marks(
        roles=words("system developer user assistant tool"),
        types=words("text image_url input_audio file"),
        strings=words("system developer user assistant tool"),
        lists=words("system developer user assistant tool"),
        own_keys=words("from_history stop_after_tool_call tool_call_error tool_args compressed_content"),
        foreign_keys=words("parts blocks contents meta"),
    ),
    Shape(
        calls=(Site("tool_calls", None, ("id",), ("function", "name")),),
        results=(Site(None, None, ("tool_call_id",), ("tool_name",), roles=("tool",)),),
    ),
    words(
        "system-parts user-files documents reasoning any-input result-names output-error-text output-content "
        "empty-messages many-texts neighbours result-ids"
    ),
)
