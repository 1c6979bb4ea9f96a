"""E205, E206: calls that fail on what is missing, and functions and variables that do not exist where they are used."""

from __future__ import annotations

from collections.abc import Iterator

from historycompat import tree
from historycompat.errors import Complaint, did_you_mean
from historycompat.language.checks.places import Place, expressions
from historycompat.language.checks.shapes import Shape, field_of
from historycompat.language.expressions.functions import FUNCTIONS, call_problem, missing_arguments
from historycompat.language.expressions.kinds import Scope
from historycompat.language.vocabulary import JSON_TYPES, OBJECTS, VARIABLES
from historycompat.tree import Expr

_ALL_VARIABLES = frozenset[str]().union(*VARIABLES.values())


def missing_values(rule: tree.Rule, pack: tree.Pack) -> Iterator[Complaint]:
    """Arguments that may be null where a function fails on null."""
    for place in expressions(rule):
        for call, argument in missing_arguments(place.expr, _scope(place)):
            if argument.kind.startswith("multi_select"):  # missing only where `@` is
                continue
            text = argument.span.text if argument.span else "this"
            message = f"{call.value}() fails where `{text}` is missing, and the condition then never holds"
            if place.clause not in ("when", "where", "path"):
                message = f"{call.value}() fails where `{text}` is missing, and the rule with it"
            yield Complaint("E205", message, argument.span, _default(call, argument, text))


def _scope(place: Place) -> Scope:
    """What is known of `@`, its fields and those of variables, for the types of their values."""
    facts = {Expr("field", (), name): kinds for name, kinds in _sure_fields(place.at)}
    for variable, shape in place.shapes.items():
        holder = Expr("variable", (), variable)
        facts |= {
            Expr("subexpression", (holder, Expr("field", (), name))): kinds for name, kinds in _sure_fields(shape)
        }
    return Scope(frozenset({"object"}) if place.at.objects else JSON_TYPES, facts)


def _sure_fields(at: Shape) -> Iterator[tuple[str, frozenset[str]]]:
    """The fields that are always there, with their types."""
    for name in frozenset[str]().union(*(OBJECTS[holder] for holder in at.objects)):
        found = field_of(at, name)
        if found and found.sure:
            yield name, found.kinds


# What stands in for a missing value, by what the function takes.
_DEFAULTS = (("string", "''"), ("array", "`[]`"), ("object", "`{}`"), ("number", "`0`"))


def _default(call: Expr, argument: Expr, text: str) -> str:
    position = next(number for number, child in enumerate(call.children) if child is argument)
    accepted = FUNCTIONS[call.value].parameter(position)
    default = next((value for kind, value in _DEFAULTS if any(kind == word.split("-")[0] for word in accepted)), "''")
    return f"write {text} || {default}, or put a guard before the call: {text} && .."


def unknown_names(rule: tree.Rule, pack: tree.Pack) -> Iterator[Complaint]:
    """Functions, their numbers of arguments, and variables."""
    for place in expressions(rule):
        for node in place.expr.walk():
            if node.kind == "function_expression" and (problem := call_problem(node.value, len(node.children))):
                message, _, hint = problem.partition(", did you mean")
                yield Complaint("E206", message, node.span, f"did you mean{hint}" if hint else _usage(node.value))
            elif node.kind == "variable" and node.value not in place.variables:
                yield _undefined(node, place)
            elif node.kind == "variable" and node.value == "error" and _never_after(rule):
                hint = "say what wakes the rule: on_error, and `phase both` if it runs before too"
                yield Complaint("E206", "$error is null: this rule runs before the request only", node.span, hint)


def _never_after(rule: tree.Rule) -> bool:
    return rule.phase == "before" or (rule.phase is None and not rule.on_error)


def _usage(name: str) -> str:
    if name not in FUNCTIONS:
        return f"the functions are {', '.join(FUNCTIONS)}"
    function = FUNCTIONS[name]
    takes = ", ".join("any value" if len(kinds) == 6 else " or ".join(sorted(kinds)) for kinds in function.takes)
    return f"write {name}({takes}{', ..' if function.variadic else ''})"


def _undefined(node: Expr, place: Place) -> Complaint:
    name = node.value
    if name not in _ALL_VARIABLES:
        hint = did_you_mean(f"${name}", [f"${known}" for known in sorted(_ALL_VARIABLES)])
        return Complaint("E206", f"there is no variable ${name}", node.span, hint or _defined(place))
    where = "in `when`" if place.within == "when" else f"for a {place.within} target"
    kinds = [kind for kind, known in VARIABLES.items() if name in known and kind != "when"]
    hint = f"it is defined for {', '.join(kinds)} targets; {_defined(place)}"
    return Complaint("E206", f"${name} is not defined {where}", node.span, hint)


def _defined(place: Place) -> str:
    return f"here are ${', $'.join(sorted(place.variables))}"
