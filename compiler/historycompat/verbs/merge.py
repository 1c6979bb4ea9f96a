"""`merge`: neighbours with one role become one message."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from historycompat.edits import MISSING, Edit, changes, same, without_path
from historycompat.states import SYNTHETIC_NAMESPACE, is_synthetic, marked_synthetic
from historycompat.verbs.judgement import reads
from historycompat.verbs.placement import halves
from historycompat.verbs.removal import list_keys
from historycompat.verbs.samples import assistant, system, text, user
from historycompat.verbs.verb import Editor, Effects, Example, Verb
from historycompat.view import Hit, View

Message = dict[str, Any]


def build(join: str = "\n\n") -> Editor:
    def edit(view: View, hits: list[Hit]) -> Iterator[Edit]:
        for first, last, merged in _runs(view, [hit.index for hit in hits if hit.index is not None], join):
            yield from _changed(view, first, merged)
            yield from (Edit("remove", view.path(index)) for index in range(first + 1, last + 1))

    return edit


def _runs(view: View, indexes: list[int], join: str) -> Iterator[tuple[int, int, Message]]:
    """First index, last index and the merged message of each run of two or more that can merge."""
    reused = _reused(view)
    is_string = view.context.is_string
    first = last = -1
    merged: Message = {}
    strings = False  # whether all of the run are messages that say their content as one string
    for index in indexes:
        both = None
        # A call with an id that the run has already would pair otherwise in one message with it.
        if index == last + 1 and last >= 0 and reused.get(index, -1) < first:
            both = _merged(view, merged, view.messages[index], join, strings and is_string(view.messages[index]))
        if both is None:
            if last > first:
                yield first, last, merged
            first, both, strings = index, view.messages[index], True
        strings = strings and is_string(view.messages[index])
        last, merged = index, both
    if last > first:
        yield first, last, merged


def _reused(view: View) -> dict[int, int]:
    """For messages with calls: the last message before that has a call or result with an id of theirs."""
    seen: dict[Any, int] = {}
    reused: dict[int, int] = {}
    for half, is_call in halves(view.pairing):
        id_ = half.id if isinstance(half.id, (str, int, float)) else None
        if is_call and seen.get(id_, half.index) < half.index:
            reused[half.index] = max(seen[id_], reused.get(half.index, -1))
        seen[id_] = half.index
    return reused


def _merged(view: View, one: Message, other: Message, join: str, strings: bool) -> Message | None:
    """Two messages as one; None where their roles or their metadata differ. `strings`: both say theirs as a string."""
    if is_synthetic(one) != is_synthetic(other):
        one, other = _marked_inside(view, one), _marked_inside(view, other)
    lists = list_keys(view)
    united = _united(
        {key: value for key, value in one.items() if key not in lists},
        {key: value for key, value in other.items() if key not in lists},
    )
    if united is MISSING or not same(one.get(view.shape.role), other.get(view.shape.role)):
        return None
    merged = {**one, **united}
    for key in lists:
        if key in one or key in other:
            merged[key] = _joined(one.get(key), other.get(key), join, strings)
    return merged


def _marked_inside(view: View, message: Message) -> Message:
    """A message whose mark, if a rule inserted it, stands on its parts: its neighbour was not inserted."""
    if not is_synthetic(message):
        return message
    content = message.get(view.shape.parts)
    if isinstance(content, list):
        marked = [marked_synthetic(part) if isinstance(part, dict) else part for part in content]
        message = {**message, view.shape.parts: marked}
    return without_path(message, ("providerOptions", SYNTHETIC_NAMESPACE), prune=True)


def _united(one: Any, other: Any) -> Any:
    """Two values as one, objects key by key; MISSING where they differ."""
    if not (isinstance(one, dict) and isinstance(other, dict)):
        return one if same(one, other) else MISSING
    united = {**other, **one}
    for key in one.keys() & other.keys():
        united[key] = _united(one[key], other[key])
    return MISSING if any(value is MISSING for value in united.values()) else united


def _joined(one: Any, other: Any, join: str, strings: bool = False) -> Any:
    if one in (None, "") or other in (None, ""):
        return other if one in (None, "") else one
    if isinstance(one, str) and isinstance(other, str):
        return one + join + other
    parts, more = _as_parts(one), _as_parts(other)
    at, text = (_only_text(each) if strings else None for each in (parts, more))
    if at is not None and text is not None:
        both = {**parts[at], "text": _joined(parts[at]["text"], more[text]["text"], join)}
        parts, more = [*parts[:at], both, *parts[at + 1 :]], [*more[:text], *more[text + 1 :]]
    return [*parts, *more]


def _only_text(parts: list[Any]) -> int | None:
    """Where the only text among some parts stands, if a string can say it."""
    found = [at for at, part in enumerate(parts) if isinstance(part, dict) and part.get("type") == "text"]
    plain = len(found) == 1 and parts[found[0]].keys() == {"type", "text"} and isinstance(parts[found[0]]["text"], str)
    return found[0] if plain else None


def _as_parts(content: Any) -> list[Any]:
    return content if isinstance(content, list) else [{"type": "text", "text": content}]


def _changed(view: View, index: int, new: Message) -> Iterator[Edit]:
    """The edits for a message whose lists may have grown at their end."""
    old = view.messages[index]
    for key in list_keys(view):
        before, after = old.get(key), new.get(key)
        if isinstance(before, list) and isinstance(after, list):
            yield from _grown((*view.path(index), key), before, after)
            new = {**new, key: before}
    yield from changes(view.path(index), old, new)


def _grown(path: tuple[str | int, ...], before: list[Any], after: list[Any]) -> Iterator[Edit]:
    for position, part in enumerate(before):
        yield from changes((*path, position), part, after[position])
    yield from (Edit("add", (*path, len(before)), part) for part in after[len(before) :])


VERB = Verb(
    name="merge",
    does="joins neighbours with the same role; neighbours whose metadata differs on a shared key stay apart",
    build=build,
    targets=frozenset({"message"}),
    least_safety=lambda statement: "safe",
    effects=lambda statement: Effects(
        reads=reads(statement), writes=frozenset({"message"}), removes=frozenset({"message"})
    ),
    keeps_prefix=False,
    doc="""\
Of the selected messages those that stand next to each other and have the same role become one, in the place of the
first; a run of three or more becomes one too. Parts concatenate; two string contents are joined with `join` (default: a
blank line), and so are texts whose messages are strings in the history's own format, which stay strings; beside parts a
string becomes a text part, an empty one nothing. All other keys unite, objects key by key;
where both messages have a key with different values they stay apart, and so do messages with calls of one id. Calls
that a wire shape keeps beside the content concatenate as parts do.

A message that a rule inserted and that merges with one that was there hands its mark to its parts.

Keeps no prefix: the last message of a history can still grow.""",
    examples=(
        Example(
            "merge message user|assistant",
            (user(text("one")), user(text("two")), user(text("three")), assistant(text("ok"))),
            (user(text("one"), text("two"), text("three")), assistant(text("ok"))),
        ),
        Example(
            'merge message system join "\\n"',
            (system("Be brief."), system("Be kind.")),
            (system("Be brief.\nBe kind."),),
        ),
        Example(
            "merge message user",
            (user(text("a"), name="ann"), user(text("b"), name="bob"), user(text("c"))),
            (user(text("a"), name="ann"), user(text("b"), text("c"), name="bob")),
        ),
    ),
)
