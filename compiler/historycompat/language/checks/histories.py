"""Statement → small histories in which it has something to do, and others of every shape beside them."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import product
from typing import Any

from historycompat import ir, tree
from historycompat.edits import MISSING, value_at, with_path
from historycompat.language.checks.places import targets
from historycompat.language.checks.predicates import fixed_by
from historycompat.language.checks.samples import texts
from historycompat.language.checks.worlds import examples, read_keys
from historycompat.language.vocabulary import HOLDS, ROLES
from historycompat.verbs.judgement import argument

Json = dict[str, Any]

# A letter is a message: system, user, assistant, assistant with a call, the tool's result, and a user message that says
# nothing (`e`); `X` is the one in question.
_SHAPES = (
    "", "u", "ua", "uau", "uu", "uaau", "sua", "uasu", "usu", "asa", "suct", "uctu", "uctau", "ucut", "uc", "uca",
    "ucctu", "tu", "au", "uctcta", "uae", "aea",
)  # fmt: skip
_AROUND: dict[str, tuple[str, ...]] = {
    "system": ("Xua", "uaX", "uXu", "aXa", "sXu", "uXa"),
    "user": ("X", "Xa", "aXa", "uX", "uaX", "uctX", "uaXu"),
    "assistant": ("uX", "uXu", "uXa", "aXu", "uctXu", "uXsu", "uXuX", "uXs", "uXe"),
    "tool": (),
}

# What parts of each type look like where nothing else is asked of them.
_PARTS: dict[str, Json] = {
    "text": {"text": "hello"},
    "reasoning": {"text": "hmm"},
    "reasoning-file": {"data": "data:,"},
    "image": {"image": "data:,a", "mediaType": "image/png"},
    "file": {"data": "data:,a", "mediaType": "text/plain"},
    "source": {"sourceType": "url", "url": "https://example.org"},
    "custom": {"kind": "example"},
    "tool-call": {"toolCallId": "call_1", "toolName": "ls", "input": {"dir": "/"}},
    "tool-result": {"toolCallId": "call_1", "toolName": "ls", "output": {"type": "text", "value": "ok"}},
    "tool-approval-request": {"approvalId": "ap_1", "toolCallId": "call_1"},
    "tool-approval-response": {"approvalId": "ap_1", "approved": True},
}
_USUAL = ("text", "reasoning", "tool-call", "file")
_MOST = 3
_FEW = 3
_MOST_PARTS = 8
_LONGEST = 10_000
_IDS = ("functions.ls:0", "toolu_01A09q90qw90lq917835lq9", "x" * 70)


@dataclass(frozen=True, eq=False)
class Stock:
    """The small histories of one statement."""

    statement: ir.Statement
    written: tree.Statement
    rule: tree.Rule
    _made: dict[tuple[int, str], list[Json]] = field(default_factory=dict)

    @cached_property
    def histories(self) -> list[Json]:
        """Roots `{"messages": [...], ...}`: of every plain shape, and such as the statement has something to do in."""
        roots = [*_plain_roots()]
        for target in targets(self.written):
            if target.kind == "message":
                roots += _with_message(target, self)
            elif target.kind in ("part", "call", "result"):
                roots += _with_parts(target, self)
            elif target.kind == "prompt":
                roots += _with_request(target)
        if self.statement.verb.startswith("map_"):
            roots += [_root(_renamed(_messages("uctu"), id_)) for id_ in _IDS]
        return roots

    def parts(self, target: tree.Target, role: str) -> list[Json]:
        """Parts that a target selects in messages of a role, each with what the statement looks for in it."""
        key = (id(target), role)
        if key not in self._made:
            self._made[key] = list(_parts(target, self, role))
        return self._made[key]


def together(one: Stock, other: Stock) -> Iterator[Json]:
    """Histories in which one message holds what two statements are about."""
    for target, beside in product(targets(one.written), targets(other.written)):
        if target.kind == beside.kind == "part":
            for role in (role for role in _roles(target) if role in _roles(beside)):
                for a, b in product(one.parts(target, role)[:_MOST], other.parts(beside, role)[:_MOST]):
                    if a != b:
                        yield from (_root(_messages(s, _message(role, [a, b]))) for s in _AROUND[role][:_MOST])


@cache
def _plain_roots() -> tuple[Json, ...]:
    return tuple(_root(_messages(shape)) for shape in _SHAPES)


def _with_request(target: tree.Target) -> Iterator[Json]:
    for held in examples(target.where, {}, _MOST):
        found = held if isinstance(held, dict) else {}
        yield _root(_messages("u"), **{key: value for key, value in found.items() if key in ("tools", "params")})


def _root(messages: list[Json], **more: Any) -> Json:
    return {"messages": messages, "tools": [{"name": "ls"}], "params": {}} | more


def _messages(shape: str, special: Json | None = None) -> list[Json]:
    made: list[Json] = []
    calls = 0
    for letter in shape:
        if letter == "X" and special is not None:
            made += _unfolded(special)
            continue
        calls += letter == "c"
        made.append(_plain(letter, calls))
    return made


@cache
def _plain(letter: str, number: int) -> Json:
    id_ = f"call_{number}"
    return {
        "s": {"role": "system", "content": "Be brief."},
        "u": _message("user", [_part("text")]),
        "e": _message("user", [_part("text", text="")]),
        "a": _message("assistant", [_part("text")]),
        "c": _message("assistant", [_part("text"), _part("tool-call", toolCallId=id_)]),
        "t": _message("tool", [_part("tool-result", toolCallId=id_)]),
    }[letter]  # fmt: skip


def _part(type_: str, **more: Any) -> Json:
    return {"type": type_, **_PARTS.get(type_, {}), **more}


def _message(role: str, content: Any) -> Json:
    return {"role": role, "content": content}


def _unfolded(message: Json) -> list[Json]:
    """A message, and the tool's results for its calls behind it unless it says that they are missing."""
    parts = message["content"] if isinstance(message.get("content"), list) else []
    calls = [part for part in parts if isinstance(part, dict) and part.get("type") == "tool-call"]
    answers = [
        _part("tool-result", toolCallId=call.get("toolCallId"), toolName=call.get("toolName"))
        for call in calls
        if not message.get("unanswered")
    ]
    bare = {key: value for key, value in message.items() if key != "unanswered"}
    return [bare, *([_message("tool", answers)] if answers else [])]


