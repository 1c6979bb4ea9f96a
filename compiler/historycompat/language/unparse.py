"""Statements and clauses of the tree → their canonical text, the same on both surfaces."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from historycompat.language.unparse_expressions import expression, name, operands, quoted
from historycompat.tree import ErrorPattern, Expr, Mapper, ModelPattern, Path, Regex, Rule, Statement, Target

WIDTH = 100

# The clauses of a rule in the order they are written; those of `TEXTS` hold prose, the others rule text.
CLAUSES = (
    "because", "see", "verified", "models", "when", "on_error", "phase", "persist", "format", "safety", "replaces",
)  # fmt: skip
TEXTS = frozenset({"because", "see", "verified"})

_IN_REGEX = re.compile(r"\\.|/")


def statement(written: Statement) -> list[str]:
    """A statement as the lines of its canonical form."""
    return filled([written.verb.split("_")[0], *_VERBS[written.verb](_Words(written))])


def one_line(written: Statement) -> str:
    return " ".join(statement(written))


def clauses(rule: Rule) -> Iterator[tuple[str, str | list[str]]]:
    """The clauses that a rule has, each with its text, or with one text for each of its items."""
    for clause in CLAUSES:
        value = getattr(rule, clause)
        if value is not None and value != ():
            yield clause, [_clause(item) for item in value] if isinstance(value, tuple) else _clause(value)


def _clause(value: Any) -> str:
    match value:
        case ModelPattern():
            return model(value)
        case ErrorPattern():
            return error_pattern(value)
        case Expr():
            return expression(value)
        case bool():
            return "yes" if value else "no"
    return str(value)


def model(pattern: ModelPattern) -> str:
    """A model pattern with its bounds."""
    bounds = "".join(f" {sign} {version}" for sign, version in pattern.bounds)
    return f"{'not ' * pattern.negated}{pattern.text}{bounds}"


def error_pattern(pattern: ErrorPattern) -> str:
    return " ".join(filter(None, ("|".join(map(str, pattern.statuses)), _regex(pattern.regex))))


def target(written: Target) -> str:
    """A target, its conditions included, in one line."""
    return " ".join(_target(written))


def filled(pieces: Iterable[str]) -> list[str]:
    """Pieces in as few lines as hold them; of several lines, each `where` and each `||` begins one."""
    pieces, lines = [*pieces], [""]
    if len(whole := " ".join(pieces)) <= WIDTH:
        return [whole]
    for piece in pieces:
        if lines[-1] and (piece.startswith(("where ", "|| ")) or len(lines[-1]) + 1 + len(piece) > WIDTH):
            lines.append(piece)
        else:
            lines[-1] = f"{lines[-1]} {piece}".lstrip()
    return lines


# ----- parts of statements, as pieces between which a line may end


class _Words:
    """The arguments of one statement, each as text."""

    def __init__(self, written: Statement) -> None:
        self.written, self.args = written, written.args

    def __call__(self, key: str, before: str = "") -> str:
        """An argument behind its keyword; nothing where it is not given."""
        value = self.args.get(key)
        return "" if value is None else f"{before} {_argument(value)}".lstrip()

    def on(self, before: str = "on") -> Iterator[str]:
        """The target behind its keyword."""
        assert self.written.target is not None
        first, *rest = _target(self.written.target)
        return iter((f"{before} {first}".lstrip(), *rest))


def _argument(value: Any) -> str:
    match value:
        case Expr():
            return expression(value)
        case Regex():
            return _regex(value)
        case Path(keys=keys):
            return ".".join(map(name, keys))
        case Target():
            return target(value)
    return quoted(value.value) if isinstance(getattr(value, "value", None), str) else _plain(value)


def _plain(value: Any) -> str:
    return str(value.value) if hasattr(value, "value") else str(value.text)


def _regex(regex: Regex) -> str:
    pattern = _IN_REGEX.sub(lambda found: r"\/" if found[0] == "/" else found[0], regex.pattern)
    return f"/{pattern}/{regex.flags}"


def _listed(values: tuple[Any, ...]) -> Iterator[str]:
    """`a, b, c`, a piece for each."""
    for at, value in enumerate(values):
        yield _argument(value) + "," * (at < len(values) - 1)


def _target(written: Target) -> Iterator[str]:
    yield _selector(written)
    if written.where:
        yield from condition("where", written.where)
    if written.exclude:
        yield f"except {written.exclude.end} {written.exclude.count}"


def _selector(written: Target) -> str:
    before = "|".join(written.roles) + "".join(f":{state}" for state in written.states)
    if written.kind == "part":
        return f"{before}/{'|'.join(written.types)}{''.join(f':{state}' for state in written.part_states)}"
    if written.path:
        return f"path {expression(written.path)}"
    return f"{written.kind}{' ' if written.kind == 'message' else ''}{before}".rstrip()


def condition(before: str, expr: Expr, text: str = "", after: str = "") -> Iterator[str]:
    """A condition behind its keyword, divided at `||` and `&&` where it is too long for a line."""
    text = text or expression(expr)
    whole = f"{before} {text}{after}"
    row = operands(expr) if len(whole) > WIDTH else None
    if row is None:
        yield whole
        return
    sign, members = row
    opening, closing = ("(", ")") if text.startswith("(") and text != expression(expr) else ("", "")
    for at, (member, words) in enumerate(members):
        lead = sign if at else f"{before} {opening}".rstrip()
        tail = f"{closing}{after}" if at == len(members) - 1 else ""
        parts = [*condition(lead, member, words, tail)]
        yield parts[0].replace("( ", "(", 1) if opening and not at else parts[0]
        yield from parts[1:]


def _mapper(mapper: Mapper) -> str:
    count = "" if mapper.count is None else str(mapper.count)
    text = "" if mapper.text is None else quoted(mapper.text)
    if mapper.regex:
        return f"replacing {_regex(mapper.regex)} with {text}"
    return f"{mapper.kind} {count or text}"


# ----- verbs: what stands behind the first word


def _drop(words: _Words) -> Iterator[str]:
    yield from words.on("")
    fill = words("fill", "fill")
    if "on_empty" in words.args or fill:
        yield f"on_empty {fill or words('on_empty')}"


def _map(words: _Words) -> Iterator[str]:
    yield f"{words.written.verb.split('_')[1]} {words('unless', 'unless')}"
    yield from map(_mapper, words.args["mappers"])


def _insert(words: _Words) -> Iterator[str]:
    place, at = words("place"), words.written.target
    yield f"{words('grain')} {words('value')}"
    if place in ("before", "after"):
        yield from words.on(place)
    elif at and at.kind == "prompt" and not at.exclude:
        yield f"at_{place}"
        yield from condition("where", at.where) if at.where else ()
    else:
        yield from words.on(f"at_{place}")


def _move(words: _Words) -> Iterator[str]:
    yield from words.on("")
    anchor = words.args.get("anchor")
    first, *rest = _target(anchor) if anchor else [""]
    yield f"to {words('place')} {first}".rstrip()
    yield from rest


def _many(before: str, key: str) -> Callable[[_Words], Iterator[str]]:
    def pieces(words: _Words) -> Iterator[str]:
        yield from filter(None, (before,))
        yield from _listed(words.args[key])
        yield from filter(None, ("prune" if words.args.get("prune") else "",))
        yield from words.on()

    return pieces


def _about(*arguments: tuple[str, str]) -> Callable[[_Words], Iterator[str]]:
    """A verb whose target stands first, and its arguments behind their keywords."""

    def pieces(words: _Words) -> Iterator[str]:
        yield from words.on("")
        yield from filter(None, (words(key, before) for before, key in arguments))

    return pieces


def _on(*arguments: tuple[str, str]) -> Callable[[_Words], Iterator[str]]:
    """A verb whose target stands last, behind `on`."""

    def pieces(words: _Words) -> Iterator[str]:
        yield from filter(None, (words(key, before) for before, key in arguments))
        yield from words.on()

    return pieces


def _report(words: _Words) -> Iterator[str]:
    yield words("text")
    yield from words.on("")


_VERBS: dict[str, Callable[[_Words], Iterator[str]]] = {
    "drop": _drop,
    "set": _on(("", "path"), ("to", "to")),
    "unset": _many("", "paths"),
    "keep": _many("only", "paths"),
    "rename": _on(("", "path"), ("to", "to")),
    "replace": _on(("", "regex"), ("with", "with_"), ("in", "path")),
    "map_ids": _map,
    "map_names": _map,
    "merge": _about(("join", "join")),
    "split": _about(("by", "by")),
    "insert": _insert,
    "reorder": _many("", "types"),
    "truncate": _on(("", "path"), ("to", "count"), ("", "unit"), ("keeping", "keeping")),
    "convert": _about(("into", "into"), ("", "value")),
    "move": _move,
    "coerce": _on(("", "path"), ("to", "kind"), ("else", "otherwise")),
    "answer": _about(("with", "value")),
    "dedupe": _about(("by", "by"), ("keeping", "keeping")),
    "report": _report,
}
