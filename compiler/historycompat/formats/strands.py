"""Strands messages ⇄ canonical prompt.

Read and written as `bedrock`, with the signature of Google's models on calls (`reasoningSignature`) as the option
`google.thoughtSignature`; new results always have a status. `tracking_id` and `metadata` stay as they are.

Facts: strands-agents 1.62.0, `Message`, `ToolUse`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from historycompat.edits import value_at
from historycompat.formats import bedrock
from historycompat.formats.bedrock_blocks import BLOCKS, OURS, by_key
from historycompat.formats.dialects import dialect
from historycompat.formats.kinds import Field, Kind, Kinds
from historycompat.formats.roles import Role, Roles

NAME = "strands"

_SIGNATURE = Field("toolUse.reasoningSignature", "providerOptions.google.thoughtSignature", optional=True)


def _ours(kind: Kind) -> Kind:
    if kind.mark == "toolUse":
        return replace(kind, fields=(*kind.fields, _SIGNATURE))
    return replace(kind, native={"toolResult": {"status": "success"}}) if kind.mark == "toolResult" else kind


SLOT = replace(
    bedrock.SLOT,
    kinds=Kinds(NAME, BLOCKS.at, map(_ours, BLOCKS.kinds), mark=by_key, typeless=True, namespaces=OURS),
)

LENS = replace(
    bedrock.LENS,
    name=NAME,
    roles=Roles(
        [
            Role("user", "user", (SLOT,), splits=True),
            Role("assistant", "assistant", (SLOT,)),
            Role("system", "system", (SLOT,), text=True),
        ],
        other=Role(None, None, (SLOT,)),
    ),
)


def _is_marked(message: dict[str, Any]) -> bool:
    content = message.get("content")
    blocks = content if isinstance(content, list) else []
    signed = any(value_at(block, ("toolUse", "reasoningSignature")) is not None for block in blocks)
    return signed or "tracking_id" in message or "metadata" in message


FORMAT = dialect(bedrock.FORMAT, LENS, "Strands messages", _is_marked)
