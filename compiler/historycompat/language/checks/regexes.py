"""E301, W302, W303, E305: regular expressions, and mappings that cannot give what they ask for."""

from __future__ import annotations

from collections.abc import Iterator

from historycompat import tree
from historycompat.errors import Complaint, RuleFault
from historycompat.language.checks.places import expressions, regexes
from historycompat.regex import Problem, Regex, compile_regex, problems, unknown_group
from historycompat.source import Span
from historycompat.verbs.mapping import Mapper, Renaming

# Ids as providers and gateways make them, and what else turns up in their place.
_SAMPLES = (
    "call_9pTKDmVyXq0uZ2Lc7sWb1RfN", "toolu_01A09q90qw90lq917835lq9", "tooluse_kZJMlvQmRJ6eAyJE5GIl7Q", "9Gxk2mPq7",
    "chatcmpl-tool-5f0c1a2b3c4d4e5f8a9b0c1d2e3f4a5b", "functions.get_weather:0", "get weather", "call.1|fc_68", "1",
    "héllo", "x" * 200,
)  # fmt: skip

_REMEDY = "replace what the pattern refuses, add the `prefix` that it asks for, or `hash` or `shorten` to its length"


def written_regexes(rule: tree.Rule, pack: tree.Pack) -> Iterator[Complaint]:
    """Every `/pattern/flags`, and the patterns of `matches()`."""
    for regex in regexes(rule):
        for problem in problems(regex.pattern, regex.flags):
            yield _complaint(problem, _inside(regex, problem))
    for place in expressions(rule):
        for node in place.expr.walk():
            if node.kind == "function_expression" and node.value == "matches" and len(node.children) == 2:
                pattern = node.children[1]
                if pattern.kind == "literal" and isinstance(pattern.value, str):
                    for problem in problems(pattern.value):
                        yield _complaint(problem, _inside_text(pattern, problem))


def replacements(rule: tree.Rule, pack: tree.Pack) -> Iterator[Complaint]:
    """`\\1` in a replacement, for a pattern that has no such group."""
    for statement in rule.do:
        regex, new = statement.args.get("regex"), statement.args.get("with_")
        if isinstance(regex, tree.Regex) and isinstance(new, tree.Text):
            yield from _missing_group(regex, new.value, new.span)
        mappers = statement.args.get("mappers")
        for mapper in mappers if isinstance(mappers, tuple) else ():
            if mapper.regex:
                yield from _missing_group(mapper.regex, mapper.text or "", mapper.span)


def _missing_group(regex: tree.Regex, replacement: str, span: Span | None) -> Iterator[Complaint]:
    if not _has_errors(regex) and (group := unknown_group(regex.pattern, regex.flags, replacement)):
        hint = "put brackets around what is to be taken along; a backslash itself is written \\\\\\\\"
        yield Complaint("E301", f"the pattern has no group {group}", span, hint)


def _complaint(problem: Problem, span: Span | None) -> Complaint:
    return Complaint(problem.code, problem.message, span, problem.suggestion)


def _inside(regex: tree.Regex, problem: Problem) -> Span:
    """The place of a problem in the file, where the pattern stands there as it is but for `\\/`."""
    written = regex.span.text[1:]
    places, at = [], 0
    for char in regex.pattern:
        if char == "/" and written.startswith("\\/", at):
            at += 1
        if not written.startswith(char, at):
            return regex.span
        places.append(at)
        at += 1
    places.append(at)
    start, end = places[problem.start], places[problem.end]
    begin = regex.span.start + 1
    return Span(regex.span.source, begin + start, begin + max(end, start + 1))


def _inside_text(literal: tree.Expr, problem: Problem) -> Span | None:
    span = literal.span
    if span is None or span.text[1:-1] != literal.value:
        return span
    start = span.start + 1 + problem.start
    return Span(span.source, start, max(start + problem.end - problem.start, start + 1))


def fruitless_mappings(rule: tree.Rule, pack: tree.Pack) -> Iterator[Complaint]:
    """`map` whose functions give nothing that satisfies `unless`, for any id."""
    for statement in rule.do:
        unless, mappers = statement.args.get("unless"), statement.args.get("mappers")
        if (
            isinstance(unless, tree.Regex)
            and isinstance(mappers, tuple)
            and not _has_errors(unless, *_written(mappers))
        ):
            yield from _fruitless(statement, unless, tuple(map(_mapper, mappers)))


def _written(mappers: tuple[tree.Mapper, ...]) -> list[tree.Regex]:
    return [mapper.regex for mapper in mappers if mapper.regex]


def _has_errors(*regexes: tree.Regex) -> bool:
    return any(problem.code == "E301" for regex in regexes for problem in problems(regex.pattern, regex.flags))


def _mapper(written: tree.Mapper) -> Mapper:
    regex = compile_regex(written.regex.pattern, written.regex.flags) if written.regex else None
    return Mapper(written.kind, regex, written.text or "", written.count or 0)


def _fruitless(statement: tree.Statement, unless: tree.Regex, mappers: tuple[Mapper, ...]) -> Iterator[Complaint]:
    pattern = compile_regex(unless.pattern, unless.flags)
    wrong = [sample for sample in _SAMPLES if not pattern.search(sample)]
    if not wrong or any(_gets_through(sample, pattern, mappers) for sample in wrong):
        return
    message = f"these functions never satisfy `unless`: '{wrong[0]}' becomes '{_mapped(wrong[0], mappers)}'"
    first, last = statement.args["mappers"][0], statement.args["mappers"][-1]
    span = first.span.to(last.span) if first.span and last.span else statement.span
    yield Complaint("E305", message, span, _REMEDY)


def _mapped(text: str, mappers: tuple[Mapper, ...]) -> str:
    for mapper in mappers:
        text = mapper(text)
    return text


def _gets_through(sample: str, unless: Regex, mappers: tuple[Mapper, ...]) -> bool:
    """Whether the functions alone give an id its form, and an equal id another one."""
    if not unless.search(_mapped(sample, mappers)):
        return False
    renaming = Renaming(unless, mappers)
    try:
        renaming.of(sample)
        renaming.of(sample)
    except RuleFault:
        return False
    return True
