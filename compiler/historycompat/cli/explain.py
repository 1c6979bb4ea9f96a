"""`historycompat explain`: a rule, a code, a verb, a state, a variable, or what an error would wake."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Annotated

import typer

from historycompat import reference
from historycompat.cli.new import parsed, read_text
from historycompat.cli.output import write_out
from historycompat.cli.screen import console, say, visible
from historycompat.codes import CODES
from historycompat.errors import HistoryCompatError, did_you_mean
from historycompat.language import meanings
from historycompat.models.normalise import normalise
from historycompat.ruleset import Rule
from historycompat.rulesets import Ruleset
from historycompat.runtime.error_view import ErrorView
from historycompat.verbs import VERBS

_NEW = "historycompat new my-rule --from-error error.txt --history history.json --model MODEL -o my-rule.yaml"
_NEAREST = 3
_NEAR = 0.4  # the least share of a pattern's words that must stand in the error
_PATTERN_WORD = re.compile(r"(?<![\\A-Za-z])[A-Za-z]{3,}")
_WORD = re.compile(r"[A-Za-z]{3,}")


class Unexplained(HistoryCompatError):
    """Nothing of that name is known."""


def explain(
    what: Annotated[
        list[str],
        typer.Argument(
            help="A rule, a code, a verb, a :state, a $variable, or an error: its text, its JSON body, or @FILE.",
            metavar="RULE|CODE|VERB|ERROR",
        ),
    ],
    model: Annotated[
        str | None, typer.Option("--model", "-m", metavar="MODEL", help="For an error: the model that refused.")
    ] = None,
    files: Annotated[
        list[str] | None,
        typer.Option("--rules", "-r", metavar="RULES", help="A rule file to know beside the built-in rules."),
    ] = None,
) -> None:
    """Explain a word of the language, a rule, a complaint, or an error that a provider sent.

    For an error it says which rules would wake, for which models, and what they would do; where none would, which
    come nearest, and how to start one.
    """
    words = " ".join(what).strip()
    ruleset = Ruleset.builtin().extend(*files or ())
    page = _page(words, ruleset)
    if page is None and words.startswith("@"):
        page = _error_page(ErrorView.of(parsed(read_text(words[1:]))), model, ruleset)
    elif page is None and (len(words.split()) > 1 or words.startswith("{")):
        page = _error_page(ErrorView.of(parsed(words)), model, ruleset)
    if page is None:
        raise Unexplained(_unknown(words, ruleset))
    _show(page)


def _page(words: str, ruleset: Ruleset) -> str | None:
    """The page of the first thing with this name."""
    bare = words.strip("`")
    verb = bare.replace(" ", "_").replace("-", "_")
    states = {state for _, state in meanings.STATES}
    tables: tuple[tuple[bool, Callable[[], str]], ...] = (
        (bare.upper() in CODES, lambda: reference.code_page(bare.upper())),
        (bare in ruleset, lambda: reference.rule_page(ruleset[bare])),
        (verb in VERBS, lambda: reference.verb_page(verb)),
        (bare == "map", lambda: reference.verb_page("map_ids") + "\n" + reference.verb_page("map_names")),
        (bare[:1] == "$" and bare[1:] in meanings.VARIABLES, lambda: reference.variable_page(bare[1:])),
        (bare.removeprefix(":") in states, lambda: reference.state_page(bare.removeprefix(":"))),
        (bare in meanings.VARIABLES, lambda: reference.variable_page(bare)),
    )
    return next((make() for known, make in tables if known), None)


def _unknown(words: str, ruleset: Ruleset) -> str:
    known = [
        *VERBS,
        *CODES,
        *ruleset.names,
        *(f"${v}" for v in meanings.VARIABLES),
        *(f":{s}" for _, s in meanings.STATES),
    ]
    hint = did_you_mean(words, known) or "an error text has several words; @FILE reads it from a file"
    return f"{words!r} is no rule, code, verb, state or variable; {hint}"


# ----- errors


def _error_page(view: ErrorView, model: str | None, ruleset: Ruleset) -> str:
    """What an error would wake, as a page."""
    if not view.texts:
        raise Unexplained("the error holds no text")
    found = list(_matches(view, ruleset))
    awake = [rule for rule, _, sleeps in found if not sleeps]
    refs = normalise(model)
    chosen = [rule for rule in awake if model is None or rule in ruleset.reactive(model)]
    blocks = [_verdict(view, model, awake, chosen)]
    for rule, pattern, sleeps in found:
        concerned = model is None or rule.matches(refs) or rule in chosen
        blocks += _woken(rule, pattern, sleeps or ("" if concerned else f"it does not concern {model}"))
    if not chosen:
        blocks += _nearest(view, ruleset, [rule for rule, _, _ in found])
    return "\n\n".join(blocks) + "\n"


def _matches(view: ErrorView, ruleset: Ruleset) -> Iterator[tuple[Rule, str, str]]:
    """The rules with a pattern in the error's text, the pattern, and why the rule sleeps all the same, if it does."""
    anything = ErrorView(None, view.texts)
    for rule in ruleset:
        for trigger in rule.triggers:
            if anything.first_match(trigger):
                statuses = "|".join(map(str, sorted(trigger.statuses)))
                sleeps = (
                    "" if view.first_match(trigger) else f"it waits for status {statuses}, and this is {view.status}"
                )
                yield rule, f"{statuses} /{trigger.pattern}/".lstrip(), sleeps
                break


