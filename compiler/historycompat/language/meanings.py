"""What the states and variables of the language mean, in words, each with a line of rule text that shows it."""

from __future__ import annotations

from typing import NamedTuple


class Meaning(NamedTuple):
    """`is_` completes a sentence that begins with what the word is about; `example` is a statement that uses it."""

    is_: str
    example: str


# By the kind of target (`part` for what stands behind a part's type) and the state.
STATES: dict[tuple[str, str], Meaning] = {
    ("message", "first"): Meaning("the first of the history", "move message system:late to before message :first"),
    ("message", "last"): Meaning("the last of the history", "drop message assistant:last where blank(content)"),
    ("message", "empty"): Meaning("without parts, or with nothing but blank text", "drop message :empty"),
    ("message", "late"): Meaning(
        "a system message behind the first message of another role", "move message system:late to start"
    ),
    ("message", "open"): Meaning(
        "followed by nothing but tool messages: its turn is not over, and the model goes on with it",
        "drop assistant:open/reasoning where blank(text)",
    ),
    ("message", "settled"): Meaning(
        "not open: something other than a tool message follows", "drop assistant:settled/reasoning"
    ),
    ("message", "current"): Meaning(
        "followed by nothing but assistant and tool messages: it is a step since the last user message",
        "unset cacheControl on message assistant:current",
    ),
    ("message", "synthetic"): Meaning("inserted by a rule, and not said by anyone", "drop message user:synthetic"),
    ("message", "stale"): Meaning(
        "written after a prefix that has been changed since, as far as the host keeps account of that",
        "drop assistant:stale/reasoning",
    ),
    ("part", "first"): Meaning("the first of its message", "drop assistant/text:first where blank(text)"),
    ("part", "last"): Meaning("the last of its message", "drop assistant/text:last where blank(text)"),
    ("part", "empty"): Meaning("a text of nothing but blanks", "drop */text:empty"),
    ("call", "orphan"): Meaning(
        "without a result", "answer call:orphan with {type: 'error-text', value: 'No result.'}"
    ),
    ("call", "duplicate"): Meaning("one whose id an earlier call has already", "drop call:duplicate"),
    ("result", "orphan"): Meaning("without a call before it", "drop result:orphan"),
    ("result", "duplicate"): Meaning("one whose id an earlier result has already", "drop result:duplicate"),
    ("result", "late"): Meaning(
        "one that does not stand directly behind its call's message", "move result:late to after call"
    ),
}  # fmt: skip

VARIABLES: dict[str, Meaning] = {
    "messages": Meaning(
        "the messages of the prompt",
        'report "the history is empty" prompt where $messages == `[]`',
    ),
    "tools": Meaning(
        "the tools of the request; a rule that reads them is skipped where a history comes without a request",
        "drop call where toolName == 'search' && !($tools[?name == 'search'])",
    ),
    "params": Meaning(
        "the parameters of the request; a rule that reads them is skipped where a history comes without a request",
        "drop assistant/reasoning where $params.reasoning_effort == 'none'",
    ),
    "model": Meaning(
        "the model that is about to read: `{chain, provider, vendor, name, version}`",
        "drop assistant/reasoning where $model.provider == 'groq'",
    ),
    "message": Meaning("the message around `@`", "drop */text where blank(text) && $message.role == 'user'"),
    "prev": Meaning("the message before, or null", "drop assistant/reasoning where $prev.role == 'tool'"),
    "next": Meaning("the message after, or null", "drop assistant/reasoning where $next.role == 'user'"),
    "index": Meaning("the index of the message, from 0", "drop message system where $index > `0`"),
    "position": Meaning(
        "the index of the part in its message, from 0", "drop */text where $position > `0` && blank(text)"
    ),
    "call": Meaning(
        "the call that belongs to the result, or null", "drop result where $call && $call.toolName != toolName"
    ),
    "result": Meaning("the result that belongs to the call, or null", "drop call where $result.isError == `true`"),
    "origin": Meaning(
        "who wrote the message, `{provider, model}`, where the host stamped it",
        "drop assistant/reasoning where $origin && $origin.provider != $model.provider",
    ),
    "parent": Meaning(
        "what holds the list that `@` stands in",
        "drop path messages[*].content[?type == 'reasoning'] where $parent.role == 'assistant'",
    ),
    "error": Meaning(
        "what woke the rule: `{status, text, groups}`; null before the request",
        'drop message where $error.groups."1" == to_string($index)',
    ),
}
