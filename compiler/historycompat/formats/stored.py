"""Rows a lens wrote → rows a store can take: new ones get an id, a date, and the thread of their neighbours."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

Row = dict[str, Any]

_EPOCH = "1970-01-01T00:00:00.000Z"
_THREAD = ("threadId", "resourceId")
_MOMENT = timedelta(milliseconds=1)


def completed(rows: list[Any], old: Sequence[Any], *, dated: bool) -> list[Any]:
    """The rows, new ones without id completed. `dated`: they get a `createdAt` just after the row before them."""
    kept = {id(row) for row in old}
    taken = {row["id"] for row in (*old, *rows) if isinstance(row, dict) and isinstance(row.get("id"), str)}
    thread = next((row for row in old if isinstance(row, dict) and any(key in row for key in _THREAD)), {})
    done: list[Any] = []
    for row in rows:
        if isinstance(row, dict) and "id" not in row and id(row) not in kept:
            before = done[-1] if done and isinstance(done[-1], dict) else {}
            row = {"id": _fresh(row, before, thread, taken), **row}
            row |= {key: thread[key] for key in _THREAD if key in thread}
            if dated:
                row["createdAt"] = just_after(before["createdAt"]) if "createdAt" in before else _first_date(old)
        done.append(row)
    return done


def _fresh(row: Row, before: Row, thread: Row, taken: set[str]) -> str:
    """An id that follows from the content and the place alone, so that the same repair gives the same row."""
    place = [before.get("id"), *(thread.get(key) for key in _THREAD)]
    for attempt in range(len(taken) + 1):
        name = "historycompat-" + hashlib.sha256(repr((row, place, attempt)).encode(errors="replace")).hexdigest()[:24]
        if name not in taken:
            break
    taken.add(name)
    return name


def _first_date(old: Iterable[Any]) -> Any:
    return next((row["createdAt"] for row in old if isinstance(row, dict) and "createdAt" in row), _EPOCH)


def just_after(date: Any) -> Any:
    """A date one millisecond later: ISO text, milliseconds since 1970 or a datetime; anything else as it is."""
    if isinstance(date, datetime):
        return date + _MOMENT
    if isinstance(date, (int, float)) and not isinstance(date, bool):
        return date + 1
    try:
        later = datetime.fromisoformat(date) + _MOMENT
        return later.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    except (TypeError, ValueError, OverflowError):
        return date
