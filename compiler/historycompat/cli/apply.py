"""`historycompat apply`: a broken history in, the repaired one out, with an account of what was done."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from historycompat import api
from historycompat.cli.histories import UnusableInput, read_history, to_json, write_file, write_out
from historycompat.cli.screen import console, show_diff, show_outcome
from historycompat.rulesets import Ruleset
from historycompat.models.normalise import normalise
from historycompat.models.patterns import known_providers
from historycompat.runtime.outcome import Outcome


def apply(
    file: Annotated[str, typer.Argument(help="A history as JSON: a message list or a request body; - is stdin.")] = "-",
    model: Annotated[str, typer.Option("--model", "-m", help="The model that is about to read it.")] = ...,  # type: ignore[assignment]
    format_: Annotated[str | None, typer.Option("--format", "-f", help="The message format; detected if absent.")] = None,
    rules: Annotated[list[str] | None, typer.Option("--rules", "-r", help="A rule file to add; may be repeated.")] = None,
    diff: Annotated[bool, typer.Option("--diff", help="Print a diff instead of the history.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print history and account as one JSON object.")] = False,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write the history here.")] = None,
) -> None:
    """Repair a history for a model: the history on standard output, what was done on standard error.

    Exit code 1 says that something is left which no rule could mend.
    """
    if diff and as_json:
        raise typer.BadParameter("--diff and --json exclude each other")
    ruleset = Ruleset.builtin().extend(*rules or ())
    history = read_history(file)
    outcome = _repaired(history, model, format_, ruleset)
    _print(history, outcome, file, diff, as_json, output)
    if not as_json:
        _say_if_unknown(model, ruleset)
        show_outcome(outcome, model)
    if outcome.faults or outcome.reports:
        raise typer.Exit(1)


def _repaired(history: Any, model: str, format_: str | None, ruleset: Ruleset) -> Outcome:
    try:
        outcome = api.apply(history, model=model, format=format_, rules=ruleset)
        assert outcome.trace is not None  # the account is part of the work
        return outcome
    except RecursionError:
        raise UnusableInput("the JSON is nested too deeply to be a message history") from None


def _print(history: Any, outcome: Outcome, file: str, diff: bool, as_json: bool, output: Path | None) -> None:
    if output:
        write_file(output, to_json(outcome.messages))
    if diff:
        show_diff(to_json(history), to_json(outcome.messages), "history" if file == "-" else file)
    elif as_json:
        write_out(to_json(account(outcome)))
    elif not output:
        write_out(to_json(outcome.messages))


def account(outcome: Outcome) -> dict[str, Any]:
    """An outcome as JSON."""
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
        "faults": [{"rule": f.rule, "place": str(f.place), "pointer": f.pointer, "reason": f.reason} for f in outcome.faults],
        "notes": list(outcome.notes),
        "messages": outcome.messages,
    }


def _say_if_unknown(model: str, ruleset: Ruleset) -> None:
    refs = normalise(model)
    if refs and known_providers().intersection(refs[0].chain):
        return
    names = ", ".join(rule.name for rule in ruleset.for_model(model)) or "none"
    console().print(
        f"note: {model} names no provider that the rules know; the rules that apply to it: {names}", soft_wrap=True
    )
