"""The parts of a checked rule → sentences."""

from __future__ import annotations

import re
from dataclasses import replace

from historycompat import ir
from historycompat.language import meanings
from historycompat.language.unparse import model
from historycompat.language.unparse_expressions import expression
from historycompat.reference.markdown import code, row, sentence
from historycompat.verbs import VERBS

WHO = {
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


def models(meaning: ir.Rule) -> str:
    """For which models a rule is."""
    some = [pattern for pattern in meaning.models if not pattern.negated]
    others = [pattern for pattern in meaning.models if pattern.negated]
    text = row(f"`{model(m)}`" for m in some) or "every model"
    if others:
        text += f", but not {row(f'`{model(replace(m, negated=False))}`' for m in others)}"
    return text


def when(meaning: ir.Rule) -> str:
    """For which models, in which phase and on what condition a rule runs."""
    text = f"For {models(meaning)}. It runs {_PHASES[meaning.phase]}"
    if meaning.format:
        text += f", and only where the history is in the format {meaning.format}"
    if meaning.when is not None:
        text += f"; only if {code(expression(meaning.when))}"
    if meaning.phase != "before":
        kept = "is saved" if meaning.persist else "is not saved"
        text += f". The repair after a refusal {kept} in the stored history"
    return text + "."


def safety(meaning: ir.Rule) -> str:
    """What a rule may lose."""
    return f"It is {meaning.safety}: {_SAFETIES[meaning.safety]}."


def in_words(statement: ir.Statement) -> str:
    """What a statement does, in a sentence."""
    does, target = re.split(r"[;:(]", VERBS[statement.verb].does)[0].strip(), statement.target
    everywhere = target.kind == "prompt" and target.where is None
    return sentence(does if everywhere else f"{does}: {target_in_words(target)}")


def target_in_words(target: ir.Target) -> str:
    """What a target selects, in words."""
    states = [meanings.STATES["message" if target.kind == "part" else target.kind, s].is_ for s in target.states]
    roles = row(sorted(target.roles), "or") if target.roles else "all"
    if target.kind == "part":
        text = f"{row(sorted(target.types), 'or') if target.types else 'all'} parts"
        text += "".join(f", {meanings.STATES['part', state].is_}," for state in target.part_states)
        text += f" of {roles} messages"
    elif target.kind == "message":
        text = f"{roles} messages"
    elif target.path is not None:
        text = code(expression(target.path))
    else:
        text = WHO[target.kind]
    text += "".join(f" ({state})" for state in states)
    if target.where is not None:
        text += ", on a condition"
    return text + (f", except the {target.exclude[0]} {target.exclude[1]}" if target.exclude else "")
