"""The closed sets of the language as data: roles, part types, states, variables, and the fields of everything that a
condition can look at."""

from __future__ import annotations

from historycompat.language.fields import CASE
from historycompat.states import CALL_STATES, MESSAGE_STATES, PART_STATES, RESULT_STATES

# What a format found and the canonical prompt cannot say stands in parts and messages named so.
OPAQUE = "opaque"

ROLES = ("system", "user", "assistant", "tool", OPAQUE)

# What each role's messages can hold. A string content counts as text.
HOLDS: dict[str, frozenset[str]] = {
    "system": frozenset({"text", OPAQUE}),
    "user": frozenset({"text", "image", "file", "custom", OPAQUE}),
    "assistant": frozenset(
        {"text", "reasoning", "reasoning-file", "file", "image", "tool-call", "tool-result", "tool-approval-request",
         "source", "custom", OPAQUE}
    ),
    "tool": frozenset({"tool-result", "tool-approval-response", OPAQUE}),
    OPAQUE: frozenset({OPAQUE}),
}  # fmt: skip

# What a case among a rule's tests says, and what it cannot do without.
CASE_FIELDS = tuple(CASE)
CASE_NEEDS = ("model", "given", "then")

# The states of each kind of target; behind a part's type stand the states of parts.
STATES: dict[str, tuple[str, ...]] = {
    "part": tuple(MESSAGE_STATES),
    "message": tuple(MESSAGE_STATES),
    "call": tuple(CALL_STATES),
    "result": tuple(RESULT_STATES),
    "prompt": (),
    "path": (),
}
STATES_BEHIND_TYPE = tuple(PART_STATES)

# States that no message has at once.
CONTRADICTIONS = (frozenset({"open", "settled"}), frozenset({"first", "late"}))

# States that only some roles or types can have.
STATE_ROLES = {"late": frozenset({"system"})}
STATE_TYPES = {"empty": frozenset({"text"})}

_EVERYWHERE = frozenset({"messages", "tools", "params", "model", "error"})
_NEARBY = _EVERYWHERE | {"message", "prev", "next", "index", "origin"}

# The variables that are defined for each kind of target, and in `when`.
VARIABLES: dict[str, frozenset[str]] = {
    "when": _EVERYWHERE,
    "prompt": _EVERYWHERE,
    "message": _NEARBY,
    "part": _NEARBY | {"position"},
    "call": _NEARBY | {"position", "call", "result"},
    "result": _NEARBY | {"position", "call", "result"},
    "path": _NEARBY | {"parent"},
}

# Parts that belong to a pair: for them `$call` and `$result` are defined as well.
PAIRED = frozenset({"tool-call", "tool-result"})

# ----- what values look like
#
# A field is a JSON type, several with `|`, or the name of an object below; `[x]` is a list of x, `?` may be missing.

_ANYWHERE = {"providerOptions": "object?", "providerMetadata": "object?"}

PARTS: dict[str, dict[str, str]] = {
    "text": {"text": "string"},
    "reasoning": {"text": "string", "signature": "string?"},
    "reasoning-file": {"data": "any", "mediaType": "string?"},
    "image": {"image": "any", "mediaType": "string?"},
    "file": {"data": "any", "mediaType": "string?", "filename": "string?"},
    "source": {"sourceType": "string?", "id": "string?", "url": "string?", "title": "string?", "mediaType": "string?",
               "filename": "string?"},
    "custom": {"kind": "string?"},
    "tool-call": {"toolCallId": "string", "toolName": "string", "input": "any", "providerExecuted": "boolean?"},
    "tool-result": {"toolCallId": "string", "toolName": "string", "output": "output|any", "isError": "boolean?",
                    "providerExecuted": "boolean?"},
    "tool-approval-request": {"approvalId": "string", "toolCallId": "string", "reason": "string?",
                              "isAutomatic": "boolean?", "signature": "string?", "inputSchemaInput": "any"},
    "tool-approval-response": {"approvalId": "string", "approved": "boolean", "reason": "string?",
                               "providerExecuted": "boolean?"},
    OPAQUE: {"format": "string", "at": "string", "value": "any"},
}  # fmt: skip

OBJECTS: dict[str, dict[str, str]] = {
    "prompt": {"messages": "[message]", "tools": "any", "params": "any"},
    "message": {"role": "string", "content": "string|null|[part]", "id": "string?", "metadata": "any", **_ANYWHERE},
    "output": {"type": "string", "value": "any", "reason": "string?", **_ANYWHERE},
    "model": {"chain": "array", "provider": "string?", "vendor": "string?", "name": "string?", "version": "any"},
    "error": {"status": "number?", "text": "string", "groups": "object"},
    "origin": {"provider": "string?", "model": "string?"},
    **{f"part {name}": {"type": "string", **fields, **_ANYWHERE} for name, fields in PARTS.items()},
}

PART_OBJECTS = frozenset(f"part {name}" for name in PARTS)

# What each variable is, as a field would be.
VARIABLE_SHAPES = {
    "messages": "[message]",
    "model": "model",
    "error": "error?",
    "message": "message",
    "prev": "message?",
    "next": "message?",
    "origin": "origin?",
    "call": "part tool-call?",
    "result": "part tool-result?",
    "index": "number",
    "position": "number",
}

# Strings that can only be one of a few, by object and field.
CHOICES: dict[tuple[str, str], frozenset[str]] = {
    ("message", "role"): frozenset(ROLES),
    ("output", "type"): frozenset({"text", "json", "error-text", "error-json", "content", "execution-denied"}),
    **{(f"part {name}", "type"): frozenset({name}) for name in PARTS},
}

JSON_TYPES = frozenset({"array", "boolean", "null", "number", "object", "string"})
