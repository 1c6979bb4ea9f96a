"""The functions of the language as data: what each takes and what it gives."""

from __future__ import annotations

from dataclasses import dataclass

Kinds = frozenset[str]
ANY: Kinds = frozenset({"array", "boolean", "null", "number", "object", "string"})

# JMESPath's functions (https://jmespath.org/specification.html#built-in-functions) and our `blank`, `has`, `matches`.
# `array-number` is an array of numbers; `...` may be given any number of times, at least once.
_SIGNATURES = {
    "abs": "number -> number",
    "avg": "array-number -> number|null",
    "blank": "any -> boolean",
    "ceil": "number -> number",
    "contains": "array|string, any -> boolean",
    "ends_with": "string, string -> boolean",
    "floor": "number -> number",
    "has": "any, string -> boolean",
    "join": "string, array-string -> string",
    "keys": "object -> array",
    "length": "string|array|object -> number",
    "map": "expref, array -> array",
    "matches": "any, string -> boolean",
    "max": "array-number|array-string -> number|string|null",
    "max_by": "array, expref -> any",
    "merge": "object... -> object",
    "min": "array-number|array-string -> number|string|null",
    "min_by": "array, expref -> any",
    "not_null": "any... -> any",
    "reverse": "array|string -> array|string",
    "sort": "array-string|array-number -> array",
    "sort_by": "array, expref -> array",
    "starts_with": "string, string -> boolean",
    "sum": "array-number -> number",
    "to_array": "any -> array",
    "to_number": "any -> number|null",
    "to_string": "any -> string",
    "type": "any -> string",
    "values": "object -> array",
}


@dataclass(frozen=True, slots=True)
class Function:
    """The types that each parameter takes and the result may have. The last parameter of a variadic one repeats."""

    takes: tuple[Kinds, ...]
    gives: Kinds
    variadic: bool

    def parameter(self, position: int) -> Kinds:
        return self.takes[min(position, len(self.takes) - 1)]


def _kinds(words: str) -> Kinds:
    return ANY if words == "any" else frozenset(words.split("|"))


def _function(signature: str) -> Function:
    parameters, result = signature.split(" -> ")
    takes = tuple(_kinds(words.removesuffix("...")) for words in parameters.split(", "))
    return Function(takes, _kinds(result), parameters.endswith("..."))


FUNCTIONS: dict[str, Function] = {name: _function(signature) for name, signature in _SIGNATURES.items()}
