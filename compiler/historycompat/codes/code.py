"""What is said about one code."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import dedent


@dataclass(frozen=True, slots=True)
class Code:
    """One code; `title` fits into a table, `why` is a sentence or two for its page."""

    code: str
    title: str
    bad_example: str
    good_example: str
    why: str


def _rule(text: str) -> str:
    """A file with one rule, from what stands between its braces; whole files stay as they are."""
    text = dedent(text).strip("\n")
    if text.startswith(("language:", "pack ", "rule ", "#")):
        return text + "\n"
    return "rule example {\n" + "\n".join(f"  {line}" for line in text.split("\n")) + "\n}\n"


def code(code_: str, title: str, bad: str, good: str, why: str) -> Code:
    """A code whose examples are written without the rule around them."""
    return Code(code_, title, _rule(bad), _rule(good), why)
