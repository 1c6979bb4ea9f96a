"""Statement → what it can lose, and what it reads and writes: what the verbs share of both."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from historycompat import ir
from historycompat.tree import Expr
from historycompat.verbs.verb import SAFETIES

# The targets of verbs that edit any value, wherever it stands.
ANYWHERE = frozenset({"part", "message", "call", "result", "prompt", "path"})

# Where words that a person or a model said are kept, and where what tools and media carry is.
SPOKEN = frozenset({"text", "content"})
CARRIED = frozenset({"text", "input", "output", "args", "arguments", "result", "data", "image", "url"})

# Which child of a node its path goes on in.
_ENDS_IN = {"subexpression": 1, "projection": 1, "value_projection": 1, "filter_projection": 1}

_SELECTED = {"call": frozenset({"part.tool-call"}), "result": frozenset({"part.tool-result"})}
_VARIABLES = {
    "message": "message",
    "messages": "message",
    "prev": "message",
    "next": "message",
    "index": "message",
    "position": "part.*",
    "call": "part.tool-call",
    "result": "part.tool-result",
    "tools": "prompt.tools",
    "params": "prompt.params",
}


def argument(statement: ir.Statement, name: str, default: Any = None) -> Any:
    """An argument of a statement, or the default where it was not written."""
    return dict(statement.args).get(name, default)


def worst(*safeties: str) -> str:
    return max(safeties, key=SAFETIES.index)


def removing(target: ir.Target) -> str:
    """The best safety of a statement that removes what a target selects.

    Nothing is lost with what says nothing or what a rule put there. Text of a message, and messages with it, are
    words: `unsafe`. All else (reasoning, media, calls, results, what tools answered) is `lossy`. Of a `path` only
    its last field can tell.
    """
    if _says_nothing(target):
        return "safe"
    if target.kind == "part":
        return "unsafe" if _may_be(target.types, "text") and _speaks(target) else "lossy"
    if target.kind == "message":
        return "unsafe" if _speaks(target) else "lossy"
    if target.kind == "path":
        return "unsafe" if last_field(target.path) in SPOKEN else "lossy"
    return "lossy"


def changing(target: ir.Target, key: str) -> str:
    """The best safety of a statement that overwrites or cuts the value under a key of what a target selects."""
    if hollow(target.where, key) or target.kind == "prompt":
        return "safe"
    if target.kind == "path":
        return "unsafe" if key in SPOKEN else "safe"
    if target.kind == "message":
        return "safe" if key != "content" else "unsafe" if _speaks(target) else "lossy"
    if key == "text" and target.kind == "part" and _may_be(target.types, "text") and _speaks(target):
        return "unsafe"
    return "lossy" if key in CARRIED else "safe"


def _says_nothing(target: ir.Target) -> bool:
    if target.kind not in ("part", "message"):
        return False
    states = {*target.states, *target.part_states}
    if "empty" in states or (target.kind == "message" and "synthetic" in states):
        return True
    return hollow(target.where, "text" if target.kind == "part" else "content")


def hollow(where: Expr | None, key: str) -> bool:
    """Whether a condition can only hold where the value under a key says nothing: blank, empty or null."""
    if where is None:
        return False
    children = where.children
    match where.kind:
        case "and_expression":
            return any(hollow(child, key) for child in children)
        case "or_expression":
            return all(hollow(child, key) for child in children)
        case "function_expression":
            return where.value == "blank" and _is_field(children[0], key)
        case "comparator" if where.value == "eq":
            return any(
                _is_field(one, key) and other.kind == "literal" and other.value in ("", None, [])
                for one, other in (children, children[::-1])
            )
    return False


def whole(expr: Expr, key: str) -> bool:
    """Whether an expression stores the value under a key unchanged, alone or inside a new list or object."""
    if expr.kind in ("multi_select_list", "multi_select_dict", "key_val_pair"):
        return any(whole(child, key) for child in expr.children)
    return _is_field(expr, key)


def _is_field(expr: Expr, key: str) -> bool:
    return expr.kind == "field" and expr.value == key


def _speaks(target: ir.Target) -> bool:
    return target.roles is None or bool(target.roles - {"tool"})


def _may_be(types: frozenset[str] | None, type_: str) -> bool:
    return types is None or type_ in types


def last_field(path: Expr | None) -> str | None:
    """The key a path ends on; None where it ends on the elements of a list."""
    while path is not None and path.kind in _ENDS_IN:
        path = path.children[_ENDS_IN[path.kind]]
    return path.value if path is not None and path.kind == "field" else None


def bases(target: ir.Target) -> frozenset[str]:
    """The dotted places a target selects: `message`, `part.<type>`, `part.*`, `prompt` or `path.<key>.<key>`."""
    if target.kind == "part":
        return frozenset(f"part.{type_}" for type_ in target.types or ("*",))
    if target.kind == "path":
        return frozenset({".".join(("path", *_fields(target.path)))})
    return _SELECTED.get(target.kind) or frozenset({target.kind})


def under(target: ir.Target, *keys: str) -> frozenset[str]:
    """The dotted places of keys of what a target selects: `part.text.text`, `message.content`, `prompt.tools`."""
    return frozenset(f"{base}.{key}" for base in bases(target) for key in keys)


def reads(statement: ir.Statement) -> frozenset[str]:
    """The dotted places that a statement's target, conditions and expressions look at."""
    seen = set(bases(statement.target))
    for expr in _expressions(statement):
        seen |= under(statement.target, *_fields(expr))
    seen |= {_VARIABLES[name] for name in statement.variables if name in _VARIABLES}
    return frozenset(seen)


def _expressions(statement: ir.Statement) -> Iterator[Expr]:
    for value in (statement.target.where, *dict(statement.args).values()):
        if isinstance(value, Expr):
            yield value


def _fields(expr: Expr | None) -> list[str]:
    return [node.value for node in expr.walk() if node.kind == "field"] if expr else []
