"""The host's model → normalised references."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from historycompat.models.families import MAIN_LINE
from historycompat.models.names import (
    distinct,
    family_of,
    links_of_id,
    links_of_provider,
    version_of,
    with_maker,
    without_date,
    without_variant,
)

# Model ids may be a user's input: what lies behind these limits is not read.
_LONGEST = 512
_MOST_ENTRIES = 1000

Version = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ModelRef:
    """A model as rules see it; names are lower case, what is not known is None.

    `chain` is how the request travels, route first and maker last: `("bedrock", "anthropic")`. `provider` is the
    provider field as the host wrote it, or the route. `name` has no route, region, variant, revision or date.
    `written` is what patterns are compared with: the name with its date, and the same from its family's word on
    (`my-claude-prod`, `claude-prod`); dots are dashes there, since `4.6` and `4-6` are one version. `counts_as` is the
    main line of the maker where the name itself says nothing, as a tuned model's.
    """

    chain: tuple[str, ...]
    provider: str | None
    vendor: str | None
    name: str | None
    version: Version | None
    written: tuple[str, ...] = ("",)
    counts_as: str | None = None

    def facts(self) -> dict[str, Any]:
        """What a rule reads as `$model`."""
        return {
            "chain": list(self.chain),
            "provider": self.provider,
            "vendor": self.vendor,
            "name": self.name,
            "version": ".".join(map(str, self.version)) if self.version else None,
        }

    def readings(self) -> Iterator[tuple[str, Version | None]]:
        """The names that patterns may match, each with the version to compare."""
        for name in self.written:
            yield name, self.version
        if self.counts_as:
            yield self.counts_as, None


_UNKNOWN = ModelRef((), None, None, None, None)


def facts_of(refs: Sequence[ModelRef]) -> dict[str, Any]:
    """What rules read as `$model`: the first of several fallbacks, and the first provider field that the host wrote."""
    facts = (refs[0] if refs else _UNKNOWN).facts()
    return facts | {"provider": next((ref.provider for ref in refs if ref.provider), None)}


def normalise(model: Any) -> tuple[ModelRef, ...]:
    """The references that a host's model stands for, equal ones once; () where it says nothing. Never raises.

    A model is a string, an object or mapping with `provider` and `modelId` (or `model_id`), or a list of fallbacks,
    whose entries may be `{"model": ...}`. Anything else is an unknown model.
    """
    return tuple(dict.fromkeys(_read(*source) for source in _sources(model)))


def cache_key(model: Any) -> Hashable:
    """A key for caches: models with equal keys have equal references. A string is its own key."""
    return model if type(model) is str and len(model) <= _LONGEST else _sources(model)


def _sources(model: Any) -> tuple[tuple[str | None, str | None], ...]:
    """The provider field and model id of each fallback."""
    try:
        return tuple(source for source in _each_source(model) if any(source))
    except Exception:  # an unbound proxy, say, raises when it is asked what it is
        return ()


def _each_source(model: Any) -> Iterator[tuple[str | None, str | None]]:
    waiting = [model]
    for _ in range(_MOST_ENTRIES):
        if not waiting:
            return
        entry = waiting.pop()
        if isinstance(entry, str):
            yield None, entry[:_LONGEST]
        elif isinstance(entry, list | tuple):
            waiting += [_fallback(item) for item in reversed(entry[:_MOST_ENTRIES])]
        else:
            yield _text(entry, "provider"), _text(entry, "modelId") or _text(entry, "model_id")


def _fallback(item: Any) -> Any:
    inner = None if isinstance(item, str | list | tuple) else _field(item, "model")
    return item if inner is None else inner


def _text(holder: Any, key: str) -> str | None:
    value = _field(holder, key)
    return value[:_LONGEST] or None if isinstance(value, str) else None


def _field(holder: Any, key: str) -> Any:
    try:
        return holder.get(key) if isinstance(holder, Mapping) else getattr(holder, key, None)
    except Exception:  # a host's property may raise anything; then this object does not say
        return None


@lru_cache(maxsize=1024)
def _read(provider: str | None, model_id: str | None) -> ModelRef:
    before = links_of_provider(provider.lower()) if provider else ()
    links, text, hidden = links_of_id((model_id or "").lower(), before)
    family, start, end = family_of(text) or (None, 0, 0)
    links = distinct(before + links)
    chain, vendor = (links, None) if hidden else with_maker(links, family)
    written = without_variant(text, chain)
    main = family.counts_as if family else MAIN_LINE.get(vendor or "")
    return ModelRef(
        chain=chain,
        provider=provider,
        vendor=vendor,
        name=without_date(written) or None,
        version=version_of(text, family, end) if family else None,
        written=tuple(dict.fromkeys(name.replace(".", "-") for name in (written, written[start:]))),
        counts_as=main if vendor else None,
    )
