"""Runs one verb on a history without the language: targets and arguments are data."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import jmespath
import jsonpatch

from historycompat.edits import MISSING, Edit, Finding, Pointer, commit, pointer, replay, same, value_at
from historycompat.pairs import Site
from historycompat.regex import compile_regex
from historycompat.states import CALL_STATES, MESSAGE_STATES, PART_STATES, RESULT_STATES, is_synthetic
from historycompat.verbs import VERBS
from historycompat.verbs.mapping import Mapper
from historycompat.view import CANONICAL, Context, Hit, PathHit, Select, Shape, View

Json = dict[str, Any]

SHAPES = {
    "canonical": CANONICAL,
    "openai-chat": Shape(
        calls=(Site("tool_calls", None, ("id",), ("function", "name"), ("assistant",)),),
        results=(Site(None, None, ("tool_call_id",), (), ("tool",)),),
    ),
    "anthropic": Shape(
        calls=(Site("content", "tool_use", ("id",), ("name",), ("assistant",)),),
        results=(Site("content", "tool_result", ("tool_use_id",), (), ("user",)),),
    ),
    "openai-responses": Shape(
        spine=("input",),
        role="type",
        calls=(Site(None, None, ("call_id",), ("name",), ("function_call",)),),
        results=(Site(None, None, ("call_id",), (), ("function_call_output",)),),
    ),
}


@dataclass(frozen=True)
class Ran:
    """What came of one statement."""

    before: View
    after: View
    made: list[Edit]
    findings: list[Finding]


def run(verb: str, target: Json, args: Json, root: Json, shape: Shape = CANONICAL) -> Ran:
    view = View(root, Context(), shape)
    outcomes = list(VERBS[verb].build(**lowered(verb, args))(view, selected(target)(view)))
    edits = [outcome for outcome in outcomes if isinstance(outcome, Edit)]
    after, made = commit(root, edits, view.context.lineage)
    findings = [outcome for outcome in outcomes if isinstance(outcome, Finding)]
    return Ran(view, View(after, view.context, shape), made, findings)


def check_laws(ran: Ran, original: Json) -> None:
    """What holds for every verb and every history. `original` is a deep copy of the input, made before the run."""
    assert same(ran.before.root, original), "the input was mutated"
    assert same(replay(original, ran.made), ran.after.root), "the trace does not replay"
    patch = [_operation(edit) for edit in ran.made]
    assert same(jsonpatch.apply_patch(original, patch), ran.after.root), "the trace is no JSON patch"
    assert ran.made or ran.after.root is ran.before.root
    _check_identities(ran)
    _check_pairs(ran)


def _operation(edit: Edit) -> Json:
    operation = {"op": edit.op, "path": edit.pointer}
    return operation if edit.op == "remove" else {**operation, "value": deepcopy(edit.after)}


def _check_identities(ran: Ran) -> None:
    """A message that was neither edited nor made is one of the input's own."""
    depth = len(ran.before.shape.spine)
    if not any(edit.path[:depth] == ran.before.shape.spine for edit in ran.made):
        assert ran.after.messages is ran.before.messages
    own = {id(message) for message in ran.before.messages}
    made = sum(edit.op == "add" and len(edit.path) == depth + 1 for edit in ran.made)
    edited = {edit.path[depth] for edit in ran.made if len(edit.path) > depth + 1}
    assert sum(id(message) not in own for message in ran.after.messages) <= made + len(edited)


def _check_pairs(ran: Ran) -> None:
    origin = ran.before.context.lineage.origin
    lonely = {
        id(origin((it.call or it.result).part)) for it in ran.after.pairing.occurrences if not (it.call and it.result)
    }
    for it in ran.before.pairing.occurrences:
        if it.call and it.result:
            assert lonely.isdisjoint({id(origin(it.call.part)), id(origin(it.result.part))}), "a pair was torn apart"


def lowered(verb: str, args: Json) -> Json:
    lower = _LOWERED | ({"to": _keys} if verb == "rename" else {})
    return {name: lower[name](value) if name in lower else value for name, value in args.items()}


def _keys(text: str) -> tuple[str, ...]:
    return tuple(text.split("."))


