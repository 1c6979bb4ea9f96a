"""The rules that concern a model → what to run, in order: fused passes and interpreted rules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby

from historycompat.ruleset import Rule
from historycompat.runtime.fuse import Pass, fuse, fusible
from historycompat.runtime.screen import Screen


@dataclass(frozen=True, slots=True)
class Segment:
    """Neighbouring rules: one fused pass where they have one, else the interpreter's, behind a screen."""

    rules: tuple[Rule, ...]
    fused: Pass | None
    screen: Screen


@dataclass(frozen=True, slots=True)
class Plan:
    """The rules of a phase for a model: canonical ones (whole and in segments), then those of each wire format."""

    canonical: tuple[Rule, ...]
    segments: tuple[Segment, ...]
    wire: Mapping[str, Screen]

    def __bool__(self) -> bool:
        return bool(self.canonical or self.wire)


def plan(rules: Iterable[Rule]) -> Plan:
    """A plan for rules that are already known to concern the model."""
    rules = tuple(rules)
    canonical = tuple(rule for rule in rules if rule.meaning.format is None)
    wire: dict[str, list[Rule]] = {}
    for rule in rules:
        if rule.meaning.format is not None:
            wire.setdefault(rule.meaning.format, []).append(rule)
    segments = []
    for fused, group in groupby(canonical, fusible):
        members = tuple(group)
        segments.append(Segment(members, fuse(members) if fused else None, Screen(members)))
    return Plan(canonical, tuple(segments), {name: Screen(members) for name, members in wire.items()})
