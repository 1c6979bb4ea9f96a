"""Neighbouring rules that only drop parts → one generated pass over the messages.

The generated function scans: per role and part type it runs the tests of all rules, and does nothing where none holds.
A message that is hit is rebuilt without the parts, a message left without parts is dropped. That is what the
interpreter does rule by rule, since a part that no test accepts as it stands is dropped by no rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from historycompat.edits import Lineage
from historycompat.ruleset import Local, Rule

# Messages → messages: the same list where nothing is to be dropped. Copies of messages are recorded in the lineage.
Pass = Callable[[list[Any], Lineage | None], list[Any]]

_INDENT = "    "


def fusible(rule: Rule) -> bool:
    """Whether a rule is nothing but drops that one pass can decide."""
    return rule.when is None and rule.meaning.format is None and all(s.local and s.local.drops for s in rule.steps)


def fuse(rules: Iterable[Rule]) -> Pass:
    """One pass for rules that are all `fusible`."""
    locals_ = [step.local for rule in rules for step in rule.steps if step.local]
    fast, robust = _compiled(locals_, robust=False), _compiled(locals_, robust=True)

    def run(messages: list[Any], lineage: Lineage | None) -> list[Any]:
        try:
            return fast(messages, lineage)
        except (KeyError, TypeError, AttributeError):  # a message or part that is not of the documented shape
            return robust(messages, lineage)

    return run


def _compiled(locals_: Sequence[Local], *, robust: bool) -> Pass:
    lines, names = _source(locals_, robust)
    names |= {"__builtins__": {}, "dict": dict, "list": list, "isinstance": isinstance, "len": len, "iter": iter}
    exec(compile("\n".join(lines), "<fused rules>", "exec"), names)
    function: Pass = names["apply"]
    return function


def _source(locals_: Sequence[Local], robust: bool) -> tuple[list[str], dict[str, Any]]:
    names: dict[str, Any] = {}
    for local in locals_:
        names |= local.names
    tests = [(local, f"({local.test})") for local in locals_]
    lines = ["def apply(messages, lineage):", "    out = None", "    gone = 0", "    it = iter(messages)"]
    lines += ["    for m in it:"]
    if robust:
        lines += ["        if not isinstance(m, dict): continue"]
    lines += [f"        role = {_read('m', 'role', robust)}"]
    word = "if"
    for role in _roles(locals_):
        chosen = [(local, test) for local, test in tests if local.roles is None or role in local.roles]
        lines += [
            f"        {word} role == {role!r}:"
            if role is not None
            else f"        {'else' if word == 'elif' else 'if True'}:"
        ]
        lines += _message_body(chosen, robust)
        word = "elif"
    if None not in _roles(locals_):
        lines += ["        else: continue"]
    lines += [
        "        if out is None: out = messages[:]",
        "        i = len(messages) - it.__length_hint__() - 1",
        "        if c:",
        "            out[i] = n = {**m, 'content': c}",
        "            if lineage is not None: lineage.record(n, m)",
        "        else:",
        "            out[i] = None",
        "            gone += 1",
        "    if out is None: return messages",
        "    return [m for m in out if m is not None] if gone else out",
    ]
    return lines, names


def _roles(locals_: Sequence[Local]) -> list[str | None]:
    """Every role that a test names, then None where some test is about any role."""
    roles: list[str | None] = [*sorted({role for local in locals_ for role in local.roles or ()})]
    if any(local.roles is None for local in locals_):
        roles.append(None)
    return roles


def _read(holder: str, key: str, robust: bool) -> str:
    return f"{holder}.get({key!r})" if robust else f"{holder}[{key!r}]"


def _message_body(tests: Sequence[tuple[Local, str]], robust: bool) -> Iterator[str]:
    """The scan of one message's parts; it goes on behind itself only when a part must go."""
    pad = _INDENT * 3
    yield f"{pad}c = {_read('m', 'content', robust)}"
    yield f"{pad}if c.__class__ is not list: continue"
    yield f"{pad}for p in c:"
    if robust:
        yield f"{pad}    if not isinstance(p, dict): continue"
    types = sorted({part_type for local, _ in tests for part_type in local.types or ()})
    conditions = {t: " or ".join(test for local, test in tests if local.types and t in local.types) for t in types}
    type_ = _read("p", "type", robust)
    if len(types) == 1:
        yield f"{pad}    if {type_} == {types[0]!r} and ({conditions[types[0]]}): break"
    else:
        yield f"{pad}    t = {type_}"
        for number, part_type in enumerate(types):
            yield f"{pad}    {'el' if number else ''}if t == {part_type!r}:"
            yield f"{pad}        if {conditions[part_type]}: break"
    yield f"{pad}else: continue"
    yield from _rebuild(types, conditions, type_, pad, robust)


def _rebuild(types: list[str], conditions: dict[str, str], type_: str, pad: str, robust: bool) -> Iterator[str]:
    doomed = " or ".join(f"{type_} == {t!r} and ({conditions[t]})" for t in types)
    guard = "isinstance(p, dict) and " if robust else ""
    yield f"{pad}c = [p for p in c if not ({guard}({doomed}))]"
