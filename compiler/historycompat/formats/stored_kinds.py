"""Parts of Mastra's rows and of UI messages ⇄ canonical parts: what ai 4 and Mastra write alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from historycompat.edits import MISSING, value_at, with_path, without_path
from historycompat.formats.kinds import Joint, Kind, Part, Writer
from historycompat.formats.readers import Links
from historycompat.formats.values import from_url, is_web_url

_SEALS = {"signature": "signature", "data": "redactedData"}
"""The seal of a detail, by its key, and the option of `anthropic` that it is read as."""

SEVERAL = "reasoning"
"""The type of the parts that may stand for several."""

STEP = "step-start"
"""The type of a part that only marks where a step begins."""


class Pieces(tuple[Any, ...]):
    """The parts that one native part was taken apart into: the place of the links from them to it."""


def details_of(native: Part) -> list[Any]:
    """The details of a reasoning part."""
    details = native.get("details")
    return details if isinstance(details, list) else []


def reasoning_pieces(native: Part) -> Pieces | None:
    """A reasoning part for each of the several details of one: every one has a seal of its own. None for one with a
    single detail."""
    details = details_of(native)
    if len(details) < 2 or not all(isinstance(each, dict) for each in details):
        return None
    return Pieces({**native, "reasoning": each.get("text", ""), "details": [each]} for each in details)


def reasoning_kind(options: str | None) -> Kind:
    """Reasoning with details. Its seal is a provider option, where the format has those under the key `options`, or
    else stands in the details."""

    def decode(native: Part, links: Links) -> Mapping[str, Any]:
        details = details_of(native)
        said = native.get("reasoning", native.get("text"))
        read: Part = {"text": said if isinstance(said, str) else "".join(_texts(details))}
        seals = _seals(details[0]) if details and isinstance(details[0], dict) else {}
        if options is None or options not in native:
            if seals:
                read["providerOptions"] = {"anthropic": seals}
            return read
        read["providerOptions"] = native[options]
        for option, seal in seals.items():
            place = ("providerOptions", "anthropic", option)
            if value_at(read, place, MISSING) is MISSING:
                read = with_path(read, place, seal)
        return read

    def encode(part: Part, native: Part, writer: Writer) -> Mapping[str, Any]:
        text = part.get("text")
        said: dict[str, Any] = {"type": "reasoning", "reasoning": text if isinstance(text, str) else ""}
        if "text" in native:
            said["text"] = text
        if options is None or any(_is_sealed(each) for each in details_of(native)):
            detail, rest = _sealed(part)
        else:
            detail, rest = _detail(part), part
        said["details"] = [detail]
        if options and "providerOptions" in rest:
            said[options] = rest["providerOptions"]
        return said

    keys = ("type", "reasoning", "text", "details") + ((options,) if options else ())
    return Kind("reasoning", "reasoning", (Joint(keys, ("text", "providerOptions"), decode, encode),))


def _seals(detail: Part) -> dict[str, str]:
    """The seals of a detail, by the options that they are read as."""
    seals = {}
    for key, option in _SEALS.items():
        if isinstance(seal := detail.get(key), str):
            seals[option] = seal
    return seals


def _is_sealed(detail: Any) -> bool:
    return isinstance(detail, dict) and any(key in detail for key in _SEALS)


def _texts(details: list[Any]) -> Iterator[str]:
    return (text for each in details if isinstance(text := value_at(each, ("text",)), str))


def _detail(part: Part) -> Part:
    redacted = value_at(part, ("providerOptions", "anthropic", "redactedData"))
    if isinstance(redacted, str):
        return {"type": "redacted", "data": redacted}
    text = part.get("text")
    return {"type": "text", "text": text if isinstance(text, str) else ""}


def _sealed(part: Part) -> tuple[Part, Part]:
    """The detail of a part with its seal, and the part without it."""
    detail = _detail(part)
    for key, option in _SEALS.items():
        place = ("providerOptions", "anthropic", option)
        seal = value_at(part, place)
        if isinstance(seal, str) and (key == "data") == (detail["type"] == "redacted"):
            return {**detail, key: seal}, without_path(part, place, prune=True)
    return detail, part


def bare_data(data: Any) -> Any:
    """The base64 text of a data URL; any other data as it is."""
    found = from_url(data, "") if isinstance(data, str) and data.startswith("data:") else None
    return found["data"] if found else data


def file_url() -> Joint:
    """A file by `url`, which may be a data URL, with its `mediaType`."""

    def decode(native: Part, links: Links) -> Mapping[str, Any]:
        media = {"mediaType": native["mediaType"]} if "mediaType" in native else {}
        return {"data": bare_data(native["url"]), **media}

    def encode(part: Part, native: Part, writer: Writer) -> Mapping[str, Any]:
        data, media = part.get("data"), part.get("mediaType")
        whole = not isinstance(data, str) or is_web_url(data) or ":" in data
        return {"url": data if whole else f"data:{media};base64,{data}", "mediaType": media}

    return Joint(("url", "mediaType"), ("data", "mediaType"), decode, encode)
