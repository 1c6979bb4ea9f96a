"""The model patterns of a rule → a test of normalised models, or what is wrong with them."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Sequence

from historycompat.errors import did_you_mean
from historycompat.models.names import family_of
from historycompat.models.normalise import ModelRef, Version
from historycompat.models.providers import ALIASES, HOSTS, MAKERS
from historycompat.tree import ModelPattern


def known_providers() -> frozenset[str]:
    """Every name of a provider that a pattern may use, other spellings included."""
    return frozenset(ALIASES)


def named_providers(patterns: Iterable[ModelPattern]) -> frozenset[str]:
    """Every provider that patterns name, known or not, as it is written there."""
    return frozenset(provider for pattern in patterns for provider in _parts(pattern.text)[1])


def near_provider(name: str) -> str | None:
    """A suggestion for a provider that nobody knows; None where no known one is written nearly so."""
    return did_you_mean(name, ALIASES, cutoff=0.8)


_SIGNS: dict[str, Callable[[Version, Version], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}


def matcher(patterns: Sequence[ModelPattern]) -> Callable[[tuple[ModelRef, ...]], bool]:
    """A test of normalised models: one reference must match a pattern without `not`, if there are any, and none with.

    An unknown model, `()`, matches only where no pattern asks for something.
    """
    wanted = [_test(pattern) for pattern in patterns if not pattern.negated]
    unwanted = [_test(pattern) for pattern in patterns if pattern.negated]

    def concerns(ref: ModelRef) -> bool:
        return (not wanted or any(test(ref) for test in wanted)) and not any(test(ref) for test in unwanted)

    return lambda refs: any(map(concerns, refs)) if refs else not wanted


def _test(pattern: ModelPattern) -> Callable[[ModelRef], bool]:
    direct, providers, name = _parts(pattern.text)
    links = tuple(link for provider in providers if provider != "*" for link in ALIASES.get(provider, (provider,)))
    first, *others = name.replace(".", "-").split("*")
    bounds = [(_SIGNS[sign], _version(text)) for sign, text in pattern.bounds]
    only_lower = all(sign.startswith(">") for sign, _ in pattern.bounds)

    def within(version: Version | None) -> bool:
        if version is None:
            return only_lower
        return all(holds(_significant(version), bound) for holds, bound in bounds)

    def test(ref: ModelRef) -> bool:
        return _travels(ref.chain, links, direct) and any(
            _begins(written, first, others) and within(version) for written, version in ref.readings()
        )

    return test


def _parts(text: str) -> tuple[bool, list[str], str]:
    """Whether the pattern asks for a direct call, its providers, and the beginning of its model names."""
    *providers, name = text.lower().removeprefix("^").split("/")
    return text.startswith("^"), providers, name


def _travels(chain: tuple[str, ...], links: tuple[str, ...], direct: bool) -> bool:
    starts = 1 if direct else len(chain) - len(links) + 1
    return any(chain[at : at + len(links)] == links for at in range(starts))


def _begins(written: str, first: str, others: list[str]) -> bool:
    """Whether a name begins with the parts of a glob, in their order."""
    if not written.startswith(first):
        return False
    at = len(first)
    for part in others:
        found = written.find(part, at)
        if found < 0:
            return False
        at = found + len(part)
    return True


def _version(text: str) -> Version:
    return _significant(tuple(int(part) for part in text.split(".")))


def _significant(version: Version) -> Version:
    """A version without trailing zeros: 4.0 is 4."""
    while version and version[-1] == 0:
        version = version[:-1]
    return version


def pattern_problem(pattern: ModelPattern) -> tuple[str, str | None] | None:
    """What is wrong with a pattern, and what to write instead; None where nothing is."""
    direct, providers, name = _parts(pattern.text)
    if not providers or "" in providers:
        return "a model pattern begins with a provider and '/'", f'write "{_with_provider(name, direct)}"'
    if any("*" in provider and provider != "*" for provider in providers) or (len(providers) > 1 and "*" in providers):
        return "a provider is written in full", "'*' stands inside a model's name, or for every provider: '*/gpt-oss'"
    if direct and providers == ["*"]:
        return "'^' asks for a provider's own API, and '*' names none", f'write "*/{name}"'
    return _bounds_problem(pattern.bounds)


def _with_provider(name: str, direct: bool) -> str:
    """A pattern for what stands alone: a provider, or the beginning of a model's name."""
    family = family_of(name)
    if name in MAKERS or name in HOSTS or not name:
        text = f"{name or 'anthropic'}/"
    elif name in ALIASES and not family:
        text = f"{'/'.join(ALIASES[name])}/"
    else:
        text = f"{family[0].maker if family else '*'}/{name}"
    return f"{'^' * (direct and text[0] != '*')}{text}"


def with_provider(pattern: ModelPattern) -> str | None:
    """The text of a pattern that names a provider or a known family alone, as it is surely meant."""
    direct, providers, name = _parts(pattern.text)
    text = "" if providers or not name else _with_provider(name, direct)
    return text if text[:1] not in ("", "*") else None


def _bounds_problem(bounds: tuple[tuple[str, str], ...]) -> tuple[str, str | None] | None:
    for sign, text in bounds:
        if sign not in _SIGNS:
            return f"{sign!r} compares no versions", "write >=, >, <= or <"
        if not re.fullmatch(r"[0-9]{1,4}(?:\.[0-9]{1,4})*", text):
            return f"{text!r} is no version", "a version is numbers with dots: 4.6"
    lower = [bound for bound in bounds if bound[0].startswith(">")]
    upper = [bound for bound in bounds if bound[0].startswith("<")]
    if len(lower) > 1 or len(upper) > 1:
        return "two bounds on the same side", "one of >= and >, and one of < and <="
    if lower and upper and _nothing_between(lower[0], upper[0]):
        return f"no version is {' '.join(lower[0])} and {' '.join(upper[0])}", "exchange the bounds"
    return None


def _nothing_between(lower: tuple[str, str], upper: tuple[str, str]) -> bool:
    low, high = _version(lower[1]), _version(upper[1])
    return low > high or (low == high and (lower[0], upper[0]) != (">=", "<="))


def unknown_provider(pattern: ModelPattern) -> str | None:
    """What to write for the first provider of a pattern that nobody knows; None where all are known."""
    for provider in _parts(pattern.text)[1]:
        if provider not in ALIASES and provider not in ("", "*"):
            alone = f'"{provider}/" matches only a host that calls itself so'
            hint = near_provider(provider)
            return hint or f"{alone}; if yours does, say so above the rule: # allow: W402 reason"
    return None
