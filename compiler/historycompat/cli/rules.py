"""`historycompat rules`: the rules in force, for every model or for one."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table

from historycompat.cli.screen import console
from historycompat.ruleset import Rule
from historycompat.rulesets import Ruleset
from historycompat.models.normalise import normalise


def rules(
    model: Annotated[str | None, typer.Option("--model", "-m", help="Only the rules that concern this model.")] = None,
    files: Annotated[list[str] | None, typer.Option("--rules", "-r", help="A rule file to add; may be repeated.")] = None,
) -> None:
    """List rules in the order they run."""
    ruleset = Ruleset.builtin().extend(*files or ())
    refs = normalise(model)
    chosen = [rule for rule in ruleset if model is None or rule.matches(refs)]
    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in ("rule", "models", "phase", "safety", "why"):
        table.add_column(column, no_wrap=column == "rule", overflow="fold")
    for rule in chosen:
        meaning = rule.meaning
        table.add_row(rule.name, _models(rule), meaning.phase, meaning.safety, meaning.because)
    console(stderr=False).print(table)


def _models(rule: Rule) -> str:
    patterns = []
    for pattern in rule.meaning.models:
        bounds = "".join(f" {sign} {version}" for sign, version in pattern.bounds)
        patterns.append(f"{'not ' * pattern.negated}{pattern.text}{bounds}")
    return ", ".join(patterns) or "every model"
