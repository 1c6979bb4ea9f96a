"""Parts of pydantic-ai's messages ⇄ canonical parts."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from historycompat.edits import value_at
from historycompat.formats.folding import PART
from historycompat.formats.framework_parts import arguments, outcome
from historycompat.formats.kinds import Field, Joint, Kind, Kinds, Part, Writer
from historycompat.formats.readers import Links, unless_none
from historycompat.formats.values import has, is_media, is_web_url

NAME = "pydantic-ai"

# The vendor whose proof the signature of a thought is, by the beginning of `provider_name`.
_SIGNERS = {
    "anthropic": "anthropic",
    "bedrock": "anthropic",
    "google": "google",
    "openai": "openai",
}
_PROOFS = {
    "anthropic": "providerOptions.anthropic.signature",
    "google": "providerOptions.google.thoughtSignature",
    "openai": "providerOptions.openai.reasoningEncryptedContent",
}
_REDACTED = "providerOptions.anthropic.redactedData"

# The media types of files by URL where none is said.
_URLS = {"image-url": "image/*", "document-url": "application/pdf", "audio-url": "audio/*", "video-url": "video/*"}
_PREFIXES = {"document-url": ("application/", "text/")}


def by_part_kind(native: Part) -> Hashable:
    """The mark of a part: its kind, and for thoughts who signed them."""
    kind: Any = native.get("part_kind")
    if kind == "thinking":
        if native.get("id") == "redacted_thinking":
            return kind, "redacted"
        provider = native.get("provider_name")
        beginning = provider.partition("-")[0] if isinstance(provider, str) else None
        return kind, _SIGNERS.get(beginning or "")
    if kind == "file":
        return kind if isinstance(value_at(native, ("content", "data")), str) else None
    return kind if isinstance(kind, str) else None


def by_kind(native: Part) -> Hashable:
    """The mark of a user's content: `PART` for a bare string, else its kind where that is well formed."""
    kind: Any = native.get("kind")
    if PART in native:
        return PART
    if kind in _URLS:
        return kind if is_web_url(native.get("url")) else None
    return None if kind == "binary" and not isinstance(native.get("data"), str) else kind


def _thought(signer: str | None, *fields: Field, **native: str) -> Kind:
    proof = _PROOFS.get(signer or "")
    return Kind(
        ("thinking", signer),
        "reasoning",
        (Field("content", "text"), *((Field("signature", proof, unless_none),) if proof else ()), *fields),
        native={"content": "", "part_kind": "thinking", **native},
        when=has(proof) if proof else lambda part: True,
    )


def _is_hosted(part: Part) -> bool:
    return part.get("providerExecuted") is True


_SIGNED = Field("provider_details.thought_signature", "providerOptions.google.thoughtSignature", unless_none)
_NAMED = (Field("tool_name", "toolName"), Field("tool_call_id", "toolCallId"))
_CALL = (*_NAMED, arguments("args"), _SIGNED)
_FILE = (Field("data", "data"), Field("media_type", "mediaType"))


def _value(native: Part, links: Links) -> Mapping[str, Any]:
    return {"output": {"type": "json", "value": native["content"]}}


def _to_value(part: Part, native: Part, writer: Writer) -> Mapping[str, Any]:
    return {"content": value_at(part, ("output", "value"))} if "output" in part else {}


SAID = Kinds(
    NAME,
    "parts",
    [
        Kind("text", "text", (Field("content", "text"), _SIGNED), native={"content": "", "part_kind": "text"}),
        Kind(
            ("thinking", "redacted"),
            "reasoning",
            (Field("signature", _REDACTED, unless_none),),
            native={
                "content": "",
                "id": "redacted_thinking",
                "provider_name": "anthropic",
                "part_kind": "thinking",
            },
            canonical={"text": ""},
            when=has(_REDACTED),
        ),
        _thought("anthropic", provider_name="anthropic"),
        _thought("google", provider_name="google"),
        _thought("openai", Field("id", "providerOptions.openai.itemId", unless_none), provider_name="openai"),
        _thought(None),
        Kind(
            "file",
            "file",
            tuple(Field(f"content.{each.native}", each.canonical) for each in _FILE),
            native={"content": {"kind": "binary"}, "part_kind": "file"},
            when=lambda part: isinstance(part.get("data"), str) and not is_web_url(part["data"]),
        ),
        Kind(
            "builtin-tool-call",
            "tool-call",
            _CALL,
            native={"part_kind": "builtin-tool-call"},
            canonical={"providerExecuted": True},
            when=_is_hosted,
        ),
        Kind(
            "tool-call",
            "tool-call",
            _CALL,
            native={"part_kind": "tool-call"},
            when=lambda part: not _is_hosted(part),
            derived=("providerExecuted",),
        ),
        Kind(
            "builtin-tool-return",
            "tool-result",
            (*_NAMED, Joint(("content",), ("output",), _value, _to_value)),
            native={"part_kind": "builtin-tool-return"},
            role="tool",
        ),
    ],
    mark=by_part_kind,
    typeless=True,
    namespaces=("pydantic-ai",),
)
"""The parts of a response."""


def _url(kind: str) -> Kind:
    unknown = _URLS[kind]
    prefixes = _PREFIXES.get(kind, (unknown.partition("*")[0],))

    def decode(native: Part, links: Links) -> Mapping[str, Any]:
        return {"data": native["url"], "mediaType": native.get("media_type") or unknown}

    def encode(part: Part, native: Part, writer: Writer) -> Mapping[str, Any]:
        media = part.get("mediaType")
        kept = {"media_type": native["media_type"]} if "media_type" in native else {}
        return {"url": part.get("data"), **(kept if media == unknown else {"media_type": media})}

    return Kind(
        kind,
        "file",
        (Joint(("url", "media_type"), ("data", "mediaType"), decode, encode),),
        native={"kind": kind},
        when=lambda part: is_media(part, *prefixes) and is_web_url(part["data"]),
    )


ASKED = Kinds(
    NAME,
    "content",
    [
        Kind(PART, "text", (Field(PART, "text"),)),
        Kind("text-content", "text", (Field("content", "text"),), native={"kind": "text-content"}),
        *map(_url, _URLS),
        Kind(
            "binary",
            "file",
            _FILE,
            native={"kind": "binary"},
            when=lambda part: isinstance(part.get("data"), str) and not is_web_url(part["data"]),
        ),
    ],
    mark=by_kind,
    typeless=True,
)
"""The content of a user's prompt; bare strings are objects with the string under `PART`."""


def _failed(part: Part) -> bool:
    return str(value_at(part, ("output", "type"))).startswith("error")


def _retry(native: Part, links: Links) -> Mapping[str, Any]:
    value = native["content"]
    return {"output": {"type": "error-text" if isinstance(value, str) else "error-json", "value": value}}


_FAILURES = ("failed", "retried", "denied", "interrupted")

RESULT = Kinds(
    NAME,
    "parts",
    [
        Kind(
            "tool-return",
            "tool-result",
            (*_NAMED, outcome("content", "outcome", _FAILURES, "success", as_text=False)),
            native={"role": "tool", "part_kind": "tool-return"},
        ),
        Kind(
            "retry-prompt",
            "tool-result",
            (*_NAMED, Joint(("content",), ("output",), _retry, _to_value)),
            native={"role": "tool", "part_kind": "retry-prompt"},
            when=_failed,
        ),
    ],
    mark=by_part_kind,
    typeless=True,
)
"""A return of a tool, or the demand to call it again."""
