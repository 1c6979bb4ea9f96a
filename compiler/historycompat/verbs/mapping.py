"""The engine of `map ids` and `map names`: old texts, in order → new ones, never the same twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from string import ascii_lowercase, ascii_uppercase, digits
from typing import Any

from historycompat import ir, tree
from historycompat.edits import Edit, Pointer, changes, value_at, with_path
from historycompat.errors import Complaint, RuleFault
from historycompat.regex import Regex
from historycompat.verbs.judgement import reads
from historycompat.verbs.verb import Effects
from historycompat.view import View

ALPHABET = digits + ascii_uppercase + ascii_lowercase
TRIES = 64
SALT_LENGTH = 8
# 62 ** 42 < 2 ** 256: more digits than these say nothing.
LONGEST_HASH = 42


@dataclass(frozen=True, slots=True)
class Mapper:
    """One function of a map, ready to run: `kind` is `replacing` (`regex` with `text`), `hash` or `shorten` (to
    `count` characters) or `prefix` (with `text`)."""

    kind: str
    regex: Regex | None = None
    text: str = ""
    count: int = 0

    def __call__(self, value: str, salted: bool = False) -> str:
        if self.kind == "replacing":
            assert self.regex is not None
            return self.regex.sub(self.text, value)
        if self.kind == "hash":
            return base62(value, self.count)
        if self.kind == "prefix":
            return self.text + value
        # The salt stands at the end, so that is what a salted text keeps.
        tail = min(SALT_LENGTH, self.count) if salted and len(value) > self.count else 0
        return value[: self.count - tail] + value[len(value) - tail :]


def base62(text: str, length: int) -> str:
    """The last digits of a text's SHA-256 (of its UTF-8) in base 62."""
    number = int.from_bytes(sha256(text.encode("utf-8", "surrogatepass")).digest(), "big")
    out = []
    for _ in range(length):
        number, digit = divmod(number, len(ALPHABET))
        out.append(ALPHABET[digit])
    return "".join(reversed(out))


@dataclass(slots=True)
class Renaming:
    """Gives each text a new one: deterministic, never the same twice, and without a look at what comes later."""

    unless: Regex
    mappers: tuple[Mapper, ...]
    taken: set[str] = field(default_factory=set)
    seen: Counter[str] = field(default_factory=Counter)

    def of(self, old: str) -> str:
        """The new text for the next old one. Raises RuleFault where no try gives one."""
        self.seen[old] += 1
        for candidate in self._candidates(old):
            if candidate and candidate not in self.taken and self.unless.search(candidate):
                self.taken.add(candidate)
                return candidate
        raise RuleFault(f"{TRIES} tries gave no new form of {old!r} that is free and matches the pattern")

    def _candidates(self, old: str) -> Iterator[str]:
        yield old
        yield self._mapped(old)
        for number in range(TRIES):
            salt = base62(f"{self.seen[old]}:{number}:{old}", SALT_LENGTH)
            # Behind the old text, or over its end, for patterns that allow no more characters.
            kept, salt = (len(old), salt) if number % 2 == 0 else (max(len(old) - len(salt), 0), salt[: len(old)])
            yield self._mapped(old[:kept] + salt, salted=True)

    def _mapped(self, text: str, salted: bool = False) -> str:
        for mapper in self.mappers:
            text = mapper(text, salted)
        return text


def text_of(id_: Any) -> str:
    """An id as text; empty for what is no id."""
    if isinstance(id_, str):
        return id_
    return str(id_) if isinstance(id_, (int, float)) and not isinstance(id_, bool) else ""


def put(path: Pointer, holder: dict[str, Any], keys: tuple[str, ...], new: str) -> Iterator[Edit]:
    """The edit, if any is needed, that gives a key of the object at `path` its new text."""
    return changes(path, holder, with_path(holder, keys, new))


@dataclass(frozen=True, slots=True)
class Follower:
    """A part that is no call or result and carries the id of one: an approval, say. The id stands under `keys`."""

    path: Pointer
    index: int
    position: int
    part: dict[str, Any]
    keys: tuple[str, ...]
    id: str


def followers(view: View) -> Iterator[Follower]:
    """Every part that refers to a call or result by its id, in order."""
    halves = [half for it in view.pairing.occurrences for half in (it.call, it.result) if half is not None]
    ids, paths = {text_of(half.id) for half in halves} - {""}, {half.path for half in halves}
    id_keys = dict.fromkeys(site.id for site in (*view.shape.calls, *view.shape.results))
    for index in range(len(view.messages)):
        for position, part in enumerate(view.parts(index)):
            path = view.path(index, view.shape.parts, position)
            for keys in id_keys if path not in paths and isinstance(part, dict) else ():
                if (id_ := text_of(value_at(part, keys))) in ids:
                    yield Follower(path, index, position, part, keys, id_)


def effects(statement: ir.Statement) -> Effects:
    return Effects(reads=reads(statement), writes=frozenset({statement.verb.removeprefix("map_")}))


def check(statement: tree.Statement) -> Iterator[Complaint]:
    """Complain about hashes that are longer than a digest."""
    for mapper in statement.args.get("mappers", ()):
        if mapper.kind == "hash" and mapper.count > LONGEST_HASH:
            message = f"a SHA-256 has no {mapper.count} characters in base 62"
            yield Complaint("E305", message, mapper.span, f"write `hash {LONGEST_HASH}`, or add a `prefix`")
