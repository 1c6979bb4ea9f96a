"""Tables of fields and slots → the functions that read by them.

They are generated: straight-line code reads a history several times as fast as loops over tables, and every repair
begins with a reading. Names that come from tables enter the code through `repr` or as constants.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

Links = dict[int, tuple[Any, Any]]
ReadPart = Callable[[Any, Links, Any], dict[str, Any]]
ReadMessage = Callable[[Any, Links], Any]
Rest = tuple[str, Callable[..., Any]]  # a native key, and what reads on where it is there


def part_reader(
    template: Mapping[str, Any],
    plain: Iterable[tuple[str, str]],
    nested: Iterable[tuple[str, ...]],
    joint: Iterable[Rest],
    rest: Iterable[Rest],
    shared: Iterable[str] | None,
) -> ReadPart:
    """The reader of one kind of part.

    `template` is what every canonical part has, `plain` are native keys and the canonical ones they become, `nested`
    the same with the key of an object in front, `joint` are decoded to canonical keys, `rest` read on by themselves.
    `shared` are the keys of a native part that is its own canonical part.

    For the template `{"type": "tool-call"}`, `id` as `toolCallId`, a nested `function`, `name` as `toolName`, a joint
    `function` and a rest `cache_control`:

        def read(native, links, place):
            try:
                part = {"type": "tool-call", "toolCallId": native["id"]}
            except KeyError:
                part = {"type": "tool-call"}
                if "id" in native: part["toolCallId"] = native["id"]
            held = native.get("function")
            if held.__class__ is dict and "name" in held: part["toolName"] = held["name"]
            if "function" in native: part.update(joint_0(native, links))
            if "cache_control" in native: rest_0(native, part, links)
            links[id(part)] = (native, place)
            return part
    """
    plain = list(plain)
    fixed = ", ".join(f"{key!r}: {value!r}" for key, value in template.items())
    copied = ", ".join(f"{canonical!r}: native[{key!r}]" for key, canonical in plain)
    lines = ["def read(native, links, place):"]
    if shared is not None:
        lines.append(f"    if native.keys() == {set(shared)!r}: return native")
    lines += [
        "    try:",
        f"        part = {{{fixed}, {copied}}}",
        "    except KeyError:",
        f"        part = {{{fixed}}}",
    ]
    lines += [f"        if {key!r} in native: part[{canonical!r}] = native[{key!r}]" for key, canonical in plain]
    for first, key, canonical in nested:
        lines.append(f"    held = native.get({first!r})")
        lines.append(f"    if held.__class__ is dict and {key!r} in held: part[{canonical!r}] = held[{key!r}]")
    names: dict[str, Any] = {}
    for number, (key, decode) in enumerate(joint):
        names[f"joint_{number}"] = decode
        lines.append(f"    if {key!r} in native: part.update(joint_{number}(native, links))")
    for number, (key, read) in enumerate(rest):
        names[f"rest_{number}"] = read
        lines.append(f"    if {key!r} in native: rest_{number}(native, part, links)")
    reader: ReadPart = _made([*lines, "    links[id(part)] = (native, place)", "    return part"], names)
    return reader


def message_reader(
    role: str | None,
    slots: Sequence[Any],
    fields: Iterable[Rest],
    *,
    text: bool,
    split: Callable[[Any, list[Any]], Any] | None,
    elsewhere: Iterable[str],
) -> ReadMessage:
    """The reader of messages of one role (None: each keeps its own).

    It gives the canonical message or, where parts of the types `elsewhere` stand in it, what `split(native, parts)`
    makes of them. With `text` a content that is no list stays as it is.

    For the role `user`, a slot `content` and a field `name`:

        def read(native, links):
            parts = []
            if "content" in native:
                value = native["content"]
                if value.__class__ is str: parts.append({"type": "text", "text": value})
                elif value.__class__ is list:
                    for each in value:
                        try: read_part = readers_0[each["type"]]
                        except (KeyError, TypeError, AttributeError): read_part = find_0(each)
                        parts.append(read_part(each, links, slot_0))
                elif value is not None: other_0(value, parts, links)
            message = {"role": "user", "content": parts}
            if "name" in native: field_0(native, message, links)
            return message
    """
    names: dict[str, Any] = {"split": split, "elsewhere": frozenset(elsewhere)}
    lines = ["def read(native, links):", "    parts = []"]
    for number, slot in enumerate(slots):
        names |= {f"slot_{number}": slot, f"other_{number}": slot.read, f"is_lone_{number}": slot.is_lone}
        names |= {f"readers_{number}": slot.kinds.readers, f"find_{number}": slot.kinds.reader_of}
        names[f"mark_{number}"] = slot.kinds.mark
        lines += [f"    if {slot.key!r} in native:", f"        value = native[{slot.key!r}]"]
        lines += [f"        {line}" for line in _slot_lines(slot, number, text)]
    if names["elsewhere"]:
        lines += ["    for part in parts:", "        if part['type'] in elsewhere: return split(native, parts)"]
    lines.append("    message = {" + (f"'role': {role!r}, " if role else "") + "'content': parts}")
    if role is None:
        lines.append("    if 'role' in native: message['role'] = native['role']")
    for number, (key, read) in enumerate(fields):
        names[f"field_{number}"] = read
        lines.append(f"    if {key!r} in native: field_{number}(native, message, links)")
    reader: ReadMessage = _made([*lines, "    return message"], names)
    return reader


def _slot_lines(slot: Any, number: int, text: bool) -> list[str]:
    lines = []
    if text:
        lines.append("if value.__class__ is not list: parts = value")
        if slot.lone is not None:
            lines.append(f"elif is_lone_{number}(value): parts = value[0][{slot.lone!r}]")
    elif slot.string is not None and not slot.closed:
        fixed = "".join(f"{key!r}: {value!r}, " for key, value in slot.string.items())
        alone = " and not parts" if slot.echoes else ""
        lines.append(f"if value.__class__ is str{alone}: parts.append({{{fixed}'text': value}})")
    if not slot.only_strings:
        mark = f"mark_{number}(each)" if slot.kinds.typeless else "each['type']"
        lines += [
            f"{'el' if lines else ''}if value.__class__ is list:",
            "    for each in value:",
            f"        try: read_part = readers_{number}[{mark}]",
            f"        except (KeyError, TypeError, AttributeError): read_part = find_{number}(each)",
            f"        parts.append(read_part(each, links, slot_{number}))",
        ]
    return [*lines, f"{'el' if lines else ''}if value is not None: other_{number}(value, parts, links)"]


def _made(lines: Iterable[str], names: dict[str, Any]) -> Any:
    exec("\n".join(lines), names)
    return names["read"]
