"""`historycompat new`: a rule pack to start from."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from historycompat.cli.explain_errors import concerned
from historycompat.cli.histories import UnusableInput, read_history, title, why_none_fits
from historycompat.cli.output import write_file, write_out
from historycompat.cli.pasted import read_text
from historycompat.cli.screen import say, visible
from historycompat.cli.threads import history_in
from historycompat.error_patterns import own_words
from historycompat.errors import HistoryCompatError, UnknownFormat
from historycompat.reference.answers import answers, read
from historycompat.reference.markdown import row
from historycompat.rulesets import Ruleset
from historycompat.runtime.error_view import ErrorView
from historycompat.starter import Evidence, scope, starter

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_HISTORIES = ("messages", "history", "input", "contents", "request")


_MOST = 3  # rules that are named


class UnusableArgument(HistoryCompatError):
    """What was asked for makes no rule."""


def new(
    name: Annotated[str, typer.Argument(help="The rule's name, such as groq-no-reasoning.", metavar="NAME")],
    from_error: Annotated[
        str | None,
        typer.Option(
            "--from-error",
            metavar="FILE",
            help="The error: its text, its JSON body, or a JSON object with error, and messages and model if known.",
        ),
    ] = None,
    history: Annotated[
        str | None, typer.Option("--history", metavar="FILE", help="The history that was refused, as JSON.")
    ] = None,
    model: Annotated[str | None, typer.Option("--model", "-m", metavar="MODEL", help="The model that refused.")] = None,
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="Where to write; default: standard output.")
    ] = None,
) -> None:
    """Start a rule: a commented pack that passes `check` and `test`.

    From an error it makes a pattern that leaves open what varies, and from the history a first test; where the words
    of the error suggest a repair that changes this history, that repair is the rule's first statement.
    """
    if not _NAME.fullmatch(name):
        raise UnusableArgument(f"{name!r} is no name of a rule: write it in kebab-case, such as groq-no-reasoning")
    if history and not from_error:
        raise UnusableArgument("--history goes with --from-error, which says why the history was refused")
    evidence = _evidence(from_error, history) if from_error else None
    try:
        text = starter(name, model=model, evidence=evidence)
    except UnknownFormat:
        assert evidence
        raise UnusableInput(f"{title(history or from_error or '-')}: {why_none_fits(evidence.history)}") from None
    _doubt(model or (evidence.model if evidence else None))
    if evidence:
        _tell_known(evidence, model or evidence.model)
    if output is None:
        write_out(text.encode())
        return
    path = Path(output)
    if path.exists():
        raise UnusableArgument(f"{output} exists already; delete it first, or choose another name")
    write_file(path, text.encode())
    say(Text(f"{output}: started; next: historycompat test {output}", "green"))


def _doubt(model: str | None) -> None:
    """What is to be looked at before the rule is used, where its model is not known."""
    found = scope(model)
    if model and (found is None or found.doubt):
        doubt = found.doubt if found else f"{visible(model)} makes no model pattern; the rule is for every model"
        say(Text(f"note: {doubt}", "yellow"), wrap=False)


def _tell_known(evidence: Evidence, model: str | None) -> None:
    """That rules answer the error already, where some do."""
    rules, view = Ruleset.builtin(), own_words(ErrorView.of(evidence.error))
    found = [a for a in answers(view, rules) if not a.sleeps and concerned(a.rule, model, rules)]
    if found:
        names = row(answer.rule.name for answer in found[:_MOST])
        say(Text(f"note: {names} may answer this error already; historycompat explain NAME tells how", "yellow"))


def _evidence(error_file: str, history_file: str | None) -> Evidence:
    text = read_text(error_file)
    error = _parsed(text)
    history, model = None, None
    if isinstance(error, dict):
        history = next((error[key] for key in _HISTORIES if isinstance(error.get(key), (list, dict))), None)
        model = error.get("model") if isinstance(error.get("model"), str) else None
        if history is not None:
            error = {key: error[key] for key in ("status", "status_code", "error", "message") if key in error}
            if isinstance(error.get("error"), str):
                error = {**error, "message": error.pop("error")}
    if history_file:
        history = history_in(read_history(history_file))
    return Evidence(error, history, model)


def _parsed(text: str) -> Any:
    """A text as the JSON that it is, else what it says."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return read(text)
