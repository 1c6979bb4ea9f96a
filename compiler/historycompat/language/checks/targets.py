"""E207, E501, E502, E503: targets that select nothing, verbs where they do not apply, edits that never come to rest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from historycompat import tree
from historycompat.errors import Complaint, did_you_mean, respelt
from historycompat.language.checks.places import targets
from historycompat.language.expressions import locate
from historycompat.language.vocabulary import (
    CONTRADICTIONS,
    HOLDS,
    PARTS,
    ROLES,
    STATE_ROLES,
    STATE_TYPES,
    STATES,
    STATES_BEHIND_TYPE,
)
from historycompat.source import Span
from historycompat.tree import Expr
from historycompat.verbs import VERBS

_WHAT = {
    "part": "parts", "message": "messages", "call": "calls", "result": "results", "prompt": "the prompt",
    "path": "what a path names",
}  # fmt: skip


def unplaceable_paths(rule: tree.Rule, pack: tree.Pack) -> Iterator[Complaint]:
    """`path` targets that compute a value instead of naming places."""
    for target in (target for statement in rule.do for target in targets(statement)):
        if target.path is not None and (odd := locate.problem(target.path)) is not None:
            what = "a function gives a value" if odd.kind == "function_expression" else "this gives a new value"
            hint = "a path is made of fields, [0], [*], [], slices and [?filters]; conditions go into `where`"
            yield Complaint("E207", f"{what}, not a place in the history", odd.span, hint)


def phases(rule: tree.Rule, pack: tree.Pack) -> Iterator[Complaint]:
    """Phases and what they go with."""
    if rule.phase in ("after", "both") and not rule.on_error:
        hint = "add `on_error` with a pattern of the provider's error, or write `phase before`"
        yield Complaint("E501", f"phase {rule.phase} needs an error to wake the rule", rule.spans.get("phase"), hint)
    elif rule.persist is not None and (rule.phase == "before" or not rule.on_error):
        hint = "leave `persist` out: what runs before the request is never saved"
        yield Complaint("E501", "a rule of phase before has nothing to persist", rule.spans.get("persist"), hint)


def selections(rule: tree.Rule, pack: tree.Pack) -> Iterator[Complaint]:
    """Roles, types and states of targets."""
    for target in (target for statement in rule.do for target in targets(statement)):
        yield from _states(target)
        if rule.format is None:
            known = [*_unknown_words(target)]
            yield from known or _mismatches(target)
    if rule.format is None:
        yield from _made_types(rule)


def _states(target: tree.Target) -> Iterator[Complaint]:
    whose = "messages" if target.kind == "part" else _WHAT[target.kind]
    for written, states, what in (
        (target.states, STATES[target.kind], whose),
        (target.part_states, STATES_BEHIND_TYPE, "parts"),
    ):
        for state in written:
            if state not in states:
                hint = _instead(target, state) or did_you_mean(state, states, cutoff=0.7) or _known(states)
                at = _at(target, f":{state}", behind_type=written is target.part_states)
                respelled = respelt(at, state, states)
                fix = (respelled[0], f":{respelled[1]}") if respelled else None
                yield Complaint("E501", f"there is no state :{state} for {what}", at, hint, fix=fix)
        for pair in CONTRADICTIONS:
            if pair <= {*written}:
                both = " and ".join(f":{state}" for state in sorted(pair))
                yield Complaint("E501", f"no message is {both}", target.span, "keep one of them")


def _known(states: Iterable[str]) -> str:
    return f"there are {', '.join(f':{name}' for name in states)}" if states else "it has no states"


def _instead(target: tree.Target, state: str) -> str | None:
    """Where a state that does exist belongs."""
    if target.kind == "part" and state in STATES_BEHIND_TYPE:
        return f"it stands behind the type: {'|'.join(target.roles)}/{'|'.join(target.types)}:{state}"
    if target.kind == "part" and state in STATES["part"]:
        return f"it stands behind the role: {'|'.join(target.roles)}:{state}/{'|'.join(target.types)}"
    having = [_WHAT[kind] for kind, own in STATES.items() if state in own and kind != "part"]
    return f"only {' and '.join(having)} can be :{state}" if having else None


def _at(target: tree.Target, text: str, *, behind_type: bool = False) -> Span | None:
    """The place of a part of a target's selector, as it is written."""
    if target.span is None:
        return None
    at = target.span.text.find(text, target.span.text.find("/") if behind_type else 0)
    start = target.span.start + at
    return Span(target.span.source, start, start + len(text)) if at >= 0 else target.span


def _unknown_words(target: tree.Target) -> Iterator[Complaint]:
    for words, known, what in ((target.roles, ROLES, "role"), (target.types, tuple(PARTS), "type of part")):
        for word in words:
            if word not in known and word != "*":
                hint = did_you_mean(word, known) or f"there are {', '.join(known)}"
                at = _at(target, word, behind_type=words is target.types)
                yield Complaint("E501", f"there is no {what} {word}", at, hint, fix=respelt(at, word, known))


