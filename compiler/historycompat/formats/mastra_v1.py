"""Mastra's older rows (MastraMessageV1) ⇄ canonical prompt.

As `core-message`, with an id, a date, a thread and a type beside each. The lists `toolCallIds`, `toolNames` and
`toolCallArgs`, which repeat what the content says, follow it. Signals are read as messages of the user.

What is degraded and refused is as for prompt V1.

Facts: @mastra/core 1.71.0, `MastraMessageV1`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from historycompat.edits import Lineage, same
from historycompat.formats.aisdk_prompts import OLD_SAYS, older, prompt_format, prompt_lens
from historycompat.formats.aisdk_traits import scorer
from historycompat.formats.detection import words
from historycompat.formats.format import Reading
from historycompat.formats.kinds import Field
from historycompat.formats.stored import completed
from historycompat.formats.writing import old_if_same
from historycompat.view import Shape

NAME = "mastra-v1"

ROLES = older(
    NAME,
    "providerOptions",
    "experimental_content",
    Field("experimental_providerMetadata", "providerMetadata", optional=True),
    strings=True,
    more_users=("signal",),
)

LENS = prompt_lens(NAME, ROLES)

# The lists of a row that repeat one key of the calls or results in its content.
_COPIES = {"toolCallIds": "toolCallId", "toolNames": "toolName", "toolCallArgs": "args"}
_TYPES = ("tool-call", "tool-result")


def write(
    reading: Reading,
    messages: list[Any],
    tools: list[Any] | None,
    params: dict[str, Any] | None,
    lineage: Lineage,
) -> Any:
    """As any lens writes; new rows are completed, and copies kept in step."""
    native = LENS.write(reading, messages, tools, params, lineage)
    if native is reading.native:
        return native
    written = native if isinstance(native, list) else native["messages"]
    old = {id(row) for row in reading.items}
    rows = [row if id(row) in old or not isinstance(row, dict) else _in_step(row) for row in _unlike(written, old)]
    rows = old_if_same(completed(rows, reading.items, dated=True), written)
    return rows if isinstance(native, list) else native if rows is written else {**native, "messages": rows}


def _unlike(rows: list[Any], old: set[int]) -> list[Any]:
    """Rows of which no new one has the id of a new one before it: two rows may have been made of one."""
    seen: set[Any] = set()
    unlike: list[Any] = []
    for row in rows:
        if isinstance(row, dict) and id(row) not in old and isinstance(row.get("id"), str):
            if row["id"] in seen:
                row = {key: value for key, value in row.items() if key != "id"}
            else:
                seen.add(row["id"])
        unlike.append(row)
    return unlike


def _in_step(row: dict[str, Any]) -> dict[str, Any]:
    content = row.get("content")
    parts = content if isinstance(content, list) else []
    tools = [part for part in parts if isinstance(part, dict) and part.get("type") in _TYPES]
    new = {"type": tools[0]["type"] if tools else "text"} | {
        copy: values
        for copy, key in _COPIES.items()
        if copy in row and len(values := [part[key] for part in tools if key in part]) == len(tools)
    }
    return row if all(key in row and same(row[key], value) for key, value in new.items()) else {**row, **new}


FORMAT = replace(
    prompt_format(
        LENS,
        "Mastra stored messages (V1)",
        scorer(needs=words("thread"), own=words("thread"), against=words("row parts new foreign")),
        Shape(),
        OLD_SAYS,
    ),
    write=write,
)
