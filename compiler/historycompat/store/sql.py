"""A store of histories over SQL: what SQLite and PostgreSQL do alike."""

from __future__ import annotations

import json
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from functools import partial
from threading import RLock
from types import TracebackType
from typing import Any, Self

from historycompat.edits import same
from historycompat.errors import Conflict, HistoryError, NothingToUndo, StoreError, UnknownHistory, did_you_mean
from historycompat.store.patch import PatchError, apply, inverse
from historycompat.store.protocol import Repair

Rows = list[tuple[Any, ...]]
Execute = Callable[..., Rows]

_LOAD = "SELECT revision, CAST(document AS TEXT) FROM historycompat_history WHERE id = ?"
_IDS = "SELECT id FROM historycompat_history WHERE id > ? ORDER BY id LIMIT ?"
_CREATE = (
    "INSERT INTO historycompat_history (id, revision, document) VALUES (?, 1, ?) "
    "ON CONFLICT DO NOTHING RETURNING revision"
)
_WRITE = "UPDATE historycompat_history SET revision = ?, document = ? WHERE id = ?"
_KEEP = "INSERT INTO historycompat_repair (history, revision, at, account, inverse) VALUES (?, ?, ?, ?, ?)"
_REPAIRS = "SELECT revision, at, account, undone_by FROM historycompat_repair WHERE history = ? ORDER BY revision"
_LAST_REPAIR = (
    "SELECT revision, inverse FROM historycompat_repair WHERE history = ? AND undone_by IS NULL "
    "ORDER BY revision DESC LIMIT 1"
)
_MARK_UNDONE = "UPDATE historycompat_repair SET undone_by = ? WHERE history = ? AND revision = ?"
_PAGE = 1000

# Connections that a forked child found open. Their owner goes on using them: even closing one here could end it there.
_INHERITED: list[object] = []


class SqlStore(ABC):
    """A HistoryStore on one connection, which threads use in turn and a forked process opens anew.

    A write takes the lock of its history, compares the revision, and commits the document, the revision and the
    inverse together. `name` is how messages call the store; `failures` are the exceptions of its library.
    """

    row_lock = ""

    def __init__(self, name: str, failures: tuple[type[Exception], ...]) -> None:
        self.name, self._failures = name, failures
        self._turn = RLock()
        self._process = os.getpid()
        self._connection = self._connect()

    @abstractmethod
    def _connect(self) -> Any:
        """A connection on which each statement commits at once, with the tables made. Raises UnknownStore."""

    @abstractmethod
    def _is_open(self, connection: Any) -> bool:
        """Whether a connection can still be used."""

    @abstractmethod
    def _execute(self, connection: Any, statement: str, *values: Any) -> Rows:
        """Run a statement, whose parameters are `?`, and return its rows."""

    @abstractmethod
    def _transaction(self, connection: Any) -> AbstractContextManager[Any]:
        """Commits at its end, or rolls back if something is raised."""

    def load(self, history_id: str) -> tuple[int, Any]:
        with self._reading() as execute:
            revision, text = self._current(execute, history_id)
        return revision, json.loads(text)

    def create(self, history_id: str, document: Any) -> int:
        text = _encoded(document)
        with self._writing() as execute:
            if not execute(_CREATE, _checked(history_id), text):
                raise Conflict(history_id, 0, self._current(execute, history_id)[0], "it exists already")
        return 1

    def replace(
        self,
        history_id: str,
        expected_revision: int,
        document: Any,
        *,
        note: str | None = None,
        rules: Sequence[str] = (),
    ) -> int:
        text = _encoded(document)
        with self._writing() as execute:
            found, old = self._current(execute, history_id, self.row_lock)
            if found != expected_revision:
                raise Conflict(history_id, expected_revision, found)
            if note is not None or rules:
                account = json.dumps({"note": note or "", "rules": list(rules)})
                kept = json.dumps(inverse(json.loads(old), json.loads(text)))
                execute(_KEEP, history_id, found + 1, datetime.now(UTC).isoformat(), account, kept)
            execute(_WRITE, found + 1, text, history_id)
        return found + 1

    def ids(self) -> Iterator[str]:
        last: str | None = ""
        while last is not None:
            with self._reading() as execute:
                page = execute(_IDS, last, _PAGE)
            yield from (history_id for (history_id,) in page)
            last = page[-1][0] if len(page) == _PAGE else None

    def undo(self, history_id: str) -> int:
        with self._writing() as execute:
            found, text = self._current(execute, history_id, self.row_lock)
            last = execute(_LAST_REPAIR, history_id)
            if not last:
                raise NothingToUndo(f'history "{history_id}" has no repair to undo')
            [(revision, kept)] = last
            try:
                restored = apply(json.loads(text), json.loads(kept))
            except PatchError as error:
                raise Conflict(history_id, revision, found, f"the repair cannot be undone, {error}") from None
            execute(_MARK_UNDONE, found + 1, history_id, revision)
            execute(_WRITE, found + 1, _encoded(restored), history_id)
        return found + 1

    def history_of(self, history_id: str) -> list[Repair]:
        with self._reading() as execute:
            self._current(execute, history_id)
            rows = execute(_REPAIRS, history_id)
        return [_repair(*row) for row in rows]

    def close(self) -> None:
        """Close the connection. The store opens it again when it is used again."""
        with self._turn:
            self._disown()
            if self._connection is not None:
                self._connection.close()
            self._connection = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @contextmanager
    def _reading(self) -> Iterator[Execute]:
        with self._turn:
            try:
                yield partial(self._execute, self._live())
            except self._failures as error:
                raise StoreError(f"{self.name}: {error}") from error

    @contextmanager
    def _writing(self) -> Iterator[Execute]:
        with self._reading() as execute, self._transaction(self._connection):
            yield execute

    def _live(self) -> Any:
        self._disown()
        if self._connection is None or not self._is_open(self._connection):
            self._connection = self._connect()
        return self._connection

    def _disown(self) -> None:
        if self._process != os.getpid():
            _INHERITED.append(self._connection)
            self._process, self._connection = os.getpid(), None

    def _current(self, execute: Execute, history_id: str, lock: str = "") -> tuple[int, str]:
        rows = execute(_LOAD + lock, _checked(history_id))
        if not rows:
            advice = did_you_mean(history_id, [known for (known,) in execute(_IDS, "", _PAGE)])
            raise UnknownHistory(f'{self.name} holds no history "{history_id}"' + (f"; {advice}" if advice else ""))
        revision, text = rows[0]
        return revision, text


def _repair(revision: int, at: str, account: str, undone_by: int | None) -> Repair:
    told = json.loads(account)
    return Repair(revision, datetime.fromisoformat(at), told["note"], tuple(told["rules"]), undone_by)


def _encoded(document: Any) -> str:
    """The JSON text of a document in ASCII, which every database keeps as it is. Raises HistoryError."""
    try:
        text = json.dumps(document, allow_nan=False, separators=(",", ":"))
        faithful = same(json.loads(text), document)
    except (TypeError, ValueError, RecursionError) as error:
        raise HistoryError(f"the history is not JSON: {error}") from None
    if not faithful:
        raise HistoryError("the history is not JSON: it holds tuples, or keys that are no strings")
    return text


def _checked(history_id: str) -> str:
    try:
        usable = bool(history_id.encode()) and "\0" not in history_id
    except (AttributeError, UnicodeEncodeError):
        usable = False
    if not usable:
        raise UnknownHistory(f"{history_id!r} is no id of a history: an id is a text that is not empty and has no NUL")
    return history_id
