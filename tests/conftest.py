"""Settings of the whole suite: generated cases take as long as they take, and a failure is shown before it is minimal."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings

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
