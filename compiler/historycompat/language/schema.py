"""The tables of the language → a JSON Schema of YAML packs, for editors."""

from __future__ import annotations

import json
from typing import Any

from historycompat.language.vocabulary import CASE_NEEDS, PARTS, ROLES
from historycompat.verbs import VERBS

Schema = dict[str, Any]

_NAME = {"type": "string", "pattern": "^[a-z][a-z0-9]*(-[a-z0-9]+)*$"}

_RULE: dict[str, tuple[str, Schema]] = {
    "name": ("The rule's name in kebab-case, unique in a ruleset.", _NAME),
    "because": ("Which provider refuses what.", {"type": "string", "minLength": 1}),
    "see": ("Where that was reported or documented.", {"$ref": "#/$defs/texts"}),
    "verified": ("When it was last confirmed: a date.", {"type": "string", "minLength": 1}),
    "models": (
        "Model patterns, such as `openai/gpt-5 >= 5.1`; any may match, `not` takes away. Default: every model.",
        {"$ref": "#/$defs/texts"},
    ),
    "when": ("JMESPath over the prompt; the rule runs only if it is true.", {"type": "string"}),
    "on_error": (
        "`[status[|status]] /regex/flags`: errors that wake the rule.",
        {"$ref": "#/$defs/errors"},
    ),
    "phase": (
        "When it runs. Default: `before`, or `after` where there is an `on_error`.",
        {"enum": ["before", "after", "both"]},
    ),
    "persist": (
        "Whether a repair after an error is saved in the stored history. Default: yes for safe rules.",
        {"enum": ["yes", "no", True, False]},
    ),
    "format": ("The format whose native shape the rule edits. Default: the canonical prompt.", _NAME),
    "safety": (
        "What the rule may lose. Default: the least that its verbs imply.",
        {"enum": ["safe", "lossy", "unsafe"]},
    ),
    "replaces": ("The name of the rule whose place this one takes.", _NAME),
    "do": ("Statements, run in order.", {"$ref": "#/$defs/statements"}),
    "tests": ("Cases that live with the rule.", {"type": "array", "items": {"$ref": "#/$defs/case"}}),
}

_CASE: dict[str, tuple[str, Schema]] = {
    "name": ("What the case shows.", {"type": "string"}),
    "model": ("The model that is about to read the history: an id, an object, or a list of fallbacks.", {}),
    "also": (
        "More models that the same comes out for, as under `model`; the case runs once for each.",
        {"type": "array", "minItems": 1},
    ),
    "given": ("The history before: in short form, or native JSON for a rule with `format`.", {"$ref": "#/$defs/given"}),
    "then": (
        "`unchanged`, the history after, or `{report: text}`.",
        {"anyOf": [{"const": "unchanged"}, {"$ref": "#/$defs/given"}]},
    ),
    "phase": ("Default: `after` where there is an error.", {"enum": ["before", "after"]}),
    "error": (
        "What the provider refused with.",
        {
            "type": ["object", "string"],
            "properties": {"status": {"type": ["integer", "null"]}, "message": {"type": "string"}},
            "additionalProperties": False,
        },
    ),
    "tools": ("The request's tools.", {}),
    "params": ("The request's parameters.", {}),
    "origin": ("Who wrote the messages.", {"type": "object"}),
    "stored": (
        "What is saved after the repair: `unchanged`, or a history.",
        {"anyOf": [{"const": "unchanged"}, {"$ref": "#/$defs/given"}]},
    ),
}

_WITH: Schema = {"type": "object", "description": "More fields, such as providerOptions."}


def schema() -> Schema:
    """The JSON Schema (draft 2020-12) of a YAML pack, the short form of histories in tests included."""
    fields = {
        "language": {"const": 1, "description": "The version of the rule language."},
        "pack": {**_NAME, "description": "The pack's name. Default: the file's."},
        "rules": {"type": "array", "items": {"$ref": "#/$defs/rule"}},
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "historycompat rule pack",
        **_object(fields, ["rules"]),
        "$defs": {
            "rule": _object(_described(_RULE), ["name", "do"]),
            "case": _object(_described(_CASE), [*CASE_NEEDS]),
            **_text_definitions(),
            **_histories(),
        },
    }


def text() -> str:
    """The schema as the text of its file."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


def _object(properties: Schema, required: list[str]) -> Schema:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _described(table: dict[str, tuple[str, Schema]]) -> Schema:
    return {name: {"description": text, **shape} for name, (text, shape) in table.items()}


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
