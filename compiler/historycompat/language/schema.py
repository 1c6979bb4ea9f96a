"""The tables of the language → a JSON Schema of YAML packs, for editors."""

from __future__ import annotations

import json
from typing import Any

from historycompat.language.fields import CASE, PACK, RULE, Field
from historycompat.language.vocabulary import CASE_NEEDS, PARTS, ROLES
from historycompat.verbs import VERBS

Schema = dict[str, Any]

_NAME = {"type": "string", "pattern": "^[a-z][a-z0-9]*(-[a-z0-9]+)*$"}

_PACK: Schema = {
    "language": {"const": 1},
    "pack": _NAME,
    "rules": {"type": "array", "items": {"$ref": "#/$defs/rule"}},
}

_RULE: Schema = {
    "name": _NAME,
    "because": {"type": "string", "minLength": 1},
    "see": {"$ref": "#/$defs/texts"},
    "verified": {"type": "string", "minLength": 1},
    "models": {"$ref": "#/$defs/texts"},
    "when": {"type": "string"},
    "on_error": {"$ref": "#/$defs/errors"},
    "phase": {"enum": ["before", "after", "both"]},
    "persist": {"enum": ["yes", "no", True, False]},
    "format": _NAME,
    "safety": {"enum": ["safe", "lossy", "unsafe"]},
    "replaces": _NAME,
    "do": {"$ref": "#/$defs/statements"},
    "tests": {"type": "array", "items": {"$ref": "#/$defs/case"}},
}

_HISTORY: Schema = {"anyOf": [{"const": "unchanged"}, {"$ref": "#/$defs/given"}]}

_CASE: Schema = {
    "name": {"type": "string"},
    "model": {},
    "also": {"type": "array", "minItems": 1},
    "given": {"$ref": "#/$defs/given"},
    "then": _HISTORY,
    "phase": {"enum": ["before", "after"]},
    "error": {
        "type": ["object", "string"],
        "properties": {"status": {"type": ["integer", "null"]}, "message": {"type": "string"}},
        "additionalProperties": False,
    },
    "tools": {},
    "params": {},
    "origin": {"type": "object"},
    "stored": _HISTORY,
}

_WITH: Schema = {"type": "object", "description": "More fields, such as providerOptions."}


def schema() -> Schema:
    """The JSON Schema (draft 2020-12) of a YAML pack, the short form of histories in tests included."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "historycompat rule pack",
        **_object(_described(_PACK, PACK), ["rules"]),
        "$defs": {
            "rule": _object(_described(_RULE, RULE), ["name", "do"]),
            "case": _object(_described(_CASE, CASE), [*CASE_NEEDS]),
            **_text_definitions(),
            **_histories(),
        },
    }


def text() -> str:
    """The schema as the text of its file."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


def _object(properties: Schema, required: list[str]) -> Schema:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _described(shapes: Schema, fields: dict[str, Field]) -> Schema:
    return {name: {"description": fields[name].says, **shape} for name, shape in shapes.items()}


def _one_or_more(item: Schema) -> Schema:
    return {"anyOf": [item, {"type": "array", "items": item, "minItems": 1}]}


def _text_definitions() -> Schema:
    verbs = sorted({name.split("_")[0] for name in VERBS})
    statement = {"type": "string", "pattern": rf"^\s*(#.*\n\s*)*({'|'.join(verbs)})\b"}
    error = {"type": "string", "pattern": r"^\s*([0-9]+\s*(\|\s*[0-9]+\s*)*)?/[\s\S]+/[ims]*"}
    return {
        "texts": _one_or_more({"type": "string", "minLength": 1}),
        "errors": _one_or_more(error),
        "statements": _one_or_more(statement),
    }


def _histories() -> Schema:
    return {
        "given": {
            "anyOf": [{"type": "array", "items": {"$ref": "#/$defs/message"}}, {"type": "object"}],
        },
        "message": {
            "type": "object",
            "anyOf": [{"required": ["role"]}, {"required": ["type"]}, *map(_message, ROLES[:4])],
        },
        "parts": {
            "description": "A text, a part, or a list of both.",
            "anyOf": [{"$ref": "#/$defs/part"}, {"type": "array", "items": {"$ref": "#/$defs/part"}}],
        },
        "part": {
            "anyOf": [
                {"type": "string", "description": "A text part."},
                {"type": "object", "required": ["type"], "properties": {"type": {"examples": sorted(PARTS)}}},
                _part({"reasoning": {"type": "string"}}),
                _part({"call": {"type": "string"}, "id": {}, "input": {}}),
                _part({"result": {}, "name": {"type": "string"}, "output": {}}),
                _part({"file": {"type": "string", "description": "Its media type."}, "data": {}}),
            ]
        },
    }


def _message(role: str) -> Schema:
    content = {"type": "string"} if role == "system" else {"$ref": "#/$defs/parts"}
    return _object({role: content, "with": _WITH}, [role])


def _part(properties: Schema) -> Schema:
    return _object({**properties, "with": _WITH}, [next(iter(properties))])
