"""Native part ⇄ canonical part, by tables of the fields that both sides have."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

from historycompat.edits import MISSING, Lineage, same, value_at, with_path, without_path
from historycompat.formats.format import OPAQUE, Reading
from historycompat.formats.readers import Links, ReadPart, Rest, Step, Value, Values, part_reader

Part = dict[str, Any]


@dataclass(frozen=True)
class Field:
    """One value under one name on either side; names are dotted paths of keys. What is missing, or what `decode` or
    `encode` make MISSING, is missing on both.

    `optional` says that it mostly is missing: a hint, for speed.
    """

    native: str
    canonical: str
    decode: Callable[[Any], Any] | None = None
    encode: Callable[[Any], Any] | None = None
    optional: bool = False

    @property
    def is_plain(self) -> bool:
        """Whether reading merely copies the value to another key."""
        return self.decode is None and "." not in self.native + self.canonical

    @property
    def first_key(self) -> str:
        return self.native.partition(".")[0]

    @property
    def step(self) -> Step:
        return Value(tuple(self.native.split(".")), tuple(self.canonical.split(".")), self.decode)

    def paths(self) -> tuple[str, ...]:
        return (self.canonical,)

    def read(self, native: Part, part: Part, links: Links) -> None:
        value = value_at(native, tuple(self.native.split(".")), MISSING) if "." in self.native else native[self.native]
        if value is not MISSING and self.decode is not None:
            value = self.decode(value)
        if value is not MISSING:
            put(part, self.canonical, value)

    def write(self, part: Part, native: Part, writer: Writer) -> Part:
        value = value_at(part, tuple(self.canonical.split(".")), MISSING)
        if value is not MISSING and self.encode is not None:
            value = self.encode(value)
        place = self.native.split(".")
        return without_path(native, place, prune=True) if value is MISSING else with_path(native, place, value)

    def refuses(self, part: Part) -> str | None:
        return None


@dataclass(frozen=True)
class Joint:
    """Values that mean the same only together: native keys on one side, canonical keys (dotted) on the other.

    `decode(native, links)` gives the canonical values by key, where the first native key is there;
    `encode(part, native, writer)` gives the native ones, for the native object so far. What either leaves out is
    missing. `check(part)` says why a part cannot be encoded. `texts` says that a string is decoded as an output of type
    `text`: a hint, for speed.
    """

    native: tuple[str, ...]
    canonical: tuple[str, ...]
    decode: Callable[[Part, Links], Mapping[str, Any]]
    encode: Callable[[Part, Part, Writer], Mapping[str, Any]]
    check: Callable[[Part], str | None] = lambda part: None
    texts: bool = False

    @property
    def first_key(self) -> str:
        return self.native[0]

    @property
    def step(self) -> Step:
        roots = tuple(path.partition(".")[0] for path in self.canonical)
        if roots != self.canonical:
            return Rest(self.first_key, roots, self.read)
        return Values(self.first_key, roots, self.decode, self.texts)

    def paths(self) -> tuple[str, ...]:
        return self.canonical

    def read(self, native: Part, part: Part, links: Links) -> None:
        for key, value in self.decode(native, links).items():
            put(part, key, value)

    def write(self, part: Part, native: Part, writer: Writer) -> Part:
        values = self.encode(part, native, writer)
        return {key: value for key, value in native.items() if key in values or key not in self.native} | dict(values)

    def refuses(self, part: Part) -> str | None:
        return self.check(part)


class Writer(Protocol):
    """What the writing of a part knows: the reading it goes back to and where edited copies came from."""

    reading: Reading
    lineage: Lineage

    def link(self, part: Any) -> tuple[Any, Any] | None:
        """The native part of a canonical part, edited or not, and where it stood; None for one that was not read."""


def put(part: Part, path: str, value: Any) -> None:
    """Set a dotted path in a part that is just being made."""
    if "." in path:
        *parents, path = path.split(".")
        for key in parents:
            part = part.setdefault(key, {})
    part[path] = value


@dataclass(frozen=True)
class Kind:
    """One kind of native part and the canonical type it is read as.

    `mark` is the value that tells it from its neighbours (see `Kinds`). `native` and `canonical` are what every such
    part has on either side. A part is written as the kind it was read from while its `when` holds, else as the first
    kind of its canonical type whose `when` holds. `role` is the role of the canonical message that it belongs to, where
    that is not its message's own. `derived` are canonical keys that follow from elsewhere: they need no native place.
    """

    mark: Hashable
    type: str
    fields: tuple[Field | Joint, ...] = ()
    native: Mapping[str, Any] = field(default_factory=dict)
    canonical: Mapping[str, Any] = field(default_factory=dict)
    when: Callable[[Part], bool] = lambda part: True
    role: str | None = None
    derived: tuple[str, ...] = ()

    def reader(self) -> ReadPart:
        """The function that reads native parts of this kind."""
        plain = [each for each in self.fields if isinstance(each, Field) and each.is_plain and not each.optional]
        copied = [(each.native, each.canonical) for each in plain]
        return part_reader(self.template, copied, (each.step for each in self.fields if each not in plain), self.shared)

    @property
    def template(self) -> Part:
        return {"type": self.type, **self.canonical}

    @property
    def shared(self) -> frozenset[str] | None:
        """The keys of a part that both sides write alike; None where they differ."""
        only = self.fields[0] if len(self.fields) else None
        if not isinstance(only, Field) or not only.is_plain or only.native != only.canonical:
            return None
        return frozenset({"type", only.native}) if self.native == self.template else None


class Kinds:
    """The kinds of part that may stand in one native place: `at` is its message key, `format` its format's name.

    The kind of a native part is the one whose mark is its `type` or, where there is none, what `mark(native)` says
    (`typeless`: that alone); whatever has no kind, is malformed or no object becomes an opaque part. A part that both
    sides write alike is not converted: the canonical part is the native object. `namespaces` are the provider options
    that belong to this format alone.
    """

    def __init__(
        self,
        format: str,  # noqa: A002
        at: str,
        kinds: Iterable[Kind],
        *,
        mark: Callable[[Part], Hashable] | None = None,
        typeless: bool = False,
        namespaces: tuple[str, ...] = (),
    ) -> None:
        self.format, self.at, self.mark, self.namespaces = format, at, mark, namespaces
        self.typeless, self.kinds = typeless, tuple(kinds)
        self._by_mark = {kind.mark: kind for kind in self.kinds}

    @cached_property
    def readers(self) -> dict[Hashable, ReadPart]:
        return {kind.mark: kind.reader() for kind in self.kinds}

    def kind_of(self, native: Any) -> Kind | None:
        """The kind of a native part; None for one that only passes through."""
        if not isinstance(native, dict):
            return None
        try:
            found = None if self.typeless else self._by_mark.get(native.get("type"))
            return self._by_mark.get(self.mark(native)) if found is None and self.mark else found
        except TypeError:  # a mark of a type that nothing can be looked up by
            return None

    def kind_for(self, part: Part) -> Kind | None:
        """The kind that a canonical part is written as."""
        return next((kind for kind in self.kinds if kind.type == part.get("type") and kind.when(part)), None)

    def reader_of(self, native: Any) -> ReadPart:
        """What reads a native part. Quicker where it finds something: `readers[native["type"]]`."""
        kind = self.kind_of(native)
        return self.readers[kind.mark] if kind else self._opaque

    def read(self, native: Any, links: Links, place: Any) -> Part:
        """A native part as canonical part, linked back to the native one and the place it stood in."""
        return self.reader_of(native)(native, links, place)

    def _opaque(self, native: Any, links: Links, place: Any) -> Part:
        part = {"type": OPAQUE, "format": self.format, "at": self.at, "value": native}
        links[id(part)] = (native, place)
        return part

    def write(self, part: Any, writer: Writer, place: Any) -> Any:
        """The native part of a canonical one: the very one it was read from, that one with the edits, or a new one."""
        if not isinstance(part, dict):
            return part
        if part.get("type") == OPAQUE:
            return part.get("value")
        links = writer.reading.links
        link = links.get(id(part))
        if link is not None and link[1] is place and link[0] is not MISSING:
            return link[0]
        was = writer.lineage.origin(part)
        native = links.get(id(was), (None, None))[0]
        own = self.kind_of(native)
        if own is not None and own.type != part.get("type"):
            own = None
        kind = own if own and own.when(part) else self.kind_for(part) or own
        if kind is None:
            return part
        return self._patched(kind, native, was, part, writer) if kind is own else self._built(kind, part, writer)

    @staticmethod
    def _patched(kind: Kind, native: Part, was: Part, part: Part, writer: Writer) -> Part:
        for each in kind.fields:
            if not all(same_at(was, part, key) for key in each.paths()):
                native = each.write(part, native, writer)
        return native

    def _built(self, kind: Kind, part: Part, writer: Writer) -> Part:
        if part.keys() == kind.shared:
            return part
        native = dict(kind.native)
        for each in kind.fields:
            native = each.write(part, native, writer)
        return native

    def refuses(self, part: Part) -> str | None:
        """Why this place cannot hold a canonical part, or None."""
        if part.get("type") == OPAQUE:
            known = part.get("format") == self.format
            return None if known else f"it is an opaque part of another format ({part.get('format')})"
        kind = self.kind_for(part)
        if kind is None:
            return f"there is no such {part.get('type')} part"
        for key, value in kind.canonical.items():
            if part.get(key) != value:
                return f"the {key} of such a {kind.type} part is always {value!r}"
        for each in kind.fields:
            if reason := each.refuses(part):
                return reason
        return self._homeless(kind, part)

    def _homeless(self, kind: Kind, part: Part) -> str | None:
        known = {"type", "providerOptions", *kind.canonical, *kind.derived}
        paths = {key for each in kind.fields for key in each.paths()}
        known |= {path.partition(".")[0] for path in paths}
        for key in part:
            if key not in known:
                return f"there is no place for the field {key} of a {kind.type} part"
        return unknown_option(part, paths, self.namespaces)


def same_at(a: Part, b: Part, path: str) -> bool:
    """Whether two objects have equal values, or none, under a dotted path."""
    keys = tuple(path.split("."))
    return same(value_at(a, keys, MISSING), value_at(b, keys, MISSING))


def unknown_option(value: Part, paths: Iterable[str], namespaces: Iterable[str]) -> str | None:
    """Why the options of a part or message cannot be said: a key in a namespace of ours that has no native place."""
    for name in namespaces:
        options = value_at(value, ("providerOptions", name))
        for key in options if isinstance(options, dict) else ():
            path = f"providerOptions.{name}.{key}"
            if not any(known == path or known.startswith(path + ".") for known in paths):
                return f"there is no place for the option {path}"
    return None
