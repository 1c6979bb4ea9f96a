"""`historycompat explain`: a rule, a code, a word of the language, or the error that a provider sent."""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import Annotated

import typer

from historycompat import reference
from historycompat.cli.explain_errors import error_page
from historycompat.cli.output import write_out
from historycompat.cli.pasted import pasted
from historycompat.cli.screen import console, say
from historycompat.codes import CODES
from historycompat.errors import HistoryCompatError, did_you_mean
from historycompat.language import meanings
from historycompat.language.fields import OWNERS
from historycompat.language.targets import TARGETS
from historycompat.reference.answers import read
from historycompat.rulesets import Ruleset
from historycompat.verbs import VERBS

FIELDS = frozenset(name for fields in OWNERS.values() for name in fields)
# What one word may be at once.
_NAMED: tuple[tuple[Container[str], Callable[[str], str]], ...] = (
    (FIELDS, reference.field_page),
    (TARGETS, reference.target_page),
    (meanings.VARIABLES, reference.variable_page),
)


class Unexplained(HistoryCompatError):
    """Nothing of that name is known."""


def explain(
    what: Annotated[
        list[str] | None,
        typer.Argument(
            help="A rule, code, verb, field, target, :state, $variable; or an error: text, @FILE, - (standard input).",
            metavar="RULE|CODE|VERB|FIELD|ERROR",
            show_default=False,
        ),
    ] = None,
    error: Annotated[
        str | None,
        typer.Option(
            "--error", "-e", metavar="TEXT|@FILE", help="An error, however short: its text, @FILE, or - likewise."
        ),
    ] = None,
    model: Annotated[
        str | None, typer.Option("--model", "-m", metavar="MODEL", help="For an error: the model that refused.")
    ] = None,
    files: Annotated[
        list[str] | None,
        typer.Option("--rules", "-r", metavar="RULES", help="A rule file to know beside the built-in rules."),
    ] = None,
) -> None:
    """Explain an error that a provider sent, or a word of the language, a rule, a complaint.

    Paste the error as you have it: a message, a JSON body, a whole traceback with its colours and line breaks. It says
    what was refused, which rules answer it, what they do and how to apply them; where none does, which come nearest,
    and how to start one.
    """
    words = " ".join(what or ()).strip()
    if bool(words) == (error is not None):
        raise typer.BadParameter("name one thing to explain: a word, or an error with --error")
    ruleset = Ruleset.builtin().extend(*files or ())
    page = None if error is not None else _page(words, ruleset)
    if page is None:
        given = words if error is None else error
        if error is None and not (len(words.split()) > 1 or words[0] in "-@{["):
            raise Unexplained(_unknown(words, ruleset))
        view = read(pasted(given))
        if not view.texts:
            raise Unexplained("the error holds no text")
        page = error_page(view, model, ruleset)
    _show(page)


def _page(words: str, ruleset: Ruleset) -> str | None:
    """The page of the first thing with this name."""
    bare = words.strip("`")
    verb = bare.replace(" ", "_").replace("-", "_")
    named = [make for words, make in _NAMED if bare in words]
    states = {state for _, state in meanings.STATES}
    tables: tuple[tuple[bool, Callable[[], str]], ...] = (
        (bare.upper() in CODES, lambda: reference.code_page(bare.upper())),
        (bare in ruleset, lambda: reference.rule_page(ruleset[bare])),
        (verb in VERBS, lambda: reference.verb_page(verb)),
        (bool(named), lambda: "\n".join(make(bare) for make in named)),
        (bare == "map", lambda: reference.verb_page("map_ids") + "\n" + reference.verb_page("map_names")),
        (bare[:1] == "$" and bare[1:] in meanings.VARIABLES, lambda: reference.variable_page(bare[1:])),
        (bare.removeprefix(":") in states, lambda: reference.state_page(bare.removeprefix(":"))),
    )
    return next((make() for known, make in tables if known), None)


def _unknown(words: str, ruleset: Ruleset) -> str:
    known = [
        *VERBS,
        *FIELDS,
        *TARGETS,
        *CODES,
        *ruleset.names,
        *(f"${v}" for v in meanings.VARIABLES),
        *(f":{s}" for _, s in meanings.STATES),
    ]
    hint = did_you_mean(words, known, cutoff=0.7) or "an error is explained with --error TEXT, @FILE or -"
    return f"{words!r} is no rule, code, verb, field, target, state or variable; {hint}"


def _show(page: str) -> None:
    """A page: set for reading on a terminal, as it is anywhere else."""
    if console(stderr=False).is_terminal:
        from rich.markdown import Markdown  # it takes a fifth of the start of every command

        say(Markdown(page), stderr=False)
    else:
        write_out(page.encode("utf-8", "backslashreplace"))
