"""Provider field and model id → the chain in front of a name, the name, its family and its version."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from historycompat.models.families import DATE, FAMILIES, MAIN_LINE, READ_AS, REVISION, VARIANT, Family
from historycompat.models.providers import (
    ALIASES,
    APIS,
    CLOSED,
    DEFAULT_MAKER,
    DOTTED,
    DOTTED_HOSTS,
    HOSTS,
    LIBRARIES,
    MAKERS,
    REGION,
    SHAPES,
    TAG,
    WRAPPINGS,
)

# More links than this lead no real id to its model.
_MOST_LINKS = 8

_WORD = re.compile(r"[a-z]+\d*")
_SEPARATOR = re.compile(r"[/:]")


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """A pattern of the data tables, compiled when it is first needed: most programs see few kinds of id."""
    return re.compile(pattern)


def links_of_provider(field: str) -> tuple[str, ...]:
    """The links that a provider field stands for: `anthropic.messages`, `vertex.anthropic.messages`, `azure`."""
    if field in ALIASES:
        return ALIASES[field]
    for name, shape in SHAPES.items():
        if field.startswith(name):
            return (name,) if _compiled(shape).fullmatch(field) else (field,)
    first, *others = field.split(".")
    if others and (pair := ALIASES.get(f"{first}.{others[0]}")):
        return pair
    links = _shortened(first)
    return (*links, *(link for other in others for link in ALIASES.get(other, ()))) if links else (first,)


def _shortened(name: str) -> tuple[str, ...]:
    """The links of a name or of what it begins with: `zai-coding-plan-2` is zai's."""
    while name not in ALIASES:
        name, dash, _ = name.rpartition("-")
        if not dash:
            return ()
    return ALIASES[name]


def links_of_id(text: str, before: tuple[str, ...]) -> tuple[tuple[str, ...], str, bool]:
    """The links in front of a name, the name, and whether somebody unknown stands in front of it.

    `before` are the links that the provider field gave. What an unknown provider says is not read: it is no gateway.
    """
    links: tuple[str, ...] = ()
    for _ in range(_MOST_LINKS):
        mark = _SEPARATOR.search(text)
        if not mark:
            break
        head, rest = text[: mark.start()], text[mark.end() :]
        route = before + links
        if found := _unwrapped(head, text, fallback=not route) or _known(head, mark[0], rest):
            links, text = links + found[0], found[1]
        elif mark[0] == ":" and (route or _is_name(head, rest, text)):
            break
        elif not route:
            return ((head,) if head else ()), rest, True
        elif not head or head in APIS or _compiled(REGION).fullmatch(head):
            text = rest
        elif route[-1] in HOSTS:
            links, text = (*links, head), rest
        else:
            break
    return _dotted(text, links, before)


def _is_name(head: str, rest: str, text: str) -> bool:
    """Whether `head:rest` is a model with a tag, variant or revision, not a provider and its model."""
    return bool(_compiled(TAG).match(rest) or family_of(head) or _compiled(DOTTED).fullmatch(text))


def _known(head: str, mark: str, rest: str) -> tuple[tuple[str, ...], str] | None:
    """The links of a known provider, unless it is a local model with its tag: `mistral:7b`."""
    if (head not in ALIASES and head not in LIBRARIES) or (mark == ":" and _compiled(TAG).match(rest)):
        return None
    return ALIASES.get(head, ()), rest


def _unwrapped(head: str, text: str, *, fallback: bool) -> tuple[tuple[str, ...], str] | None:
    wrapping = WRAPPINGS.get(head)
    found = _compiled(wrapping.regex).fullmatch(text) if wrapping else None
    if not wrapping or not found:
        return None
    return wrapping.links if fallback or not wrapping.fallback else (), found.expand(wrapping.keep)


def _dotted(text: str, links: tuple[str, ...], before: tuple[str, ...]) -> tuple[tuple[str, ...], str, bool]:
    found = _compiled(DOTTED).fullmatch(text) if "." in text else None
    if not found:
        return links, text, False
    route = () if any(host in DOTTED_HOSTS for host in (*before, *links)) else DOTTED_HOSTS[:1]
    makers = ALIASES.get(found[1], (found[1],))
    name = found[2]
    line = MAIN_LINE.get(makers[-1])
    if line and not family_of(name):  # deepseek.r1-v1:0
        name = f"{line}-{name}"
    return (*links, *route, *makers), name, False


def distinct(chain: tuple[str, ...]) -> tuple[str, ...]:
    """Each link once, where it stands last, and none that the first link is closed to."""
    closed = CLOSED.get(chain[0], frozenset()) if chain else frozenset()
    return tuple(link for at, link in enumerate(chain) if link not in closed and link not in chain[at + 1 :])


def with_maker(chain: tuple[str, ...], family: Family | None) -> tuple[tuple[str, ...], str | None]:
    """The chain with the maker of the model at its end, and the maker where one is known.

    Behind a host the name tells; in front of a maker's own API a foreign name tells nothing.
    """
    told = family.maker if family else None
    last = chain[-1] if chain else ""
    if not chain or last in HOSTS:
        maker = told or DEFAULT_MAKER.get(last)
        return (distinct((*chain, maker)), maker) if maker else (chain, None)
    if any(link in HOSTS for link in chain[:-1]):
        maker = last if last in MAKERS else told or last
        return (*chain[:-1], maker), maker
    if last in DEFAULT_MAKER:
        last = DEFAULT_MAKER[last]
        chain = (*chain, last)
    return chain, last if last in MAKERS and told in (None, last) else None


def family_of(name: str) -> tuple[Family, int, int] | None:
    """The family that a word of the name tells, and where that word starts and ends."""
    for word in _WORD.finditer(name):
        letters = word[0].rstrip("0123456789")
        family = FAMILIES.get(word[0]) or FAMILIES.get(letters)
        if family and not (family.leads and word.start()):
            return family, word.start(), word.start() + len(letters)
    return None


def version_of(name: str, family: Family, end: int) -> tuple[int, ...] | None:
    """The version that stands behind the family's word."""
    found = _compiled(family.version).match(name, end) if family.version else None
    if not found:
        return None
    special = READ_AS.get((family.maker, found[1]))
    return special or tuple(int(part) for part in re.findall(r"\d+", found[1]))


def without_variant(name: str, links: Iterable[str]) -> str:
    """A name without `:free`, `[1m]` and, on Bedrock, without the revision `-v1:0`."""
    name = _compiled(VARIANT).sub("", name)
    revision = _compiled(REVISION).search(name) if "bedrock" in links else None
    if not revision:
        return name
    body = name[: revision.start()]
    return body if "-" in body else name.partition(":")[0]  # claude-v2:1 is no revision of a model named claude


def without_date(name: str) -> str:
    return _compiled(DATE).sub("", name)
