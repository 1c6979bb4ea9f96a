"""Function name → callable: the jmespath library's own functions behind a faster check of arguments, and ours."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache, partial
from itertools import product
from typing import Any

from historycompat.language.expressions.functions import FUNCTIONS, call_problem
from historycompat.language.expressions.values import TYPES, type_of
from historycompat.regex import RegexError, compile_regex
from historycompat.view import Hit


class _Expression:
    """`&expression` as a value. The library knows it by the name of its class, and calls `visit`."""

    __slots__ = ("expression", "hit")

    def __init__(self, expression: Callable[[Any, Hit], Any], hit: Hit) -> None:
        self.expression = expression
        self.hit = hit

    def visit(self, expression: Callable[[Any, Hit], Any], value: Any) -> Any:
        return expression(value, self.hit)


reference = _Expression


def function(name: str, argc: int) -> Callable[..., Any]:
    """The callable for a call with `argc` arguments. It raises only jmespath.exceptions.JMESPathError.

    Raises UnknownFunctionError, ArityError or VariadictArityError of jmespath.exceptions for a call that cannot be.
    """
    if call_problem(name, argc) is not None:
        raise _refusal(name, argc)
    return _OURS.get(name) or partial(_call, name)


def _refusal(name: str, argc: int) -> Exception:
    from jmespath import exceptions

    refusal: Exception
    if name not in FUNCTIONS:
        refusal = exceptions.UnknownFunctionError(call_problem(name, argc))
    elif FUNCTIONS[name].variadic:
        refusal = exceptions.VariadictArityError(len(FUNCTIONS[name].takes), argc, name)
    else:
        refusal = exceptions.ArityError(len(FUNCTIONS[name].takes), argc, name)
    return refusal


def _call(name: str, *arguments: Any) -> Any:
    return _library(name)(*arguments)


@cache
def _library(name: str) -> Callable[..., Any]:
    """A function of the library. The library is imported here, at the first call: most rules never need it."""
    from jmespath.exceptions import JMESPathError
    from jmespath.functions import Functions

    library = Functions()
    method = library.FUNCTION_TABLE[name]["function"]
    accepted = _accepted(name)

    def call(*arguments: Any) -> Any:
        try:
            if tuple(map(type, arguments)) in accepted:
                return method(library, *arguments)
            return library.call_function(name, list(map(_plain, arguments)))
        except JMESPathError:
            raise
        except (TypeError, ValueError, ArithmeticError) as error:
            if name == "to_number":  # of a date, say, which is no JSON value
                return None
            raise JMESPathError(f"In function {name}(): {error}") from error

    return call


def _plain(value: Any) -> Any:
    """A value in the class that the library knows: it takes one under that for no JSON value."""
    known = None if value.__class__ in TYPES else next((cls for cls in TYPES if isinstance(value, cls)), None)
    return value if known is None else known(value)


def _accepted(name: str) -> frozenset[tuple[type, ...]]:
    """The argument types that need no further check: none where the library looks at elements as well."""
    signature = FUNCTIONS[name]
    classes = {kind: [cls for cls, type_ in TYPES.items() if type_ == kind] for kind in TYPES.values()}
    classes["expref"] = [_Expression]
    per_parameter = [[cls for kind in kinds for cls in classes.get(kind, ())] for kinds in signature.takes]
    return frozenset() if signature.variadic else frozenset(product(*per_parameter))


def blank(value: Any) -> bool:
    """True for null and for a string without anything but whitespace."""
    return value is None or (isinstance(value, str) and not value.strip())


def has(value: Any, key: Any) -> bool:
    """Whether an object has a key; false on anything but an object."""
    name = _string("has", key)
    return isinstance(value, dict) and name in value


def matches(value: Any, pattern: Any) -> bool:
    """Whether a pattern of the RE2 dialect is found in a string; false on anything but a string."""
    return matcher(_string("matches", pattern))(value)


@lru_cache(maxsize=256)
def matcher(pattern: str) -> Callable[[Any], bool]:
    """`matches` for one pattern. A pattern outside the dialect raises JMESPathError where it meets its first string."""
    regex = compile_regex(pattern)

    def match(value: Any) -> bool:
        try:
            return isinstance(value, str) and regex.search(value) is not None
        except RegexError as error:
            from jmespath.exceptions import JMESPathError

            raise JMESPathError(f"In function matches(): {error}") from error

    return match


def _string(name: str, value: Any) -> str:
    if isinstance(value, str):
        return value
    from jmespath.exceptions import JMESPathTypeError

    raise JMESPathTypeError(name, value, type_of(value), ["string"])


def _contains(subject: Any, search: Any) -> bool:
    """The library's, except that nothing but a string is in a string: there Python's TypeError gets out. It is asked so
    often that the library is not loaded for what Python says as well."""
    if isinstance(subject, str) and not isinstance(search, str):
        return False
    if type(subject) in (list, str):
        return search in subject
    return bool(_call("contains", subject, search))


_OURS: dict[str, Callable[..., Any]] = {
    "blank": blank,
    "contains": _contains,
    "has": has,
    "matches": matches,
    "type": type_of,
}
