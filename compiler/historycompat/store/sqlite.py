"""A store of histories in one SQLite file."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from historycompat.errors import UnknownStore
from historycompat.store.sql import Rows, SqlStore

_PATIENCE = 30.0  # seconds to wait for another process that writes
_TABLES = (
    "CREATE TABLE IF NOT EXISTS historycompat_history "
    "(id TEXT PRIMARY KEY, revision INTEGER NOT NULL, document TEXT NOT NULL) STRICT",
    "CREATE TABLE IF NOT EXISTS historycompat_repair "
    "(history TEXT NOT NULL, revision INTEGER NOT NULL, at TEXT NOT NULL, account TEXT NOT NULL, "
    "inverse TEXT NOT NULL, undone_by INTEGER, PRIMARY KEY (history, revision)) STRICT",
)


class SqliteStore(SqlStore):
    """A HistoryStore in a file, safe across threads and processes; `:memory:` is one that is never saved.

    The file is made unless it `must_exist`. Raises UnknownStore where it cannot be opened or is something else.
    """

    def __init__(self, path: str | os.PathLike[str], *, must_exist: bool = False) -> None:
        self.path = os.fspath(path)
        if not self.path:
            raise UnknownStore("a store needs a name: write the path of its file")
        if must_exist and not Path(self.path).is_file():
            raise UnknownStore(f'there is no store "{self.path}"')
        if not Path(self.path).parent.is_dir():
            raise UnknownStore(f'"{self.path}" cannot be made: there is no folder "{Path(self.path).parent}"')
        super().__init__(self.path, (sqlite3.Error,))

    def _connect(self) -> sqlite3.Connection:
        try:
            connection = sqlite3.connect(self.path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False)
        except sqlite3.Error as error:
            raise UnknownStore(f'"{self.path}" cannot be opened as a store: {error}') from None
        try:
            self._prepare(connection)
        except sqlite3.Error as error:
            connection.close()
            raise UnknownStore(f'"{self.path}" cannot be used as a store: {error}') from None
        return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        connection.execute("PRAGMA journal_mode = WAL")
        with self._transaction(connection):
            for statement in _TABLES:
                connection.execute(statement)

    def _is_open(self, connection: sqlite3.Connection) -> bool:
        return True

    def _execute(self, connection: sqlite3.Connection, statement: str, *values: Any) -> Rows:
        return connection.execute(statement, values).fetchall()

    @contextmanager
    def _transaction(self, connection: sqlite3.Connection) -> Iterator[None]:
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
