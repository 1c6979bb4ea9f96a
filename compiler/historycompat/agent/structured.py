"""A pydantic model, any type, or a JSON Schema → what to ask a model for, and objects of its text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter, ValidationError
from pydantic.errors import PydanticSchemaGenerationError, PydanticUserError
from pydantic_core import from_json, to_jsonable_python

from historycompat.agent.errors import AgentError
from historycompat.agent.models.port import Schema

# Providers take objects only, so any other value is asked for as the one member of an object.
_WRAPPER = "value"


@dataclass(frozen=True, slots=True)
class Output:
    """What answers must look like: `schema` is sent to the model."""

    schema: Schema
    adapter: TypeAdapter[Any] | None
    wrapped: bool

    @classmethod
    def of(cls, wanted: Any) -> Output:
        """Raises AgentError for what no JSON Schema can be made of."""
        if isinstance(wanted, dict):
            return cls._around(wanted, None)
        try:
            adapter: TypeAdapter[Any] = TypeAdapter(wanted)
            return cls._around(adapter.json_schema(), adapter)
        except (PydanticSchemaGenerationError, PydanticUserError) as error:
            told = str(error).splitlines()[0]
            raise AgentError("AGENT_BAD_OPTION", f"{wanted!r} is no JSON Schema and no pydantic type: {told}") from None

    @classmethod
    def _around(cls, schema: Schema, adapter: TypeAdapter[Any] | None) -> Output:
        if schema.get("type") == "object" or "properties" in schema:
            return cls(schema, adapter, wrapped=False)
        inner = {key: value for key, value in schema.items() if key != "$defs"}
        outer: dict[str, Any] = {
            "type": "object",
            "properties": {_WRAPPER: inner},
            "required": [_WRAPPER],
            "additionalProperties": False,
        }
        return cls(outer | ({"$defs": schema["$defs"]} if "$defs" in schema else {}), adapter, wrapped=True)

    def parse(self, text: str) -> Any:
        """The object of a whole answer. Raises AgentError, with the text as its detail, where it does not fit."""
        try:
            value = self._unwrapped(from_json(text))
            if self.adapter is None:
                _validate(value, self.schema["properties"][_WRAPPER] if self.wrapped else self.schema)
                return value
            return self.adapter.validate_python(value)
        except (ValidationError, ValueError, LookupError, TypeError) as error:
            message = f"the answer does not fit the wanted schema: {error}"
            raise AgentError("AGENT_STRUCTURED_OUTPUT_INVALID", message, detail=text) from error

    def partial(self, text: str) -> Any:
        """As much of the object as is there, as plain JSON; None where that is nothing."""
        try:
            value = from_json(text, allow_partial="trailing-strings")
            return self._unwrapped(value)
        except (ValueError, LookupError, TypeError):
            return None

    def _unwrapped(self, value: Any) -> Any:
        return value[_WRAPPER] if self.wrapped else value


def _validate(value: Any, schema: Schema) -> None:
    try:
        from jsonschema import Draft202012Validator
    except ImportError:
        message = 'checking an answer against a JSON Schema needs a library: pip install "historycompat[agent]"'
        raise AgentError("AGENT_BAD_OPTION", message) from None
    error = next(iter(Draft202012Validator(schema).iter_errors(to_jsonable_python(value))), None)
    if error is not None:
        raise ValueError(f"{error.json_path}: {error.message}")
