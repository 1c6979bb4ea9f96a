"""A model name and patterns → whether a refusal concerns that model."""

from __future__ import annotations

import operator
import re
from collections.abc import Iterable
from functools import cache

Version = tuple[int, int]

_REGION = re.compile(r"^(?:us|eu|apac|jp|au|ca|global|us-gov)\.")
_BOUND = re.compile(r"(>=|<)(\d+)(?:\.(\d+))?")
_COMPARE = {">=": operator.ge, "<": operator.lt}


@cache
def version(name: str) -> Version | None:
    """`claude-opus-4-6-20260101` is (4, 6), `gemini-3.1-pro` (3, 1); numbers of more than two digits are dates or sizes."""
    words = re.split(r"[-.@:_ /]", name)
    for index, word in enumerate(words):
        if re.fullmatch(r"v?\d{1,2}", word):
            minor = words[index + 1] if index + 1 < len(words) else ""
            return int(word.lstrip("v")), int(minor) if re.fullmatch(r"\d{1,2}", minor) else 0
    return None


@cache
def spellings(model: str) -> tuple[str, ...]:
    """The name as given, without a routing path, without an AWS region, without an AWS vendor."""
    name = model.lower()
    short = name.rsplit("/", 1)[-1]
    regionless = _REGION.sub("", short)
    vendorless = re.sub(r"^[a-z]+[a-z0-9-]*\.(?=[a-z])", "", regionless)
    return tuple(dict.fromkeys((name, short, regionless, vendorless)))


def matches(model: str, patterns: Iterable[str]) -> bool:
    """Whether any pattern holds: a prefix (`claude-`, `amazon.nova`), with bounds (`claude>=4.6<5`) or `*`.

    A name whose version cannot be read satisfies lower bounds only: it is taken for the newest."""
    return any(_matches(model, pattern) for pattern in patterns)


@cache
def _matches(model: str, pattern: str) -> bool:
    prefix = _BOUND.split(pattern, maxsplit=1)[0]
    for name in spellings(model):
        if pattern == "*" or name.startswith(prefix):
            return all(_within(name, *bound) for bound in _BOUND.findall(pattern))
    return False


def _within(name: str, compare: str, major: str, minor: str) -> bool:
    found = version(name)
    if found is None:
        return compare == ">="
    return bool(_COMPARE[compare](found, (int(major), int(minor or 0))))
