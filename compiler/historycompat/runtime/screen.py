"""The sieves of many rules → one generated pass over a prompt that tells which of them may have something to do.

Most histories need nothing. The pass tests what all rules look for at once, by role and part type, and edits nothing;
the interpreter then runs the rules that are left, and asks again behind each that changed the prompt.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property
from typing import Any, NamedTuple

from historycompat.edits import value_at
from historycompat.ruleset import Rule, Sieve
from historycompat.view import Context, Hit, Select, View

_CALL, _RESULT = "tool-call", "tool-result"
_FIRST_TYPES = ("text", _CALL, _RESULT, "reasoning")  # what parts mostly are: it is asked first
_STAMPED = Context().origin  # who wrote something, where it is not a host that says so

_Pass = Callable[[Any], tuple[Any, ...]]


class Found(NamedTuple):
    """What a pass saw: the numbers of the tests that held, all ids and tool names of calls and results, and whether
    calls and results are plain."""

    held: Set[int]
    ids: Set[str]
    names: Set[Any]
    plain: bool


class _Test(NamedTuple):
    """What is tested once for all sieves that ask for it."""

    of: str
    roles: frozenset[str] | None
    types: frozenset[str] | None
    python: tuple[str, ...]


class Screen:
    """Which of some rules may have something to do, by number. Rules without sieves always may."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self.rules = tuple(rules)
        self._passes: dict[str, _Pass] = {}

    def __call__(self, view: View) -> Set[int]:
        try:
            _check_request(view.root)
            found = Found(*self._pass(view.shape.role)(value_at(view.root, view.shape.spine)))
            awake = {number for number, sieve in self._sieves if self._holds(sieve, found, view)}
            return awake | self._always if view.context.origin is _STAMPED else awake | self._always | self._asking
        except Exception:  # not of the documented shape: the rules say what is wrong with it, each for itself
            return frozenset(range(len(self.rules)))

    @cached_property
    def _always(self) -> frozenset[int]:
        return frozenset(number for number, rule in enumerate(self.rules) if rule.sieves is None)

    @cached_property
    def _asking(self) -> frozenset[int]:
        """The rules that ask who wrote something: what a host's own answer raises nobody knows."""
        return frozenset(number for number, rule in enumerate(self.rules) if "origin" in rule.variables)

    @cached_property
    def _sieves(self) -> list[tuple[int, Sieve]]:
        return [(number, sieve) for number, rule in enumerate(self.rules) for sieve in rule.sieves or ()]

    @cached_property
    def _tests(self) -> dict[_Test, int]:
        tests = dict.fromkeys(_test(sieve) for _, sieve in self._sieves if sieve.of in _TESTED)
        return {test: number for number, test in enumerate(tests)}

    def _pass(self, role: str) -> _Pass:
        """The pass over messages that have their role under that key."""
        made = self._passes.get(role)
        if made is None:
            made = self._passes[role] = self._compiled(role)
        return made

    def _compiled(self, role: str) -> _Pass:
        names: dict[str, Any] = {"__builtins__": {}, "dict": dict, "list": list, "str": str, "set": set}
        names["TypeError"] = TypeError
        for _, sieve in self._sieves:
            names |= sieve.names
        lines = _source(self._tests, role, has_pairs=any(sieve.of in _PAIRED for _, sieve in self._sieves))
        try:
            exec(compile("\n".join(lines), "<screen>", "exec"), names)
        except (SyntaxError, RecursionError, MemoryError):  # too many levels for Python's compiler
            return _no_pass
        screen: _Pass = names["screen"]
        return screen

    def _holds(self, sieve: Sieve, found: Found, view: View) -> bool:
        match sieve.of:
            case "pairs":
                held = not found.plain
            case "last":
                held = bool(view.messages) and (sieve.roles is None or view.role(-1) in sieve.roles)
            case "id":
                held = not all(map(sieve.is_right, found.ids))
            case "name":
                names = (name for name in (*found.names, *_declared(view)) if isinstance(name, str) and name)
                held = not all(map(sieve.is_right, names))
            case "places":
                held = sieve.select is None or _finds(sieve.select, view)
            case "item" if sieve.spine and view.shape.spine != (sieve.spine,):
                held = sieve.select is None or _finds(sieve.select, view)
            case _:
                held = self._tests[_test(sieve)] in found.held
        return held and (sieve.gate is None or bool(sieve.gate(view.root, Hit((), view.root, view))))


_TESTED = ("item", "message", "part")
_PAIRED = ("pairs", "id", "name")


def _no_pass(messages: Any) -> tuple[Any, ...]:
    raise ValueError


def _test(sieve: Sieve) -> _Test:
    return _Test(sieve.of, sieve.roles, sieve.types, sieve.tests)


def _check_request(root: Mapping[str, Any]) -> None:
    """Raise where tools and parameters are not what conditions count on."""
    if not (isinstance(root.get("tools"), list | None) and isinstance(root.get("params"), dict | None)):
        raise TypeError


