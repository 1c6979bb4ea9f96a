"""Random JMESPath expressions and JSON values, small enough that they meet."""

from __future__ import annotations

import json
from random import Random
from typing import Any

NAMES = ("a", "b", "c", "type")
SCALARS: tuple[Any, ...] = (None, True, False, 0, 1, 2, -1, 1.5, 0.0, "", " ", "a", "x", "number", "10")
LITERALS: tuple[Any, ...] = (*SCALARS, [], {}, [1, "x"], ["a", "b"], [True], {"a": 1}, [[0], []])
OPERATORS = ("==", "!=", "<", "<=", ">", ">=")
SUFFIXES = ("[0]", "[-1]", "[1]", "[-2]", "[1:]", "[::-1]", "[:2]", "[::2]", "[]", "[*]", ".*", "[0:0:0]")
TYPES = ("string", "number", "boolean", "array", "object", "null")
ONE_ARGUMENT = (
    *("abs", "avg", "blank", "ceil", "floor", "keys", "length", "max", "min", "merge", "not_null", "reverse", "sort"),
    *("sum", "to_array", "to_number", "to_string", "type", "values"),
)
TWO_ARGUMENTS = ("contains", "starts_with", "ends_with", "join", "not_null", "merge", "has", "matches")


class Source:
    """Draws from a seeded generator: the same seed gives the same expressions and values, whatever ran before."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)

    def data(self, depth: int = 0, *, nulls: bool = True) -> Any:
        kind = self.random.random()
        if depth > 3 or kind < 0.3:
            return self.random.choice(SCALARS if nulls else SCALARS[1:])
        if kind < 0.7:
            kept = [name for name in NAMES if self.random.random() < 0.7]
            return {name: self.data(depth + 1, nulls=nulls) for name in kept}
        return [self.data(depth + 1, nulls=nulls) for _ in range(self.random.randrange(4))]

    def expression(self, depth: int = 0) -> str:
        if depth > 4 or self.random.random() < 0.15:
            return self._leaf()
        makers = (self._field, self._literal, self._suffixed, self._logic, self._comparison, self._guarded)
        more = (self._filter, self._multi_select, self._pipe, self._call, self._call, self._keyed, self._not)
        return self.random.choice(makers + more)(depth + 1)

    def place(self, depth: int = 0) -> str:
        """An expression that names places."""
        if depth > 4 or self.random.random() < 0.2:
            return self.random.choice((*NAMES, "@"))
        below = self.place(depth + 1)
        return self.random.choice(
            (
                f"{below}.{self.random.choice(NAMES)}",
                f"{below}{self.random.choice(SUFFIXES[:-1])}",
                f"({below}){self.random.choice(SUFFIXES[:-1])}",
                f"{below}[?{self.expression(3)}]",
                f"{below} | {self.place(depth + 1)}" if depth == 0 else f"({below} | {self.place(depth + 1)})",
            )
        )

    def _leaf(self) -> str:
        return self.random.choice((*NAMES, *NAMES, "@", self._literal(0)))

    def _literal(self, depth: int) -> str:
        value = self.random.choice(LITERALS)
        return f"'{value}'" if isinstance(value, str) else f"`{json.dumps(value)}`"

    def _path(self) -> str:
        names = [self.random.choice(NAMES) for _ in range(self.random.randrange(1, 4))]
        return ".".join(names)

    def _field(self, depth: int) -> str:
        return self._path() if self.random.random() < 0.6 else f"({self.expression(depth)}).{self._path()}"

    def _suffixed(self, depth: int) -> str:
        return f"({self.expression(depth)}){self.random.choice(SUFFIXES)}"

    def _logic(self, depth: int) -> str:
        word = self.random.choice((" && ", " || "))
        return "(" + word.join(self.expression(depth) for _ in range(self.random.randrange(2, 5))) + ")"

    def _not(self, depth: int) -> str:
        return f"!({self.expression(depth)})"

    def _comparison(self, depth: int) -> str:
        right = self._literal(depth) if self.random.random() < 0.5 else self.expression(depth)
        sides = [self.expression(depth), right]
        self.random.shuffle(sides)
        return f"({sides[0]} {self.random.choice(OPERATORS)} {sides[1]})"

    def _guarded(self, depth: int) -> str:
        """A call behind the guards and defaults that authors write."""
        path, call = self._path(), self.random.choice(("length", "keys", "abs", "values", "reverse"))
        kind = self.random.choice(TYPES)
        return self.random.choice(
            (
                f"(type({path}) == '{kind}' && {call}({path}))",
                f"(type({path}) != '{kind}' || {call}({path}))",
                f"({path} && {call}({path}))",
                f"({path} == `null` || {call}({path}))",
                f"{call}({path} || {self._literal(depth)})",
                f"{call}(not_null({path}, {self._literal(depth)}))",
                f"(has({path}, 'a') && keys({path}))",
                f"(!blank({path}) && {call}({path}))",
            )
        )

    def _filter(self, depth: int) -> str:
        base = self.random.choice((*NAMES, "@", "a.b", "[*].c", "*", f"({self.expression(depth)})"))
        after = self.random.choice(("", ".a", ".b[0]", "[].c", ".length(@)", ".[a, b]", " | [0]" if depth == 1 else ""))
        return f"{base}[?{self.expression(depth)}]{after}"

    def _multi_select(self, depth: int) -> str:
        one, other = self.expression(depth), self.expression(depth)
        made = f"[{one}, {other}]" if self.random.random() < 0.5 else f"{{p: {one}, q: {other}}}"
        return made if self.random.random() < 0.5 else f"{self._path()}.{made}"

    def _pipe(self, depth: int) -> str:
        return f"({self.expression(depth)} | {self.expression(depth)})"

    def _call(self, depth: int) -> str:
        if self.random.random() < 0.6:
            return f"{self.random.choice(ONE_ARGUMENT)}({self.expression(depth)})"
        second = self._literal(depth) if self.random.random() < 0.7 else self.expression(depth)
        return f"{self.random.choice(TWO_ARGUMENTS)}({self.expression(depth)}, {second})"

    def _keyed(self, depth: int) -> str:
        if self.random.random() < 0.3:
            return f"map(&({self.expression(depth)}), {self.expression(depth)})"
        return f"{self.random.choice(('sort_by', 'max_by', 'min_by'))}({self.expression(depth)}, &({self.expression(depth)}))"
