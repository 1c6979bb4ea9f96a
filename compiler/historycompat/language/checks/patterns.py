"""W403, and what two rules' model patterns say of each other: one covers the other, or some model concerns both."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import product

from historycompat import tree
from historycompat.errors import Complaint
from historycompat.models.families import MAIN_LINE
from historycompat.models.normalise import ModelRef, normalise
from historycompat.models.patterns import matcher, pattern_problem
from historycompat.models.providers import ALIASES, HOSTS, MAKERS
from historycompat.tree import ModelPattern

Patterns = tuple[ModelPattern, ...]
_Version = tuple[int, ...]

# Behind every version that anybody will give a model, and in front of it.
_HIGHEST, _LOWEST = (9999,), (0,)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a pattern asks for: `links` in a row somewhere in the chain (from its start if `direct`), a name that begins
    with `name`, and a version from `low` to `high`; `unread` says whether a name without a version will do."""

    links: tuple[str, ...]
    direct: bool
    name: str
    low: tuple[_Version, bool]
    high: tuple[_Version, bool]
    unread: bool


@lru_cache(maxsize=1024)
def _asked(pattern: ModelPattern) -> _Asked:
    *providers, name = pattern.text.lower().removeprefix("^").split("/")
    links = tuple(link for provider in providers if provider != "*" for link in ALIASES.get(provider, (provider,)))
    low: tuple[_Version, bool] = (_LOWEST, False)
    high: tuple[_Version, bool] = (_HIGHEST, False)
    for sign, text in pattern.bounds:
        bound = (_significant(text), len(sign) == 1)
        low, high = (bound, high) if sign[0] == ">" else (low, bound)
    unread = all(sign[0] == ">" for sign, _ in pattern.bounds)
    return _Asked(links, pattern.text.startswith("^"), name.replace(".", "-"), low, high, unread)


def _significant(text: str) -> _Version:
    parts = [int(part) for part in text.split(".")]
    while parts and parts[-1] == 0:
        parts.pop()
    return tuple(parts)


def covers(wide: ModelPattern, narrow: ModelPattern) -> bool:
    """Whether every model that the second pattern matches, the first one matches too; whatever `not` says."""
    one, other = _asked(wide), _asked(narrow)
    length = len(one.links)
    starts = [0] if one.direct else range(len(other.links) - length + 1)
    travels = any(other.links[at : at + length] == one.links for at in starts) and (other.direct or not one.direct)
    named = other.name.startswith(one.name) if "*" not in one.name else other.name == one.name
    # A tighter bound is one that begins later, or at the same version without it.
    within = one.low <= other.low and (other.high[0], not other.high[1]) <= (one.high[0], not one.high[1])
    return travels and named and within and (one.unread or not other.unread)


def _apart(one: ModelPattern, other: ModelPattern) -> bool:
    """Whether no model can match both patterns."""
    a, b = _asked(one), _asked(other)
    makers = {*a.links, *b.links} & MAKERS.keys() - HOSTS.keys()
    if len(makers) > 1 and not {*a.links, *b.links} - makers:
        return True
    # Names of two families may be one model's: some count as another family.
    family = a.name.split("-")[0] == b.name.split("-")[0] != ""
    if family and "*" not in a.name + b.name and not (a.name.startswith(b.name) or b.name.startswith(a.name)):
        return True
    if a.unread and b.unread:
        return False
    low, high = max(a.low, b.low), min(a.high, b.high, key=lambda bound: (bound[0], not bound[1]))
    return low[0] > high[0] or (low[0] == high[0] and (low[1] or high[1]))


def redundant_patterns(rule: tree.Rule, pack: tree.Pack) -> Iterator[Complaint]:
    """W403: patterns that change nothing, because another one says as much or takes all of it away."""
    wanted = [pattern for pattern in rule.models if not pattern.negated]
    unwanted = [pattern for pattern in rule.models if pattern.negated]
    for number, pattern in enumerate(wanted):
        if (taker := next((other for other in unwanted if covers(other, pattern)), None)) is not None:
            hint = "take one of the two away, or narrow what is taken away"
            yield _redundant(pattern, f"nothing is left of {written(pattern)}: {written(taker)} takes it away", hint)
        elif (wide := _covering(wanted, number)) is not None:
            yield _redundant(pattern, f"{written(wide)} matches all that {written(pattern)} does", "take it away")
    for number, pattern in enumerate(unwanted):
        if wanted and all(_apart(pattern, other) for other in wanted):
            message = f"{written(pattern)} takes nothing away from {' and '.join(map(written, wanted))}"
            yield _redundant(pattern, message, "take it away")
        elif (wide := _covering(unwanted, number)) is not None:
            yield _redundant(pattern, f"{written(wide)} takes away all that {written(pattern)} does", "take it away")


