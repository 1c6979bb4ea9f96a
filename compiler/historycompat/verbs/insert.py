"""`insert`: a message or a part that was not there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from historycompat import ir, tree
from historycompat.edits import Edit, Pointer, detached, value_at
from historycompat.errors import Complaint, RuleFault
from historycompat.states import marked_synthetic
from historycompat.verbs.complaints import complaint, word
from historycompat.verbs.judgement import argument, reads
from historycompat.verbs.samples import assistant, reasoning, result, text, tool, user
from historycompat.verbs.verb import Editor, Effects, Example, Verb
from historycompat.view import Compute, Hit, PathHit, View


def build(grain: str, value: Compute, place: str) -> Editor:
    behind = place in ("after", "end")

    def edit(view: View, hits: list[Hit]) -> Iterator[Edit]:
        # At the start or the end of all selected messages: the outermost one is the anchor.
        outer = hits[-1:] if behind else hits[:1]
        done: set[Pointer] = set()
        for hit in outer if grain == "message" and place in ("start", "end") else hits:
            holder, at = _slot(view, hit, grain, place, behind)
            # Two parts of one message are one anchor for a message beside it.
            if (*holder, at) not in done:
                done.add((*holder, at))
                yield _added(view, holder, at, _object(value(hit.value, hit)))

    return edit


def _slot(view: View, hit: Hit, grain: str, place: str, behind: bool) -> tuple[Pointer, int]:
    """The list that a new value belongs in, and its index there in the snapshot (-1: at the end)."""
    if isinstance(hit, PathHit):
        return _beside(hit, place, behind)
    if hit.index is None:
        return view.shape.spine, -1 if behind else 0
    if grain == "message":
        return view.shape.spine, hit.index + behind
    if place in ("before", "after"):
        return hit.path[:-1], int(hit.path[-1]) + behind
    return view.path(hit.index, view.shape.parts), -1 if behind else 0


def _beside(hit: PathHit, place: str, behind: bool) -> tuple[Pointer, int]:
    """Into a selected list, else into the list that a selected value stands in."""
    if place in ("start", "end") and isinstance(hit.value, list):
        return hit.path, -1 if behind else 0
    if hit.index is None:
        raise RuleFault("what is selected stands in no list, so nothing can be inserted beside it")
    depth = max(at for at, key in enumerate(hit.path) if isinstance(key, int))
    return hit.path[:depth], hit.index + behind if place in ("before", "after") else -1 if behind else 0


def _added(view: View, holder: Pointer, at: int, new: dict[str, Any]) -> Edit:
    depth = len(view.shape.spine)
    of_message = len(holder) == depth + 2 and holder[:depth] == view.shape.spine and holder[-1] == view.shape.parts
    if not view.shape.native and (of_message or holder == view.shape.spine):
        new = marked_synthetic(new)
    values = value_at(view.root, holder)
    if isinstance(values, list):
        return Edit("add", (*holder, len(values) if at < 0 else at), new)
    there = [{"type": "text", "text": values}] if values else []
    return Edit("add", holder, [*there, new] if at < 0 else [new, *there])


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise RuleFault(f"insert needs an object, and its expression gave {value!r}")
    return dict(detached(value))


def _effects(statement: ir.Statement) -> Effects:
    new = "message" if argument(statement, "grain") == "message" else "part.*"
    return Effects(reads=reads(statement), creates=frozenset({new}))


def _check(statement: tree.Statement) -> Iterator[Complaint]:
    grain, place, target = word(statement, "grain"), word(statement, "place"), statement.target
    if target is None:
        return
    if grain == "part" and (target.kind == "prompt" or (target.kind == "message" and place in ("before", "after"))):
        yield complaint(
            "E502",
            "a part stands in a message, and here is none for it",
            statement,
            "say in which messages: `at_start message assistant where ...`",
        )
    elif target.kind == "prompt" and place in ("before", "after"):
        yield complaint("E502", "nothing stands before or after the prompt", statement, "write `at_start` or `at_end`")
    elif target.where is None and not _made_false(target, grain, place):
        yield complaint(
            "E503",
            "without a condition this inserts again at every run",
            statement,
            "add a `where` that the insertion makes false",
        )


def _made_false(target: tree.Target, grain: str | None, place: str | None) -> bool:
    """Whether a state of the target ends with the insertion."""
    edge = {"before": "first", "after": "last"}.get(place or "")
    if grain == "part" and place in ("before", "after"):
        return edge in target.part_states
    return "orphan" in target.states or (edge in target.states if grain == "message" else "empty" in target.states)


_CONTINUE = "{role: 'user', content: [{type: 'text', text: 'Continue.'}]}"
_UNDERSTOOD = "{role: 'assistant', content: [{type: 'text', text: 'Understood.'}]}"

VERB = Verb(
    name="insert",
    does="adds a message or a part, marked synthetic; needs a guard that the insertion makes false",
    build=build,
    targets=frozenset({"part", "message", "call", "result", "prompt", "path"}),
    least_safety=lambda statement: "safe",
    effects=_effects,
    doc="""\
- A message goes before or after each selected message (or message with a selected part), once for each; `at_start` and
  `at_end` are before the first and after the last selected message, or the ends of the history where only a `where`,
  or nothing, follows.
- A part goes before or after each selected part, call or result; `at_start` and `at_end` are the ends of each selected
  message, whose string content becomes a text part.

With a `path` target both words mean the same: an element of the selected list (`at_start`, `at_end`), or of the list
that the selected value stands in. The expression is evaluated once for each place and must give an object. Messages and
parts of the canonical prompt are marked synthetic; what is added to a wire shape is not.

What is inserted at the end of a history is not there when the history has grown: `at_end` keeps no prefix.""",
    examples=(
        Example(
            f"insert message {_CONTINUE} at_end where $messages[-1].role == 'assistant'",
            (user(text("hi")), assistant(text("hello"))),
            (user(text("hi")), assistant(text("hello")), marked_synthetic(user(text("Continue.")))),
        ),
        Example(
            f"insert message {_UNDERSTOOD} before message user where $prev.role == 'tool'",
            (tool(result("c1", "ls")), user(text("go on"))),
            (tool(result("c1", "ls")), marked_synthetic(assistant(text("Understood."))), user(text("go on"))),
        ),
        Example(
            "insert part {type: 'reasoning', text: ''} at_start message assistant"
            " where !(content[?type == 'reasoning'])",
            (user(text("hi")), assistant(text("hello"))),
            (user(text("hi")), assistant(marked_synthetic(reasoning("")), text("hello"))),
        ),
    ),
    check=_check,
)
