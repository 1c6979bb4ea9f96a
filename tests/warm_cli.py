"""The command line as a process that need not load its modules: a server has them and forks a child for each run.

Starting Python and importing the program costs more than most runs. The server has one thread and does nothing else, so
that a child is what a process of its own would be: its directory, its three streams, its exit code.
"""

from __future__ import annotations

import atexit
import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path

STATUS_SIZE = 16
REQUEST_SIZE = 1 << 16


@cache
def _server() -> socket.socket:
    here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with there:
        subprocess.Popen(
            [sys.executable, __file__, str(there.fileno())],
            pass_fds=[there.fileno()],
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1] / "compiler")},
            stdin=subprocess.DEVNULL,
        ).returncode = 0  # it ends with this process, and nobody waits for it
    here.settimeout(300)
    atexit.register(here.close)
    return here


def run(
    arguments: Sequence[str], given: bytes, cwd: Path | str, environment: Mapping[str, str]
) -> tuple[int, bytes, bytes]:
    """The exit code, standard output and standard error of one run."""
    request = json.dumps([list(arguments), str(cwd), dict(environment)]).encode()
    assert len(request) < REQUEST_SIZE
    with tempfile.TemporaryFile() as stdin, tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        stdin.write(given)
        stdin.seek(0)
        streams = [stdin.fileno(), stdout.fileno(), stderr.fileno()]
        socket.send_fds(_server(), [request], streams)
        status = int(_server().recv(STATUS_SIZE))
        stdout.seek(0)
        stderr.seek(0)
        return os.waitstatus_to_exitcode(status), stdout.read(), stderr.read()


def _serve(requests: socket.socket, main: Callable[[], None]) -> None:
    while True:
        request, streams, _, _ = socket.recv_fds(requests, REQUEST_SIZE, 3)
        if not request:
            return
        child = os.fork()
        if not child:
            _become(*json.loads(request), streams)
            sys.exit(main())
        for stream in streams:
            os.close(stream)
        requests.send(str(os.waitpid(child, 0)[1]).encode())


def _become(arguments: list[str], cwd: str, environment: dict[str, str], streams: list[int]) -> None:
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["historycompat", *arguments]


if __name__ == "__main__":
    from historycompat.cli import COMMANDS, main

    sys.path.pop(0)
    for command in COMMANDS:
        import_module(f"historycompat.cli.{command}")
    _serve(socket.socket(fileno=int(sys.argv[1])), main)
