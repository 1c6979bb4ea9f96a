"""Where a native message keeps its parts, and which canonical role it is read as."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from historycompat.edits import MISSING
from historycompat.formats.format import OPAQUE
from historycompat.formats.kinds import Field, Kinds, Part, Writer
from historycompat.formats.readers import Links, ReadMessage, message_reader, whole_reader

Message = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Slot:
    """One key of a native message that holds parts; the key is where its `kinds` stand.

    A list holds parts of `kinds`; a string stands for one part, which is `string` with that text (None: strings are
    opaque); any other value is an opaque part. `only_strings`: the slot never holds a list, several parts are joined by
    blank lines. `lone`: where its messages hold a text, the list of a single plain part of this text key (`lone_as` is
    what it has beside) stands for that text. `echoes`: a string that repeats the reasoning before it is a copy kept for
    other readers, and no part. `brief`: a single plain text is written as a string from scratch too. `empty` is what a
    slot without parts holds (MISSING: the key goes). A part from elsewhere goes to the first slot that takes it, never
    to one that is `closed`; what an open slot reads from a string, it takes again.
    """

    kinds: Kinds
    string: Mapping[str, Any] | None = None
    only_strings: bool = False
    lone: str | None = None
    lone_as: Mapping[str, Any] = field(default_factory=dict)
    echoes: bool = False
    brief: bool = False
    closed: bool = False
    empty: Any = MISSING

    @property
    def key(self) -> str:
        return self.kinds.at

    def read(self, value: Any, parts: list[Part], links: Links) -> None:
        """Append the parts that a value of this slot holds."""
        if isinstance(value, str) and self.string is not None:
            if self.echoes and value == spoken(parts):
                return
            part: Part = {**self.string, "text": value}
            if self.closed:
                links[id(part)] = (MISSING, self)
            parts.append(part)
        elif isinstance(value, list) and not self.only_strings:
            read = self.kinds.read
            parts += [read(native, links, self) for native in value]
        else:
            part = {"type": OPAQUE, "format": self.kinds.format, "at": self.key, "value": value}
            links[id(part)] = (value, self)
            parts.append(part)

    def is_lone(self, value: list[Any]) -> bool:
        """Whether a list stands for the text of its only part."""
        if self.lone is None or len(value) != 1 or not isinstance(value[0], dict):
            return False
        if value[0].keys() != {self.lone, *self.lone_as} or not isinstance(value[0][self.lone], str):
            return False
        return all(value[0][key] == fixed for key, fixed in self.lone_as.items())

    def of_content(self, content: Any) -> Any:
        """The value for a content that is no list."""
        return [{**self.lone_as, self.lone: content}] if self.lone is not None and isinstance(content, str) else content

    def takes(self, part: Part) -> bool:
        """Whether a part that stood nowhere before may be written here."""
        if part.get("type") == OPAQUE:
            return part.get("at") == self.key
        if self.closed:
            return False
        if self.only_strings and self.string is not None:
            return bool(part.get("type") == self.string["type"])
        return self.kinds.kind_for(part) is not None

    def keeps(self, part: Part, native: Any) -> bool:
        """Whether an edited part that was read here, as `native`, goes back here: a string can say its text alone."""
        if native is not MISSING or self.string is None:
            return True
        return {key: value for key, value in part.items() if key != "text"} == self.string

    def refuses(self, part: Part) -> str | None:
        """Why this slot cannot hold a canonical part, or None."""
        if not self.only_strings or part.get("type") == OPAQUE:
            return self.kinds.refuses(part)
        if self.string is not None and part.get("type") != self.string["type"]:
            return f"there is no such {part.get('type')} part"
        extra = next((key for key in part if key not in ("type", "text", "providerOptions")), None)
        return f"there is no place for the field {extra} of a {part.get('type')} part" if extra else None

    def write(self, parts: list[Part], old: Any, writer: Writer) -> Any:
        """The value that holds these parts; `old` is what the slot held (MISSING from scratch)."""
        if not parts:
            return [] if isinstance(old, list) and self.empty is not MISSING else self.empty
        if self.only_strings:
            if parts[0].get("type") == OPAQUE:
                return parts[0].get("value")
            return "\n\n".join(str(part.get("text", "")) for part in parts)
        natives = [self.kinds.write(part, writer, self) for part in parts]
        if len(natives) == 1 and self._is_bare(natives[0], writer.link(parts[0]), old):
            return natives[0]["text"]
        return natives

    def _is_bare(self, native: Any, link: tuple[Any, Any] | None, old: Any) -> bool:
        wanted = isinstance(old, str) or (self.brief and not isinstance(old, list))
        if not wanted or (link is not None and link[0] is not MISSING):
            return False
        return isinstance(native, dict) and native.keys() == {"type", "text"} and isinstance(native["text"], str)


@dataclass(frozen=True, eq=False)
class Role:
    """A native role: the canonical role it is read as (None: the same), the slots of its messages in canonical order,
    and the fields of the message itself. `text`: a content that is no list stays as it is. `whole`: the message itself
    is one part. `splits`: parts whose kind has a role of its own are read as canonical messages of that role, and new
    ones are written into one message with what stands behind them, if that `joins`."""

    native: str | None
    canonical: str | None
    slots: tuple[Slot, ...] = ()
    fields: tuple[Field, ...] = ()
    text: bool = False
    whole: Kinds | None = None
    splits: bool = False
    joins: bool = True

    @cached_property
    def elsewhere(self) -> dict[str, str]:
        """The canonical part types that stand in messages of another role, and that role."""
        kinds = self.slots[0].kinds.kinds if self.splits else ()
        return {kind.type: kind.role for kind in kinds if kind.role}

    def reader(self) -> ReadMessage:
        """The function that reads native messages of this role."""
        if self.whole is not None:
            return whole_reader(self.canonical, self.whole, self)
        fields = (each.step for each in self.fields)
        return message_reader(
            self.canonical, self.slots, fields, text=self.text, split=self._split, elsewhere=self.elsewhere
        )

    def _split(self, native: Message, parts: list[Part]) -> Message | list[Message]:
        """The messages of a native one, one for each run of parts of one role; the message where it is one."""
        runs: list[Message] = []
        for part in parts:
            own = self.elsewhere.get(part["type"], self.canonical)
            if not runs or runs[-1]["role"] != own:
                runs.append({"role": own, "content": []})
            runs[-1]["content"].append(part)
        for run in runs:
            for each in self.fields:
                if each.first_key in native:
                    each.read(native, run, Links())
        return runs if len(runs) > 1 else runs[0]


class Roles:
    """The roles of a format. Of several with one canonical role the first is written from scratch; `other` stands for
    every role that is not listed. `name_of` gives the role of native messages that do not say it themselves (OPAQUE:
    they only pass through)."""

    def __init__(self, roles: Iterable[Role], other: Role, name_of: Callable[[Message], Any] | None = None) -> None:
        self.other, self.name_of = other, name_of
        self._native: dict[Any, Role] = {}
        self._canonical: dict[Any, Role] = {}
        for role in roles:
            self._native[role.native] = role
            for name in (role.canonical, *role.elsewhere.values()):
                self._canonical.setdefault(name, role)
        everything = {*self._native.values(), other}
        self.known_keys = frozenset(
            ["role", *(slot.key for role in everything for slot in role.slots)]
            + [each.native.partition(".")[0] for role in everything for each in role.fields]
        )

    @cached_property
    def readers(self) -> dict[Any, ReadMessage]:
        """What reads each role's messages; generated for the formats that are used."""
        return {name: role.reader() for name, role in self._native.items()}

    @cached_property
    def _other_reader(self) -> ReadMessage:
        return self.other.reader()

    def of(self, native: Message) -> Role:
        """The role of a native message."""
        return self._find(self._native, native.get("role") if self.name_of is None else self.name_of(native))

    def reader_of(self, native: Any) -> ReadMessage | None:
        """What reads a native message; None for what is no object. Quicker where it finds something:
        `readers[native["role"]]`."""
        if not isinstance(native, dict) or (self.name_of is not None and self.name_of(native) == OPAQUE):
            return None
        role = self.of(native)
        return self._other_reader if role is self.other else self.readers[role.native]

    def towards(self, message: Message) -> Role:
        """The role that a canonical message is written as."""
        return self._find(self._canonical, message.get("role"))

    def _find(self, table: dict[Any, Role], name: Any) -> Role:
        try:
            return table.get(name, self.other)
        except TypeError:  # a role that is a list or an object
            return self.other


def spoken(parts: Iterable[Part]) -> str:
    """The text of the reasoning among some parts."""
    return "".join(str(part.get("text", "")) for part in parts if part.get("type") == "reasoning")
