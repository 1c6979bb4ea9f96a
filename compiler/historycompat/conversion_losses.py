"""Canonical messages before and after a conversion → what was lost, and what is said in another way."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from historycompat.edits import Lineage, Pointer, changes, same, value_at
from historycompat.formats.format import Format, Reading

_SHOWN = 60  # characters of a value in a sentence
_TOLD = ("role", "type", "content", "status")  # fields that canonical messages say, if in other words
_AHEAD = 50  # longer texts among which one is looked for


@dataclass(frozen=True, slots=True)
class Loss:
    """What became of something at `path` (of the request body; of the canonical prompt where several native objects
    were read as one): left out for good, or with `gone` False said in another way."""

    path: Pointer
    what: str
    gone: bool = True


@dataclass(frozen=True, slots=True)
class Unit:
    """One part with the message around it, which is number `at`; None for a message without parts."""

    message: Any
    part: Any
    at: int
    path: Pointer

    @property
    def role(self) -> Any:
        return self.message.get("role") if isinstance(self.message, dict) else None

    @property
    def kind(self) -> Any:
        return self.part.get("type") if isinstance(self.part, dict) else None

    @property
    def header(self) -> dict[str, Any]:
        """What the message says beside its role and content."""
        fields = self.message if isinstance(self.message, dict) else {}
        return {key: value for key, value in fields.items() if key not in ("role", "content")}

    @property
    def text(self) -> str | None:
        text = self.part.get("text") if self.kind in ("text", "reasoning") else None
        return text if isinstance(text, str) else None

    def mark(self) -> str:
        """What it is known by, wherever it stands."""
        part = self.part if isinstance(self.part, dict) else {}
        key = next((key for key in ("toolCallId", "text", "data") if key in part), None)
        return json.dumps([self.kind, part.get(key)] if key else [self.kind, self.role, part], default=repr)


class Places:
    """Canonical messages and parts → the paths of the native objects that they were read from."""

    def __init__(self, source: Format, reading: Reading, lineage: Lineage) -> None:
        self._reading, self._lineage = reading, lineage
        self._homes = reading.homes()
        self._order = {id(message): at for at, message in enumerate(reading.messages)}
        self._paths = dict(_walk(source.wrap(reading.native), ()))

    def of(self, message: Any, part: Any = None) -> Pointer:
        origin = self._lineage.origin(message)
        link = self._reading.links.get(id(self._lineage.origin(part)))
        home = self._homes.get(id(origin))
        for native in (*(link[:1] if link else ()), *(home[0] if home else ())):
            if (path := self._paths.get(id(native))) is not None:
                return path
        return ("messages", self._order[id(origin)]) if id(origin) in self._order else ()


def _walk(value: Any, path: Pointer) -> Iterator[tuple[int, Pointer]]:
    if isinstance(value, (dict, list)):
        yield id(value), path
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _walk(inner, (*path, key))


def name_of(value: Any) -> str:
    """What to call a native object, message or part."""
    if not isinstance(value, dict):
        return f"a value {_short(value)}"
    kind = value.get("type")
    if isinstance(kind, str):
        return f"{'an' if kind[:1] in tuple('aeiou') else 'a'} {kind} part"
    if isinstance(value.get("role"), str):
        return f"a message with the role {value['role']}"
    return f"an object with {', '.join(map(str, list(value)[:3])) or 'nothing in it'}"


def compared(before: list[Unit], after: list[Unit]) -> Iterator[Loss]:
    """What a history that was read back says less, or in another way, than the one that was written."""
    pairs = _paired(before, after)
    joined = _in_longer_texts(
        [at for at in range(len(before)) if at not in pairs], before, _left(after, pairs.values())
    )
    _pair(pairs, before, after, lambda unit: repr((unit.kind, unit.role)), without=joined)
    last = -1
    for at, unit in enumerate(before):
        other = pairs.get(at)
        if other is not None:
            if at == 0 or unit.at != before[at - 1].at:
                yield from _gone(unit.path, unit.header, after[other].header, name_of(unit.message))
            yield from _differences(unit, after[other])
            if other < last:
                yield Loss(unit.path, f"{name_of(unit.part)} stands further ahead", gone=False)
            last = max(last, other)
        elif at in joined:
            yield Loss(unit.path, f"{name_of(unit.part)} becomes one with its neighbours", gone=False)
        else:
            nothing = name_of(unit.message if unit.part is None else unit.part)
            yield Loss(unit.path, f"{nothing}: nothing was written for it")
    yield from _joined(before, after, pairs)


def _paired(before: list[Unit], after: list[Unit]) -> dict[int, int]:
    """The units that are the same thing, by position."""
    pairs: dict[int, int] = {}
    _pair(pairs, before, after, Unit.mark)
    return pairs


def _pair(
    pairs: dict[int, int],
    before: list[Unit],
    after: list[Unit],
    key: Callable[[Unit], str],
    without: Container[int] = (),
) -> None:
    """Add pairs of units that are still alone and have equal keys, in order."""
    taken = set(pairs.values())
    waiting: dict[str, list[int]] = {}
    for at in reversed(range(len(after))):
        if at not in taken:
            waiting.setdefault(key(after[at]), []).append(at)
    for at, unit in enumerate(before):
        if at not in pairs and at not in without and (found := waiting.get(key(unit))):
            pairs[at] = found.pop()


def _left(after: list[Unit], taken: Iterable[int]) -> list[str]:
    seen = set(taken)
    return [unit.text for at, unit in enumerate(after) if at not in seen and unit.text is not None]


def _in_longer_texts(lonely: list[int], before: list[Unit], longer: list[str]) -> set[int]:
    """The units whose texts were joined with others to a longer one; both come in order."""
    joined: set[int] = set()
    at = 0
    for number in lonely:
        text = before[number].text
        if not text:
            continue
        found = next((place for place in range(at, min(at + _AHEAD, len(longer))) if text in longer[place]), None)
        if found is not None:
            joined.add(number)
            at = found
    return joined


def _differences(unit: Unit, other: Unit) -> Iterator[Loss]:
    if unit.role != other.role:
        yield Loss(unit.path, f"{name_of(unit.part)} moves to a message with the role {other.role}", gone=False)
    for edit in changes((), unit.part, other.part):
        told = edit.path == ("output", "value") and _said_as_text(unit, other)
        if edit.op == "replace" and not told:
            old = _short(value_at(unit.part, edit.path))
            what = f"{'.'.join(map(str, edit.path))} of {name_of(unit.part)}"
            yield Loss(unit.path, f"{what}: {old} becomes {_short(edit.after)}", gone=False)
    yield from _gone(unit.path, unit.part, other.part, name_of(unit.part))


def _gone(path: Pointer, old: Any, new: Any, of: str) -> Iterator[Loss]:
    """The fields that an object has no more."""
    for edit in changes((), old, new):
        value = value_at(old, edit.path)
        if edit.op == "remove" and value not in (None, False, [], {}):
            yield Loss(path, f"{', '.join(_leaves(edit.path, value))} of {of}")


def _leaves(path: Pointer, value: Any) -> Iterator[str]:
    """The dotted names of an object's fields, down to the last; of any other value its own."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from _leaves((*path, key), inner)
    else:
        yield ".".join(map(str, path))


