"""The row type of the verb table: what a verb means, needs, keeps and shows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from historycompat import ir, tree
from historycompat.edits import Edit, Finding
from historycompat.errors import Complaint
from historycompat.view import Hit, View

# What a verb's `build` returns: given a snapshot and the selected places, the edits to make.
Editor = Callable[[View, list[Hit]], Iterable[Edit | Finding]]

SAFETIES = ("safe", "lossy", "unsafe")


@dataclass(frozen=True, slots=True)
class Example:
    """A statement, a history before and the same after it, as `examples` of a page and as a test."""

    statement: str
    before: tuple[dict[str, object], ...]
    after: tuple[dict[str, object], ...]


@dataclass(frozen=True, slots=True)
class Effects:
    """What a statement touches, for order and conflict checks: dotted places such as `part.text`, `message`, `ids`."""

    reads: frozenset[str] = frozenset()
    writes: frozenset[str] = frozenset()
    removes: frozenset[str] = frozenset()
    creates: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Verb:
    """One verb.

    `build` takes the lowered arguments by name and returns the editor: a key path arrives as `tuple[str, ...]`, an
    expression as `Compute` (`(value, hit) -> value`), a regex as `Regex`, a second target as `Select`, words and
    quoted texts as `str`, numbers as `int`. `targets` are the target kinds it applies to. `least_safety` is the best
    safety that a rule with this statement can have. `check` yields complaints about one written statement beyond what
    `targets` already says. `keeps_prefix` says whether the repaired prefix of a history is the repair of the prefix.
    """

    name: str
    does: str
    build: Callable[..., Editor]
    targets: frozenset[str]
    least_safety: Callable[[ir.Statement], str]
    effects: Callable[[ir.Statement], Effects] = lambda statement: Effects()
    keeps_prefix: bool = True
    doc: str = ""
    examples: tuple[Example, ...] = ()
    check: Callable[[tree.Statement], Iterator[Complaint]] = field(default=lambda statement: iter(()))