def _compute(text: str) -> Callable[[Any, Hit], Any]:
    expression = jmespath.compile(text)
    return lambda value, hit: expression.search(value)


def _mapper(written: Json) -> Mapper:
    [(kind, value)] = [item for item in written.items() if item[0] != "with"]
    if kind == "replacing":
        return Mapper(kind, regex=compile_regex(value), text=written["with"])
    return Mapper(kind, text=value) if kind == "prefix" else Mapper(kind, count=value)


_LOWERED: dict[str, Callable[[Any], Any]] = {
    "path": _keys,
    "paths": lambda texts: tuple(map(_keys, texts)),
    "to": _compute,
    "value": _compute,
    "by": _compute,
    "otherwise": _compute,
    "regex": compile_regex,
    "unless": compile_regex,
    "mappers": lambda steps: tuple(map(_mapper, steps)),
    "types": tuple,
    "anchor": lambda target: selected(target),
}


def selected(target: Json) -> Select:
    """A target as data: `{kind, roles, states, types, part_states, at, where}`; `at` is a path with `*` for any index."""
    where = jmespath.compile(target["where"]).search if "where" in target else lambda value: True

    def select(view: View) -> list[Hit]:
        return [hit for hit in _CANDIDATES[target["kind"]](view, target) if where(hit.value)]

    return select


def _messages(view: View, target: Json) -> list[int]:
    return [
        index
        for index in range(len(view.messages))
        if view.role(index) in target.get("roles", [view.role(index)])
        and all(MESSAGE_STATES[state](view, index) for state in target.get("states", ()))
    ]


def _message_hits(view: View, target: Json) -> list[Hit]:
    return [Hit(view.path(index), view.messages[index], view, index) for index in _messages(view, target)]


def _part_hits(view: View, target: Json) -> list[Hit]:
    hits = []
    for index in _messages(view, target):
        for position, part in enumerate(view.parts(index)):
            path = view.path(index, view.shape.parts, position)
            states = (PART_STATES[state] for state in target.get("part_states", ()))
            if part.get("type") in target.get("types", [part.get("type")]) and all(
                state(view.parts(index), position) for state in states
            ):
                hits.append(Hit(path, part, view, index, position, view.pairing.at(path)))
    return hits


def _half_hits(view: View, target: Json) -> list[Hit]:
    table = CALL_STATES if target["kind"] == "call" else RESULT_STATES
    hits = []
    for it in view.pairing.occurrences:
        half = it.call if target["kind"] == "call" else it.result
        if half and all(table[state](view, it) for state in target.get("states", ())):
            hits.append(Hit(half.path, half.part, view, half.index, half.position, it))
    return hits


def _path_hits(view: View, target: Json) -> list[Hit]:
    paths: list[Pointer] = [()]
    for step in target["at"].split("."):
        if step == "*":
            lists = ((path, value_at(view.root, path)) for path in paths)
            paths = [(*path, n) for path, value in lists if isinstance(value, list) for n in range(len(value))]
        else:
            paths = [(*path, step) for path in paths if value_at(view.root, (*path, step), MISSING) is not MISSING]
    return [PathHit(path, value_at(view.root, path), view) for path in paths]


_CANDIDATES: dict[str, Callable[[View, Json], list[Hit]]] = {
    "message": _message_hits,
    "part": _part_hits,
    "call": _half_hits,
    "result": _half_hits,
    "path": _path_hits,
    "prompt": lambda view, target: [Hit((), view.root, view)],
}


def synthetic_places(value: Any, path: Pointer = ()) -> list[str]:
    """The JSON pointers of everything a rule inserted."""
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    below = [place for key, child in children for place in synthetic_places(child, (*path, key))]
    return ([pointer(path)] if is_synthetic(value) else []) + below


def unmarked(value: Any) -> Any:
    """A copy without the marks of what a rule inserted."""
    if isinstance(value, list):
        return [unmarked(child) for child in value]
    if not isinstance(value, dict):
        return value
    copy = {key: unmarked(child) for key, child in value.items() if key != "historycompat"}
    if is_synthetic(value) and not copy["providerOptions"]:
        del copy["providerOptions"]
    return copy
