"""Whatever a client raised → its HTTP status and every text in it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from historycompat.ruleset import Trigger
from historycompat.runtime.literals import values_in

MESSAGE_LIMIT = 8 * 1024
BODY_LIMIT = 64 * 1024
_ELISION = " ... "
_DEPTH_LIMIT = 16
_VISIT_LIMIT = 256

# Member names, read as keys of a mapping (in any spelling) or as attributes of an object (snake_case and camelCase).
_CAUSES = ("__cause__", "cause", "last_error", "original_exception", "inner_exception", "exceptions", "errors")
_BODIES = ("response", "raw_response", "response_body", "body", "data", "error", "details", "detail", "inner_error")
_MAPPING_BODIES = ("metadata", "response_metadata", "raw")
_WORDS = ("text", "message", "msg", "error_message", "error_description", "reason", "title", "description")
_STATUSES = ("status_code", "http_status_code", "http_status", "status", "code")
_PATHS = ("loc", "path")  # of a validator's report: ["body", "messages", 1, "content"]
_LABELS = ("type", "code", "param", "status")
_LARGE = frozenset({"response_body", "body", "data", "text", "raw"})


@dataclass(frozen=True, slots=True)
class ErrorView:
    """What an error says. `status` is its HTTP status (400 to 599) or None; `texts` are all its texts, those nearest to
    the provider first, without repetition; `retryable` is what the client itself says about sending again.

    Texts are capped at 8 KiB for a message and 64 KiB for a body (in characters), with both ends kept.
    """

    status: int | None = None
    texts: tuple[str, ...] = ()
    retryable: bool | None = None

    @classmethod
    def of(cls, error: object) -> ErrorView:
        """Read an exception, a string, bytes, a mapping, any object that looks like an error, or None. Never raises.

        Read are messages, bodies, responses (never the unread rest of a stream), causes, the errors of groups and of
        retry wrappers, and JSON or Python literals that a gateway put into a message. The innermost status counts.
        An implicit `__context__` comes last: often it is only the error that was handled before this one.
        """
        if isinstance(error, cls):
            return error
        reading = _Reading()
        reading.visit(error, 0, BODY_LIMIT)
        return cls(reading.status, tuple(reading.texts), reading.retryable)

    def first_match(self, trigger: Trigger) -> dict[str, Any] | None:
        """What `$error` is for a rule that this error wakes, `{status, text, groups}`; None if it does not.

        A status that the trigger does not name, or that the error does not tell, is no obstacle.
        """
        if self.status is not None and trigger.statuses and self.status not in trigger.statuses:
            return None
        for text in self.texts:
            groups = trigger.search(text)
            if groups is not None:
                return {"status": self.status, "text": text, "groups": dict(groups)}
        return None


class _Reading:
    """One walk through an error, inner things before outer ones."""

    def __init__(self) -> None:
        self.status: int | None = None
        self.retryable: bool | None = None
        self.texts: dict[str, None] = {}
        self._visited: dict[int, object] = {}

    def visit(self, node: object, depth: int, limit: int = MESSAGE_LIMIT) -> None:
        try:
            self._visit(node, depth, limit)
        except Exception:  # an object may raise from anything, even from isinstance(); the others are still read
            return

    def _visit(self, node: object, depth: int, limit: int) -> None:
        if isinstance(node, str):
            self._text(node, depth, limit)
        elif isinstance(node, (bytes, bytearray)):
            self._text(node.decode("utf-8", "replace"), depth, BODY_LIMIT)
        elif self._enters(node, depth):
            if isinstance(node, (list, tuple)):
                for item in node[:_VISIT_LIMIT]:
                    self.visit(item, depth + 1, limit)
            else:
                self._members(node, depth)

    def _enters(self, node: object, depth: int) -> bool:
        if node is None or isinstance(node, (bool, int, float, type)) or id(node) in self._visited:
            return False
        if depth > _DEPTH_LIMIT or len(self._visited) >= _VISIT_LIMIT:
            return False
        self._visited[id(node)] = node  # kept alive, so that no other object gets its id
        return True

    def _members(self, node: object, depth: int) -> None:
        read = reader(node)
        for name in _CAUSES + _BODIES + (_MAPPING_BODIES if isinstance(node, Mapping) else ()):
            self.visit(read(name), depth + 1, BODY_LIMIT if name in _LARGE else MESSAGE_LIMIT)
        if not isinstance(read("text"), str) and read("status_code") is not None:
            self.visit(_parsed_body(node), depth + 1)
        self._verdict(read)
        if isinstance(node, BaseException):
            self._exception(node, depth)
        if located := _located(read):
            self._add(located, MESSAGE_LIMIT)
        for name in _WORDS:
            self.visit(read(name), depth + 1, BODY_LIMIT if name in _LARGE else MESSAGE_LIMIT)
        for name in _LABELS:
            if isinstance(label := read(name), str) and not label.isdigit():
                self._add(label, MESSAGE_LIMIT)
        if isinstance(node, BaseException) and not node.__suppress_context__:
            self.visit(node.__context__, depth + 1)

    def _exception(self, error: BaseException, depth: int) -> None:
        for argument in error.args:
            self.visit(argument, depth + 1)
        try:
            self._text(str(error), depth, MESSAGE_LIMIT)
        except Exception:
            return

    def _verdict(self, read: Callable[[str], Any]) -> None:
        if self.status is None:
            self.status = next(filter(None, (_http_error(read(name)) for name in _STATUSES)), None)
        if self.retryable is None and isinstance(retryable := read("is_retryable"), bool):
            self.retryable = retryable

    def _text(self, text: str, depth: int, limit: int) -> None:
        if depth < _DEPTH_LIMIT and text not in self.texts:
            for value in values_in(text):
                self.visit(value, depth + 1, BODY_LIMIT)
        self._add(text, limit)

    def _add(self, text: str, limit: int) -> None:
        if text := capped(text.strip(), limit):
            self.texts.setdefault(text)


def _located(read: Callable[[str], Any]) -> str | None:
    """What a validator reports, behind the place that it names: `messages.1.content: Input should be a string`."""
    steps = next((path for path in map(read, _PATHS) if isinstance(path, (list, tuple))), ())
    said = next((text for text in map(read, ("msg", "message")) if isinstance(text, str)), None)
    place = [str(step) for step in steps[:_VISIT_LIMIT] if isinstance(step, (str, int))]
    named = place[place[:1] == ["body"] :]
    return f"{'.'.join(named)}: {said}" if said and named and not named[0].isdecimal() else None


def capped(text: str, limit: int) -> str:
    """A text of at most `limit` characters: where it is longer the middle is left out, since both ends tell most."""
    if len(text) <= limit:
        return text
    keep = limit - len(_ELISION)
    return text[: keep - keep // 2] + _ELISION + text[len(text) - keep // 2 :]


def _http_error(value: object) -> int | None:
    if isinstance(value, str) and value.isdecimal() and len(value) == 3:
        value = int(value)
    return int(value) if isinstance(value, int) and 400 <= value <= 599 else None


def reader(node: object) -> Callable[[str], Any]:
    """How to read a member of a mapping or of an object by its name in snake_case; None for what is not there."""
    if isinstance(node, Mapping):
        items = list(islice(node.items(), _VISIT_LIMIT))
        members = {_folded(key): value for key, value in reversed(items) if isinstance(key, str)}
        return lambda name: members.get(_folded(name))
    return lambda name: _attribute(node, name, _attribute(node, _camel(name)))


def _attribute(node: object, name: str, default: Any = None) -> Any:
    try:
        value = getattr(node, name, None)
    except Exception:  # a property may raise anything: httpx does so for the text of an unread stream
        return default
    return default if value is None or callable(value) else value


def _parsed_body(response: object) -> Any:
    """The body of a response that only offers it through a synchronous `json()`."""
    method = getattr(response, "json", None)
    if not callable(method) or inspect.iscoroutinefunction(method):
        return None
    try:
        return method()
    except Exception:
        return None


def _folded(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(map(str.title, rest))
