"""The short form of histories in rule tests → canonical messages.

`{user: hi}` is a message, its value a string or a list of parts; a string is a text part. `{reasoning: s}`,
`{call: name, id, input}`, `{result: id, name, output}` and `{file: mediaType, data}` are parts, and `with: {...}` adds
fields to any of them or to a message. A mapping with `role` (or `type`, for a part) is literal. `short` is the way
back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from historycompat.edits import same, without_path
from historycompat.errors import HistoryCompatError, did_you_mean
from historycompat.language.yaml_text import lines
from historycompat.states import SYNTHETIC_NAMESPACE

_LEAD = 120  # as wide as a line is: a list begins in a line of its own, so that each message has one

ROLES = ("system", "user", "assistant", "tool")


class ShorthandError(HistoryCompatError):
    """A history in a rule test is not in the short form; the message says which message and what was meant."""


def messages(short: Any) -> list[dict[str, Any]]:
    """The canonical messages of a shorthand history. Raises ShorthandError."""
    if not isinstance(short, list):
        raise ShorthandError(f"a history is a list of messages, not {_kind(short)}")
    names: dict[Any, Any] = {}
    return [_message(item, number, names) for number, item in enumerate(short)]


def _message(short: Any, number: int, names: dict[Any, Any]) -> dict[str, Any]:
    where = f"message {number}"
    if not isinstance(short, dict):
        raise ShorthandError(
            f"{where} is {_kind(short)}; write {{user: ...}}, or a whole message with role and content"
        )
    if "role" in short:
        return short
    roles = [key for key in short if key in ROLES]
    strangers = [key for key in short if key not in (*ROLES, "with")]
    if len(roles) != 1 or strangers:
        hint = next(
            (h for key in strangers if (h := did_you_mean(str(key), ROLES))), "write one of " + ", ".join(ROLES)
        )
        raise ShorthandError(f"{where} has {', '.join(map(repr, short)) or 'no keys'}; {hint}")
    role = roles[0]
    content = short[role]
    if role != "system":
        parts = content if isinstance(content, list) else [content]
        content = [_part(part, f"{where}, part {at}", names) for at, part in enumerate(parts)]
    return {"role": role, "content": content, **_more(short, where)}


def _part(short: Any, where: str, names: dict[Any, Any]) -> dict[str, Any]:
    if isinstance(short, str):
        return {"type": "text", "text": short}
    if not isinstance(short, dict):
        raise ShorthandError(f"{where} is {_kind(short)}; text is a string, everything else a mapping")
    if "type" in short:
        return short
    kind = next((key for key in _PARTS if key in short), None)
    if kind is None:
        hint = next((h for key in short if (h := did_you_mean(str(key), _PARTS))), None)
        raise ShorthandError(f"{where} has {', '.join(map(repr, short))}; {hint or 'a part is ' + ', '.join(_PARTS)}")
    build, allowed = _PARTS[kind]
    strangers = [key for key in short if key not in (kind, *allowed, "with")]
    if strangers:
        hint = did_you_mean(str(strangers[0]), allowed) or f"it takes {', '.join((*allowed, 'with'))}"
        raise ShorthandError(f"{where}: a {kind} has no {strangers[0]!r}; {hint}")
    return {**build(short, names), **_more(short, where)}


def _reasoning(short: dict[str, Any], names: dict[Any, Any]) -> dict[str, Any]:
    return {"type": "reasoning", "text": short["reasoning"]}


def _call(short: dict[str, Any], names: dict[Any, Any]) -> dict[str, Any]:
    part = {"type": "tool-call", "toolName": short["call"], "input": short.get("input", {})}
    if "id" in short:
        names[str(short["id"])] = short["call"]
        part["toolCallId"] = short["id"]
    return part


def _result(short: dict[str, Any], names: dict[Any, Any]) -> dict[str, Any]:
    output = short.get("output", "ok")
    if isinstance(output, str):
        output = {"type": "text", "value": output}
    elif not (isinstance(output, dict) and "type" in output):
        output = {"type": "json", "value": output}
    name = short.get("name", names.get(str(short["result"]), "tool"))
    part = {"type": "tool-result", "toolName": name, "output": output}
    if short["result"] is not None:
        part["toolCallId"] = short["result"]
    return part


def _file(short: dict[str, Any], names: dict[Any, Any]) -> dict[str, Any]:
    return {"type": "file", "mediaType": short["file"], "data": short.get("data", "")}


_Build = Callable[[dict[str, Any], dict[Any, Any]], dict[str, Any]]

_PARTS: dict[str, tuple[_Build, tuple[str, ...]]] = {
    "reasoning": (_reasoning, ()),
    "call": (_call, ("id", "input")),
    "result": (_result, ("name", "output")),
    "file": (_file, ("data",)),
}


def _more(short: dict[str, Any], where: str) -> dict[str, Any]:
    more = short.get("with", {})
    if not isinstance(more, dict):
        raise ShorthandError(f"{where}: `with` takes a mapping of fields, not {_kind(more)}")
    return more


def _kind(value: Any) -> str:
    return {list: "a list", str: "a text", bool: "a yes or no", type(None): "nothing"}.get(type(value), "a number")


# ----- and back


def short(history: Any) -> Any:
    """The short form of canonical messages: `messages(short(h))` is `h`. What has none stays as it is."""
    if not isinstance(history, list):
        return history
    names: dict[Any, Any] = {}
    return [_short_message(message, names) for message in history]


def as_yaml(value: Any) -> list[str]:
    """A prompt, or the messages of one, as the lines of YAML that an author would write in a test."""
    if isinstance(value, dict) and isinstance(value.get("messages"), list):
        value = short(value["messages"]) if len(value) == 1 else {**value, "messages": short(value["messages"])}
    elif isinstance(value, list):
        value = short(value)
    return [line for line in lines(value, lead=_LEAD) if line]


def _short_message(message: Any, names: dict[Any, Any]) -> Any:
    if not isinstance(message, dict) or message.get("role") not in ROLES or "content" not in message:
        return message
    content, rest = message["content"], {key: message[key] for key in message if key not in ("role", "content")}
    if message["role"] != "system":
        if not isinstance(content, list):
            return message
        content = [_short_part(part, names) for part in content]
        content = content[0] if len(content) == 1 and isinstance(content[0], str) else content
    return {message["role"]: content, **({"with": rest} if rest else {})}


def _short_part(part: Any, names: dict[Any, Any]) -> Any:
    if not isinstance(part, dict):
        return part
    for made in _candidates(part, names):
        known = dict(names)
        try:
            again = _part(made, "", known)
        except ShorthandError:
            continue
        if same(again, part):
            names.update(known)
            return made
    return part


def _candidates(part: dict[str, Any], names: dict[Any, Any]) -> Iterator[Any]:
    """Short forms that may mean this part, the shortest first."""
    if part.get("type") == "text":
        yield part.get("text")
    fields = _FIELDS.get(str(part.get("type")), {})
    form = {word: part[field] for word, field in fields.items() if field in part}
    rest = {field: part[field] for field in part if field not in ("type", *fields.values())}
    more = {"with": rest} if rest else {}
    if form.get("input") == {}:
        del form["input"]
    if isinstance(output := form.get("output"), dict) and "value" in output:
        form["output"] = output["value"]
    if form.get("name") == names.get(str(form.get("result")), "tool"):
        yield {word: value for word, value in form.items() if word != "name"} | more
    yield form | more
    if output is not None:
        yield form | {"output": output} | more


_FIELDS = {
    "reasoning": {"reasoning": "text"},
    "tool-call": {"call": "toolName", "id": "toolCallId", "input": "input"},
    "tool-result": {"result": "toolCallId", "name": "toolName", "output": "output"},
    "file": {"file": "mediaType", "data": "data"},
}


def plain(value: Any) -> Any:
    """A value without the marks of synthetic messages and parts, which no author writes down."""
    if isinstance(value, list):
        return [plain(item) for item in value]
    if not isinstance(value, dict):
        return value
    options = value.get("providerOptions")
    if isinstance(options, dict) and SYNTHETIC_NAMESPACE in options:
        value = without_path(value, ("providerOptions", SYNTHETIC_NAMESPACE), prune=True)
    return {key: plain(item) for key, item in value.items()}
