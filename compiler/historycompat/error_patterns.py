"""An error text → an `on_error` pattern for its like: what varies from request to request is left open."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

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
# What clients say ahead of the provider's words: who they are, then the status that the provider answered with.
_CLIENTS = (
    r"(?:\w+\.)*\w*(?:Error|Exception)(?: \[\w+\])?:\s",
    r"\w+Exception -",
    r"An error occurred \(\w+\) when calling the \w+ operation[^:]*:",
    r"\[GoogleGenerativeAI Error\]: Error fetching from \S+:",
    r"API error occurred:",
)
_SAID = r"(?:(?:HTTP(?:/[\d.]+)?|(?:API |HTTP )?error(?: code)?|(?:request failed with )?status(?:[ _]code)?)[:=]?\s*)"
_REASON = r"(?: (?:Bad Request|Not Found|Payload Too Large|Unprocessable (?:Entity|Content)|Internal Server Error))"
# A number alone is a status if it is one that refusals of histories come with, or if a sign stands behind it.
_STATUS = (
    rf"[\[(]?(?:{_SAID}|\b(?=(?:400|413|422)\s|\d+(?:{_REASON}|\s*[-:\])]|\s*\{{)))"
    rf"(?P<status>[45]\d\d)\b{_REASON}?[\])]?(?:\s*[-:,.](?=\s)|(?=\s))(?:\s(?:body|message):)?"
)
_LEAD = re.compile(rf"(?:\s*(?:{'|'.join(_CLIENTS)}))*\s*(?:{_STATUS})?\s*", re.IGNORECASE)
_TOLD = re.compile(r"\bstatus_?code['\"]?\s*[:=]\s*(?P<status>[45]\d\d)\b", re.IGNORECASE)
_META = re.compile(r"[\\.^$*+?()\[\]{}|]")
_NOT_ASCII_OR_BREAK = re.compile(r"[^\x20-\x7e]+")


def own_words(view: ErrorView) -> ErrorView:
    """An error with what the provider said ahead of what clients made of it, and with the status that these tell."""
    leads = [found for text in view.texts if (found := _LEAD.match(text))]
    told = [found for found in (*leads, *map(_TOLD.search, view.texts)) if found and found["status"]]
    texts = dict.fromkeys(text for lead in leads for text in (lead.string[lead.end() :] or lead.string, lead.string))
    status = view.status or next((int(found["status"]) for found in told), None)
    return replace(view, status=status, texts=tuple(texts))


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
