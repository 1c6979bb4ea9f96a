"""A real PostgreSQL server for the time of some tests, in a directory of its own on a free port of the loopback."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

ACCOUNT = "postgres"  # the server refuses to run as root; Debian's package makes this account


@contextmanager
def running_server() -> Iterator[str]:
    """The URL of a new server's database; the test skips where the programs are missing, and fails in CI."""
    programs = _programs()
    with tempfile.TemporaryDirectory(prefix="historycompat-postgres-") as folder:
        as_account = {"user": ACCOUNT, "group": ACCOUNT} if os.geteuid() == 0 else {}
        if as_account:
            shutil.chown(folder, ACCOUNT, ACCOUNT)
        data = Path(folder) / "data"

        def run(program: str, *arguments: str) -> None:
            command: list[Any] = [programs / program, "-D", data, *arguments]
            subprocess.run(command, check=True, cwd=folder, stdout=subprocess.DEVNULL, **as_account)

        port = _free_port()
        options = f"-c listen_addresses=127.0.0.1 -c port={port} -c unix_socket_directories= -c fsync=off"
        run("initdb", "--auth=trust", "--username=tester", "--encoding=UTF8", "--no-sync")
        run("pg_ctl", "start", "--wait", "--silent", f"--log={folder}/log", f"--options={options}")
        try:
            yield f"postgresql://tester@127.0.0.1:{port}/postgres"
        finally:
            run("pg_ctl", "stop", "--wait", "--silent", "--mode=immediate")


def _programs() -> Path:
    """The newest server's folder of programs."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: float(path.parent.name))
    on_path = shutil.which("pg_ctl")
    if on_path:
        folders.append(Path(on_path).parent)
    if not folders:
        reason = "no PostgreSQL server is installed (Debian: apt-get install postgresql)"
        (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)
    return folders[-1]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
