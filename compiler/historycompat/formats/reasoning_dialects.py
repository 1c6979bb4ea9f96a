"""Reasoning in chat messages ⇄ reasoning parts, in the dialects that vendors added to OpenAI's chat messages.

`reasoning_details` of OpenRouter, `thinking_blocks` of LiteLLM, `reasoning_content` of DeepSeek, Moonshot and others,
`reasoning` of Groq, Cerebras, vLLM and others. New reasoning is written as `reasoning_content`, unless its options name
another place. The signature of a thought may stand on a call too: Google's endpoint for OpenAI's API and LiteLLM have
it there.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import Any

from historycompat.edits import value_at, with_path, without_path
from historycompat.formats.anthropic import THINKING
from historycompat.formats.kinds import Field, Joint, Kind, Kinds, Part, Writer
from historycompat.formats.readers import Links
from historycompat.formats.roles import Slot
from historycompat.formats.values import has

STRING = {"type": "reasoning"}


def _is_anthropic(form: Any) -> bool:
    return isinstance(form, str) and form.startswith("anthropic")


def _detail(kind: str, anthropic: bool, *fields: Field) -> Kind:
    """A kind of OpenRouter's reasoning details, apart for those that Anthropic's models made."""

    def when(part: Part) -> bool:
        options = value_at(part, ("providerOptions", "openrouter"))
        known = isinstance(options, dict) and options.get("type") == kind
        return known and _is_anthropic(options.get("format")) == anthropic

    signature = "anthropic" if anthropic else "openrouter"
    return Kind(
        (kind, anthropic),
        "reasoning",
        (
            *(Field(key, f"providerOptions.openrouter.{key}") for key in ("type", "id", "format", "index")),
            *fields,
            Field("signature", f"providerOptions.{signature}.signature"),
        ),
        canonical={} if any(each.canonical == "text" for each in fields) else {"text": ""},
        when=when,
    )


def _detail_mark(native: Part) -> Hashable:
    """The mark of a detail: its type, and whether a model of Anthropic made it."""
    return native.get("type"), _is_anthropic(native.get("format"))


DETAILS = [
    _detail(kind, anthropic, field)
    for anthropic in (True, False)
    for kind, field in (
        ("reasoning.text", Field("text", "text")),
        ("reasoning.summary", Field("summary", "text")),
        ("reasoning.encrypted", Field("data", "providerOptions.openrouter.data")),
    )
]

BLOCKS = [
    replace(kind, when=has(f"providerOptions.anthropic.{proof}"))
    for kind, proof in zip(THINKING, ("redactedData", "signature"), strict=True)
]


def reasoning_slots(name: str) -> tuple[Slot, ...]:
    """The reasoning of an assistant message in a format of this name, the most telling field first."""
    details = Kinds(name, "reasoning_details", DETAILS, mark=_detail_mark)
    return (
        Slot(details),
        Slot(Kinds(name, "thinking_blocks", BLOCKS)),
        Slot(Kinds(name, "reasoning_content", ()), string=STRING, only_strings=True, echoes=True),
        Slot(Kinds(name, "reasoning", ()), string=STRING, only_strings=True, echoes=True, closed=True),
    )


_SIGNATURE = "providerOptions.google.thoughtSignature"
_SIGNED = (("extra_content", "google", "thought_signature"), ("provider_specific_fields", "thought_signature"))


def _signature(native: Part, links: Links) -> Mapping[str, Any]:
    signature = next((found for path in _SIGNED if isinstance(found := value_at(native, path), str)), None)
    return {} if signature is None else {_SIGNATURE: signature}


def _to_signature(part: Part, native: Part, writer: Writer) -> Mapping[str, Any]:
    """The signature wherever it was, a new one as Google's endpoint has it."""
    signature = value_at(part, tuple(_SIGNATURE.split(".")))
    for path in [path for path in _SIGNED if value_at(native, path) is not None] or _SIGNED[:1]:
        native = without_path(native, path, prune=True) if signature is None else with_path(native, path, signature)
    return {path[0]: native[path[0]] for path in _SIGNED if path[0] in native}


_HOLDERS = tuple(path[0] for path in _SIGNED)
CALL_SIGNATURE = tuple(
    Joint(keys, (_SIGNATURE,), _signature, _to_signature) for keys in (_HOLDERS, tuple(reversed(_HOLDERS)))
)
"""The signature on a call, under either key."""
