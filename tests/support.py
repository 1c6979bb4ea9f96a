"""What several tests share: the handed case files, and where the checkout is."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
_SHARED = Path(os.environ.get("HISTORYCOMPAT_SHARED", ROOT.parent / "shared"))


def shared(name: str) -> Path:
    """A file of recorded cases that is not part of the repository; the test skips where it is absent, except in CI."""
    path = _SHARED / name
    if not path.exists():
        reason = f"recorded cases {name} are not beside this checkout (set HISTORYCOMPAT_SHARED to their folder)"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    return path


def json_lines(path: Path) -> Iterator[Any]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            if line.strip():
                yield json.loads(line)
