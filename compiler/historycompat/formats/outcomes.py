"""The content and the failure of a tool result ⇄ its canonical output."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from historycompat.edits import value_at
from historycompat.formats.kinds import Joint, Kinds, Part, Writer
from historycompat.formats.readers import Links
from historycompat.formats.values import compact


def outcome(at: str, flag: str, bad: tuple[Any, ...], good: Any, items: Kinds | None = None, *, as_text: bool = True) -> Joint:
    """The output in the value `at`, which failed where `flag` is one of `bad` (new failures are the first,
    `good` is what stands there instead).

    A list is an output of the type `content`, of `items`; without items it is JSON. `as_text`: new values that are no
    text are written as JSON text.
    """

    def decode(native: Part, links: Links) -> Mapping[str, Any]:
        value, failed = native[at], native.get(flag) in bad
        if isinstance(value, list) and items is not None and not failed:
            return {"output": {"type": "content", "value": [items.read(item, links, items) for item in value]}}
        kind = "text" if isinstance(value, str) else "json"
        return {"output": {"type": f"error-{kind}" if failed else kind, "value": value}}

    def encode(part: Part, native: Part, writer: Writer) -> Mapping[str, Any]:
        output = part.get("output")
        marks = {flag: native[flag]} if flag in native else {}
        if not isinstance(output, dict):
            return marks if output is None else {at: output, **marks}
        kind, value = output.get("type"), output.get("value")
        if str(kind).startswith("error"):
            marks = marks if native.get(flag) in bad else {flag: bad[0]}
        elif native.get(flag) in bad:
            marks = {flag: good}
        if kind == "content" and isinstance(value, list) and items is not None:
            return {at: [items.write(item, writer, items) for item in value], **marks}
        return {at: compact(value) if as_text and not isinstance(value, str) else value, **marks}

    def check(part: Part) -> str | None:
        value = value_at(part, ("output", "value"))
        held = value if items and value_at(part, ("output", "type")) == "content" and isinstance(value, list) else []
        return next((reason for item in held if isinstance(item, dict) and (reason := items.refuses(item))), None)

    return Joint((at, flag), ("output",), decode, encode, check)
