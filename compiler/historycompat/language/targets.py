"""What targets are and what may stand behind one, in words, each with a line of rule text that shows it."""

from __future__ import annotations

from typing import Any

from historycompat.language.meanings import Meaning

_HI: Any = {"user": "hi"}
_THINKS: Any = {"assistant": [{"reasoning": "hmm"}, "hello"]}
_LS: Any = {"assistant": [{"call": "ls", "id": "c1"}]}
_LISTED: Any = {"tool": [{"result": "c1", "name": "ls", "output": "a.py"}]}

TARGETS: dict[str, Meaning] = {
    "part": Meaning(
        "parts, by the role of their message and their type: `assistant/reasoning`, `user|assistant/file|image`, "
        "`*/text`. A state of the message stands behind the role, one of the part behind the type: "
        "`assistant:settled/text:empty`",
        "drop assistant/text:empty",
        [_HI, {"assistant": ["", "hello"]}],
    ),
    "message": Meaning(
        "whole messages, by role or state: `message user|assistant`, `message system:late`, `message :empty`",
        "merge message user",
        [_HI, {"user": "are you there?"}],
    ),
    "call": Meaning(
        "tool calls, wherever they stand: `call`, `call:orphan`",
        "answer call:orphan with {type: 'error-text', value: 'No result.'}",
        [_HI, _LS],
    ),
    "result": Meaning(
        "tool results, wherever they stand: `result`, `result:late`", "drop result:orphan", [_HI, _LISTED, _HI]
    ),
    "prompt": Meaning(
        "the request itself, with `messages`, `tools` and `params` in it",
        "report \"this has no answer yet\" prompt where !(messages[?role == 'assistant'])",
        [_HI],
    ),
    "path": Meaning(
        "any place that fields, indexes, slices, projections and filters of JMESPath can name, and that no other "
        "target does: `path tools[*]`, `path messages[*].content[*].output.value[?type == 'media']`",
        "unset filename on path messages[*].content[?type == 'file']",
        [{"user": [{"file": "application/pdf", "data": "JVBERi0xLjQ=", "with": {"filename": "a.pdf"}}]}],
    ),
    "where": Meaning(
        "a condition behind a target, in JMESPath. Its fields are those of the selected part, message or value, which "
        "is `@` as a whole; `$message`, `$prev`, `$model` and other variables say what is around it",
        "drop assistant/reasoning where blank(text) || $model.vendor == 'anthropic'",
        [_HI, _THINKS],
    ),
    "except": Meaning(
        "`except first N` or `except last N` behind a target: so many stay as they are, counted over the whole prompt",
        "drop assistant/reasoning except last 1",
        [_THINKS, _HI, {"assistant": [{"reasoning": "I see."}, "bye"]}],
    ),
}
