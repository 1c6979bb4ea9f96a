"""What the parts of several frameworks have alike ⇄ the canonical values: outputs that may have failed, arguments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from historycompat.edits import value_at
from historycompat.formats.kinds import Joint, Kinds, Part, Writer
from historycompat.formats.readers import Links
from historycompat.formats.values import compact, from_json, to_json


def outcome(
    at: str, flag: str, bad: tuple[Any, ...], good: Any, items: Kinds | None = None, *, as_text: bool = True
) -> Joint:
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
        if items is None or value_at(part, ("output", "type")) != "content" or not isinstance(value, list):
            return None
        return next((reason for item in value if isinstance(item, dict) and (reason := items.refuses(item))), None)

    return Joint((at, flag), ("output",), decode, encode, check)


def arguments(at: str) -> Joint:
    """The arguments of a call, an object or JSON text. Where they are null they are an empty object."""

    def decode(native: Part, links: Links) -> Mapping[str, Any]:
        return {"input": {} if native[at] is None else from_json(native[at])}

    def encode(part: Part, native: Part, writer: Writer) -> Mapping[str, Any]:
        if "input" not in part:
            return {}
        return {at: to_json(part["input"]) if isinstance(native.get(at), str) else part["input"]}

    return Joint((at,), ("input",), decode, encode)


def listed(at: str, items: Kinds, mark: str) -> Joint:
    """The output in a list of `items`, whose kind is under the key `mark`. A single plain text is that text; what
    failed, and JSON, becomes a text."""

    def decode(native: Part, links: Links) -> Mapping[str, Any]:
        held = native[at]
        if not isinstance(held, list):
            return {"output": {"type": "text" if isinstance(held, str) else "json", "value": held}}
        only = held[0] if len(held) == 1 and isinstance(held[0], dict) else {}
        if only.keys() == {mark, "text"} and only[mark] == "text" and isinstance(only["text"], str):
            return {"output": {"type": "text", "value": only["text"]}}
        return {"output": {"type": "content", "value": [items.read(item, links, items) for item in held]}}

    def encode(part: Part, native: Part, writer: Writer) -> Mapping[str, Any]:
        output = part.get("output")
        if not isinstance(output, dict):
            return {} if output is None else {at: output}
        value = output.get("value")
        if output.get("type") == "content" and isinstance(value, list):
            return {at: [items.write(item, writer, items) for item in value]}
        return {at: [{mark: "text", "text": value if isinstance(value, str) else compact(value)}]}

    return Joint((at,), ("output",), decode, encode)


def within(at: str, joint: Joint) -> Joint:
    """The same values in an object under a key."""

    def decode(native: Part, links: Links) -> Mapping[str, Any]:
        held = native[at]
        known = isinstance(held, dict) and joint.first_key in held
        return joint.decode(held, links) if known else {}

    def encode(part: Part, native: Part, writer: Writer) -> Mapping[str, Any]:
        held = native.get(at)
        return {at: joint.write(part, held if isinstance(held, dict) else {}, writer)}

    return Joint((at,), joint.canonical, decode, encode, joint.check)
