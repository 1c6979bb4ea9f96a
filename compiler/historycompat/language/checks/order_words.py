"""Findings of two statements that work against each other → W601, W602 and W603 in words."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

from historycompat.errors import Complaint
from historycompat.language.checks.acts import Act
from historycompat.language.checks.histories import Json
from historycompat.language.checks.order import Finding, Trial

# Of many rules that one statement makes work for, so many are named.
_MOST_NAMED = 3


def order_complaints(trial: Trial) -> Iterator[Complaint]:
    """W601, W602 and W603, each at the later of two statements."""
    for later, group in groupby(trial.findings(), key=lambda finding: finding.later):
        for findings in _told_together(list(group)):
            finding = findings[0]
            message, hint = _WORDS[finding.code]
            if finding.code == "W603" and finding.earlier.entry.compiled:
                hint = _KEEPS if all(_empties(f, trial) for f in findings) else _BEHIND
            mine, theirs = map(_short, finding.values or ("", ""))
            text = (
                message.format(other=_all_named(findings), mine=mine, theirs=theirs) + f"; seen with {_sketch(finding)}"
            )
            yield Complaint(finding.code, text, later.written.span, hint, later.entry.written.name)


def _told_together(found: list[Finding]) -> Iterable[list[Finding]]:
    """What is found of one statement, a complaint each. Compiled rules that it concerns in the same way are one."""
    opposed = {finding.earlier.entry for finding in found if finding.code != "W603"}
    groups: dict[str | int, list[Finding]] = {}
    for number, finding in enumerate(found):
        compiled = finding.earlier.entry.compiled is not None
        if not (compiled and finding.code == "W603" and finding.earlier.entry in opposed):
            groups.setdefault(finding.code if compiled and finding.code != "W601" else number, []).append(finding)
    return groups.values()


def _empties(finding: Finding, trial: Trial) -> bool:
    """Whether the work comes of a message that goes with its last part, and nobody said that it should."""
    act, rehearsal = finding.later, trial.rehearsal(finding.stage)
    before = rehearsal.run(finding.earlier, finding.history)
    gone = len(rehearsal.run(act, before)["messages"]) < len(before["messages"])
    said = {"on_empty", "fill"} & act.written.args.keys()
    return gone and act.meaning.verb == "drop" and act.meaning.target.kind == "part" and not said


_APART = "keep one of them, or give them models or conditions that exclude each other"
_BEHIND = (
    "let this pack run first: load_rules(..).extend(Ruleset.builtin()), or let a condition (`where`) keep it from that;"
    " if nothing is left undone, say why: # allow: W603 reason"
)
_KEEPS = f'keep the message that loses its last part: on_empty fill "(left out)"; or {_BEHIND}'
_WORDS = {
    "W601": ("this writes {theirs} where {other} writes {mine}, at every run", _APART),
    "W602": ("this and {other} undo each other, at every run", _APART),
    "W603": (
        "this makes new work for {other}, whose turn is over by then",
        "put this before that one; if nothing is left undone, say why: # allow: W603 reason",
    ),
}


def _short(value: Any) -> str:
    text = f"'{value}'" if isinstance(value, str) else json.dumps(value, default=str)
    return text if len(text) <= 40 else f"{text[:36]}..."


def _all_named(findings: list[Finding]) -> str:
    names = list({f.earlier.entry: named(f.earlier, f.later) for f in findings}.values())
    more = len(names) - _MOST_NAMED
    *some, last = [*names[:_MOST_NAMED], *([f"{more} more"] if more > 0 else [])]
    return f"{', '.join(some)} and {last}" if some else last


def named(act: Act, beside: Act) -> str:
    """A statement by its words, or by the name and place of its rule where that is another one."""
    if act.entry is beside.entry:
        return f"`{act.meaning.text}`"
    place = act.meaning.place
    line = f"line {place.line}" if act.entry.pack is beside.entry.pack else f"{place.file}:{place.line}"
    return f"{act.entry.written.name} ({line})"


def _sketch(finding: Finding) -> str:
    """A history in a few words, as `user, assistant (reasoning)`, and its model where the rules name different ones."""
    messages = ", ".join(map(_message_sketch, finding.history["messages"])) or "an empty history"
    met = {act.entry.written.models for act in (finding.earlier, finding.later)}
    ref = finding.stage.refs[0]
    model = "/".join([*ref.chain, *filter(None, [ref.name])])
    return f"{messages} for {model}" if len(met) > 1 else messages


def _message_sketch(message: Json) -> str:
    content = message.get("content")
    if content == [{"type": "text", "text": "hello"}] or (isinstance(content, str) and content.strip()):
        return str(message.get("role"))
    parts = [_part_sketch(part) for part in content] if isinstance(content, list) else ["nothing"]
    return f"{message.get('role')} ({', '.join(parts) or 'nothing'})"


def _part_sketch(part: Json) -> str:
    blank = part.get("type") == "text" and isinstance(part.get("text"), str) and not part["text"].strip()
    return "empty text" if blank else str(part.get("type"))
