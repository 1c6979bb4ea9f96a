"""UIMessage of ai 5, 6 and 7 ⇄ canonical prompt.

Read and written as rows (`rows`), with parts `tool-<name>` and `dynamic-tool`. `callProviderMetadata` is read as the
options of a call, `resultProviderMetadata` as those of its result, `output-denied` as an output of type
`execution-denied`. Sources, data, custom and steering parts are opaque.

Degraded when written: what `mastra` degrades; failed outputs that are no text, which become text; options of messages.

Facts: ai 5, 6 and 7, `UIMessage`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from historycompat.formats.aisdk_traits import scorer
from historycompat.formats.detection import words
from historycompat.formats.invocations import Invocations
from historycompat.formats.kinds import Field, Joint, Kind, Kinds, Part, Writer
from historycompat.formats.readers import Links
from historycompat.formats.rows import Row, RowLens
from historycompat.formats.stored_kinds import file_url
from historycompat.pairs import Site
from historycompat.view import Shape

NAME = "ui-message"
_STATIC, _DYNAMIC = "tool-", "dynamic-tool"

OPTIONS = Field("providerMetadata", "providerOptions", optional=True)

KINDS = Kinds(
    NAME,
    "parts",
    [
        Kind("text", "text", (Field("text", "text"), OPTIONS), native={"type": "text"}),
        Kind("reasoning", "reasoning", (Field("text", "text"), OPTIONS), native={"type": "reasoning"}),
        Kind(
            "file",
            "file",
            (file_url(), Field("filename", "filename", optional=True), OPTIONS),
            native={"type": "file"},
        ),
    ],
)


def is_invocation(kind: str) -> bool:
    return kind.startswith(_STATIC) or kind == _DYNAMIC


def _name(native: Part, links: Links) -> Mapping[str, Any]:
    if native["type"] != _DYNAMIC:
        return {"toolName": native["type"].removeprefix(_STATIC)}
    return {"toolName": native["toolName"]} if "toolName" in native else {}


def _to_name(part: Part, native: Part, writer: Writer) -> Mapping[str, Any]:
    name = part.get("toolName")
    if native.get("type") == _DYNAMIC or not isinstance(name, str):
        return {"type": _DYNAMIC} | ({} if name is None else {"toolName": name})
    return {"type": _STATIC + name}


INVOCATIONS = Invocations(
    NAME,
    is_one=is_invocation,
    name=Joint(("type", "toolName"), ("toolName",), _name, _to_name),
    template={"type": _STATIC, "state": "input-available"},
    within=None,
    call="input-available",
    result="output-available",
    input="input",
    output="output",
    options="callProviderMetadata",
    result_options="resultProviderMetadata",
)


def blank(role: str, parts: list[Any]) -> Row:
    return {"role": role, "parts": parts}


_RESULT_STATES = ("output-available", "output-error", "output-denied")
# The name of a static tool is part of its type, where no rule can set it alone.
CALLS = (
    Site("parts", _DYNAMIC, ("toolCallId",), ("toolName",)),
    Site("parts", f"{_STATIC}*", ("toolCallId",), ()),
)

LENS = RowLens(
    NAME,
    ("parts",),
    KINDS,
    INVOCATIONS,
    header=(Field("metadata", "metadata"),),
    blank=blank,
)

FORMAT = LENS.format(
    "AI SDK UIMessage (ai 5 to 7)",
    scorer(needs=words("parts"), own=words("ui-new+ui-part"), against=words("row ui-old foreign")),
    Shape(
        parts="parts",
        calls=CALLS,
        results=tuple(replace(call, state=("state",), states=_RESULT_STATES, joined=True) for call in CALLS),
    ),
    words(
        "user-files documents reasoning any-input output-error-text any-options "
        "empty-messages many-texts neighbours result-ids"
    ),
)