def _mismatches(target: tree.Target) -> Iterator[Complaint]:
    roles = ROLES if "*" in target.roles or not target.roles else target.roles
    types = tuple(PARTS) if "*" in target.types or not target.types else target.types
    if target.kind == "part" and not any(type_ in HOLDS[role] for role in roles for type_ in types):
        holders = [role for role in ROLES if any(type_ in HOLDS[role] for type_ in types)]
        message = f"{' and '.join(roles)} messages hold no {' or '.join(types)} parts"
        yield Complaint("E501", message, target.span, f"write {'|'.join(holders)}/{'|'.join(types)}")
    if target.kind == "part" and "empty" in target.states and "text" not in types:
        message = f"an :empty message holds blank text alone, and no {' or '.join(types)}"
        yield Complaint("E501", message, _at(target, ":empty"), "leave out :empty, or drop the message: message :empty")
    for state in target.states:
        if target.kind in ("part", "message") and state in STATE_ROLES and not STATE_ROLES[state] & {*roles}:
            (only,) = STATE_ROLES[state]
            message = f"only {only} messages can be :{state}"
            yield Complaint("E501", message, _at(target, f":{state}"), f"write {only}:{state}")
    for state in target.part_states:
        if state in STATE_TYPES and not STATE_TYPES[state] & {*types}:
            (only,) = STATE_TYPES[state]
            message = f"only {only} parts can be :{state}"
            at = _at(target, f":{state}", behind_type=True)
            yield Complaint("E501", message, at, "say what is empty: where blank(..)")


def _made_types(rule: tree.Rule) -> Iterator[Complaint]:
    """The types that `convert` makes and `reorder` sorts by."""
    for statement in rule.do:
        for value in statement.args.values() if statement.verb in ("convert", "reorder") else ():
            for word in value if isinstance(value, tuple) else (value,):
                if isinstance(word, tree.Word) and word.text not in PARTS:
                    hint = did_you_mean(word.text, PARTS) or f"there are {', '.join(PARTS)}"
                    yield Complaint("E501", f"there is no type of part {word.text}", word.span, hint)
        yield from _contradicted(statement)


def _contradicted(statement: tree.Statement) -> Iterator[Complaint]:
    """`convert .. into text {type: 'reasoning'}`."""
    into, made = statement.args.get("into"), statement.args.get("value")
    if isinstance(into, tree.Word) and isinstance(made, Expr) and made.kind == "multi_select_dict":
        for pair in made.children:
            (said,) = pair.children
            if pair.value == "type" and said.kind == "literal" and said.value != into.text:
                message = f"this makes a {into.text} part whose type is {_quoted(said.value)}"
                yield Complaint("E501", message, said.span, f"write '{into.text}', or into another type")


def _quoted(value: object) -> str:
    return f"'{value}'" if isinstance(value, str) else "no text"


def misapplied_verbs(rule: tree.Rule, pack: tree.Pack) -> Iterator[Complaint]:
    """Verbs on kinds of targets that they do nothing with."""
    for statement in rule.do:
        verb = VERBS[statement.verb]
        target = statement.target
        if target is not None and target.kind not in verb.targets:
            takes = ", ".join(kind for kind in STATES if kind in verb.targets)
            doing = [other.replace("_", " ") for other, it in VERBS.items() if target.kind in it.targets]
            hint = f"it takes {takes} targets; {_WHAT[target.kind]} can be edited with {', '.join(doing)}"
            name = statement.verb.replace("_", " ")
            yield Complaint("E502", f"`{name}` does not apply to {_WHAT[target.kind]}", target.span, hint)


def complaints_of_verbs(rule: tree.Rule, pack: tree.Pack) -> Iterator[Complaint]:
    """What each verb has to say about a statement with it. A condition of the rule guards each of its statements."""
    for statement in rule.do:
        for complaint in VERBS[statement.verb].check(statement):
            if complaint.code != "E503" or rule.when is None:
                yield complaint


# What gives another value when it is applied to its own result.
_GROWING = frozenset({"multi_select_list", "multi_select_dict", "join", "reverse"})


def self_feeding(rule: tree.Rule, pack: tree.Pack) -> Iterator[Complaint]:
    """`set content to [content]` without a condition: each run wraps once more."""
    for statement in rule.do:
        path, value, target = statement.args.get("path"), statement.args.get("to"), statement.target
        guarded = rule.when or (target and target.where)
        if statement.verb != "set" or not isinstance(path, tree.Path) or guarded:
            continue
        fields = tuple(Expr("field", (), key) for key in path.keys)
        own = fields[0] if len(fields) == 1 else Expr("subexpression", fields)
        if isinstance(value, Expr) and any(_grows(node, own) for node in value.walk()):
            message = f"this wraps {'.'.join(path.keys)} into itself, once more at every run"
            yield Complaint("E503", message, value.span, "add a `where` that the new value makes false")


def _grows(node: Expr, own: Expr) -> bool:
    kind = node.value if node.kind == "function_expression" else node.kind
    return kind in _GROWING and any(_takes(child, own) for child in node.children)


def _takes(node: Expr, own: Expr) -> bool:
    """Whether the value at a path is taken along whole, not a part of it."""
    if node.kind in ("subexpression", "index_expression"):
        return node == own
    return node == own or any(_takes(child, own) for child in node.children if isinstance(child, Expr))
