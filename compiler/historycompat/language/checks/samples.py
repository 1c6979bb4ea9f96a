"""Pattern → short texts that it matches, to try other patterns and rules on."""

from __future__ import annotations

from functools import lru_cache
from itertools import islice, product

from historycompat.regex import RegexError, compile_regex, parsed, required_literal
from historycompat.regex.nodes import Alt, Char, Group, Node, Repeat, Seq

# What stands for "any character": something that no pattern names by chance, and a letter.
_ODD = "¤"
_LETTER = "q"

_MOST = 48
_LONGEST = 60


@lru_cache(maxsize=2048)
def texts(pattern: str, flags: str = "", most: int = _MOST) -> tuple[str, ...]:
    """Up to `most` texts with a match, every branch taken at least once where there is room; none where the pattern is
    refused or nothing simple matches it."""
    try:
        made = dict.fromkeys(_variants(parsed(pattern, flags).root))
        regex = compile_regex(pattern, flags)
        return tuple(islice((text for text in made if regex.search(text)), most))
    except RegexError:
        return ()


@lru_cache(maxsize=16_384)
def contained(one: tuple[str, str], other: tuple[str, str]) -> bool:
    """Whether all that the first pattern (and flags) matches, the second one matches too, as far as samples tell."""
    tried = (text for sample in texts(*one) for text in (sample, f"{_ODD}{sample}{_ODD}", f"{sample}\n"))
    return bool(texts(*one)) and all(occurs(*other, text) or not occurs(*one, text) for text in tried)


@lru_cache(maxsize=65_536)
def occurs(pattern: str, flags: str, text: str) -> bool:
    """Whether a pattern matches somewhere in a text. Most are told apart by the literal that a match contains."""
    literal = required_literal(pattern, flags)
    return (literal is None or literal in text.lower()) and compile_regex(pattern, flags).search(text) is not None


def _variants(node: Node) -> list[str]:
    match node:
        case Char(ranges):
            return _characters(ranges)
        case Seq(items):
            rows = [_variants(item) for item in items]
            turns = ("".join(row[turn % len(row)] for row in rows) for turn in range(max(map(len, rows), default=1)))
            return [*dict.fromkeys([*turns, *("".join(row) for row in islice(product(*rows), _MOST))])][:_MOST]
        case Alt(branches):
            found = [_variants(branch) for branch in branches]
            return [*dict.fromkeys([*(row[0] for row in found), *(text for row in found for text in row)])][:_MOST]
        case Group(body):
            return _variants(body)
        case Repeat(body, low, high):
            once = _variants(body)
            counts = {low, min(low + 2, low + 2 if high is None else high)}
            return [*dict.fromkeys(text * min(n, _LONGEST) for n in sorted(counts) for text in once)][:_MOST]
    return [""]


def _characters(ranges: tuple[tuple[int, int], ...]) -> list[str]:
    wanted = [char for char in (_ODD, _LETTER) if any(low <= ord(char) <= high for low, high in ranges)]
    if len(wanted) == 2:
        return wanted
    return [*dict.fromkeys([chr(ranges[0][0]), chr(ranges[-1][1]), *wanted])] if ranges else [""]
