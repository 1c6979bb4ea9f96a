"""What the states and variables of the language mean, in words, each with a line of rule text that shows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Meaning:
    """`is_` completes a sentence that begins with what the word is about; `example` is a statement that uses it, behind
    a clause that it needs, and `given` a history (in the short form of tests) that it changes, for a model, after an
    error and with the rest of a request."""

    is_: str
    example: str
    given: list[Any]
    model: str = "anthropic/claude-sonnet-4-5"
    error: Mapping[str, Any] | None = None
    request: Mapping[str, Any] = field(default_factory=dict)


_HI: Any = {"user": "hi"}
_HELLO: Any = {"assistant": "hello"}
_LS: Any = {"assistant": [{"call": "ls", "id": "c1"}]}
_THINKS: Any = {"assistant": [{"reasoning": "hmm"}, "hello"]}
_LATE: Any = [_HI, {"system": "Be brief."}, {"user": "go on"}]


def _result(output: str = "a.py") -> Any:
    return {"tool": [{"result": "c1", "name": "ls", "output": output}]}


# By the kind of target (`part` for what stands behind a part's type) and the state.
STATES: dict[tuple[str, str], Meaning] = {
    ("message", "first"): Meaning(
        "the first of the history", "move message system:late to before message :first", _LATE
    ),
    ("message", "last"): Meaning("the last of the history", "drop message assistant:last", [_HI, _HELLO]),
    ("message", "empty"): Meaning(
        "without parts, or with nothing but blank text", "drop message :empty", [_HI, {"assistant": [" "]}, _HI]
    ),
    ("message", "late"): Meaning(
        "a system message behind the first message of another role", "move message system:late to start", _LATE
    ),
    ("message", "open"): Meaning(
        "followed by nothing but tool messages: its turn is not over, and the model goes on with it",
        "drop assistant:open/reasoning where blank(text)",
        [
            {"assistant": [{"reasoning": " "}, "hello"]},
            _HI,
            {"assistant": [{"reasoning": " "}, {"call": "ls", "id": "c1"}]},
            _result(),
        ],
    ),
    ("message", "settled"): Meaning(
        "not open: something other than a tool message follows",
        "drop assistant:settled/reasoning",
        [_THINKS, _HI, {"assistant": [{"reasoning": "I look."}, {"call": "ls", "id": "c1"}]}, _result()],
    ),
    ("message", "current"): Meaning(
        "followed by nothing but assistant and tool messages: it is a step since the last user message",
        "unset cacheControl on message assistant:current",
        [
            {"assistant": "hello", "with": {"cacheControl": "short"}},
            _HI,
            _LS | {"with": {"cacheControl": "short"}},
            _result(),
            {"assistant": "One file.", "with": {"cacheControl": "short"}},
        ],
    ),
    ("message", "synthetic"): Meaning(
        "inserted by a rule, and not said by anyone",
        "drop message user:synthetic",
        [
            _HI,
            _HELLO,
            {"user": "Continue.", "with": {"providerOptions": {"historycompat": {"synthetic": True}}}},
        ],
    ),
    ("message", "stale"): Meaning(
        "written after a prefix that has been changed since, as far as the host keeps account of that",
        "drop assistant:stale/reasoning",
        [_HI, _THINKS],
    ),
    ("part", "first"): Meaning(
        "the first of its message", "drop assistant/text:first where blank(text)", [{"assistant": ["", "hello", ""]}]
    ),
    ("part", "last"): Meaning(
        "the last of its message", "drop assistant/text:last where blank(text)", [{"assistant": ["", "hello", ""]}]
    ),
    ("part", "empty"): Meaning("a text of nothing but blanks", "drop */text:empty", [{"user": ["hi", " \n"]}]),
    ("call", "orphan"): Meaning(
        "without a result", "answer call:orphan with {type: 'error-text', value: 'No result.'}", [_LS, _HI]
    ),
    ("call", "duplicate"): Meaning(
        "one whose id an earlier call has already", "drop call:duplicate", [_LS, _result(), _LS, _HI]
    ),
    ("result", "orphan"): Meaning("without a call before it", "drop result:orphan", [_HI, _result(), _HELLO]),
    ("result", "duplicate"): Meaning(
        "one whose id an earlier result has already",
        "drop result:duplicate",
        [_LS, _result(), {"tool": [{"result": "c1", "name": "ls", "output": "again"}]}],
    ),
    ("result", "late"): Meaning(
        "one that does not stand in a tool message directly behind its call's message",
        "move result:late to after call",
        [_LS, _HI, _result()],
    ),
}

VARIABLES: dict[str, Meaning] = {
    "messages": Meaning(
        "the messages of the prompt", 'report "the history is empty" prompt where $messages == `[]`', []
    ),
    "tools": Meaning(
        "the tools of the request; a rule that reads them is skipped where a history comes without a request",
        "drop call where toolName == 'search' && !($tools[?name == 'search'])",
        [{"assistant": ["I look.", {"call": "search", "id": "c1"}]}],
        request={"tools": [{"name": "ls"}]},
    ),
    "params": Meaning(
        "the parameters of the request; a rule that reads them is skipped where a history comes without a request",
        "drop assistant/reasoning where $params.reasoning_effort == 'none'",
        [_HI, _THINKS],
        request={"params": {"reasoning_effort": "none"}},
    ),
    "model": Meaning(
        "the model that is about to read: `{chain, provider, vendor, name, version}`. `chain` is the way of the "
        "request, as in `['bedrock', 'anthropic']`; `provider` is null unless the host named it in a field of its own",
        "drop assistant/reasoning where contains($model.chain, 'groq')",
        [_HI, _THINKS],
        model="groq/llama-3.3-70b-versatile",
    ),
    "message": Meaning(
        "the message around `@`",
        "drop */text where blank(text) && $message.role == 'user'",
        [{"user": ["hi", ""]}, {"assistant": ["hello", ""]}],
    ),
    "prev": Meaning(
        "the message before, or null",
        "drop assistant/reasoning where $prev.role == 'tool'",
        [_THINKS, _HI, _LS, _result(), _THINKS],
    ),
    "next": Meaning(
        "the message after, or null",
        "drop assistant/reasoning where $next.role == 'user'",
        [_THINKS, _HI, _THINKS],
    ),
    "index": Meaning(
        "the index of the message, from 0",
        "drop message system where $index > `0`",
        [{"system": "Be kind."}, *_LATE],
    ),
    "position": Meaning(
        "the index of the part in its message, from 0",
        "drop */text where $position > `0` && blank(text)",
        [{"user": ["", "hi", ""]}],
    ),
    "call": Meaning(
        "the call that belongs to the result, or null",
        "set toolName to $call.toolName on result where $call && $call.toolName != toolName",
        [_LS, {"tool": [{"result": "c1", "name": "tool", "output": "a.py"}]}],
    ),
    "result": Meaning(
        "the result that belongs to the call, or null",
        "drop call where $result.output.type == 'error-text'",
        [
            {"assistant": ["I look.", {"call": "ls", "id": "c1"}]},
            {"tool": [{"result": "c1", "name": "ls", "output": {"type": "error-text", "value": "no such folder"}}]},
            _HELLO,
        ],
    ),
    "origin": Meaning(
        "who wrote the message, `{provider, model}`, where the host stamped it",
        "drop assistant/reasoning where $origin && !contains($model.chain, $origin.provider)",
        [_HI, _THINKS],
    ),
    "parent": Meaning(
        "what holds the list that `@` stands in",
        "drop path messages[*].content[?type == 'reasoning'] where $parent.role == 'assistant'",
        [_HI, _THINKS],
    ),
    "error": Meaning(
        "what woke the rule: `{status, text, groups}`; null before the request. `groups` holds what the brackets in "
        "`on_error` matched, by number or name: below, after the error `messages.1: invalid`, the "
        "group `\"1\"` is `'1'`",
        'on_error /messages\\.(\\d+): invalid/\ndrop message where $error.groups."1" == to_string($index)',
        [_HI, _HELLO, {"user": "go on"}],
        error={"status": 400, "text": "messages.1: invalid", "groups": {"1": "1"}},
    ),
}
