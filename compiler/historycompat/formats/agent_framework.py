"""Messages of Microsoft's Agent Framework ⇄ canonical prompt.

The contents of a message are its parts. `data` and `uri` contents are files, `text_reasoning` is reasoning, whose
`protected_data` is the option `agent-framework.protectedData`, since only the model's client knows whose proof it is.
A result with an exception failed; new failures have the exception `Error`. Hosted calls of all kinds and whatever is
unknown are opaque.

Degraded when written: inputs that are null, which become empty objects; the list of a single system text, which is that
text; JSON outputs that are texts, which become texts; images in outputs, which become JSON.

Facts: agent-framework-core 1, `Message.to_dict`, `Content.to_dict`.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from historycompat.formats.apart import Tools
from historycompat.formats.chat_parts import function_tools
from historycompat.formats.detection import Marks, words
from historycompat.formats.framework_parts import arguments
from historycompat.formats.kinds import Field, Joint, Kind, Kinds, Part, Writer
from historycompat.formats.lens import Lens
from historycompat.formats.readers import Links
from historycompat.formats.roles import Role, Roles, Slot
from historycompat.formats.values import from_url, is_web_url, to_url
from historycompat.pairs import Site
from historycompat.view import Shape

NAME = "agent-framework"

_EXCEPTION = "Error"


def by_uri(native: Part) -> Hashable:
    """The mark of a file: its type, where its URL is well formed."""
    kind: Any = native.get("type")
    uri = native.get("uri")
    known = kind in ("data", "uri") and isinstance(uri, str) and from_url(uri, "") is not None
    return (kind, is_web_url(uri)) if known else None


def _file(kind: str, web: bool) -> Kind:
    def decode(native: Part, links: Links) -> Mapping[str, Any]:
        media = native.get("media_type")
        read = from_url(native["uri"], "image/*") or {}
        return read | ({"mediaType": media} if isinstance(media, str) else {})

    def encode(part: Part, native: Part, writer: Writer) -> Mapping[str, Any]:
        return {"uri": to_url(part), "media_type": part.get("mediaType")}

    return Kind(
        (kind, web),
        "file",
        (Joint(("uri", "media_type"), ("data", "mediaType"), decode, encode),),
        native={"type": kind},
        when=lambda part: isinstance(part.get("data"), str) and is_web_url(part["data"]) == web,
    )


def _output(native: Part, links: Links) -> Mapping[str, Any]:
    failed = native.get("exception") is not None
    value = native.get("result") if native.get("result") is not None or not failed else native["exception"]
    kind = "text" if isinstance(value, str) else "json"
    return {"output": {"type": f"error-{kind}" if failed else kind, "value": value}}


def _to_output(part: Part, native: Part, writer: Writer) -> Mapping[str, Any]:
    output = part.get("output")
    if not isinstance(output, dict):
        return {} if output is None else {"result": output}
    failed = str(output.get("type")).startswith("error")
    exception = native.get("exception") if native.get("exception") is not None else _EXCEPTION
    return {"result": output.get("value"), **({"exception": exception} if failed else {})}


_RESULT = Kind(
    "function_result",
    "tool-result",
    (Field("call_id", "toolCallId"), Joint(("result", "exception", "items"), ("output",), _output, _to_output)),
    native={"type": "function_result"},
    role="tool",
    derived=("toolName",),
)

CONTENTS = Kinds(
    NAME,
    "contents",
    [
        Kind("text", "text", (Field("text", "text"),), native={"type": "text"}),
        Kind(
            "text_reasoning",
            "reasoning",
            (Field("text", "text"), Field("protected_data", "providerOptions.agent-framework.protectedData")),
            native={"type": "text_reasoning"},
        ),
        *(_file(kind, web) for kind, web in (("data", False), ("uri", True), ("uri", False), ("data", True))),
        Kind(
            "function_call",
            "tool-call",
            (Field("call_id", "toolCallId"), Field("name", "toolName"), arguments("arguments")),
            native={"type": "function_call"},
        ),
        _RESULT,
    ],
    mark=by_uri,
    namespaces=(NAME,),
)

SLOT = Slot(CONTENTS, string={"type": "text"}, lone="text", lone_as={"type": "text"}, empty=[])
_HEADER = (Field("author_name", "providerOptions.openai.name"),)

LENS = Lens(
    NAME,
    Roles(
        [
            Role("system", "system", (SLOT,), _HEADER, text=True),
            Role("developer", "system", (SLOT,), _HEADER, text=True),
            Role("user", "user", (SLOT,), _HEADER),
            Role("assistant", "assistant", (SLOT,), _HEADER),
            Role("tool", "tool", (SLOT,), _HEADER),
        ],
        other=Role(None, None, (SLOT,), _HEADER),
    ),
    tools=Tools(function_tools(NAME)),
    unnamed_results=True,
)

FORMAT = LENS.format(
    "Agent Framework messages",
    Marks(
        roles=words("system developer user assistant tool"),
        types=frozenset(),
        own_keys=words("contents author_name"),
        foreign_keys=words("content parts tool_calls blocks"),
    ),
    Shape(
        parts="contents",
        calls=(Site("contents", "function_call", ("call_id",), ("name",)),),
        results=(Site("contents", "function_result", ("call_id",), ()),),
    ),
    words(
        "user-files documents assistant-files reasoning any-order results-together output-error-text empty-messages "
        "many-texts neighbours result-ids"
    ),
)
