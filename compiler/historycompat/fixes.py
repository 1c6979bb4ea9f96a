"""A rule file and the complaints about it → the file with every certain fix in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from historycompat.compiling import complaints_about
from historycompat.errors import Complaint
from historycompat.language.packs import Kind
from historycompat.source import Source

_LIMIT = 100  # fixes in one file; each is tried before it stays
# What is told of one place of a text, which ends the reading of it, and of a field that had another name.
_HIDDEN = ("E101", "E102", "E104", "E106", "E110", "E111")


def fixed(source: Source, kind: Kind) -> tuple[Source, list[Complaint]]:
    """The file after its fixes, and the complaints that these answered.

    A fix stays only if its complaint goes away and the file is as readable as before: inside YAML's quotes the same
    text may have to be written otherwise, or break the file.
    """
    answered: list[Complaint] = []
    complaints = complaints_about(source, kind)[1]
    while len(answered) < _LIMIT:
        for complaint, mended, end in _offers(source, complaints):
            after = complaints_about(mended, kind)[1]
            if _is_better(complaint, complaints, after, end):
                source, complaints = mended, after
                answered.append(complaint)
                break
        else:
            break
    return source, answered


def _offers(source: Source, complaints: list[Complaint]) -> Iterator[tuple[Complaint, Source, int]]:
    """Each fix that is offered, with the file in which it alone is written, and where it ends there."""
    for complaint in complaints:
        if complaint.fix:
            span, text = complaint.fix
            for written in dict.fromkeys((text, text.replace("'", "''"))):
                mended = Source(source.name, source.text[: span.start] + written + source.text[span.end :])
                yield complaint, mended, span.start + len(written)


def _is_better(answered: Complaint, before: list[Complaint], after: list[Complaint], end: int) -> bool:
    """Whether a complaint went away, and no other about the syntax came. What the syntax hid may come to light, behind
    the fix another mistake of the same text or field as well."""
    gone, new = _said(before) - _said(after), _said(after) - _said(before)
    broken = [one for one in after if one.code.startswith("E1") and _words(one) in new and not _is_behind(one, end)]
    is_syntax = answered.code.startswith("E1")
    return _words(answered) in gone and not broken and (is_syntax or len(after) <= len(before))


def _is_behind(complaint: Complaint, end: int) -> bool:
    return complaint.code in _HIDDEN and complaint.span is not None and complaint.span.start >= end


def _said(complaints: list[Complaint]) -> Counter[tuple[str, str]]:
    return Counter(map(_words, complaints))


def _words(complaint: Complaint) -> tuple[str, str]:
    return complaint.code, complaint.message
