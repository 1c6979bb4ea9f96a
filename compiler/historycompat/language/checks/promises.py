"""W701, W702: rules that move the prefix of a growing history, and `safety` that claims more than the verbs keep."""

from __future__ import annotations

from collections.abc import Iterator

from historycompat import ir, tree
from historycompat.errors import Complaint
from historycompat.language.check import resolve
from historycompat.language.checks.places import targets
from historycompat.tree import Expr
from historycompat.verbs import VERBS
from historycompat.verbs.verb import SAFETIES

_CONSEQUENCE = "when messages are added: what was sent before changes, and its prompt cache is lost"
_INSTEAD = "wake it by the error alone (`phase after`), or say why the prompt cache may go: # allow: W701 reason"
_NARROWER = "select by what does not change when messages are added, as :settled or a `where` on the value itself"


def unstable_prefixes(rule: tree.Rule, pack: tree.Pack) -> Iterator[Complaint]:
    """W701: a rule before the request whose edits depend on where the history ends. Only the first reason is told."""
    statements = [statement for statement in rule.do if statement.verb != "report"]
    if not statements or rule.phase == "after" or (rule.phase is None and rule.on_error):
        return
    if _reads_the_end(rule.when):
        message = f"this condition comes out differently {_CONSEQUENCE}"
        yield Complaint("W701", message, rule.spans.get("when"), _INSTEAD)
        return
    for statement in statements:
        if what := _moving(statement):
            hint = _INSTEAD if what.startswith("`") and "except" not in what else _NARROWER
            yield Complaint("W701", f"{what} {_CONSEQUENCE}", statement.span, hint)
            return


def _moving(statement: tree.Statement) -> str | None:
    """What of a statement depends on the end of the history, in words."""
    args = statement.args
    if not VERBS[statement.verb].keeps_prefix:
        return f"`{statement.verb.replace('_', ' ')}` comes out differently"
    if statement.verb == "insert" and (_word(args.get("grain")), _word(args.get("place"))) == ("message", "end"):
        return "`at_end` is another place"
    if statement.verb == "dedupe" and _word(args.get("keeping")) == "last":
        return "the last of several equals is another one"
    if any(_reads_the_end(value) for value in args.values() if isinstance(value, Expr)):
        return "the expression comes out differently"
    return next((what for target in targets(statement) if (what := _moving_target(target))), None)


def _moving_target(target: tree.Target) -> str | None:
    if target.exclude and target.exclude.end == "last":
        return f"`except last {target.exclude.count}` spares another one"
    if "last" in target.states:
        return "another message is :last"
    if target.kind == "call" and "orphan" in target.states:
        return "a call is no longer :orphan"
    if _reads_the_end(target.where) or _reads_the_end(target.path):
        return "the condition comes out differently"
    return None


def _word(value: object) -> str | None:
    return value.text if isinstance(value, tree.Word) else value if isinstance(value, str) else None


def _reads_the_end(expr: Expr | None) -> bool:
    """Whether an expression reads `$next`, or counts messages from their end."""
    for node in expr.walk() if expr else ():
        if node.kind == "variable" and node.value == "next":
            return True
        if node.kind == "index_expression" and _is_messages(node.children[0]) and _counts_back(node.children[1]):
            return True
    return False


def _is_messages(node: Expr) -> bool:
    return node.kind in ("variable", "field") and node.value in ("messages", "input")


def _counts_back(node: Expr) -> bool:
    if node.kind == "index":
        return bool(node.value < 0)
    return node.kind == "slice" and any(isinstance(end, int) and end < 0 for end in node.children[:2])


def claimed_safety(rule: tree.Rule, pack: tree.Pack) -> Iterator[Complaint]:
    """W702: a rule that is called safer than its statements are."""
    if rule.safety is None:
        return
    implied = [(VERBS[s.verb].least_safety(s), s) for s in resolve(rule, pack).statements]
    safety, statement = max(implied, key=lambda found: SAFETIES.index(found[0]))
    if SAFETIES.index(safety) > SAFETIES.index(rule.safety):
        message = f"`{rule.safety}` claims too much: `{_short(statement)}` can lose {_LOSSES[safety]}"
        hint = f"write safety {safety}, or leave it out: it is worked out from the verbs"
        yield Complaint("W702", message, rule.spans.get("safety"), hint)


_LOSSES = {
    "lossy": "reasoning, metadata, media or what tools said",
    "unsafe": "or change words that a person or a model said",
}


def _short(statement: ir.Statement) -> str:
    return statement.text if len(statement.text) <= 60 else f"{statement.text[:57]}..."
