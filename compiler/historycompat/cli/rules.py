"""`historycompat rules`: the rules in force, for every model or for one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.padding import Padding
from rich.text import Text

from historycompat.cli.account import unknown_provider
from historycompat.cli.folders import write_folder
from historycompat.cli.screen import count, one_line, say, visible
from historycompat.models.normalise import normalise
from historycompat.reference.rules import INDEX, rule_pages
from historycompat.ruleset import Rule
from historycompat.rulesets import Ruleset

_FOLDER = "historycompat-rules"
_PHASES = {
    "before": "before the request",
    "after": "after a refusal",
    "both": "before the request and after a refusal",
}


def rules(
    folder: Annotated[
        Path | None, typer.Argument(metavar="DIR", help="With --docs: the folder to write.", show_default=False)
    ] = None,
    model: Annotated[
        str | None, typer.Option("--model", "-m", metavar="MODEL", help="Only the rules that concern this model.")
    ] = None,
    files: Annotated[
        list[str] | None,
        typer.Option(
            "--rules", "-r", metavar="RULES", help="A rule file to add to the built-in rules; may be given again."
        ),
    ] = None,
    docs: Annotated[
        bool, typer.Option("--docs", help=f"Write a page a rule, and an index, into DIR (default: {_FOLDER}).")
    ] = False,
) -> None:
    """List the rules in the order they run: when, for which models, and why.

    With --docs it writes them down instead: a page for each, with what is refused, in which words, and what becomes of
    a history, and an index by provider and by error.
    """
    if folder and not docs:
        raise typer.BadParameter(f"{str(folder)!r} is a folder to write with --docs; a model is named with --model")
    refs, ruleset = normalise(model), Ruleset.builtin().extend(*files or ())
    chosen = [rule for rule in ruleset if model is None or rule.matches(refs)]
    if docs:
        write_folder(folder or Path(_FOLDER), dict(rule_pages(chosen)), INDEX)
    for rule in () if docs else chosen:
        _show(rule)
    if model is not None and (note := unknown_provider(model, ruleset)):
        say(Text(note, "yellow"))
    concern = f" for {visible(model)}" if model else ""
    place = f", in {visible(str(folder or _FOLDER))}; begin with {INDEX}" if docs else ""
    say(Text(f"{count(len(chosen), 'rule')}{concern}{place}", "green"))


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
