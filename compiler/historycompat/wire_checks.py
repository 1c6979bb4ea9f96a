"""E502 and E203 for wire-shape rules: formats that are not there, targets and keys that their shapes do not have."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from historycompat import tree
from historycompat.errors import Complaint, did_you_mean
from historycompat.formats import FORMATS
from historycompat.view import Shape
from historycompat.wire_fields import field_complaints


def wire_complaints(pack: tree.Pack) -> Iterator[Complaint]:
    """What only the table of formats can tell about the rules of a pack."""
    for rule in pack.rules:
        if rule.format is None:
            continue
        if rule.format not in FORMATS:
            hint = did_you_mean(rule.format, FORMATS) or f"the formats are {', '.join(FORMATS)}"
            place = rule.spans.get("format", rule.span)
            yield Complaint("E502", f"there is no message format {rule.format!r}", place, hint, rule.name)
            continue
        for statement in rule.do:
            yield from _unmapped(statement, rule, FORMATS[rule.format].shape)
        yield from (replace(complaint, rule=rule.name) for complaint in field_complaints(rule))


def _unmapped(statement: tree.Statement, rule: tree.Rule, shape: Shape) -> Iterator[Complaint]:
    held = {"call": shape.calls, "result": shape.results}
    for target in (statement.target, statement.args.get("anchor")):
        if isinstance(target, tree.Target) and not held.get(target.kind, True):
            yield Complaint(
                "E502",
                f"{rule.format} does not say where its {target.kind}s stand",
                target.span or statement.span,
                "name the place with a path target: path messages[*]...",
                rule.name,
            )