def _renamed(messages: list[Json], id_: str) -> list[Json]:
    messages = copy.deepcopy(messages)
    for message in messages:
        for part in message["content"] if isinstance(message["content"], list) else ():
            if "toolCallId" in part:
                part["toolCallId"] = id_
    return messages


# ----- parts


def _roles(target: tree.Target) -> list[str]:
    types = target.types if target.kind == "part" else (f"tool-{target.kind}",)
    asked = target.roles if target.roles and "*" not in target.roles else ROLES[:4]
    return [role for role in asked if role in _AROUND and ("*" in types or HOLDS[role] & {*types})]


def _with_parts(target: tree.Target, stock: Stock) -> Iterator[Json]:
    for role in _roles(target):
        for part in stock.parts(target, role):
            if part["type"] == "tool-result":
                yield from _with_result(part)
                continue
            text, blank = _part("text"), _part("text", text="")
            contents = [[part, text], [part], [text, part], [part, blank], [part, part]]
            unanswered = {"unanswered": True} if "orphan" in target.states else {}
            for number, content in enumerate(contents if role != "system" else ()):
                # Where it stands and what stands beside it in its message rarely matter together.
                shapes = _AROUND[role][: _FEW if number > 1 else None]
                yield from (_root(_messages(shape, _message(role, content) | unanswered)) for shape in shapes)


