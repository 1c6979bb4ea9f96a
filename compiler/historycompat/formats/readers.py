"""Tables of fields and slots → the functions that read by them.

They are generated: straight-line code reads a history several times as fast as loops over tables, and every repair
begins with a reading. Names that come from tables enter the code through `repr` or as constants.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from historycompat.edits import MISSING


class Links(dict[int, tuple[Any, Any]]):
    """By the id of a canonical part: the native part it was read from, and where that stood. `halves` are the calls and
    results among the parts, in the order of reading."""

    __slots__ = ("halves",)

    def __init__(self) -> None:
        super().__init__()
        self.halves: list[dict[str, Any]] = []


ReadPart = Callable[[Any, Links, Any], dict[str, Any]]
ReadMessage = Callable[[Any, Links], Any]


class Value(NamedTuple):
    """One value: where it is on either side, and what makes the canonical one of it (MISSING: there is none)."""

    native: tuple[str, ...]
    canonical: tuple[str, ...]
    decode: Callable[[Any], Any] | None

    @property
    def root(self) -> str:
        return self.canonical[0]


class Values(NamedTuple):
    """Several values, which `decode(native, links)` gives by canonical key where a native key is there. `texts`: a
    string there is an output of type `text`."""

    key: str
    canonical: tuple[str, ...]
    decode: Callable[[Any, Links], Mapping[str, Any]]
    texts: bool = False


class Rest(NamedTuple):
    """What reads on by itself, `read(native, part, links)`, into some canonical keys where a native key is there."""

    key: str
    canonical: tuple[str, ...]
    read: Callable[[Any, dict[str, Any], Links], None]


Step = Value | Values | Rest

_HALVES = ("tool-call", "tool-result")


def part_reader(
    template: Mapping[str, Any],
    plain: Sequence[tuple[str, str]],
    steps: Iterable[Step],
    shared: Iterable[str] | None,
) -> ReadPart:
    """The reader of one kind of part.

    `template` is what every canonical part has, `plain` are native keys that mostly are there and the canonical ones
    they become, `steps` read the rest, in order. `shared` are the keys of a native part that is its own canonical part.

    For the template `{"type": "tool-call"}`, `id` as `toolCallId`, and the steps of `function.name` as `toolName`, of
    several values in `function`, and of `item` as `options.openai.id`:

        def read(native, links, place):
            try:
                part = {"type": "tool-call", "toolCallId": native["id"]}
            except KeyError:
                part = {"type": "tool-call"}
                if "id" in native: part["toolCallId"] = native["id"]
            held = native.get("function")
            if held.__class__ is dict and "name" in held: part["toolName"] = held["name"]
            if "function" in native: part.update(step_1(native, links))
            if "item" in native: part["options"] = {"openai": {"id": native["item"]}}
            links.halves.append(part)
            links[id(part)] = (native, place)
            return part
    """
    fixed = ", ".join(f"{key!r}: {value!r}" for key, value in template.items())
    copied = ", ".join(f"{canonical!r}: native[{key!r}]" for key, canonical in plain)
    lines = ["def read(native, links, place):"]
    if shared is not None:
        lines.append("    if native.keys() == shared: return native")
    if plain:
        lines += ["    try:", f"        part = {{{fixed}, {copied}}}"]
        lines += ["    except KeyError:", f"        part = {{{fixed}}}"]
        lines += [f"        if {key!r} in native: part[{canonical!r}] = native[{key!r}]" for key, canonical in plain]
    else:
        lines.append(f"    part = {{{fixed}}}")
    names: dict[str, Any] = {"MISSING": MISSING, "shared": frozenset(shared or ())}
    lines += _step_lines(steps, "part", names, {*template, *(canonical for _, canonical in plain)})
    if template["type"] in _HALVES:
        lines.append("    links.halves.append(part)")
    reader: ReadPart = _made([*lines, "    links[id(part)] = (native, place)", "    return part"], names)
    return reader


def fields_reader(steps: Iterable[Step], *keys: str) -> Callable[[Any, dict[str, Any], Links], None]:
    """What reads some steps into an object that is being made and has these keys: `read(native, made, links)`."""
    names: dict[str, Any] = {"MISSING": MISSING}
    lines = [*_step_lines(steps, "made", names, set(keys)), "    return None"]
    reader: Callable[[Any, dict[str, Any], Links], None] = _made(["def read(native, made, links):", *lines], names)
    return reader


def unless_none(value: Any) -> Any:
    """A value of an SDK's object, in which None stands for what is missing. As `decode` it costs no call."""
    return MISSING if value is None else value


