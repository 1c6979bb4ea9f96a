"""A rule file and the complaints about it → the file with every certain fix in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from historycompat.compiling import complaints_about
from historycompat.errors import Complaint
from historycompat.language.packs import Kind
from historycompat.source import Source

_LIMIT = 100  # fixes in one file; each is tried before it stays


def fixed(source: Source, kind: Kind) -> tuple[Source, list[Complaint]]:
    """The file after its fixes, and the complaints that these answered.

    A fix stays only if its complaint goes away and the file is as readable as before: inside YAML's quotes the same
    text may have to be written otherwise, or break the file.
    """
    answered: list[Complaint] = []
    complaints = complaints_about(source, kind)[1]
    while len(answered) < _LIMIT:
        for complaint, mended in _offers(source, complaints):
            after = complaints_about(mended, kind)[1]
            if _is_better(complaint, complaints, after):
                source, complaints = mended, after
                answered.append(complaint)
                break
        else:
            break
    return source, answered


def _offers(source: Source, complaints: list[Complaint]) -> Iterator[tuple[Complaint, Source]]:
    """Each fix that is offered, with the file in which it alone is written."""
    for complaint in complaints:
        if complaint.fix:
            span, text = complaint.fix
            for written in dict.fromkeys((text, text.replace("'", "''"))):
                yield complaint, Source(source.name, source.text[: span.start] + written + source.text[span.end :])


def _is_better(answered: Complaint, before: list[Complaint], after: list[Complaint]) -> bool:
    """Whether a complaint went away, and no other about the syntax came. What the syntax hid may come to light."""
    gone = _said(before) - _said(after)
    is_syntax = answered.code.startswith("E1")
    broken = [new for new in _said(after) - _said(before) if new[0].startswith("E1")]
    return (answered.code, answered.message) in gone and not broken and (is_syntax or len(after) <= len(before))


def _said(complaints: list[Complaint]) -> Counter[tuple[str, str]]:
    return Counter((complaint.code, complaint.message) for complaint in complaints)
