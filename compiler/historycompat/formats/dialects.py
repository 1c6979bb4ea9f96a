"""A format and the lens of its dialect → the format of the dialect."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from historycompat.formats.detection import Survey
from historycompat.formats.format import Format
from historycompat.formats.lens import Lens

_UNMARKED = 0.9  # how sure a dialect is, of what its origin is, where nothing tells them apart


def dialect(origin: Format, lens: Lens, title: str, is_marked: Callable[[dict[str, Any]], bool]) -> Format:
    """The format of a dialect, which is told from its origin by messages that are marked. It stands before its origin
    in the table of formats."""

    def detect(survey: Survey) -> float:
        return origin.detect(survey) * (1 if any(map(is_marked, survey.sample())) else _UNMARKED)

    return replace(
        origin,
        name=lens.name,
        title=title,
        read=lens.read,
        write=lens.write,
        detect=detect,
        carries=lens.carries,
        wrap=lens.wrap,
        unwrap=lens.unwrap,
    )
