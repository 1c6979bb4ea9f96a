"""Histories that outlive a process: a store by its URL."""

from __future__ import annotations

import os

from historycompat.errors import UnknownStore, did_you_mean
from historycompat.store.postgres import PostgresStore
from historycompat.store.protocol import HistoryStore, Repair
from historycompat.store.sql import SqlStore
from historycompat.store.sqlite import SqliteStore

__all__ = ["HistoryStore", "PostgresStore", "Repair", "SqliteStore", "open_store"]


def open_store(url: str | os.PathLike[str], *, must_exist: bool = False) -> SqlStore:
    """A store by its URL: a path or `sqlite:///PATH` is a file, `postgresql://USER@HOST/NAME` a database.

    What is not there yet is made, unless it `must_exist`. Raises UnknownStore where nothing can be opened.
    """
    name = os.fspath(url)
    scheme, separator, rest = name.partition("://")
    if not separator:
        return SqliteStore(name, must_exist=must_exist)
    if scheme == "sqlite" and rest.startswith("/"):
        return SqliteStore(rest[1:], must_exist=must_exist)
    if scheme in ("postgresql", "postgres"):
        return PostgresStore(name, must_exist=must_exist)
    raise UnknownStore(f'"{name}" is no store: {_advice(scheme)}')


def _advice(scheme: str) -> str:
    if scheme == "sqlite":
        return "write sqlite:///path/of/file.db"
    return (
        did_you_mean(scheme, ("sqlite", "postgresql")) or "write a path, sqlite:///PATH or postgresql://USER@HOST/NAME"
    )
