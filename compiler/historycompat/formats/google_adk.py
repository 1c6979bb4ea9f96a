"""Events of Google's ADK ⇄ canonical prompt.

The content of an event is read and written as `gemini` does; events without content only pass through. A new event has
the author `user`, or for what a model said, and for results, that of the agent who spoke last; each is an event of its
own.

Facts: google-adk 2.13.0, `Event`, `Session.events`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from historycompat.formats import gemini
from historycompat.formats.detection import Survey
from historycompat.formats.envelopes import Envelope, Message, role_of
from historycompat.formats.roles import Role, Roles
from historycompat.view import Shape

NAME = "google-adk"

_USER = "user"
_AGENT = "model"  # the author of what a model said, where no agent is known
_RESPONSES = ("functionResponse", "function_response")


def _opened(event: Message) -> Message | None:
    content = event.get("content")
    return dict(content) if isinstance(content, dict) else None


def _closed(content: Message, event: Message | None, events: list[Message]) -> Message:
    if event is not None:
        return {**event, "content": content}
    return {"author": _author(content, events), "content": content}


def _author(content: Message, events: list[Message]) -> str:
    parts = content.get("parts")
    results = any(key in part for part in (parts if isinstance(parts, list) else ()) for key in _RESPONSES)
    if content.get("role") != "model" and not results:
        return _USER
    authors = (event.get("author") for event in reversed(events))
    return next((author for author in authors if isinstance(author, str) and author != _USER), _AGENT)


ENVELOPE = Envelope(_opened, _closed)

LENS = replace(
    gemini.LENS,
    name=NAME,
    spine="events",
    roles=Roles(
        [
            *(Role(name, "user", (gemini.SLOT,), splits=True, joins=False) for name in ("user", "function", None)),
            Role("model", "assistant", (gemini.SLOT,)),
            Role("system", "system", (gemini.SLOT,), text=True),
        ],
        other=Role(None, None, (gemini.SLOT,)),
        name_of=role_of,
    ),
    system=None,
    unfold=ENVELOPE.unfold,
    fold=ENVELOPE.fold,
)


def detect(survey: Survey) -> float:
    """The share of messages that are events: an author, and a content or what it did."""
    seen = list(survey.sample())
    ours = [each for each in seen if "author" in each and (isinstance(each.get("content"), dict) or "actions" in each)]
    return len(ours) / len(seen) if seen else 0.0


_IN_EVENTS: dict[str, Any] = {"within": "content", "inside": ("parts",), "roles": ()}
_NEW = ((("author",), _USER), (("content", "role"), "user"))

FORMAT = replace(
    gemini.FORMAT,
    name=NAME,
    title="Google ADK events",
    read=LENS.read,
    write=LENS.write,
    detect=detect,
    carries=LENS.carries,
    wrap=LENS.wrap,
    unwrap=LENS.unwrap,
    shape=Shape(
        spine=("events",),
        role="author",
        calls=tuple(replace(site, **_IN_EVENTS) for site in gemini.FORMAT.shape.calls),
        results=tuple(replace(site, **_IN_EVENTS, fresh=_NEW) for site in gemini.FORMAT.shape.results),
    ),
)
