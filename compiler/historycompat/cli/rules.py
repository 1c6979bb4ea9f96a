"""`historycompat rules`: the rules in force, for every model or for one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer
from rich.padding import Padding
from rich.text import Text

from historycompat.cli.screen import count, one_line, say, visible
from historycompat.models.normalise import normalise
from historycompat.ruleset import Rule
from historycompat.rulesets import Ruleset

_PHASES = {
    "before": "before the request",
    "after": "after a refusal",
    "both": "before the request and after a refusal",
}


def rules(
    model: Annotated[
        str | None, typer.Option("--model", "-m", metavar="MODEL", help="Only the rules that concern this model.")
    ] = None,
    files: Annotated[
        list[str] | None,
        typer.Option(
            "--rules", "-r", metavar="RULES", help="A rule file to add to the built-in rules; may be given again."
        ),
    ] = None,
) -> None:
    """List the rules in the order they run: when, for which models, and why."""
    refs = normalise(model)
    chosen = [rule for rule in Ruleset.builtin().extend(*files or ()) if model is None or rule.matches(refs)]
    for rule in chosen:
        _show(rule)
    concern = f" for {visible(model)}" if model else ""
    say(Text(f"{count(len(chosen), 'rule')}{concern}", "green"))


def _show(rule: Rule) -> None:
    meaning = rule.meaning
    facts = [_PHASES[meaning.phase], meaning.safety, *([f"in {meaning.format} only"] if meaning.format else [])]
    head = Text.assemble((rule.name, "bold cyan"), "  ", (" · ".join(facts), "dim"))
    models = Text.assemble(("for ", "dim"), ", ".join(_patterns(rule)) or "every model")
    why = Text(one_line(meaning.because))
    say(head, *(Padding.indent(line, 2) for line in (models, why) if line), "", stderr=False)


def _patterns(rule: Rule) -> Sequence[str]:
    return [
        f"{'not ' * pattern.negated}{pattern.text}{''.join(f' {sign} {version}' for sign, version in pattern.bounds)}"
        for pattern in rule.meaning.models
    ]
