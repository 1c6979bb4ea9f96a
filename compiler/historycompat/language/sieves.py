"""ir.Rule → its sieves: what one pass over a prompt can see of whether the rule would do anything.

A sieve may be too wide. It is never too narrow: what it holds back is no edit, no report, no fault and no note of the
rule. So a condition counts as far as nothing before it may raise, what a verb needs counts behind its conditions, and
where nothing is known there is no sieve.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from itertools import chain
from typing import Any

from historycompat import ir
from historycompat.language.expressions import codegen
from historycompat.language.expressions.functions import may_raise
from historycompat.language.expressions.kinds import PROJECTIONS
from historycompat.language.questions import OBJECT, Question, Questions, digest, questions
from historycompat.language.select import selector
from historycompat.regex import Regex, compile_regex
from historycompat.ruleset import Sieve
from historycompat.tree import Expr
from historycompat.verbs.judgement import argument

_TEXTS = 10_000  # each turn of a conversation asks for the same texts again
_NO_HIT: Any = None  # a condition without variables looks at none
_HERE = Expr("current")
_CALL, _RESULT = "tool-call", "tool-result"
_WITHOUT_NULLS = PROJECTIONS | {"flatten"}

_Sieves = tuple[Sieve, ...] | None


def sieves(rule: ir.Rule) -> _Sieves:
    """The sieves of a rule before a request, in the shape that it edits; None where some statement has none."""
    of = _of_canonical if rule.format is None else _of_native
    try:
        if rule.when is not None and may_raise(rule.when):
            return None
        found = [each for each in map(of, rule.statements) if each is not None]
    except RecursionError:  # an expression of more levels than Python's stack has
        return None
    return tuple(chain(*found)) if len(found) == len(rule.statements) else None


def _of_canonical(statement: ir.Statement) -> _Sieves:
    return _VERBS.get(statement.verb, _of_target)(statement)


def _of_target(statement: ir.Statement, *also: Expr) -> _Sieves:
    """What the target needs, and `also` of what is selected."""
    target = statement.target
    where = [*([target.where] if target.where else []), *also]
    if target.kind in ("message", "part") and "last" in target.states:
        return (Sieve("last", target.roles),)
    match target.kind:
        case "message":
            states = [_STATES[state] for state in target.states if state in _STATES]
            return (questions(where, "m", states, _needs(statement, "m")).sieve("message", target.roles),)
        case "part":
            states = [(_BLANK.format("p"), {})] if "empty" in target.part_states else []
            asked = questions(where, "p", states, _needs(statement, "p"))
            return (asked.sieve("part", target.roles, target.types),)
        case "call" | "result" if target.states:
            return (Sieve("pairs"),)
        case "call" | "result":
            types = frozenset({_CALL if target.kind == "call" else _RESULT})
            return (questions(where, "p", after=_needs(statement, "p")).sieve("part", None, types),)
        case "path" if target.path:
            return _of_path(statement, target.path)
    return (Sieve("places", select=selector(target)),)


def _of_path(statement: ir.Statement, path: Expr) -> _Sieves:
    """Of places in messages, and in their parts; what else a prompt has is soon looked through."""
    if not _is_over(path, "messages"):
        return (Sieve("places", select=selector(statement.target)),)
    inner = path.children[1]
    if path.kind == "projection" and _is_over(inner, "content"):
        return (_below(statement, inner, "p").sieve("part"),)
    return (_below(statement, path, "m").sieve("message"),)


def _of_native(statement: ir.Statement) -> _Sieves:
    """In a native body messages are known, and places in a list at its root; other places are soon looked through."""
    target = statement.target
    if target.kind == "message":
        roles: list[Question] = [(f"role in {tuple(sorted(target.roles))!r}", {})] if target.roles else []
        where = [target.where] if target.where else []
        return (questions(where, "m", roles, _needs(statement, "m")).sieve("item"),)
    if target.kind in ("part", "call", "result") or statement.verb in ("map_ids", "map_names"):
        return None
    places, path = Sieve("places", select=selector(target)), target.path
    if path is None or path.kind not in PROJECTIONS or path.children[0].kind != "field":
        return (places,)
    item = _below(statement, path, "m").sieve("item")
    return (replace(item, spine=path.children[0].value, select=places.select),)


# What is blank, or no text at all: `:empty` asks no more of a part, and of the first part of a message.
_BLANK = "(text := {}.get('text')).__class__ is not str or not text or text.isspace()"
_STATES: dict[str, Question] = {
    "late": ("late", {}),
    "empty": (
        f"(not c or c[0]['type'] == 'text' and ({_BLANK.format('c[0]')})) if c.__class__ is list else"
        " c.__class__ is not str or not c or c.isspace()",
        {},
    ),
}


def _needs(statement: ir.Statement, at: str) -> list[Question]:
    """What a verb needs of a value to change it: `keep only`, another key than the named ones."""
    keys = _kept(statement)
    if keys is None:
        return []
    name = f"kept_{digest(sorted(keys))}"
    return [(f"{at}.keys() - {name}", {name: keys})]


def _kept(statement: ir.Statement) -> frozenset[str] | None:
    """The keys that may stand beside nothing else; None of a verb that does not ask."""
    if statement.verb != "keep":
        return None
    return frozenset(path[0] for path in argument(statement, "paths") if len(path) == 1)


def _is_over(expr: Expr, name: str) -> bool:
    """Whether an expression leads on from each of the elements that are under a key."""
    return expr.kind in PROJECTIONS and expr.children[0] == Expr("field", value=name)


def _below(statement: ir.Statement, path: Expr, at: str) -> Questions:
    """What surely holds for the element through which a projection names a place that the statement would change."""
    where = statement.target.where
    _, right, *keeps = path.children
    keys = None if where and may_raise(where) else _kept(statement)
    test = _leads_somewhere(right, keys)
    name = f"leads_{digest((right, keys))}"
    return questions([*keeps, *_found(right, where)], at, after=[(f"{name}({at})", {name: test})] if test else [])


def _leads_somewhere(path: Expr, keys: frozenset[str] | None) -> Callable[[Any], bool] | None:
    """Whether the lists in lists to which projections lead hold something, with other keys than the named ones; None
    where their value does not tell."""
    depth, inner = 0, path
    while inner.kind in ("projection", "filter_projection"):
        depth, last, inner = depth + 1, inner, inner.children[1]
    if not depth or inner.kind != "identity" or codegen.variables(path) or may_raise(path):
        return None
    if not _sees_all(list(last.children[2:])):
        return None
    value = codegen.compute(path)

    def holds(found: Any, depth: int) -> bool:
        if depth:
            return any(holds(each, depth - 1) for each in found)
        return keys is None or not isinstance(found, dict) or not found.keys() <= keys

    return lambda element: holds(value(element, _NO_HIT) or (), depth)


def _found(path: Expr, where: Expr | None) -> list[Expr]:
    """What surely holds where an expression names a place for which `where` holds."""
    *holder, last = path.children or (path,)
    if path.kind == "identity":
        return [where] if where else []
    if path.kind in ("projection", "filter_projection"):
        return _elements(path, where)
    if path.kind == "subexpression" and last.kind in PROJECTIONS:
        base = Expr("subexpression", (*holder, last.children[0]))
        return _found(Expr(last.kind, (base, *last.children[1:])), where)
    if path.kind == "field" or (path.kind == "subexpression" and last.kind == "field"):
        return [_has(Expr("subexpression", tuple(holder)) if holder else _HERE, last.value)]
    return []


def _elements(path: Expr, where: Expr | None) -> list[Expr]:
    """What surely holds where a projection over a list names a place."""
    base, right, *keeps = path.children
    if right.kind == "identity" and where and not keeps:
        keeps = [where]
    is_list = Expr("comparator", (Expr("function_expression", (base,), "type"), Expr("literal", value="array")), "eq")
    if _sees_all(keeps):
        return [is_list, Expr("filter_projection", (base, Expr("identity"), *keeps))]
    return [is_list] if any(each.kind in _WITHOUT_NULLS for each in base.walk()) else [is_list, base]


def _sees_all(keeps: list[Expr]) -> bool:
    """Whether a filter says by its value alone that it names places: a null, which is one, has no part in the value."""
    if not keeps or codegen.variables(keeps[0]) or may_raise(keeps[0]):
        return False
    return not codegen.predicate(keeps[0])(None, _NO_HIT)


def _has(holder: Expr, key: str) -> Expr:
    return Expr("function_expression", (holder, Expr("literal", value=key)), "has")


def _unset(statement: ir.Statement) -> _Sieves:
    """One of the keys must be there."""
    found: Expr | None = None
    for path in argument(statement, "paths"):
        fields = tuple(Expr("field", value=key) for key in path)
        has = _has(Expr("subexpression", fields[:-1]) if fields[:-1] else _HERE, path[-1])
        found = has if found is None else Expr("or_expression", (found, has))
    return _of_target(statement, *([found] if found else []))


def _map_ids(statement: ir.Statement) -> _Sieves:
    regex = _unless(statement)
    # What refers to an id that could be a number may have it as a number, and gets it as a text.
    is_right = lru_cache(_TEXTS)(lambda text: regex.search(text) is not None and not _is_numeric(text))
    return (Sieve("pairs"), Sieve("id", is_right=is_right))


def _map_names(statement: ir.Statement) -> _Sieves:
    regex = _unless(statement)
    return (Sieve("name", is_right=lru_cache(_TEXTS)(lambda text: regex.search(text) is not None)),)


def _unless(statement: ir.Statement) -> Regex:
    pattern = argument(statement, "unless")
    return compile_regex(pattern.text, pattern.flags)


def _is_numeric(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _dedupe(statement: ir.Statement) -> _Sieves:
    """Calls and results that are each once have no equals where the id is a part of what is compared."""
    target, by = statement.target, argument(statement, "by")
    asked = [by, *([target.where] if target.where else [])]
    if target.kind in ("call", "result") and _tells_apart(by) and not any(may_raise(each, OBJECT) for each in asked):
        return (Sieve("pairs"),)
    return _of_target(statement)


def _tells_apart(expr: Expr, of: str = "values") -> bool:
    """Whether an expression has no equal `values` but null for different ids that are texts; or no equal `true` values;
    or none at all, as `members` of a list or an object must have none."""
    below = [each.children[0] if each.kind == "key_val_pair" else each for each in expr.children]
    match expr.kind:
        case "or_expression" if below[0].kind != "field":
            return _tells_apart(below[0], "true") and below[1] == Expr("literal") and of != "members"
        case "or_expression":
            return _tells_apart(below[0])
        case "and_expression":
            return _tells_apart(below[1], of) and of == "true"
        case "multi_select_dict" | "multi_select_list":
            return any(_tells_apart(each, "members") for each in below)
    return expr == Expr("field", value="toolCallId")


_VERBS: dict[str, Callable[[ir.Statement], _Sieves]] = {
    "unset": _unset,
    "map_ids": _map_ids,
    "map_names": _map_names,
    "dedupe": _dedupe,
}
