"""The rules that concern a model → what to run, in order: fused passes and interpreted rules."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

from historycompat.ruleset import Rule
from historycompat.runtime.fuse import Pass, fuse, fusible


@dataclass(frozen=True, slots=True)
class Segment:
    """Neighbouring rules: one fused pass where they have one, else the interpreter's."""

    rules: tuple[Rule, ...]
    fused: Pass | None


@dataclass(frozen=True, slots=True)
class Plan:
    """The rules of a phase for a model: canonical ones (whole and in segments), then those of wire formats."""

    canonical: tuple[Rule, ...]
    segments: tuple[Segment, ...]
    wire: tuple[Rule, ...]

    def __bool__(self) -> bool:
        return bool(self.canonical or self.wire)

    def for_format(self, name: str) -> tuple[Rule, ...]:
        """The wire-shape rules of a format."""
        return tuple(rule for rule in self.wire if rule.meaning.format == name)


def plan(rules: Iterable[Rule]) -> Plan:
    """A plan for rules that are already known to concern the model."""
    rules = tuple(rules)
    canonical = tuple(rule for rule in rules if rule.meaning.format is None)
    wire = tuple(rule for rule in rules if rule.meaning.format is not None)
    segments = []
    for fused, group in groupby(canonical, fusible):
        members = tuple(group)
        segments.append(Segment(members, fuse(members) if fused else None))
    return Plan(canonical, tuple(segments), wire)