def _with_result(part: Json) -> Iterator[Json]:
    call = _message("assistant", [_part("tool-call", toolCallId=part.get("toolCallId")), _part("text")])
    answer = _message("tool", [part])
    user, plain = _plain("u", 0), _plain("a", 0)
    for messages in ([user, call, answer], [user, call, answer, user], [user, call, user, answer], [answer, user],
                     [user, call, answer, plain, user], [call, _message("tool", [part, part]), user]):  # fmt: skip
        yield _root(messages)


def _parts(target: tree.Target, stock: Stock, role: str) -> Iterator[Json]:
    types: Iterable[str] = (f"tool-{target.kind}",) if target.kind != "part" else target.types
    wanted = [type_ for type_ in (_USUAL if "*" in types else types) if type_ in HOLDS[role] or type_ == "tool-result"]
    made = 0
    for type_ in wanted:
        base = _part(type_, **({"text": " "} if "empty" in target.part_states else {}))
        fixed = {**fixed_by(target, stock.rule), ("@", "type"): [type_]}
        for found in examples(target.where, fixed, _MOST):
            for part in _filled(_with(base, target, found), stock.statement):
                made += 1
                if made <= _MOST_PARTS * len(wanted):
                    yield part


def _with(base: Json, target: tree.Target, found: Any) -> Json:
    """A part or message as a condition wants it: what it reads and `found` lacks is not there."""
    if not isinstance(found, dict):
        return base
    return {key: value for key, value in base.items() if key not in read_keys(target.where)} | found


def _filled(value: Json, statement: ir.Statement) -> Iterator[Json]:
    """A value with what a statement edits in it: some text that its pattern matches, JSON that it parses, and so on."""
    path = argument(statement, "path")
    paths = [path] if path else [*(argument(statement, "paths") or ())]
    there = [_grown(value, key) for key in paths] or [value]
    if statement.verb in ("replace", "truncate", "coerce") and path:
        there += [with_path(value, path, content) for content in _contents(statement)]
    elif statement.verb == "unset":
        everything = value
        for key in paths:
            everything = _grown(everything, key)
        there.append(everything)
    yield from there


def _grown(value: Json, path: tuple[str, ...]) -> Json:
    return with_path(value, path, "something") if value_at(value, path, MISSING) is MISSING else value


def _contents(statement: ir.Statement) -> list[Any]:
    if statement.verb == "replace":
        regex = argument(statement, "regex")
        return [*texts(regex.text, regex.flags)[:3]]
    if statement.verb == "truncate" and argument(statement, "count") <= _LONGEST:
        return ["word " * (argument(statement, "count") // 5 + 2)]
    if statement.verb != "coerce":
        return []
    return ['{"a": 1}', "5", "true", {"a": 1}, "no json"]


# ----- messages


def _with_message(target: tree.Target, stock: Stock) -> Iterator[Json]:
    for role in _roles_of(target):
        fixed = {**fixed_by(target, stock.rule), ("@", "role"): [role]}
        base: Json = _message(role, "Be brief." if role == "system" else [_part("text")])
        for found in examples(target.where, fixed, _MOST):
            for message in _filled(_with(base, target, found), stock.statement):
                yield from (_root(_messages(shape, message)) for shape in _AROUND[role])
        if "empty" in target.states:
            hollow = _message(role, " " if role == "system" else [_part("text", text="")])
            yield from (_root(_messages(shape, hollow)) for shape in _AROUND[role])
        if stock.statement.verb in ("reorder", "split") and role == "assistant":
            mixed = [_part("tool-call", toolCallId="call_7"), _part("text"), _part("reasoning")]
            yield from (_root(_messages(shape, _message(role, mixed))) for shape in _AROUND[role])


def _roles_of(target: tree.Target) -> list[str]:
    asked = target.roles if target.roles and "*" not in target.roles else ("system", "user", "assistant")
    return [role for role in asked if role in _AROUND]
