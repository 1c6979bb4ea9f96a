"""Random JMESPath text: everything that the grammar of the specification allows, meant or not."""

from __future__ import annotations

from random import Random

_NAMES = ("a", "b", "foo", "_x1", "type", "content", '"a b"', r'"\u00e9"', "to", "where", "on", "not")
_LITERALS = ("'x'", r"'it\'s'", r"'\\'", "`1`", "`null`", r'`{"a": [1, "\`"]}`', "`[]`", "'\u00e9 #'")
_COMPARATORS = ("==", "!=", "<", "<=", ">", ">=")
_INDEXES = ("[0]", "[-1]", "[07]")
_SLICE_PARTS = ("", "0", "1", "-1", "12")


class Syntax:
    """Draws expressions from a seed: pipes, alternatives, comparisons, `!` and chains of steps."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)

    def expression(self, depth: int = 4) -> str:
        roll = self._random.random()
        if depth <= 0:
            return self._operand(0)
        if roll < 0.05:
            return f"{self.expression(depth - 1)} | {self.expression(depth - 1)}"
        if roll < 0.15:
            return f"{self.expression(depth - 1)}{self._random.choice((' || ', '&&'))}{self.expression(depth - 1)}"
        if roll < 0.25:
            return f"{self._chain(depth - 1)} {self._random.choice(_COMPARATORS)} {self._chain(depth - 1)}"
        return self._chain(depth)

    def _chain(self, depth: int) -> str:
        head = self._opening(depth) if self._random.random() < 0.2 else self._operand(depth)
        steps = (self._step(depth - 1) for _ in range(self._random.choice((0, 0, 1, 1, 2, 3, 4))))
        return self._random.choice(("", "", "", "!", "!!", "! ")) + head + "".join(steps)

    def _operand(self, depth: int) -> str:
        if depth > 0 and self._random.random() < 0.33:
            return self._random.choice((self._group, self._selection, self._call))(depth)
        return self._random.choice((*_NAMES, *_LITERALS, "@"))

    def _group(self, depth: int) -> str:
        return f"({self.expression(depth - 1)})"

    def _selection(self, depth: int) -> str:
        items = [self.expression(depth - 2) for _ in range(self._random.randint(1, 3))]
        if self._random.random() < 0.5:
            return "[" + ", ".join(items) + "]"
        return "{" + ", ".join(f"{self._random.choice(_NAMES)}: {item}" for item in items) + "}"

    def _call(self, depth: int) -> str:
        references = (self._random.choice(("", "", "&")) for _ in range(self._random.randint(0, 3)))
        arguments = ", ".join(reference + self.expression(depth - 2) for reference in references)
        return f"{self._random.choice(('length', 'sort_by', 'foo'))}({arguments})"

    def _bracket(self, depth: int) -> str:
        parts = self._random.choices(_SLICE_PARTS, k=self._random.randint(2, 3))
        brackets = (self._random.choice(_INDEXES), f"[{':'.join(parts)}]", "[*]", "[ * ]", "[]")
        return self._random.choice((*brackets, f"[?{self.expression(depth - 1)}]" if depth > 0 else "[?a]"))

    def _opening(self, depth: int) -> str:
        return self._random.choice(("*", self._bracket(depth)))

    def _step(self, depth: int) -> str:
        if self._random.random() < 0.4:
            return self._bracket(depth)
        names = self._random.choice(_NAMES), self._random.choice(_NAMES), "*"
        held = self._random.choice((*names, self._selection(depth), self._call(depth)))
        return self._random.choice((".", ".", " . ")) + held
