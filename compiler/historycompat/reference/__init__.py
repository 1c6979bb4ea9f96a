"""The tables of the language → a page of Markdown for each field, verb, target, state, variable, code and rule."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from historycompat.codes import CODES
from historycompat.compiling import compile_source, complaints_about
from historycompat.language import meanings
from historycompat.language.checks.warnings import ruleset_warnings
from historycompat.language.diagnose import render
from historycompat.language.fields import OWNERS
from historycompat.language.syntax import syntax
from historycompat.language.targets import TARGETS
from historycompat.language.vocabulary import STATES, VARIABLES
from historycompat.models.normalise import facts_of, normalise
from historycompat.reference.markdown import bullets, change, fenced, in_cell, page, row, sections, sentence
from historycompat.reference.rules import INDEX, rule_page, rule_pages
from historycompat.reference.words import WHO
from historycompat.ruleset import Rule
from historycompat.runtime.interpret import interpret
from historycompat.shorthand import messages
from historycompat.source import Source
from historycompat.verbs import VERBS
from historycompat.view import Context

__all__ = [
    "code_page",
    "field_page",
    "field_table",
    "pages",
    "rule_page",
    "rule_pages",
    "state_page",
    "target_page",
    "variable_page",
    "verb_page",
]

# What the placeholders of a verb's syntax stand for.
_PLACEHOLDERS = {
    "T": "`T` is a target: `assistant/reasoning`, `message user`, `call:orphan`, `path messages[*]` and so on, with "
    "`where` and a condition behind it if wanted",
    "path": "`path` is a key of the selected value, or several with dots between: `providerOptions.openai`",
    "expr": "`expr` is JMESPath: `'text'`, `` `1` ``, `{type: 'text', text: name}`",
    "re": "`/re/` is a regular expression of the RE2 dialect",
}


def verb_page(name: str) -> str:
    """A verb: what it does, how it is written, and its examples."""
    verb = VERBS[name]
    written = syntax(name)
    takes = row(WHO[kind] for kind in STATES if kind in verb.targets)
    blocks = [
        f"# `{name.replace('_', ' ')}`",
        sentence(verb.does),
        fenced(written),
        bullets(said for word, said in _PLACEHOLDERS.items() if re.search(rf"\b{word}\b", written)),
        f"It applies to {takes}. {_PREFIX[verb.keeps_prefix]}",
        verb.doc,
        f"## Example{'s' * (len(verb.examples) > 1)}",
    ]
    for example in verb.examples:
        blocks += [fenced(example.statement), change([*example.before], [*example.after])]
    return page(blocks)


_PREFIX = {
    True: "What it makes of a message does not depend on those that follow, so a provider's cache of the beginning of "
    "a growing history stays good.",
    False: "What it makes of a message may change when others follow, which costs a provider's cache of the beginning "
    "of a growing history.",
}


def field_page(name: str) -> str:
    """A field: of what, what it says, how it is written."""
    blocks = [f"# `{name}`"]
    for owner, fields in OWNERS.items():
        if field := fields.get(name):
            says = f"Of a {owner}: {field.says[0].lower()}{field.says[1:]}"
            blocks += [says, field.more, fenced(field.example, "yaml")]
    return page(blocks)


def field_table(owner: str) -> str:
    """The fields of packs, rules or tests, one a row."""
    rows = (f"| `{name}` | {in_cell(field.says)} |" for name, field in OWNERS[owner].items())
    return "\n".join(("| field | says |", "|---|---|", *rows))


def code_page(name: str) -> str:
    """A code: why it is refused or warned about, what it looks like, and how to write it instead."""
    code = CODES[name]
    about = "An error: the file is refused whole." if name[0] == "E" else _ALLOWED.format(name)
    blocks = [f"# {name}: {code.title}", code.why, about, "Instead of", fenced(code.bad_example)]
    if said := _said(name):
        blocks += ["of which the compiler says", fenced(said, "text")]
    return page([*blocks, "write", fenced(code.good_example)])


_ALLOWED = "A warning. `# allow: {} reason` in a line above the rule silences it there."


def _said(name: str) -> str:
    """What is said about the bad example of a code, under the code."""
    example = CODES[name].bad_example
    kind = "yaml" if example.startswith("language:") else "rules"
    pack, found = complaints_about(Source(f"example.{kind}", example), "yaml" if kind == "yaml" else "rules")
    if pack and not any(complaint.is_error for complaint in found):
        found += ruleset_warnings([pack])
    return "\n\n".join(dict.fromkeys(render(complaint) for complaint in found if complaint.code == name))


def target_page(name: str) -> str:
    """A target, or what may stand behind one: what it selects, and a statement with it at work."""
    meaning = TARGETS[name]
    return page([f"# `{name}`", sentence(meaning.is_), *_at_work(meaning)])


def state_page(name: str) -> str:
    """A state: of what, what it means, and a statement with it at work."""
    blocks = [f"# `:{name}`"]
    for (kind, state), meaning in meanings.STATES.items():
        if state == name:
            whose = f"{WHO[kind]}, behind their type" if kind == "part" else WHO[kind]
            blocks += [sentence(f"Of {whose}: {meaning.is_}"), *_at_work(meaning)]
    return page(blocks)


def variable_page(name: str) -> str:
    """A variable: what it is, where it is defined, and a condition with it at work."""
    meaning = meanings.VARIABLES[name]
    places = [kind for kind, defined in VARIABLES.items() if name in defined]
    where = "everywhere" if len(places) == len(VARIABLES) else f"for {row(f'`{p}`' for p in places)} targets"
    return page([f"# `${name}`", sentence(meaning.is_), f"Defined {where}.", *_at_work(meaning)])


def _at_work(meaning: meanings.Meaning) -> Iterator[str]:
    """A statement, and what it makes of a history."""
    yield fenced(meaning.example)
    before = messages(meaning.given)
    context = Context(model=facts_of(normalise(meaning.model)), error=dict(meaning.error) if meaning.error else None)
    context.origin = lambda holder: {"provider": "groq"} if holder.get("role") == "assistant" else None
    context.stale = lambda view, index: True
    (rule,) = compile_source(Source("example.rules", f"rule example {{\n{meaning.example}\n}}\n"), "rules")
    run = interpret([rule], {"messages": before, **meaning.request}, context)
    yield change(before, run.root["messages"])
    yield from (f"The finding: {report.finding.text}" for report in run.reports)


def pages(rules: Iterable[Rule]) -> Iterator[tuple[str, str]]:
    """Every page under its file name: `verbs/drop.md` and so on, and `README.md`, which leads to them."""
    made = {
        "fields": {name: field_page(name) for name in dict.fromkeys(name for each in OWNERS.values() for name in each)},
        "verbs": {name: verb_page(name) for name in VERBS},
        "targets": {name: target_page(name) for name in TARGETS},
        "codes": {name: code_page(name) for name in CODES},
        "states": {name: state_page(name) for name in dict.fromkeys(state for _, state in meanings.STATES)},
        "variables": {name: variable_page(name) for name in meanings.VARIABLES},
    }
    blocks = [
        "# Reference",
        "Generated from the compiler's own tables; `historycompat explain WORD` shows the same pages.",
        "## Rules",
        f"[What is refused, by whom, in which words, and what is done about it](rules/{INDEX}).",
        *sections((kind.capitalize(), (_entry(kind, *item) for item in made[kind].items())) for kind in made),
    ]
    yield "README.md", page(blocks)
    for kind, of_kind in made.items():
        yield from ((f"{kind}/{name}.md", text) for name, text in of_kind.items())
    yield from ((f"rules/{name}", text) for name, text in rule_pages(rules))


def _entry(kind: str, name: str, text: str) -> str:
    title, about = text.split("\n", 3)[0].removeprefix("# "), text.split("\n", 3)[2]
    return f"[{title}]({kind}/{name}.md)" + ("" if kind == "codes" else f": {about}")
