"""A store of histories in a PostgreSQL database, through psycopg 3 (the extra `postgres`)."""

from __future__ import annotations

from contextlib import AbstractContextManager
from types import ModuleType
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from historycompat.errors import UnknownStore
from historycompat.store.sql import Rows, SqlStore

if TYPE_CHECKING:
    from psycopg import Connection

# `json` and not `jsonb`: that one loses the order of keys and the spelling of numbers, and refuses \u0000 and lone
# surrogates, all of which histories hold. `document::jsonb` serves whoever wants to query.
_TABLES = (
    'CREATE TABLE IF NOT EXISTS historycompat_history (id text COLLATE "C" PRIMARY KEY, revision bigint NOT NULL, '
    "document json NOT NULL)",
    'CREATE TABLE IF NOT EXISTS historycompat_repair (history text COLLATE "C" NOT NULL, revision bigint NOT NULL, '
    "at text NOT NULL, account text NOT NULL, inverse text NOT NULL, undone_by bigint, "
    "PRIMARY KEY (history, revision))",
)
_TABLES_LOCK = 0x68697374  # two processes that make the tables at once would collide in the system catalogue


class PostgresStore(SqlStore):
    """A HistoryStore in the tables `historycompat_history` and `historycompat_repair` of a database.

    They are made unless they `must_exist`. Raises UnknownStore where psycopg, the database or they are missing.
    """

    row_lock = " FOR UPDATE"

    def __init__(self, url: str, *, must_exist: bool = False) -> None:
        self._url, self._must_exist = url, must_exist
        parts = urlsplit(url)
        super().__init__(f"postgresql://{parts.hostname or ''}{parts.path}", (_psycopg().Error,))

    def _connect(self) -> Connection[Any]:
        psycopg = _psycopg()
        try:
            connection: Connection[Any] = psycopg.connect(self._url, autocommit=True, prepare_threshold=None)
        except psycopg.Error as error:
            raise UnknownStore(f"{self.name} cannot be opened: {error}") from None
        try:
            self._prepare(connection)
        except BaseException as error:
            connection.close()
            if isinstance(error, psycopg.Error):
                raise UnknownStore(f"{self.name} cannot be used as a store: {error}") from None
            raise
        return connection

    def _prepare(self, connection: Connection[Any]) -> None:
        if self._execute(connection, "SELECT to_regclass('historycompat_repair')") != [(None,)]:
            return
        if self._must_exist:
            raise UnknownStore(f"{self.name} holds no histories: it has no table historycompat_history")
        with connection.transaction():
            self._execute(connection, "SELECT pg_advisory_xact_lock(?)", _TABLES_LOCK)
            for statement in _TABLES:
                self._execute(connection, statement)

    def _is_open(self, connection: Connection[Any]) -> bool:
        return not connection.closed

    def _execute(self, connection: Connection[Any], statement: str, *values: Any) -> Rows:
        cursor = connection.execute(statement.replace("?", "%s").encode(), values)
        return cursor.fetchall() if cursor.description else []

    def _transaction(self, connection: Connection[Any]) -> AbstractContextManager[Any]:
        return connection.transaction()


def _psycopg() -> ModuleType:
    try:
        import psycopg
    except ImportError:
        raise UnknownStore('a PostgreSQL store needs psycopg: pip install "historycompat[postgres]"') from None
    return psycopg
