"""The tables of the language → a page of Markdown for each verb, code, rule, state and variable."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from historycompat import ir
from historycompat.codes import CODES
from historycompat.compiling import complaints_about
from historycompat.language import meanings
from historycompat.language.diagnose import render
from historycompat.language.syntax import syntax
from historycompat.language.unparse import model
from historycompat.language.unparse_expressions import expression
from historycompat.language.vocabulary import STATES, VARIABLES
from historycompat.ruleset import Rule
from historycompat.shorthand import as_yaml, messages, plain
from historycompat.source import Source
from historycompat.verbs import VERBS

KINDS = ("verbs", "codes", "rules", "states", "variables")

_WHO = {
    "part": "parts", "message": "messages", "call": "tool calls", "result": "tool results", "prompt": "the prompt",
    "path": "any place that a path names",
}  # fmt: skip
_PHASES = {
    "before": "before every request",
    "after": "after a refusal that says what `on_error` looks for, and then the request is sent again",
    "both": "before every request, and after a refusal that says what `on_error` looks for",
}
_SAFETIES = {
    "safe": "nothing that a person or a model said is lost",
    "lossy": "reasoning, metadata or media are lost",
    "unsafe": "words of a person or a model are lost or changed",
}


def verb_page(name: str) -> str:
    """A verb: what it does, how it is written, and its examples."""
    verb = VERBS[name]
    takes = ", ".join(_WHO[kind] for kind in STATES if kind in verb.targets)
    keeps = "keeps" if verb.keeps_prefix else "does not keep"
    blocks = [
        f"# `{name.replace('_', ' ')}`",
        _sentence(verb.does),
        _fenced(syntax(name)),
        f"It takes {takes}. It {keeps} the prefix of a growing history.",
        verb.doc,
    ]
    for example in verb.examples:
        blocks += [_fenced(example.statement), _change([*example.before], [*example.after])]
    return _page(blocks)


def code_page(name: str) -> str:
    """A code: why it is refused or warned about, what it looks like, and how to write it instead."""
    code = CODES[name]
    about = "An error: the file is refused whole." if name[0] == "E" else _ALLOWED.format(name)
    blocks = [f"# {name}: {code.title}", code.why, about, "Instead of", _fenced(code.bad_example)]
    if said := _said(name):
        blocks += ["of which the compiler says", _fenced(said, "text")]
    return _page([*blocks, "write", _fenced(code.good_example)])


_ALLOWED = "A warning. `# allow: {} reason` in a line above the rule silences it there."


def _said(name: str) -> str:
    """What is said about the bad example of a code, under the code."""
    example = CODES[name].bad_example
    kind = "yaml" if example.startswith("language:") else "rules"
    source = Source(f"example.{kind}", example)
    found = complaints_about(source, "yaml" if kind == "yaml" else "rules")[1]
    return "\n\n".join(render(complaint) for complaint in found if complaint.code == name)


def rule_page(rule: Rule) -> str:
    """A rule in plain words, with an example before and after."""
    meaning = rule.meaning
    blocks = [f"# {rule.name}", meaning.because, _when(meaning), _safety(meaning), "What it does:"]
    blocks.append("\n".join(f"- {in_words(s)}\n\n{_fenced(s.text, indent=2)}" for s in meaning.statements))
    if meaning.triggers:
        blocks += ["Errors that wake it:", _fenced("\n".join(map(_trigger, meaning.triggers)), "text")]
    if case := first_change(meaning):
        blocks += [f"For example, {case.get('name', 'so')} (for {_model_of(case)}):", _case(meaning, case)]
    facts = [f"- {address}" for address in meaning.see]
    facts += [f"- last confirmed {meaning.verified}"] * bool(meaning.verified)
    if facts:
        blocks += ["Reported at", "\n".join(facts)]
    return _page(blocks)


def _when(meaning: ir.Rule) -> str:
    models = [pattern for pattern in meaning.models if not pattern.negated]
    others = [pattern for pattern in meaning.models if pattern.negated]
    text = f"For {_row(f'`{model(m)}`' for m in models) or 'every model'}"
    if others:
        text += f", but not {_row(f'`{model(replace(m, negated=False))}`' for m in others)}"
    text += f". It runs {_PHASES[meaning.phase]}"
    if meaning.format:
        text += f", and only where the history is in the format {meaning.format}"
    if meaning.when is not None:
        text += f"; only if `{expression(meaning.when)}`"
    if meaning.phase != "before":
        text += (
            f". The repair after a refusal {'is saved' if meaning.persist else 'is not saved'} in the stored history"
        )
    return text + "."


def _safety(meaning: ir.Rule) -> str:
    return f"It is {meaning.safety}: {_SAFETIES[meaning.safety]}."


def in_words(statement: ir.Statement) -> str:
    """What a statement does, in a sentence."""
    does, target = _first(VERBS[statement.verb].does), statement.target
    everywhere = target.kind == "prompt" and target.where is None
    return _sentence(does if everywhere else f"{does}: {target_in_words(target)}")


def _first(does: str) -> str:
    return re.split(r"[;:(]", does)[0].strip()


def target_in_words(target: ir.Target) -> str:
    """What a target selects, in words."""
    states = [meanings.STATES["message" if target.kind == "part" else target.kind, s].is_ for s in target.states]
    roles = _row(sorted(target.roles), "or") if target.roles else "all"
    if target.kind == "part":
        text = f"{_row(sorted(target.types), 'or') if target.types else 'all'} parts"
        text += "".join(f", {meanings.STATES['part', state].is_}," for state in target.part_states)
        text += f" of {roles} messages"
    elif target.kind == "message":
        text = f"{roles} messages"
    elif target.path is not None:
        text = f"`{expression(target.path)}`"
    else:
        text = _WHO[target.kind]
    text += "".join(f" ({state})" for state in states)
    if target.where is not None:
        text += f" where `{expression(target.where)}`"
    return text + (f", except the {target.exclude[0]} {target.exclude[1]}" if target.exclude else "")


def _trigger(trigger: ir.Trigger) -> str:
    statuses = "|".join(map(str, sorted(trigger.statuses)))
    return f"{statuses} /{trigger.pattern.text}/{trigger.pattern.flags}".lstrip()


def first_change(meaning: ir.Rule) -> dict[str, Any] | None:
    """The first test of a rule in which it edits something."""
    cases = (case for case in meaning.tests if isinstance(case, dict))
    return next((case for case in cases if isinstance(case.get("then"), list)), None)


def _model_of(case: Mapping[str, Any]) -> str:
    model_ = case["model"]
    return f"`{model_}`" if isinstance(model_, str) else f"`{model_.get('modelId')}`" if "modelId" in model_ else "it"


def _case(meaning: ir.Rule, case: Mapping[str, Any]) -> str:
    if meaning.format:
        return _change(case["given"], case["then"])
    return _change(messages(case["given"]), messages(case["then"]))


def state_page(name: str) -> str:
    """A state: of what, what it means, and a statement with it."""
    blocks = [f"# `:{name}`"]
    for (kind, state), meaning in meanings.STATES.items():
        if state == name:
            whose = f"{_WHO[kind]}, behind their type" if kind == "part" else _WHO[kind]
            blocks += [_sentence(f"Of {whose}: {meaning.is_}"), _fenced(meaning.example)]
    return _page(blocks)


def variable_page(name: str) -> str:
    """A variable: what it is, where it is defined, and a condition with it."""
    meaning = meanings.VARIABLES[name]
    places = [kind for kind, defined in VARIABLES.items() if name in defined]
    where = "everywhere" if len(places) == len(VARIABLES) else f"for {_row(f'`{p}`' for p in places)} targets"
    blocks = [f"# `${name}`", _sentence(meaning.is_), f"Defined {where}.", _fenced(meaning.example)]
    return _page(blocks)


def pages(rules: Iterable[Rule]) -> Iterator[tuple[str, str]]:
    """Every page under its file name: `verbs/drop.md` and so on, and `README.md`, which lists them."""
    made = {
        "verbs": {name: verb_page(name) for name in VERBS},
        "codes": {name: code_page(name) for name in CODES},
        "rules": {rule.name: rule_page(rule) for rule in rules},
        "states": {name: state_page(name) for name in dict.fromkeys(state for _, state in meanings.STATES)},
        "variables": {name: variable_page(name) for name in meanings.VARIABLES},
    }
    blocks = [
        "# Reference",
        "Generated from the compiler's own tables; `historycompat explain WORD` shows the same pages.",
    ]
    for kind in KINDS:
        blocks += [f"## {kind.capitalize()}", "\n".join(_entry(kind, *item) for item in made[kind].items())]
    yield "README.md", _page(blocks)
    for kind, of_kind in made.items():
        yield from ((f"{kind}/{name}.md", text) for name, text in of_kind.items())


def _entry(kind: str, name: str, text: str) -> str:
    title, about = text.split("\n", 3)[0].removeprefix("# "), text.split("\n", 3)[2]
    return f"- [{title}]({kind}/{name}.md)" + ("" if kind == "codes" else f": {about}")


# ----- Markdown


def _page(blocks: Iterable[str]) -> str:
    return "\n\n".join(block.strip("\n") for block in blocks if block.strip()) + "\n"


def _fenced(text: str, language: str = "", indent: int = 0) -> str:
    pad = " " * indent
    return "\n".join(pad + line if line else "" for line in (f"```{language}", *text.strip("\n").split("\n"), "```"))


def _change(before: Any, after: Any) -> str:
    return f"before\n\n{_fenced(_yaml(before), 'yaml')}\n\nafter\n\n{_fenced(_yaml(after), 'yaml')}"


def _yaml(history: Any) -> str:
    return "\n".join(as_yaml(plain(history))) or "[]"


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:].rstrip(".") + "."


def _row(words: Iterable[str], last: str = "and") -> str:
    *first, end = [*words] or [""]
    return f"{', '.join(first)} {last} {end}" if first else end
