"""UIMessage of ai 4 ⇄ canonical prompt.

Read and written as rows (`rows`). The copies in `content`, `reasoning` and `toolInvocations` follow the parts, and
stand in for parts that are missing, as before ai 4.2. Sources are opaque; attachments and annotations stay as they are.

Degraded when written: what `mastra` degrades; failed outputs, which become plain ones; options of parts and messages
other than the signature and the redacted data of reasoning. A result without its call is marked under
`providerMetadata`, which ai 4 does not know.

Facts: ai 4, `UIMessage`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from historycompat.formats.aisdk_traits import scorer
from historycompat.formats.detection import words
from historycompat.formats.kinds import Field, Kind, Kinds
from historycompat.formats.mastra import INVOCATIONS, RESULT_STATES
from historycompat.formats.row_copies import Copies
from historycompat.formats.rows import Row, RowLens
from historycompat.formats.stored_kinds import bare_data, reasoning_kind, reasoning_pieces
from historycompat.pairs import Site
from historycompat.view import Shape

NAME = "ui-message-v4"

KINDS = Kinds(
    NAME,
    "parts",
    [
        Kind("text", "text", (Field("text", "text"),), native={"type": "text"}),
        reasoning_kind(None),
        Kind(
            "file",
            "file",
            (Field("data", "data", decode=bare_data), Field("mimeType", "mediaType")),
            native={"type": "file"},
        ),
    ],
)


def blank(role: str, parts: list[Any]) -> Row:
    text = "".join(part["text"] for part in parts if part.get("type") == "text" and isinstance(part.get("text"), str))
    return {"role": role, "content": text, "parts": parts}


CALL = Site("parts", "tool-invocation", ("toolInvocation", "toolCallId"), ("toolInvocation", "toolName"))

LENS = RowLens(
    NAME,
    ("parts",),
    KINDS,
    replace(INVOCATIONS, format=NAME, says_options=False, failures=False, more=()),
    header=(),
    blank=blank,
    copies=Copies(()),
    pieces=reasoning_pieces,
)

FORMAT = LENS.format(
    "AI SDK UIMessage (ai 4)",
    scorer(needs=words("ui-old"), own=words("ui-old"), against=words("row foreign")),
    Shape(
        parts="parts",
        calls=(CALL,),
        results=(replace(CALL, state=("toolInvocation", "state"), states=RESULT_STATES, joined=True),),
    ),
    words("user-files documents reasoning any-input empty-messages many-texts neighbours result-ids"),
)