def _covering(patterns: Sequence[ModelPattern], number: int) -> ModelPattern | None:
    """Another pattern that covers the one with a number; of two equal ones the first is right."""
    own = patterns[number]
    for at, other in enumerate(patterns):
        if at != number and covers(other, own) and (at < number or not covers(own, other)):
            return other
    return None


def _redundant(pattern: ModelPattern, message: str, hint: str) -> Complaint:
    return Complaint("W403", message, pattern.span, hint)


def written(pattern: ModelPattern) -> str:
    bounds = "".join(f" {sign} {version}" for sign, version in pattern.bounds)
    return f"{'not ' * pattern.negated}{pattern.text}{bounds}"


# ----- two rules


def includes(wide: Patterns, narrow: Patterns) -> bool:
    """Whether a rule with the first patterns runs for every model that one with the second patterns runs for."""
    wanted = [pattern for pattern in narrow if not pattern.negated]
    given = [pattern for pattern in wide if not pattern.negated]
    if given and not (wanted and all(any(covers(one, pattern) for one in given) for pattern in wanted)):
        return False
    taken = [pattern for pattern in narrow if pattern.negated]
    return all(
        any(covers(other, pattern) for other in taken) or (wanted and all(_apart(pattern, one) for one in wanted))
        for pattern in wide
        if pattern.negated
    )


@lru_cache(maxsize=16_384)
def shared_model(one: Patterns, other: Patterns, hosts: Patterns = ()) -> tuple[ModelRef, ...] | None:
    """A model that both rules run for; None where none is found among the likely ones.

    Where `hosts` name any model, only routes along what they name are likely.
    """
    if _never_meet(one, other):
        return None
    routes = {link for pattern in hosts if not pattern.negated for link in _asked(pattern).links}
    first, second = _runs_for(one), _runs_for(other)
    for name in _likely(one, other):
        if first(name) and second(name) and (not routes or routes.issuperset(_read(name)[0].chain[:-1])):
            return _read(name)
    return None


_read = lru_cache(maxsize=4096)(normalise)


@lru_cache(maxsize=1024)
def _runs_for(patterns: Patterns) -> Callable[[str], bool]:
    """Whether a rule with some patterns runs for a model that is known."""
    test = matcher(patterns)
    return cache(lambda name: bool(_read(name)) and test(_read(name)))


def _never_meet(one: Patterns, other: Patterns) -> bool:
    wanted, given = ([pattern for pattern in patterns if not pattern.negated] for patterns in (one, other))
    return bool(wanted and given) and all(_apart(*both) for both in product(wanted, given))


def _likely(one: Patterns, other: Patterns) -> Iterator[str]:
    patterns = [pattern for pattern in (*one, *other) if not pattern.negated and not pattern_problem(pattern)]
    for pattern in patterns:
        yield from _names(pattern, ())
    for pattern, host in product(patterns, patterns):
        route, links = _asked(host).links, _asked(pattern).links
        if {*route} <= HOSTS.keys() and {*links} <= MAKERS.keys():
            yield from _names(pattern, route)
    yield from _USUAL


_USUAL = (*(f"{maker}/{line}" for maker, line in MAIN_LINE.items()), *(f"{host}/model" for host in HOSTS))


@lru_cache(maxsize=4096)
def _names(pattern: ModelPattern, before: tuple[str, ...]) -> tuple[str, ...]:
    """Models as a host writes them, with every version near the pattern's bounds."""
    asked = _asked(pattern)
    links = tuple(dict.fromkeys((*before, *asked.links)))
    name = asked.name.replace("*", "-x-") or MAIN_LINE.get(asked.links[-1] if asked.links else "", "model")
    near = [(bound, int(bound.split(".")[0])) for _, bound in pattern.bounds]
    versions = [text for bound, major in near for text in (bound, f"{bound}.1", f"{major}.99", str(max(major - 1, 1)))]
    suffixes = ("", *(f"-{version}" for version in versions))
    return tuple("/".join((*links, name + suffix.replace(".", "-"))) for suffix in suffixes)