def _finds(select: Select, view: View) -> bool:
    """Whether anything is selected or noted. The rule notes it for itself, if it comes to that."""
    notes = view.context.notes
    known = len(notes)
    try:
        return bool(select(view)) or len(notes) > known
    finally:
        del notes[known:]


def _declared(view: View) -> Iterator[Any]:
    tools = view.root.get("tools")
    declared = (tool for tool in (tools if isinstance(tools, list) else ()) if isinstance(tool, dict))
    return (tool.get(key) for tool in declared for key in ("name", "toolName"))


def _source(tests: Mapping[_Test, int], role: str, *, has_pairs: bool) -> Iterator[str]:
    yield "def screen(messages):"
    yield "    held = set(); ids = set(); names = set(); waiting = set(); hold = held.add"
    yield "    plain = True; late = False"
    yield "    for m in messages:"
    yield "        if m.__class__ is not dict: raise TypeError"
    items = [(test.python, number) for test, number in tests.items() if test.of == "item"]
    if items:
        yield f"        role = m.get({role!r})"
        yield from (f"        {line}" for line in _asked(items))
    if has_pairs or any(test.of != "item" for test in tests):
        yield from (f"        {line}" for line in _by_role(tests, has_pairs))
    yield "    return held, ids, names, plain and not waiting"


def _by_role(tests: Mapping[_Test, int], has_pairs: bool) -> Iterator[str]:
    yield "role = m['role']"
    yield "c = m['content']"
    if has_pairs:
        yield "if waiting and role != 'tool': plain = False; waiting.clear()"
    pairing = ("assistant", "tool") if has_pairs else ()
    word = "if"
    for role in sorted({"system", *pairing, *(role for test in tests for role in test.roles or ())}):
        yield f"{word} role == {role!r}:"
        yield from _for_role(tests, role, has_pairs)
        word = "elif"
    yield "else:"
    yield from _for_role(tests, None, has_pairs)


def _for_role(tests: Mapping[_Test, int], role: str | None, pairs: bool) -> Iterator[str]:
    pad = " " * 4
    yield f"{pad}late = late or {role != 'system'}"
    chosen = {test: n for test, n in tests.items() if test.roles is None or role in test.roles}
    yield from (f"{pad}{line}" for line in _asked([(t.python, n) for t, n in chosen.items() if t.of == "message"]))
    inner = {test: number for test, number in chosen.items() if test.of == "part"}
    if not (inner or pairs):
        return
    types = {type_ for test in inner for type_ in test.types or ()} | ({_CALL, _RESULT} if pairs else set())
    yield f"{pad}if c.__class__ is list:"
    yield f"{pad}    for p in c:"
    yield f"{pad}        if p.__class__ is not dict: raise TypeError"
    yield f"{pad}        t = p['type']"
    word = "if"
    for type_ in sorted(types, key=lambda each: (_FIRST_TYPES.index(each) if each in _FIRST_TYPES else 9, each)):
        yield f"{pad}        {word} t == {type_!r}:"
        body = [*_pairing(type_, role, pairs), *_part_tests(inner, type_)]
        yield from (f"{pad}            {line}" for line in body or ["pass"])
        word = "elif"
    rest = list(_part_tests(inner, None))
    if rest:
        yield f"{pad}        else:" if types else f"{pad}        if True:"
        yield from (f"{pad}            {line}" for line in rest)
    yield f"{pad}elif c is not None and c.__class__ is not str: raise TypeError"


def _part_tests(tests: Mapping[_Test, int], type_: str | None) -> Iterator[str]:
    yield from _asked([(test.python, n) for test, n in tests.items() if test.types is None or type_ in test.types])


def _asked(tests: Sequence[tuple[tuple[str, ...], int]]) -> Iterator[str]:
    """The lines that ask some tests; those that begin with the same question ask it once."""
    for number in (number for python, number in tests if not python):
        yield f"hold({number})"
    for first in dict.fromkeys(python[0] for python, _ in tests if python):
        rest = [(python[1:], number) for python, number in tests if python and python[0] == first]
        if len(rest) == 1:
            (python, number), *_ = rest
            yield f"if {' and '.join((first, *python))}: hold({number})"
        else:
            yield f"if {first}:"
            yield from (f"    {line}" for line in _asked(rest))


def _pairing(type_: str, role: str | None, pairs: bool) -> Sequence[str]:
    """Plain is each call that has an id of its own, and its one result in the tool messages behind it."""
    if not pairs or type_ not in (_CALL, _RESULT):
        return ()
    naming = ["names.add(p.get('toolName'))"]
    if type_ == _CALL and role == "assistant":
        return [
            "i = p['toolCallId']",
            "if i.__class__ is not str or not i or i in ids: plain = False",
            "ids.add(i)",
            "waiting.add(i)",
            *naming,
        ]
    if type_ == _RESULT and role == "tool":
        return ["i = p['toolCallId']", "if i in waiting: waiting.remove(i)", "else: plain = False", *naming]
    return ["plain = False", *naming]
