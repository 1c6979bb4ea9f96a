"""Outcome → the account that a person reads: what was wrong, what was changed, what is left."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from typing import Any

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from historycompat.cli.differences import Change
from historycompat.cli.screen import console, count, one_line, say, visible
from historycompat.edits import Pointer
from historycompat.models.normalise import normalise
from historycompat.models.patterns import known_providers, named_providers, near_provider
from historycompat.ruleset import Rule
from historycompat.rulesets import Ruleset
from historycompat.runtime.outcome import Outcome

_ROWS = 20  # changes of one rule
_PLACE = 44  # columns of a place, at most
_MARGIN = 4  # columns around the two of the table
_LINES = 2  # lines of a value
_LEAD = 20  # characters of a long text in front of where it changed

Chapter = tuple[Rule, Sequence[Change]]


def unknown_provider(model: str, ruleset: Ruleset) -> str:
    """That a model names no provider which anyone knows, these rules included; empty where one does."""
    named = named_providers(pattern for rule in ruleset for pattern in rule.meaning.models)
    chain = next((ref.chain for ref in normalise(model)), ())
    if (known_providers() | named).intersection(chain):
        return ""
    hint = near_provider(chain[0] if chain else model.partition("/")[0])
    known = f"names no provider that the rules know{f' ({hint})' if hint else ''}"
    return f"note: {visible(model)} {known}; only the rules for every provider look at it"


def show_unknown_provider(model: str, ruleset: Ruleset) -> None:
    """The same, and where to see the rules that are left."""
    if note := unknown_provider(model, ruleset):
        say(f"{note}: historycompat rules --model {visible(shlex.quote(model))}\n")


def show_changes(chapters: Sequence[Chapter]) -> None:
    """For each rule its name and reason, then a table: place, before → after."""
    places = [_place(change).cell_len for _, changes in chapters for change in changes[:_ROWS]]
    width = min(max(places, default=0), _PLACE, console().width // 2)
    for rule, changes in chapters:
        lossy = "" if rule.meaning.safety == "safe" else f", {rule.meaning.safety}"
        title = Text.assemble((rule.name, "bold cyan"), f"  {count(len(changes), 'change')}", (lossy, "yellow"))
        why = Text(one_line(rule.meaning.because), "dim")
        say(title, *([Padding.indent(why, 2)] if why else []), Padding.indent(_table(changes, width), 2))
        if len(changes) > _ROWS:
            say(Padding.indent(Text(f"… and {len(changes) - _ROWS:,} more, which --diff shows", "dim"), 2))
        say("")


def _table(changes: Sequence[Change], width: int) -> Table:
    room = max(console().width - width - _MARGIN, 8)
    table = Table(box=None, header_style="dim", pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("place", width=width, overflow="fold")
    table.add_column("before → after", overflow="fold")
    for change in changes[:_ROWS]:
        table.add_row(_place(change), _effect(change, room))
    return table


def _place(change: Change) -> Text:
    role = f"  {visible(change.role)}" if change.role else ""
    return Text.assemble((dotted(change.path), "magenta"), (role, "dim"))


def dotted(path: Pointer) -> str:
    """The way to a place as providers write it in their errors: `messages[1].content[0].id`."""
    steps = "".join(f"[{step}]" if isinstance(step, int) else f".{visible(step)}" for step in path)
    return steps.removeprefix(".")


def _path(pointer: str) -> Pointer:
    return tuple(int(step) if step.isdecimal() else step for step in pointer.split("/")[1:])


def _effect(change: Change, room: int) -> Text:
    if change.op == "add":
        return _whole("added ", change.after, "green", room)
    if change.op == "remove":
        return _whole("removed ", change.before, "red", room)
    before, after = _json(change.before), _json(change.after)
    if len(before) + len(after) + 3 <= room:
        return Text.assemble((before, "red"), " → ", (after, "green"))
    long = max(len(before), len(after)) + 2 > room * _LINES
    start = max(_first_difference(before, after) - _LEAD, 0) if long else 0
    was, now = (_cut(f"…{text[start:]}" if start else text, room * _LINES - 2) for text in (before, after))
    return Text.assemble((was, "red"), "\n→ ", (now, "green"))


def _whole(verb: str, value: Any, style: str, room: int) -> Text:
    return Text.assemble((verb, "dim"), (_cut(_json(value), room * _LINES - len(verb)), style))


def _first_difference(before: str, after: str) -> int:
    return next((at for at, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), len(before))


def _cut(text: str, room: int) -> str:
    return text if len(text) <= room else f"{text[: room - 1]}…"


def _json(value: Any) -> str:
    return visible(json.dumps(value, ensure_ascii=False))


def as_data(outcome: Outcome) -> dict[str, Any]:
    """An outcome as one JSON object: the account with every record, then the history."""
    return {
        "format": outcome.format,
        "changed": outcome.changed,
        "first_edit": outcome.first_edit,
        "trace": [
            {
                "rule": record.rule,
                "statement": record.statement,
                "place": str(record.place),
                "op": record.op,
                "pointer": record.pointer,
                "before": record.before,
                "after": record.after,
            }
            for record in outcome.trace
        ],
        "reports": [{"rule": r.rule, "pointer": r.finding.pointer, "text": r.finding.text} for r in outcome.reports],
        "faults": [
            {"rule": f.rule, "place": str(f.place), "pointer": f.pointer, "reason": f.reason} for f in outcome.faults
        ],
        "notes": list(outcome.notes),
        "messages": outcome.messages,
    }


def show_rest(outcome: Outcome) -> None:
    """What no rule could mend, rules that failed, and notes."""
    for report in outcome.reports:
        place = dotted(report.finding.path) or "the request"
        say(Text.assemble((f"{report.rule}: ", "bold yellow"), f"{place}: {visible(report.finding.text)}"))
    for fault in outcome.faults:
        where = f" at {dotted(_path(fault.pointer))}" if fault.pointer else ""
        say(
            Text.assemble((f"{fault.rule}: ", "bold red"), f"failed{where}, and what it did was undone: {fault.reason}")
        )
        say(Padding.indent(Text(visible(f"{fault.place}: {fault.statement}"), "dim"), 2))
    for note in outcome.notes:
        say(Text(f"note: {visible(note)}", "dim"))


def show_summary(outcome: Outcome, model: str, rules: int, *, guessed: bool) -> None:
    """The whole in a sentence. `rules` is how many looked at the history; `guessed` says that it may well be in
    another format than the one it was read as."""
    left = len(outcome.reports) + len(outcome.faults)
    rest = f" {count(left, 'finding')} left, which no rule could mend." if left else ""
    style = "yellow" if left else "green"
    guess = ", a guess that --format overrides" if guessed else ""
    if outcome.changed:
        done = f"Repaired for {visible(model)} by {count(len(outcome.rules), 'rule')}; read as {outcome.format}{guess}."
    else:
        what = "Nothing was changed" if left else "Nothing to repair"
        done = f"{what}: {count(rules, 'rule')} for {visible(model)}; read as {outcome.format}{guess}."
    say(Text(done + rest, style))