def _said_as_text(unit: Unit, other: Unit) -> bool:
    """Whether an output is the JSON text of what it was, which the change of its type tells."""
    try:
        return same(json.loads(value_at(other.part, ("output", "value"))), value_at(unit.part, ("output", "value")))
    except (TypeError, ValueError):
        return False


def _joined(before: list[Unit], after: list[Unit], pairs: dict[int, int]) -> Iterator[Loss]:
    for at in range(1, len(before)):
        one, two = before[at - 1], before[at]
        if one.at == two.at or at not in pairs or at - 1 not in pairs or one.role != two.role or two.role == "tool":
            continue
        if after[pairs[at - 1]].at == after[pairs[at]].at:
            yield Loss(two.path, f"{name_of(two.message)} becomes one with the message before it", gone=False)


def beside(source: Format, reading: Reading) -> Iterator[Loss]:
    """The fields of native messages that no canonical message speaks of: what a copy from scratch is without."""
    empty = source.read(source.wrap([]))
    copy = source.read(source.write(empty, reading.messages, empty.tools, empty.params, Lineage()))
    if len(copy.items) != len(reading.items):
        return
    absent: Counter[str] = Counter()
    read = {id(item): messages for (item, *_), messages in reading.homes().values()}
    for native, made in zip(reading.items, copy.items, strict=True):
        if isinstance(native, dict) and isinstance(made, dict):
            said = set(_scalars(read.get(id(native), ())))
            absent.update(
                key for key in native if _is_new(key, native, made) and not said.issuperset(_scalars(native[key]))
            )
    for key, times in absent.items():
        yield Loss(source.spine, f"the field {key} of {times:,} message{'s' * (times != 1)}: other formats have none")


def _is_new(key: str, native: dict[str, Any], made: dict[str, Any]) -> bool:
    """Whether a copy is without a field, or has made another value for it, such as an id or a date."""
    value = native[key]
    if key not in made:
        return value not in (None, [], {}) and not key.startswith("$")  # a sign that a lens made for itself
    return isinstance(value, str) and isinstance(made[key], str) and value != made[key] and key not in _TOLD


def _scalars(value: Any) -> Iterator[Any]:
    """Every value in it that holds no others."""
    if isinstance(value, (dict, list, tuple)):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _scalars(inner)
    else:
        yield value


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=repr)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
