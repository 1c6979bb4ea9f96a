"""An error text → an `on_error` pattern for its like: what varies from request to request is left open."""

from __future__ import annotations

import re
from collections.abc import Iterator

from historycompat.regex import compile_regex, problems
from historycompat.runtime.error_view import ErrorView
from historycompat.source import Source, Span
from historycompat.tree import ErrorPattern, Regex

LENGTH = 140  # of the stretch of text that a pattern is made of
_WORDS = 4  # a sentence of fewer says too little

# What varies: text in quotes with a digit in it that is no path, ids, numbers.
_VARYING = (
    (re.compile(r"(?P<q>['\"`])(?!\w+(?:\[|\.\d))[^'\"`]*\d[^'\"`]*(?P=q)"), None),
    (
        re.compile(r"(?=[\w-]*\d)(?=[\w-]*[A-Za-z])(?!base64|sha256)(?:[A-Za-z]+[_-][\w-]*\d[\w-]*|\w{6,}|[\w-]{12,})"),
        r"[\w-]+",
    ),
    (re.compile(r"(?<![\w])\d+(?:\.\d+)*(?![\w])"), None),
)
_META = re.compile(r"[\\.^$*+?()\[\]{}|]")
_NOT_ASCII_OR_BREAK = re.compile(r"[^\x20-\x7e]+")


def text_of(view: ErrorView) -> str | None:
    """The text of an error that says most about its cause: the first with a few words in it, cut to its sentence."""
    sentences = [_sentence(text) for text in view.texts]
    wordy = [sentence for sentence in sentences if len(sentence.split()) >= _WORDS]
    return next(iter([*(s for s in wordy if not s.startswith(("{", "["))), *wordy, *filter(None, sentences)]), None)


def _sentence(text: str) -> str:
    line = max(text.strip().split("\n"), key=lambda one: len(one[:LENGTH])) if text.strip() else ""
    first = re.split(r"(?<=\w)[.!?](?=\s+[A-Z])", line.strip(), maxsplit=1)[0]
    chosen = first if len(first.split()) >= _WORDS else line.strip()
    return chosen if len(chosen) <= LENGTH else chosen[:LENGTH].rsplit(" ", 1)[0]


def pattern_for(view: ErrorView) -> ErrorPattern | None:
    """A pattern that matches this error and others of its kind; None where the error says nothing."""
    text = text_of(view)
    if text is None:
        return None
    for candidate in (_generalised(text), _escaped(text)):
        found = compile_regex(candidate, "i") if not problems(candidate, "i") else None
        if found and any(found.search(each) for each in view.texts):
            span = Span(Source("", ""), 0, 0)
            return ErrorPattern((view.status,) if view.status else (), Regex(candidate, "i", span))
    return None


def _generalised(text: str) -> str:
    return "".join(_pieces(text))


def _pieces(text: str) -> Iterator[str]:
    at = 0
    while at < len(text):
        for pattern, open_ in _VARYING:
            found = pattern.match(text, at)
            if found and (pattern is not _VARYING[1][0] or not text[at - 1 : at].isalnum() or at == 0):
                yield open_ or _opened(found[0])
                at = found.end()
                break
        else:
            yield _escaped(text[at])
            at += 1


def _opened(varying: str) -> str:
    if varying[0] in "'\"`":
        return f"{varying[0]}[^{varying[0]}]*{varying[0]}"
    return re.sub(r"\d+", r"\\d+", varying.replace(".", r"\."))


def _escaped(text: str) -> str:
    return _NOT_ASCII_OR_BREAK.sub(".", _META.sub(r"\\\g<0>", text))
