"""Canonical messages → native items: what was not edited as the object it was, edits put into copies, the rest new."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

from historycompat.edits import MISSING, Lineage, same
from historycompat.errors import NotCarried
from historycompat.formats.format import OPAQUE, Home, Reading
from historycompat.formats.kinds import same_at
from historycompat.formats.roles import Message, Role, Roles, Slot, spoken

Assigned = dict[Slot, Any]  # the parts of each slot; for a content that is no list, that content


class MessageWriter:
    """One writing of edited messages into the history they were read from."""

    def __init__(self, roles: Roles, reading: Reading, lineage: Lineage, messages: list[Any]) -> None:
        self.roles, self.reading, self.lineage, self.messages = roles, reading, lineage, messages

    def link(self, part: Any) -> tuple[Any, Any] | None:
        """The native part of a canonical part, edited or not, and its slot; None for one that was not read."""
        return self.reading.links.get(id(self.lineage.origin(part)))

    def home(self, message: Any) -> Home | None:
        """The native items that a canonical message, edited or not, was read from."""
        return self._homes.get(id(self.lineage.origin(message)))

    def items(self) -> list[Any]:
        """The native items of all messages."""
        out: list[Any] = []
        for group, home in self._groups():
            if home and (group is home[1] or _unchanged(group, list(home[1]))):
                out += home[0]
            else:
                out += self._written(group, home)
        return out

    def _groups(self) -> Iterator[tuple[Sequence[Any], Home | None]]:
        """The messages of each native item: neighbours of one home in their old order, or new ones that join."""
        group: list[Any] = []
        home: Home | None = None
        last = -1
        for message in self.messages:
            own = self._homes.get(id(message))
            if own is not None and len(own[1]) == 1:  # as it was read, and all there is of its item
                if group:
                    yield group, home
                    group = []
                yield own[1], own
                continue
            own = self.home(message)
            at = _index(own[1], self.lineage.origin(message)) if own else -1
            behind = own is home and (own is None or at > last)
            if group and not (behind and self._joins(group, message, own)):
                yield group, home
                group = []
            group.append(message)
            home, last = own, at
        if group:
            yield group, home

    def _joins(self, group: list[Any], message: Any, home: Home | None) -> bool:
        """Whether a message may follow others into one native message, so that it is read as the same messages again:
        neighbours of one role cannot, and of new ones only results with the rest behind them do."""
        if home is not None:
            return bool(group[-1].get("role") != message.get("role"))
        if len(group) != 1 or not (_parts(group[0]) and _parts(message)):
            return False
        role = self.roles.towards(message)
        alike = role.splits and role.joins and role is self.roles.towards(group[0])
        return alike and message.get("role") == role.canonical != group[0].get("role")

    def _written(self, group: Sequence[Any], home: Home | None) -> list[Any]:
        message = group[-1]
        if not isinstance(message, dict):
            return list(group)
        if message.get("role") == OPAQUE:
            return [part.get("value") for part in message.get("content") or ()]
        role = self.roles.towards(message)
        if role.whole is not None:
            return self._wholes(role, message)
        native = home[0][0] if home else None
        if home is None or not isinstance(native, dict) or self.roles.of(native).whole is not None:
            return [self._message(role, group, None, None, {})]
        before = self.roles.of(native)
        return [self._message(role, group, native, before, self._assigned(before, home[1]))]

    def _wholes(self, role: Role, message: Message) -> list[Any]:
        content = message.get("content")
        if role.whole is None or not isinstance(content, list):
            return [{"role": role.native, "content": content}]
        for position, part in enumerate(content):
            self._check(role.whole.refuses(part), message, position)
        return [role.whole.write(part, self, role) for part in content]

    def _message(
        self, role: Role, group: Sequence[Message], native: Message | None, before: Role | None, was: Assigned
    ) -> Message:
        message = group[-1]
        out = {} if native is None else dict(native)
        if native is not None and before and self._same_role(message, role, native, before):
            role = before
        elif role.canonical is not None:
            out["role"] = role.native
        elif "role" in message:
            out["role"] = message["role"]
        now = self._assigned(role, group)
        for slot in dict.fromkeys((*(before.slots if before else ()), *role.slots)):
            self._put_slot(slot, now, was, native, out)
        for at, slot in enumerate(role.slots):
            if native is not None and slot.echoes:
                _put_echo(slot, _said(role.slots[:at], was), _said(role.slots[:at], now), native, out)
        self._put_fields(role, group[0], native, out)
        self._unite(group, was, out)
        return native if native is not None and shallow_same(out, native) else out

    def _same_role(self, message: Message, role: Role, native: Message, before: Role) -> bool:
        if before.canonical is None:  # a role that the format does not know, kept as long as nobody renames it
            return bool(message.get("role", MISSING) == native.get("role", MISSING))
        return before.canonical == role.canonical

    def _assigned(self, role: Role, messages: Iterable[Message]) -> Assigned:
        """Each part of some messages in the slot where it stood, or else in the first slot that takes it."""
        assigned: Assigned = {}
        messages = list(messages)
        for message in messages:
            content = message.get("content", MISSING)
            if len(messages) == 1 and not isinstance(content, list):
                return {role.slots[0]: content}
            if isinstance(content, str):
                content = [{"type": "text", "text": content}]
            for position, part in enumerate(content if isinstance(content, list) else ()):
                assigned.setdefault(self._slot(role, message, part, position), []).append(part)
        return assigned

    def _slot(self, role: Role, message: Message, part: Any, position: int) -> Slot:
        if not isinstance(part, dict):
            return role.slots[0]
        was = self.lineage.origin(part)
        link = self.reading.links.get(id(was))
        slot: Slot | None = link[1] if link else None
        if link and slot in role.slots and was.get("type") == part.get("type") and slot.keeps(part, link[0]):
            return slot
        taking = next((slot for slot in role.slots if slot.takes(part)), None)
        if taking is None:
            self._check(f"a {message.get('role')} message has no {part.get('type')} part", message, position)
        return taking or role.slots[0]

    def _put_slot(self, slot: Slot, now: Assigned, was: Assigned, native: Message | None, out: Message) -> None:
        new, old = now.get(slot, []), was.get(slot, [])
        if native is not None and _unchanged(new, old):
            return
        held = (native or {}).get(slot.key, MISSING)
        value = slot.write(new, held, self) if isinstance(new, list) else slot.of_content(new)
        if value is MISSING:
            out.pop(slot.key, None)
        else:
            out[slot.key] = value

    def _put_fields(self, role: Role, message: Message, native: Message | None, out: Message) -> None:
        was = self.lineage.origin(message) if native is not None else {}
        for each in role.fields:
            if not same_at(was, message, each.canonical):
                changed = each.write(message, out, self)
                out.clear()
                out.update(changed)

    def _unite(self, group: Sequence[Message], was: Assigned, out: Message) -> None:
        """Take over what canonical messages do not show from native messages that went into this one entirely."""
        own = {id(part) for parts in was.values() if isinstance(parts, list) for part in parts}
        came = (id(self.lineage.origin(part)) for message in group for part in _parts(message))
        for key in (key for key in came if key not in own):
            home = self._owners.get(key)
            if home is None or id(home) in self._present or self.roles.of(home[0][0]).whole is not None:
                continue
            for name, value in home[0][0].items():
                if value is not None and name not in self.roles.known_keys:
                    out.setdefault(name, value)

    @cached_property
    def _homes(self) -> dict[int, Home]:
        return self.reading.homes()

    @cached_property
    def _owners(self) -> dict[int, Home]:
        return {
            id(part): self._homes[id(message)]
            for message in self.reading.messages
            if message.get("role") != OPAQUE
            for part in _parts(message)
        }

    @cached_property
    def _present(self) -> set[int]:
        return {id(self.home(message)) for message in self.messages}

    def _check(self, reason: str | None, message: Message, position: int) -> None:
        if reason:
            index = _index(self.messages, message)
            raise NotCarried(f"the format cannot carry this: {reason}", f"/messages/{index}/content/{position}")


def _put_echo(slot: Slot, said: str, says: str, native: Message, out: Message) -> None:
    """Keep a copy of the reasoning before it, which was `said`, equal to what that now `says`."""
    copied = native.get(slot.key)
    if said and copied == said and out.get(slot.key) is copied and says != said:
        if says:
            out[slot.key] = says
        else:
            del out[slot.key]


def _said(slots: Iterable[Slot], assigned: Assigned) -> str:
    """The reasoning text of some slots."""
    return spoken(part for slot in slots for part in assigned.get(slot, ()) if isinstance(part, dict))


def _unchanged(new: Any, old: Any) -> bool:
    if isinstance(new, list) and isinstance(old, list):
        return len(new) == len(old) and all(a is b for a, b in zip(new, old, strict=True))
    return same(new, old) if not isinstance(new, list) and not isinstance(old, list) else False


def _parts(message: Any) -> list[Any]:
    content = message.get("content") if isinstance(message, dict) else None
    return content if isinstance(content, list) else []


def _index(items: Iterable[Any], wanted: Any) -> int:
    return next((index for index, item in enumerate(items) if item is wanted), -1)


def shallow_same(a: dict[str, Any], b: dict[str, Any]) -> bool:
    """Whether two objects have the same keys with the very same values."""
    return a.keys() == b.keys() and all(value is b[key] for key, value in a.items())


def old_if_same(new: list[Any], old: list[Any]) -> list[Any]:
    """The old list where the new one holds the very same items."""
    return old if _unchanged(new, old) else new
