"""What can be wrong with a pattern, as values."""

from __future__ import annotations

from typing import NamedTuple


class Problem(NamedTuple):
    """Something wrong with a pattern; `start` and `end` are offsets in it."""

    code: str
    message: str
    start: int
    end: int
    suggestion: str | None = None


class RegexError(ValueError):
    """A pattern outside the dialect."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(f"{problem.message} (at offset {problem.start})")
        self.problem = problem

    def __reduce__(self) -> tuple[type[RegexError], tuple[Problem]]:
        return type(self), (self.problem,)
