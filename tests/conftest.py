"""Settings of the whole suite: generated cases take as long as they take, and a failure is shown before it is minimal."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings
from postgres_server import running_server

from historycompat.store import PostgresStore, open_store

settings.register_profile(
    "suite",
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink),
    print_blob=True,
    derandomize="CI" in os.environ,  # the same cases on every build; whoever runs the tests at home looks further
)
settings.load_profile("suite")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """How many of the catalogued refusals are answered, and by what."""
    files = sorted((Path(__file__).parent / "catalogue").glob("*.jsonl"))
    fates = Counter(json.loads(line)["by"] for file in files for line in file.read_text("utf-8").splitlines())
    told = ", ".join(f"{count} by {fate}" for fate, count in fates.most_common())
    terminalreporter.write_line(f"catalogue: {fates.total()} refusals, {told}")


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with running_server() as url:
        yield url


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a store that is made when it is opened."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'chats.db'}"
    server: str = request.getfixturevalue("server")
    with open_store(server) as store:
        assert isinstance(store, PostgresStore)
        store._execute(store._connection, "DROP TABLE historycompat_history, historycompat_repair")
    return server
