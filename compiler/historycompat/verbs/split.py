"""`split`: one message becomes several."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from historycompat.edits import Edit, same
from historycompat.verbs.judgement import reads
from historycompat.verbs.removal import list_keys
from historycompat.verbs.samples import assistant, call, text, user
from historycompat.verbs.verb import Editor, Effects, Example, Verb
from historycompat.view import Compute, Hit, View


def build(by: Compute) -> Editor:
    def edit(view: View, hits: list[Hit]) -> Iterator[Edit]:
        for hit in hits:
            if hit.index is not None:
                runs = _runs(view, hit.index, by)
                if len(runs) > 1:
                    yield from _split(view, hit.index, runs)

    return edit


def _runs(view: View, index: int, by: Compute) -> list[list[Any]]:
    """The parts of a message in runs of equal value."""
    runs: list[list[Any]] = []
    last: Any = None
    for position, part in enumerate(view.parts(index)):
        path = view.path(index, view.shape.parts, position)
        value = by(part, Hit(path, part, view, index, position, view.pairing.at(path)))
        if runs and same(value, last):
            runs[-1].append(part)
        else:
            runs.append([part])
        last = value
    return runs


def _split(view: View, index: int, runs: list[list[Any]]) -> Iterator[Edit]:
    message = view.messages[index]
    # Calls beside the content come behind it: they go with its last run.
    beside = [key for key in list_keys(view) if key != view.shape.parts and key in message]
    bare = {key: value for key, value in message.items() if key not in beside}
    length = sum(map(len, runs))
    yield from (Edit("remove", view.path(index, key)) for key in beside)
    yield from (
        Edit("remove", view.path(index, view.shape.parts, position)) for position in range(len(runs[0]), length)
    )
    for run in runs[1:]:
        rest = {**(message if run is runs[-1] else bare), view.shape.parts: run}
        view.context.lineage.record(rest, message)
        yield Edit("add", view.path(index + 1), rest)


VERB = Verb(
    name="split",
    does="makes one message of each run of parts for which an expression gives equal values",
    build=build,
    targets=frozenset({"message"}),
    least_safety=lambda statement: "safe",
    effects=lambda statement: Effects(
        reads=reads(statement), writes=frozenset({"message"}), creates=frozenset({"message"})
    ),
    doc="""\
The expression sees each part as `@`, with the variables of a part. The first run stays in the message, each other one
follows in a message of its own with the same keys. Calls that a wire shape keeps beside the content go with the last
run. A message with a string as content is one run. Where a result would then stand before its call, or pair with
another call of the same id, the rule faults.""",
    examples=(
        Example(
            "split message assistant by type == 'tool-call'",
            (assistant(text("Let me look."), call("c1", "ls"), call("c2", "ls"), text("Done.")),),
            (assistant(text("Let me look.")), assistant(call("c1", "ls"), call("c2", "ls")), assistant(text("Done."))),
        ),
        Example(
            "split message user by type",
            (user(text("a"), text("b"), name="ann"), user(text("c"), {"type": "image", "image": "d"}, name="bob")),
            (
                user(text("a"), text("b"), name="ann"),
                user(text("c"), name="bob"),
                user({"type": "image", "image": "d"}, name="bob"),
            ),
        ),
    ),
)
