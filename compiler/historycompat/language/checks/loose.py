"""W304: triggers that wake a rule on errors that it does not repair."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from historycompat import ir, tree
from historycompat.errors import Complaint
from historycompat.language.checks.acts import STRUCTURE, Entry
from historycompat.language.checks.order import meet
from historycompat.language.checks.patterns import shared_model
from historycompat.language.checks.samples import contained, occurs

# What providers say for reasons that no repair of a history takes away, with the status.
_UNRELATED: tuple[tuple[int, str], ...] = (
    (400, "Bad Request"),
    (400, "Invalid request."),
    (400, "An error occurred while processing your request."),
    (401, "Incorrect API key provided."),
    (401, "invalid x-api-key"),
    (401, "Unauthorized"),
    (402, "Your credit balance is too low, please add credits."),
    (403, "You do not have permission to use this model."),
    (404, "The model `example` does not exist or you do not have access to it."),
    (408, "Request timed out."),
    (429, "Rate limit exceeded, please try again later."),
    (429, "You exceeded your current quota."),
    (500, "Internal server error"),
    (502, "Bad gateway"),
    (503, "The model is overloaded. Please try again later."),
    (529, "Overloaded"),
)

# One refusal of each family that rules repair: a trigger that matches several of them names none.
_FAMILIES: tuple[tuple[int, str], ...] = (
    (400, "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"),
    (400, "messages.2: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1"),
    (400, "messages.0.content.0: unexpected `tool_use_id` found in `tool_result` blocks: toolu_1"),
    (400, "messages: text content blocks must be non-empty"),
    (400, "messages.1.content.0: Invalid `signature` in `thinking` block"),
    (400, 'messages: roles must alternate between "user" and "assistant"'),
    (400, "This model does not support assistant message prefill. The conversation must end with a user message."),
    (400, "Unexpected role 'system' after role 'assistant'"),
    (400, "Invalid 'messages[1].tool_calls[0].function.name': string does not match pattern."),
    (400, "messages.1.content.1.image.source.base64: invalid base64 data"),
    (422, "Extra inputs are not permitted: messages.1.assistant.reasoning_content"),
    (400, "Item 'msg_1' of type 'message' was provided without its required 'reasoning' item: 'rs_1'."),
    (400, "A maximum of 4 blocks with cache_control may be provided. Found 5."),
    (400, "Invalid parameter: messages with role 'tool' must be a response to a preceding message with 'tool_calls'."),
)
_SEVERAL = 3
_SHOWN = 50


def loose_triggers(entries: Sequence[Entry]) -> Iterator[Complaint]:
    """Triggers that match errors of many kinds, or what another alternative matches already; and, of rules that lose
    something, those that match what wakes a rule with another repair."""
    for entry in entries:
        reports = all(statement.verb == "report" for statement in entry.written.do)
        if entry.compiled or reports or not entry.written.on_error:
            continue
        strangers = [] if entry.meaning.safety == "safe" else _strangers(entry, entries)
        for number, pattern in enumerate(entry.written.on_error):
            trigger = entry.meaning.triggers[number]
            found = _generic(trigger) or _repeated(entry, number) or _of_another(trigger, strangers)
            if found:
                yield Complaint("W304", found[0], pattern.regex.span, found[1], entry.written.name)


_NARROWER = "name what only the error that this rule repairs says"


def _generic(trigger: ir.Trigger) -> tuple[str, str] | None:
    unrelated = [text for status, text in _UNRELATED if _matches(trigger, status, text)]
    if unrelated:
        return f'this also matches "{unrelated[0]}", which no repair of a history helps', _NARROWER
    kinds = [text for status, text in _FAMILIES if _matches(trigger, status, text)]
    if len(kinds) >= _SEVERAL:
        shown = " and ".join(f'"{text[:_SHOWN]}.."' for text in kinds[:2])
        return f"this matches refusals of many kinds, as {shown}", _NARROWER
    return None


def _matches(trigger: ir.Trigger, status: int, text: str) -> bool:
    reaches = not trigger.statuses or status in trigger.statuses
    return reaches and occurs(trigger.pattern.text, trigger.pattern.flags, text)


def _repeated(entry: Entry, number: int) -> tuple[str, str] | None:
    """An alternative of the same rule that wakes it on all of this already; of two equal ones the first is right."""
    triggers = entry.meaning.triggers
    own = triggers[number]
    if "(?P<" in own.pattern.text:
        return None  # what its groups catch may be read
    for at, other in enumerate(triggers):
        if at != number and _contains(other, own) and (at < number or not _contains(own, other)):
            return f"{_shown(entry.written.on_error[at])} matches all that this does", "take this one away"
    return None


def _contains(wide: ir.Trigger, narrow: ir.Trigger) -> bool:
    reaches = not wide.statuses or (bool(narrow.statuses) and narrow.statuses <= wide.statuses)
    inner, outer = narrow.pattern, wide.pattern
    return reaches and contained((inner.text, inner.flags), (outer.text, outer.flags))


def _strangers(entry: Entry, entries: Sequence[Entry]) -> list[Entry]:
    """Rules with triggers that run for the same models as one, and have nothing to do with it."""
    return [
        other
        for other in entries
        if other.meaning.triggers
        and other is not entry
        and other.meaning.format == entry.meaning.format
        and not _related(entry, other)
        and shared_model(entry.written.models, other.written.models)
    ]


def _of_another(own: ir.Trigger, strangers: Sequence[Entry]) -> tuple[str, str] | None:
    """A narrower trigger of a rule that this one has nothing to do with."""
    for other in strangers:
        for at, trigger in enumerate(other.meaning.triggers):
            if _contains(own, trigger) and not _contains(trigger, own):
                where = f"{_shown(other.written.on_error[at])}, which wakes {other.written.name}"
                return f"this matches all errors that match {where}, and repairs something else", _NARROWER
    return None


def _related(one: Entry, other: Entry) -> bool:
    """Whether two rules may edit the same places: then one error may well be for both."""
    return meet(one.places - {STRUCTURE}, other.places - {STRUCTURE})


def _shown(pattern: tree.ErrorPattern) -> str:
    return pattern.regex.span.text or f"/{pattern.regex.pattern}/{pattern.regex.flags}"
