"""`coerce`: a value takes another JSON type."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from typing import Any

from historycompat.edits import MISSING, Edit, detached, value_at
from historycompat.verbs.judgement import ANYWHERE, argument, reads, under
from historycompat.verbs.samples import assistant, call, result, tool
from historycompat.verbs.verb import Editor, Effects, Example, Verb
from historycompat.view import Compute, Hit, View


def build(path: tuple[str, ...], kind: str, otherwise: Compute | None = None) -> Editor:
    coerced = _KINDS[kind]

    def edit(view: View, hits: list[Hit]) -> Iterator[Edit]:
        for hit in hits:
            old = value_at(hit.value, path, MISSING)
            if old is MISSING:
                continue
            new = coerced(old)
            if new is MISSING and otherwise is not None:
                new = detached(otherwise(hit.value, hit))
            if new is not MISSING:
                yield Edit("replace", (*hit.path, *path), new)

    return edit


def _string(value: Any) -> Any:
    if value is None:
        return MISSING
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return MISSING


def _number(value: Any) -> Any:
    number = _parsed(value) if isinstance(value, str) else value
    if isinstance(number, float):
        return number if math.isfinite(number) else MISSING
    return number if isinstance(number, int) and not isinstance(number, bool) else MISSING


def _boolean(value: Any) -> Any:
    if isinstance(value, str):
        return {"true": True, "false": False}.get(value.strip().lower(), MISSING)
    return value if isinstance(value, bool) else MISSING


def _json(value: Any) -> Any:
    # Some gateways encode twice; a text that holds nothing but a text is no document.
    while isinstance(value, str):
        value = _parsed(value)
    return value


def _parsed(text: str) -> Any:
    """The value of a JSON text, MISSING where it is none (NaN and infinities are not JSON)."""
    try:
        return json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return MISSING


def _refuse(constant: str) -> Any:
    raise ValueError(constant)


# Each kind: what a value becomes, MISSING where it cannot become one.
_KINDS: dict[str, Callable[[Any], Any]] = {"string": _string, "number": _number, "boolean": _boolean, "json": _json}


VERB = Verb(
    name="coerce",
    does="parses or serialises a value; what cannot be, and has no `else`, stays",
    build=build,
    targets=ANYWHERE,
    least_safety=lambda statement: "safe",
    effects=lambda statement: Effects(
        reads=reads(statement) | under(statement.target, argument(statement, "path")[0]),
        writes=under(statement.target, argument(statement, "path")[0]),
    ),
    doc="""\
| to | from | cannot be |
|---|---|---|
| `string` | any value, as compact JSON | null |
| `number` | a JSON number in a string | booleans, null, other text, what is not finite |
| `boolean` | `true` and `false` in a string, in any case | all else |
| `json` | JSON in a string, also when it was encoded twice | text that is not JSON, or holds only text |

A value that has the type already stays; `json` leaves everything but strings. A key that is not there is not created.
The `else` expression sees the selected value as `@`.""",
    examples=(
        Example(
            "coerce input to json else {_raw: input} on call",
            (assistant(call("c1", "ls", '{"dir":"/"}'), call("c2", "ls", "{broken")),),
            (assistant(call("c1", "ls", {"dir": "/"}), call("c2", "ls", {"_raw": "{broken"})),),
        ),
        Example(
            "coerce output.value to string on result where output.type == 'text'",
            (assistant(call("c1", "sum")), tool({**result("c1", "sum"), "output": {"type": "text", "value": 42}})),
            (assistant(call("c1", "sum")), tool(result("c1", "sum", "42"))),
        ),
    ),
)
