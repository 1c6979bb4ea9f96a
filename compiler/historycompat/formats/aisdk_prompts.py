"""AI SDK message lists ⇄ canonical prompts: the roles, the lens and the table's row that their generations share."""

from __future__ import annotations

from collections.abc import Callable

from historycompat.formats.aisdk_parts import (
    OPTIONS,
    alike,
    by_tag,
    call_kind,
    file_kind,
    image_kind,
    output_kind,
    result_kind,
    signed_kinds,
    text_kind,
)
from historycompat.formats.apart import Tools
from historycompat.formats.detection import Survey, words
from historycompat.formats.format import Format
from historycompat.formats.kinds import Field, Kind, Kinds
from historycompat.formats.lens import Lens
from historycompat.formats.roles import Role, Roles, Slot
from historycompat.view import Shape

OLD_SAYS = words(
    "system-parts user-files documents assistant-files reasoning any-order any-input results-together result-names "
    "output-error-text output-content any-options empty-messages many-texts neighbours result-ids"
)
"""What the older generation says exactly."""

SHAPE = Shape(spine=("prompt",))
"""The shape of the options of a model call, which hold a prompt."""


def older(
    name: str,
    options: str,
    content: str,
    *more: Field,
    strings: bool,
    more_users: tuple[str, ...] = (),
) -> Roles:
    """The roles of the older generation; `options` and `content` are its names for those keys, `more` further options,
    `more_users` further roles that are read as users."""
    each = (Field(options, "providerOptions", optional=True), *more)
    text, file, image = text_kind(*each), file_kind("mimeType", *each), image_kind("mimeType", *each)
    said = (text, file, *signed_kinds(options, *more), call_kind("args", *each))
    return roles(
        name,
        user=(text, image, file),
        assistant=said,
        tool=(result_kind(name, content, *each),),
        header=each,
        strings=strings,
        more_users=more_users,
    )


def newer(
    name: str, files: tuple[Kind, ...], items: tuple[Kind, ...], extra: tuple[str, ...], *, strings: bool
) -> Roles:
    """The roles of the newer generation; `extra` are the types, said alike, that only assistants use."""
    text, result = text_kind(OPTIONS), output_kind(name, items)
    call = call_kind("input", Field("providerExecuted", "providerExecuted", optional=True), OPTIONS)
    return roles(
        name,
        user=(text, *files),
        assistant=(text, *files, *alike("reasoning", *extra), call, result),
        tool=(result, *alike("tool-approval-response")),
        header=(OPTIONS,),
        strings=strings,
    )


def roles(
    name: str,
    *,
    user: tuple[Kind, ...],
    assistant: tuple[Kind, ...],
    tool: tuple[Kind, ...],
    header: tuple[Field, ...],
    strings: bool,
    more_users: tuple[str, ...] = (),
) -> Roles:
    """`strings`: a single plain text is written as a string. `more_users` are further roles that are read as users."""

    def slot(kinds: tuple[Kind, ...], *, brief: bool = strings, text: bool = True) -> Slot:
        string = {"type": "text"} if text else None
        return Slot(Kinds(name, "content", kinds, mark=by_tag), string=string, brief=brief, empty=[])

    said = slot(assistant)
    return Roles(
        [
            Role("system", "system", (slot(user, brief=False),), header, text=True),
            *(Role(native, "user", (slot(user),), header) for native in ("user", *more_users)),
            Role("assistant", "assistant", (said,), header),
            Role("tool", "tool", (slot(tool, brief=False, text=False),), header),
        ],
        other=Role(None, None, (said,), header),
    )


def prompt_lens(name: str, kinds: Roles, schema: str = "inputSchema", spine: str = "messages") -> Lens:
    """A lens with the function tools of a request; `schema` is their key for the schema of an input."""
    fields = (Field("name", "name"), Field("description", "description"), Field(schema, "inputSchema"), OPTIONS)
    tools = Kinds(name, "tools", [Kind("function", "function", fields, native={"type": "function"})])
    return Lens(name, kinds, Tools(tools), spine=spine)


def prompt_format(
    lens: Lens, title: str, detect: Callable[[Survey], float], shape: Shape, says: frozenset[str]
) -> Format:
    """The row of the format table."""
    return Format(lens.name, title, lens.read, lens.write, detect, lens.carries, shape, lens.wrap, lens.unwrap, says)