def _step_lines(steps: Iterable[Step], made: str, names: dict[str, Any], keys: set[str]) -> Iterator[str]:
    """The lines of some steps, for the name of what is being made. What they call joins `names`, the keys that it may
    have from then on join `keys`."""
    for number, step in enumerate(steps):
        name = f"step_{number}"
        if isinstance(step, Value):
            names[name] = step.decode
            yield from _value_lines(step, name, _setting(step, made, is_first=step.root not in keys))
        elif isinstance(step, Values):
            names[name] = step.decode
            yield from _values_lines(step, name, made)
        else:
            names[name] = step.read
            yield f"    if {step.key!r} in native: {name}(native, {made}, links)"
        keys.update((step.root,) if isinstance(step, Value) else step.canonical)


def _values_lines(step: Values, decode: str, made: str) -> Iterator[str]:
    update = f"{made}.update({decode}(native, links))"
    if not step.texts:
        yield f"    if {step.key!r} in native: {update}"
        return
    text = f"{made}['output'] = {{'type': 'text', 'value': value}}"
    yield f"    if {step.key!r} in native:"
    yield f"        value = native[{step.key!r}]"
    yield f"        if value.__class__ is str: {text}"
    yield f"        else: {update}"


def _setting(step: Value, made: str, *, is_first: bool) -> list[str]:
    """The lines that set the value `{}`; `is_first`: the objects around it are not there yet."""
    root, *rest = step.canonical
    if is_first:
        inner = "".join(f"{{{{{key!r}: " for key in rest)
        return [f"{made}[{root!r}] = {inner}{{}}{'}}' * len(rest)}"]
    place = "".join(f"[{key!r}]" for key in step.canonical)
    parents = "".join(f".setdefault({key!r}, {{{{}}}})" for key in step.canonical[:-1])
    made_first = f"except KeyError: {made}{parents}[{step.canonical[-1]!r}] = {{}}"
    return [f"try: {made}{place} = {{}}", made_first] if rest else [f"{made}{place} = {{}}"]


def _value_lines(step: Value, decode: str, setting: list[str]) -> Iterator[str]:
    *outer, key = step.native
    held, is_there = "native", f"{key!r} in native"
    for at, each in enumerate(outer):
        yield f"    {'if held.__class__ is dict: ' if at else ''}held = {held}.get({each!r})"
        held, is_there = "held", f"held.__class__ is dict and {key!r} in held"
    value = f"{held}[{key!r}]"
    if step.decode in (None, unless_none):
        given = "" if step.decode is None else f" and {value} is not None"
        yield f"    if {is_there}{given}:"
        yield from (f"        {line.format(value)}" for line in setting)
        return
    yield f"    if {is_there}:"
    yield f"        value = {decode}({value})"
    yield "        if value is not MISSING:"
    yield from (f"            {line.format('value')}" for line in setting)


def message_reader(
    role: str | None,
    slots: Sequence[Any],
    fields: Iterable[Step],
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
            if "name" in native: message["name"] = native["name"]
            return message
    """
    names: dict[str, Any] = {"MISSING": MISSING, "split": split, "elsewhere": frozenset(elsewhere)}
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
    lines += _step_lines(fields, "message", names, {"role", "content"})
    reader: ReadMessage = _made([*lines, "    return message"], names)
    return reader


def whole_reader(role: str | None, kinds: Any, place: Any) -> ReadMessage:
    """The reader of messages that are one part each, of these kinds."""
    names = {"place": place, "readers": kinds.readers, "find": kinds.reader_of, "mark": kinds.mark}
    lines = ["def read(native, links):"]
    if len(kinds.kinds) == 1:
        names["read_part"] = kinds.readers[kinds.kinds[0].mark]
    else:
        lines += (f"    {line}" for line in _finding("native", kinds, ""))
    reader: ReadMessage = _made(
        [*lines, f"    return {{'role': {role!r}, 'content': [read_part(native, links, place)]}}"], names
    )
    return reader


def _finding(native: str, kinds: Any, suffix: str) -> list[str]:
    """The lines that find what reads a native part; `suffix` ends the names of the kinds' tables."""
    mark = f"mark{suffix}({native})" if kinds.typeless else f"{native}['type']"
    return [
        f"try: read_part = readers{suffix}[{mark}]",
        f"except (KeyError, TypeError, AttributeError): read_part = find{suffix}({native})",
    ]


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
        lines += [
            f"{'el' if lines else ''}if value.__class__ is list:",
            "    for each in value:",
            *(f"        {line}" for line in _finding("each", slot.kinds, f"_{number}")),
            f"        parts.append(read_part(each, links, slot_{number}))",
        ]
    return [*lines, f"{'el' if lines else ''}if value is not None: other_{number}(value, parts, links)"]


def _made(lines: Iterable[str], names: dict[str, Any]) -> Any:
    exec("\n".join(lines), names)
    return names["read"]
