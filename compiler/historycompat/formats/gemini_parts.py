"""Parts of Gemini contents ⇄ canonical parts, in both spellings of their keys."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from historycompat.edits import MISSING, value_at
from historycompat.formats.kinds import Field, Joint, Kind, Kinds, Part, Writer
from historycompat.formats.pairing import said_id
from historycompat.formats.readers import Links
from historycompat.formats.values import as_before, from_bytes, is_web_url

NAME = "gemini"
OURS = ("google",)
_SIGNATURE = "providerOptions.google.thoughtSignature"

_CONCEPTS = "call response inline uri mime file_uri title signature declarations"
# The API's spelling and the Python SDK's.
SPELLINGS = tuple(
    dict(zip(_CONCEPTS.split(), names.split(), strict=True))
    for names in (
        "functionCall functionResponse inlineData fileData mimeType fileUri displayName thoughtSignature "
        "functionDeclarations",
        "function_call function_response inline_data file_data mime_type file_uri display_name thought_signature "
        "function_declarations",
    )
)
OBJECTS = tuple(names[key] for names in SPELLINGS for key in ("call", "response", "inline", "uri"))
_REMOTE: dict[Any, str] = {names["uri"]: names["file_uri"] for names in SPELLINGS}
_INLINE = tuple(names["inline"] for names in SPELLINGS)
SIGNATURES = tuple(names["signature"] for names in SPELLINGS)
_SPELT = tuple(
    frozenset(names[key] for key in ("call", "response", "inline", "uri", "signature")) for names in SPELLINGS
)
_OBJECT_KEYS = frozenset(OBJECTS)
_TEXT = ("text", SIGNATURES[0])
_WRAPPERS = {"output": "text", "result": "text", "error": "error-text"}
_NOTHING: Mapping[str, Any] = {}


def by_key(native: Part) -> Hashable:
    """The mark of a part: the key of what it holds; for texts and thoughts with the spelling of their signature."""
    if isinstance(native.get("text"), str):
        if len(native) == 1:
            return _TEXT
        spelling = SIGNATURES[1] if SIGNATURES[1] in native else SIGNATURES[0]
        return ("thought" if native.get("thought") is True else "text"), spelling
    for key, held in native.items():
        if key in _OBJECT_KEYS and isinstance(held, dict):
            return key if _is_well_formed(key, held) else None
    return None


def _is_well_formed(key: str, held: dict[str, Any]) -> bool:
    if key in _REMOTE:
        return is_web_url(held.get(_REMOTE[key]))
    return key not in _INLINE or isinstance(held.get("data"), (str, bytes))


def _bytes(native: str, canonical: str) -> Joint:
    """A value that is bytes in the SDK's objects and base64 in JSON."""
    path = tuple(canonical.split("."))

    def encode(part: Part, old: Part, writer: Writer) -> Mapping[str, Any]:
        value = value_at(part, path)
        return _NOTHING if value is None else {native: as_before(value, old.get(native))}

    def decode(old: Part, links: Links) -> Mapping[str, Any]:
        return _NOTHING if old[native] is None else {canonical: from_bytes(old[native])}

    return Joint((native,), (canonical,), decode, encode)


def _media(names: Mapping[str, str], *, remote: bool) -> Joint:
    """The data and media type of bytes in a part, or of a file elsewhere."""
    at = names["uri" if remote else "inline"]
    key, mime = names["file_uri"] if remote else "data", names["mime"]

    def decode(native: Part, links: Links) -> Mapping[str, Any]:
        held = native[at]
        return {"data": from_bytes(held.get(key)), "mediaType": held.get(mime, "image/*")}

    def encode(part: Part, native: Part, writer: Writer) -> Mapping[str, Any]:
        held = native.get(at, _NOTHING)
        return {at: {**held, mime: part.get("mediaType"), key: as_before(part.get("data"), held.get(key))}}

    return Joint((at,), ("data", "mediaType"), decode, encode)


def _is_local(part: Part) -> bool:
    return isinstance(part.get("data"), str) and not is_web_url(part["data"])


def _is_remote(part: Part) -> bool:
    return is_web_url(part.get("data"))


def _unless_none(value: Any) -> Any:
    return MISSING if value is None else value


def _files(names: Mapping[str, str], type_: str, *fields: Field | Joint) -> list[Kind]:
    def title(at: str) -> tuple[Field, ...]:
        return (Field(f"{at}.{names['title']}", "filename", _unless_none),) if type_ == "file" else ()

    return [
        Kind(
            (at := names["uri" if remote else "inline"]),
            type_,
            (_media(names, remote=remote), *title(at), *fields),
            when=_is_remote if remote else _is_local,
        )
        for remote in (False, True)
    ]


def _told(part: Any) -> bool | None:
    """Whether a native part is in the SDK's spelling; None where that cannot be told."""
    for key in part if isinstance(part, dict) else ():
        if key in _SPELT[1]:
            return True
        if key in _SPELT[0]:
            return False
    return None


