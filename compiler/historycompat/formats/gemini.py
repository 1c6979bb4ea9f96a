"""Gemini contents ⇄ canonical prompt.

A user content with function responses is read as a tool message for each run of them and a user message for each run
of the rest. `systemInstruction` of a body is read as a leading system message, function declarations as tools.
Calls and responses without ids are paired by name and order, and get ids that are not written. A signature on any
part is its option `google.thoughtSignature`. Bytes are read as base64, and written as bytes where there were some.
Both spellings of keys are read, `functionCall` of the API and `function_call` of the Python SDK; new parts have that of
the history, or the first. Executable code and its result, parts of built-in tools and parts with none of the known keys
are opaque.

Degraded when written: outputs of the types `json` and `error-json` that are texts, which become texts; several texts of
an output, which become one; provider options other than `thoughtSignature` of `google`; the provider that ran a call.

Facts: google-genai 3.6, `Content`, `Part`; ai.google.dev on function calling (`output` and `error` of a response).
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from historycompat.formats.apart import System, Tools
from historycompat.formats.detection import Marks, words
from historycompat.formats.folding import ITEM, PART, Virtual, grouped, parts_of, with_list
from historycompat.formats.gemini_parts import NAME, OBJECTS, OURS, PARTS, SIGNATURES, SPELLINGS
from historycompat.formats.kinds import Field, Kind, Kinds, Part
from historycompat.formats.lens import Lens
from historycompat.formats.roles import Role, Roles, Slot
from historycompat.pairs import Site
from historycompat.view import Shape


def unfold(tools: list[Any]) -> list[Any]:
    """One object for each function declaration; tools of other kinds as they are."""
    unfolded: list[Any] = []
    for tool in tools:
        key = _declarations_key(tool)
        unfolded += [tool] if key is None else parts_of(tool, key)
    return unfolded


def _declarations_key(tool: Any) -> str | None:
    for names in SPELLINGS if isinstance(tool, dict) else ():
        held = tool.get(names["declarations"])
        if isinstance(held, list) and held and all(isinstance(each, dict) for each in held):
            return names["declarations"]
    return None


def fold(tools: list[Any]) -> list[Any]:
    """The inverse of `unfold`; new declarations that stand together share a tool."""
    return [_folded(group) if isinstance(group, list) else group for group in grouped(tools, lambda tool: "new")]


def _folded(group: list[Virtual]) -> Part:
    tool = group[0].get(ITEM, {})
    return with_list(tool, _declarations_key(tool) or SPELLINGS[0]["declarations"], [each[PART] for each in group])


def _schema_key(tool: Virtual) -> Hashable:
    declaration = tool.get(PART, {})
    return next((key for key in _SCHEMAS if key in declaration), _SCHEMAS[0])


_SCHEMAS = ("parametersJsonSchema", "parameters_json_schema", "parameters")

DECLARATIONS = Kinds(
    NAME,
    "tools",
    [
        Kind(
            key,
            "function",
            (
                Field(f"{PART}.name", "name"),
                Field(f"{PART}.description", "description"),
                Field(f"{PART}.{key}", "inputSchema"),
            ),
        )
        for key in _SCHEMAS
    ],
    mark=_schema_key,
)

SLOT = Slot(PARTS, string={"type": "text"}, lone="text", empty=[])

LENS = Lens(
    NAME,
    Roles(
        [
            Role("user", "user", (SLOT,), splits=True),
            Role("model", "assistant", (SLOT,)),
            Role("system", "system", (SLOT,), text=True),
            Role("function", "user", (SLOT,), splits=True),
            Role(None, "user", (SLOT,), splits=True),
        ],
        other=Role(None, None, (SLOT,)),
    ),
    tools=Tools(DECLARATIONS, unfold=unfold, fold=fold),
    spine="contents",
    system=System(("systemInstruction", "system_instruction"), at="parts", inside=True),
    optional_ids=True,
    namespaces=OURS,
)

_TYPES = frozenset(
    f"{{{key}}}" for key in (*OBJECTS, *SIGNATURES, *words("text thought executableCode codeExecutionResult"))
)

FORMAT = LENS.format(
    "Gemini contents",
    Marks(
        roles=words("user model system function"),
        types=_TYPES,
        lists=words("user model system function"),
        own_roles=words("model"),
        own_keys=words("parts"),
        own_types=_TYPES,
        own_body=words("contents systemInstruction generationConfig"),
        foreign_keys=words("content tool_calls tool_call_id providerOptions"),
    ),
    Shape(
        spine=("contents",),
        parts="parts",
        calls=tuple(Site("parts", None, (names["call"], "id"), (names["call"], "name")) for names in SPELLINGS),
        results=tuple(
            Site("parts", None, (names["response"], "id"), (names["response"], "name"), ("user", "function"))
            for names in SPELLINGS
        ),
    ),
    words(
        "user-files documents assistant-files reasoning any-order results-together result-names output-error-text "
        "empty-messages many-texts neighbours"
    ),
)
