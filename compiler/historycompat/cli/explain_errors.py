"""An error → a page that says what was refused, which rules answer it, what they do and how to apply them."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Sequence

from historycompat.cli.screen import visible
from historycompat.models.normalise import normalise
from historycompat.reference.answers import Answer, answers
from historycompat.reference.markdown import bullets, code, fenced, page
from historycompat.reference.nearest import nearest
from historycompat.reference.rules import example, model_name, refused_by
from historycompat.reference.words import in_words, models, safety
from historycompat.ruleset import Rule
from historycompat.rulesets import Ruleset
from historycompat.runtime.error_view import ErrorView

_IN_FULL = 3  # rules that are told with their example; the others have a line
_NEAREST = 3
_QUOTED = 400  # characters of an error
_NEW = "historycompat new my-rule --from-error error.txt --history history.json --model {} -o my-rule.yaml"
_PHASES = {
    "before": "It needs no error: it repairs before every request.",
    "after": "It wakes on this error, and the request is sent again.",
    "both": "It repairs before every request, and wakes on this error too.",
}
_ASLEEP = {
    "after": "It wakes on another error of this kind.",
    "both": "It repairs before every request; this error does not wake it.",
}


def error_page(view: ErrorView, model: str | None, ruleset: Ruleset) -> str:
    """What is known of an error, as a page."""
    found = answers(view, ruleset)
    fit = [answer for answer in found if concerned(answer.rule, model, ruleset)]
    fit.sort(key=lambda answer: (bool(answer.sleeps), _by_error_alone(answer.rule, model)))
    blocks = [f"# {_verdict(fit, found, model)}", *_quoted(view), *_about(found)]
    for answer in fit[:_IN_FULL]:
        blocks += _told(answer, model)
    if fit:
        blocks += _applied(fit[0].rule, model)
    if rest := fit[_IN_FULL:]:
        blocks += ["## Also", bullets(map(_line, rest))]
    if others := [answer for answer in found if answer not in fit]:
        blocks += [f"## Not for {model}", bullets(f"{_line(a)} (For {models(a.rule.meaning)}.)" for a in others)]
    if not fit:
        blocks += _unanswered(view, model, ruleset, known=bool(found))
    return page(blocks)


def concerned(rule: Rule, model: str | None, ruleset: Ruleset) -> bool:
    """Whether a rule may answer an error of a model, or of any where None is named."""
    return model is None or rule.matches(normalise(model)) or rule in ruleset.reactive(model)


def _by_error_alone(rule: Rule, model: str | None) -> bool:
    """Whether a rule runs for a model of unknown make only because its error says so."""
    return model is not None and not rule.matches(normalise(model))


def _verdict(fit: Sequence[Answer], found: Sequence[Answer], model: str | None) -> str:
    concern = f" for {model}" if model else ""
    if not fit:
        return f"No rule answers this error{concern}" if found else "Nothing matches this error"
    first = fit[0].rule
    if _only_reports(first):
        return f"No repair helps here{concern}: `{first.name}` says why"
    more = f", and {len(fit) - 1} more" if len(fit) > 1 else ""
    does = "is for this error under another status" if fit[0].sleeps else "answers this error"
    return f"`{first.name}` {does}{concern}{more}"


def _quoted(view: ErrorView) -> Iterator[str]:
    said = visible(" ".join(view.texts[0].split()))
    yield "> " + (said if len(said) <= _QUOTED else said[:_QUOTED].rsplit(" ", 1)[0] + " ...")


def _about(found: Sequence[Answer]) -> Iterator[str]:
    """Who says so, and why nothing can be done about it, where that is known."""
    refusal = next((answer.refusal for answer in found if answer.refusal), None)
    if refusal:
        yield refused_by([refusal])
        yield f"Mind: {refusal.reason}." if refusal.reason else ""


def _told(answer: Answer, model: str | None) -> Iterator[str]:
    meaning = answer.rule.meaning
    yield f"## {answer.rule.name}"
    yield meaning.because
    if _only_reports(answer.rule):
        yield "It repairs nothing: it points the place out, before the request."
    elif answer.sleeps:
        yield f"It sleeps: {answer.sleeps}."
    elif answer.pattern or meaning.phase == "before":
        yield _PHASES[meaning.phase]
    else:
        yield _ASLEEP[meaning.phase]
    yield bullets(dict.fromkeys(map(in_words, meaning.statements)))
    yield from example(meaning)
    yield f"For {models(meaning)}. {safety(meaning)}"
    if _by_error_alone(answer.rule, model):
        yield f"Who made {model} is not known: after this error, and not before it, the rule runs for it too."


def _line(answer: Answer) -> str:
    return f"{code(answer.rule.name)}: {' '.join(answer.rule.meaning.because.split())}"


def _applied(rule: Rule, model: str | None) -> Iterator[str]:
    """How to apply a rule: a command, and a line of Python."""
    chosen, meaning = model or _a_model(rule) or "MODEL", rule.meaning
    yield "## How to see where" if _only_reports(rule) else "## How to apply it"
    if meaning.phase == "before":
        command = f"historycompat apply history.json --model {shlex.quote(chosen)}"
        python = f"outcome = historycompat.apply(messages, model={json.dumps(chosen)})"
    else:
        command = f"historycompat repair history.json --model {shlex.quote(chosen)} --error @error.txt"
        python = f"outcome = historycompat.repair(messages, error=error, model={json.dumps(chosen)})"
    yield fenced(command, "sh")
    yield fenced(f"{python}\nmessages = outcome.messages", "python")
    if meaning.phase == "both":
        yield "`historycompat apply` does the same before the request, and no error is needed."
    yield f"`historycompat explain {rule.name}` tells all about the rule."


def _a_model(rule: Rule) -> str | None:
    """A model that a rule is for, as its tests name it."""
    named = (case.get("model") for case in rule.meaning.tests if isinstance(case, dict))
    return next((name for given in named if (name := model_name(given)) and rule.matches(normalise(given))), None)


def _only_reports(rule: Rule) -> bool:
    return all(statement.verb == "report" for statement in rule.meaning.statements)


def _unanswered(view: ErrorView, model: str | None, ruleset: Ruleset, known: bool) -> Iterator[str]:
    """What comes near, and how to start a rule."""
    if near := [] if known else nearest(view.texts, ruleset)[:_NEAREST]:
        yield "Nearest by words, which may be about something else:"
        yield bullets(f"{code(one.rule.name)} answers {code(' '.join(one.said.split()))}" for one in near)
    elif not known:
        yield "No rule comes near by its words either: not every refusal is about the history."
    yield "To start a rule for it, put the error into a file, and the history too, if you have it:"
    yield fenced(_NEW.format(shlex.quote(model) if model else "MODEL"), "sh")