def _verdict(view: ErrorView, model: str | None, awake: list[Rule], chosen: list[Rule]) -> str:
    told = f"status {view.status}" if view.status else "no status told, which any rule accepts"
    text = visible(view.texts[0])
    concern = f" for {model}" if model else ""
    count = f"{len(chosen) or 'no'} rule{'s' * (len(chosen) != 1)}"
    rest = "" if model or not awake else " Whether it does depends on the model; name it with --model."
    return f"# This error would wake {count}{concern}\n\n> {text[:300]}\n\n({told}.){rest}"


def _woken(rule: Rule, pattern: str, sleeps: str) -> Iterable[str]:
    yield f"## {rule.name}" + (f" (sleeps: {sleeps})" if sleeps else "")
    yield f"matches `{pattern}`"
    if not sleeps:
        yield reference.rule_page(rule).split("\n", 2)[2].strip()


def _nearest(view: ErrorView, ruleset: Ruleset, told: list[Rule]) -> Iterable[str]:
    said = {word.lower() for text in view.texts for word in _WORD.findall(text)}
    near = sorted(((share, rule.name, pattern) for rule in ruleset if rule not in told
                   for share, pattern in [_share(rule, said)] if share >= _NEAR), reverse=True)  # fmt: skip
    if near:
        yield "The nearest rules wait for other words:"
        yield "\n".join(f"- {name}, for `/{pattern}/`" for _, name, pattern in near[:_NEAREST])
    yield "To start a rule for it, put the error (and the history, if you have it) into a file:"
    yield f"```\n{_NEW}\n```"


def _share(rule: Rule, said: set[str]) -> tuple[float, str]:
    """The largest share of a pattern's words that an error has, and the pattern."""
    best = (0.0, "")
    for trigger in rule.triggers:
        words = {word.lower() for word in _PATTERN_WORD.findall(trigger.pattern)}
        best = max(best, (len(words & said) / max(len(words), 1), trigger.pattern))
    return best


def _show(page: str) -> None:
    """A page: set for reading on a terminal, as it is anywhere else."""
    if console(stderr=False).is_terminal:
        from rich.markdown import Markdown  # it takes a fifth of the start of every command

        say(Markdown(page), stderr=False)
    else:
        write_out(page.encode("utf-8", "backslashreplace"))
