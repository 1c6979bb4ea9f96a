"""What the checks of several verbs share: reading a written statement, and complaining about it."""

from __future__ import annotations

from historycompat import tree
from historycompat.errors import Complaint


def word(statement: tree.Statement, name: str) -> str | None:
    """A word or quoted text among the arguments of a written statement."""
    value = statement.args.get(name)
    if isinstance(value, tree.Word):
        return value.text
    return value.value if isinstance(value, tree.Text) else value if isinstance(value, str) else None


def complaint(code: str, message: str, statement: tree.Statement, suggestion: str) -> Complaint:
    """A complaint with its place: the target's where there is one, else the statement's."""
    target = statement.target
    return Complaint(code, message, target.span if target and target.span else statement.span, suggestion)
