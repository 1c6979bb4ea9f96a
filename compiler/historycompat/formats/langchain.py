"""LangChain messages ⇄ canonical prompt.

Read as they are stored: `{"type": "human", "data": {...}}` of `messages_to_dict`, serialized constructors (`lc`), or
the fields alone, as `model_dump` gives them. Invalid calls are calls whose input may be text. Blocks at the end of a
content that repeat a call (`tool_use` and others) follow it and are no parts. Text, reasoning, thinking, images and
files are parts, all other blocks opaque, and so are strings in lists and messages of other types.

Degraded when written: the order of calls among other parts; JSON outputs, which become text; failed outputs that are no
texts; several results of one tool message, which become a message each. What `additional_kwargs` repeats stays as it
is: LangChain reads it only where there are no `tool_calls`.

Facts: langchain-core 1.8.3, `AnyMessage`, `messages_to_dict`, `dumpd`; langchain-anthropic for the repeated blocks.
"""

from __future__ import annotations

from historycompat.formats.apart import Tools
from historycompat.formats.chat_parts import function_tools
from historycompat.formats.detection import Marks, words
from historycompat.formats.envelopes import role_of
from historycompat.formats.kinds import Field
from historycompat.formats.langchain_blocks import CALLS, INVALID, NAME, PARTS, RESULT
from historycompat.formats.langchain_envelopes import ENVELOPE, TYPES
from historycompat.formats.lens import Lens
from historycompat.formats.readers import unless_none
from historycompat.formats.roles import Role, Roles, Slot
from historycompat.pairs import Site
from historycompat.view import Shape

_HEADER = (Field("name", "providerOptions.openai.name", unless_none),)

SPOKEN = Slot(PARTS, string={"type": "text"}, brief=True, empty=[])
SYSTEM = Slot(PARTS, string={"type": "text"}, empty=[])
ASSISTANT = (SPOKEN, Slot(CALLS), Slot(INVALID, closed=True, empty=[]))

LENS = Lens(
    NAME,
    Roles(
        [
            *(Role(name, "system", (SYSTEM,), _HEADER, text=True) for name in ("system", "SystemMessageChunk")),
            *(Role(name, "user", (SPOKEN,), _HEADER) for name in ("human", "HumanMessageChunk", "user")),
            *(Role(name, "assistant", ASSISTANT, _HEADER) for name in ("ai", "AIMessageChunk", "assistant")),
            *(Role(name, "tool", whole=RESULT) for name in ("tool", "ToolMessageChunk")),
        ],
        other=Role(None, None, (SPOKEN,), _HEADER),
        name_of=role_of,
    ),
    tools=Tools(function_tools(NAME)),
    namespaces=("langchain",),
    unfold=ENVELOPE.unfold,
    fold=ENVELOPE.fold,
)

_ROLES = frozenset(TYPES) | words("chat function remove constructor")

FORMAT = LENS.format(
    "LangChain messages",
    Marks(
        roles=_ROLES,
        types=words("text image_url image file reasoning thinking redacted_thinking tool_use tool_call function_call"),
        strings=_ROLES,
        lists=_ROLES,
        own_roles=_ROLES - words("system tool function chat"),
        own_keys=words("response_metadata invalid_tool_calls"),
        foreign_keys=words("role parts providerOptions"),
    ),
    Shape(
        role="type",
        calls=tuple(Site(key, None, ("id",), ("name",)) for key in ("tool_calls", "invalid_tool_calls")),
        results=(Site(None, None, ("tool_call_id",), ("name",), roles=("tool",)),),
    ),
    words(
        "system-parts user-files documents reasoning any-input result-names output-error-text output-content "
        "empty-messages many-texts neighbours result-ids"
    ),
)
