"""Mastra's stored rows of format 2 (MastraDBMessage) ⇄ canonical prompt.

A row is read as the steps it holds (`rows`). `content.metadata` is read as the `metadata` of each message, from which
rules know who wrote it; `providerMetadata` as `providerOptions`, and the other way round where a part has both; signals
as messages of the user. Reasoning with several details is a part for each. `step-start` is structure; sources, data and
errors are opaque. The copies in `content.toolInvocations`, `content.content` and `content.reasoning` follow the parts,
and stand in for parts that are missing; a call's new id is also given to what refers to it in `content.metadata` and in
data parts. A row that is not of format 2 is opaque.

Degraded when written: the order of text behind a call that has a result, which begins a step; several results of one
tool message, which become a message each; a result's own tool name; outputs of type `content` and of type `json` whose
value is a string. A result without its call is marked in its options (`invocations`).

Facts: @mastra/core 1.71.0, `MastraDBMessage`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from historycompat.formats.aisdk_traits import scorer
from historycompat.formats.detection import words
from historycompat.formats.invocations import Invocations
from historycompat.formats.kinds import Field, Kind, Kinds
from historycompat.formats.row_copies import Copies
from historycompat.formats.rows import Row, RowLens
from historycompat.formats.stored_kinds import bare_data, reasoning_kind, reasoning_pieces
from historycompat.pairs import Site
from historycompat.view import Shape

NAME = "mastra"

OPTIONS = Field("providerMetadata", "providerOptions", optional=True)
CONTRARY = Field("providerOptions", "providerMetadata", optional=True)

KINDS = Kinds(
    NAME,
    "parts",
    [
        Kind("text", "text", (Field("text", "text"), OPTIONS, CONTRARY), native={"type": "text"}),
        reasoning_kind("providerMetadata"),
        Kind(
            "file",
            "file",
            (
                Field("data", "data", decode=bare_data),
                Field("mimeType", "mediaType"),
                Field("filename", "filename", optional=True),
                OPTIONS,
                CONTRARY,
            ),
            native={"type": "file"},
        ),
    ],
)


def is_invocation(kind: str) -> bool:
    return kind == "tool-invocation"


INVOCATIONS = Invocations(
    NAME,
    is_one=is_invocation,
    name=None,
    template={"type": "tool-invocation", "toolInvocation": {"state": "call"}},
    within="toolInvocation",
    call="call",
    result="result",
    input="args",
    output="result",
    options="providerMetadata",
    result_options=None,
    more=(CONTRARY,),
)


def blank(role: str, parts: list[Any]) -> Row:
    return {"role": role, "content": {"format": 2, "parts": parts}}


RESULT_STATES = ("result", "output-error", "output-denied")
"""The states of an invocation that has a result."""

_STATE = ("toolInvocation", "state")
CALL = Site(
    "content", "tool-invocation", ("toolInvocation", "toolCallId"), ("toolInvocation", "toolName"), inside=("parts",)
)

LENS = RowLens(
    NAME,
    ("content", "parts"),
    KINDS,
    INVOCATIONS,
    header=(Field("content.metadata", "metadata"), Field("content.providerMetadata", "providerOptions")),
    blank=blank,
    copies=Copies(("content",), follower=("content", "metadata")),
    pieces=reasoning_pieces,
    aliases={"signal": "user"},
    dated=True,
)

FORMAT = LENS.format(
    "Mastra stored messages (format 2)",
    scorer(needs=words("row"), own=words("row"), against=words("foreign")),
    Shape(calls=(CALL,), results=(replace(CALL, state=_STATE, states=RESULT_STATES, joined=True),)),
    words(
        "user-files documents reasoning any-input output-error-text any-options "
        "empty-messages many-texts neighbours result-ids"
    ),
)