class _Spelt(Kinds):
    """The kinds of both spellings, one after the other: a new part has the spelling of the history it comes into."""

    def _built(self, kind: Kind, part: Part, writer: Writer) -> Part:
        items = (
            item for item in writer.reading.items if isinstance(item, dict) and isinstance(item.get("parts"), list)
        )
        told = (snake for item in items for each in item["parts"] if (snake := _told(each)) is not None)
        if next(told, False):
            kind = self.kinds[self.kinds.index(kind) % (len(self.kinds) // 2) + len(self.kinds) // 2]
        return super()._built(kind, part, writer)


ITEMS = _Spelt(
    NAME, "parts", [kind for names in SPELLINGS for kind in _files(names, "media")], mark=by_key, typeless=True
)
"""The media of a function response."""


def _output(held: Part, links: Links) -> Mapping[str, Any]:
    """The output of a function response: what `output` or `error` say where they are all there is."""
    response, media = held.get("response"), held.get("parts")
    key = next(iter(response)) if isinstance(response, dict) and len(response) == 1 else None
    kind = _WRAPPERS.get(key) if isinstance(key, str) else None
    value = response[key] if kind and isinstance(response, dict) else response
    if isinstance(media, list) and media and (response in ({}, None) or (kind == "text" and isinstance(value, str))):
        said = [{"type": "text", "text": value}] if kind else []
        return {"output": {"type": "content", "value": [*said, *(ITEMS.read(each, links, ITEMS) for each in media)]}}
    if "response" not in held:
        return _NOTHING
    if isinstance(value, str) and kind:
        return {"output": {"type": kind, "value": value}}
    return {"output": {"type": "error-json" if kind == "error-text" else "json", "value": value}}


def _to_output(output: Any, held: Part, writer: Writer) -> Mapping[str, Any]:
    if not isinstance(output, dict):
        return _NOTHING if output is None else {"response": output}
    kind, value = output.get("type"), output.get("value")
    if kind == "content" and isinstance(value, list):
        return _to_content(value, writer)
    if str(kind).startswith("error"):
        return {"response": {"error": value}}
    if kind == "json" and isinstance(value, dict) and not (len(value) == 1 and value.keys() <= _WRAPPERS.keys()):
        return {"response": value}
    return {"response": {"result" if value_at(held, ("response", "result")) is not None else "output": value}}


def _to_content(value: list[Any], writer: Writer) -> Mapping[str, Any]:
    texts = [part.get("text", "") for part in value if isinstance(part, dict) and part.get("type") == "text"]
    media = [part for part in value if not (isinstance(part, dict) and part.get("type") == "text")]
    if not media:
        return {"response": {"output": "\n\n".join(map(str, texts))}}
    response = {"output": "\n\n".join(map(str, texts))} if texts else {}
    return {"response": response, "parts": [ITEMS.write(part, writer, ITEMS) for part in media]}


def _response(at: str) -> Joint:
    def decode(native: Part, links: Links) -> Mapping[str, Any]:
        return _output(native[at], links)

    def encode(part: Part, native: Part, writer: Writer) -> Mapping[str, Any]:
        held = native.get(at, _NOTHING)
        rest = {key: value for key, value in held.items() if key not in ("response", "parts")}
        return {at: {**rest, **_to_output(part.get("output"), held, writer)}}

    return Joint((at,), ("output",), decode, encode)


def _input(at: str) -> Joint:
    """The arguments of a call; where there are none they are an empty object."""

    def decode(native: Part, links: Links) -> Mapping[str, Any]:
        args = native[at].get("args")
        return {"input": {} if args is None else args}

    def encode(part: Part, native: Part, writer: Writer) -> Mapping[str, Any]:
        rest = {key: value for key, value in native.get(at, _NOTHING).items() if key != "args"}
        return {at: rest | ({"args": part["input"]} if "input" in part else {})}

    return Joint((at,), ("input",), decode, encode)


def _kinds(names: Mapping[str, str]) -> list[Kind]:
    """The kinds of part in one spelling."""
    call, response = names["call"], names["response"]
    signature = _bytes(names["signature"], _SIGNATURE)
    text = (Field("text", "text"), signature)
    return [
        Kind(("thought", names["signature"]), "reasoning", text, native={"thought": True}),
        Kind(("text", names["signature"]), "text", text),
        *_files(names, "file", signature),
        Kind(
            call,
            "tool-call",
            (
                Field(f"{call}.id", "toolCallId", encode=said_id),
                Field(f"{call}.name", "toolName"),
                _input(call),
                signature,
            ),
            native={call: {}},
        ),
        Kind(
            response,
            "tool-result",
            (
                Field(f"{response}.id", "toolCallId", encode=said_id),
                Field(f"{response}.name", "toolName"),
                _response(response),
                signature,
            ),
            native={response: {}},
            role="tool",
        ),
    ]


PARTS = _Spelt(
    NAME, "parts", [kind for names in SPELLINGS for kind in _kinds(names)], mark=by_key, typeless=True, namespaces=OURS
)
