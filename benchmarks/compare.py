"""Ratios that hold on a busy machine: the two sides in turn, the median of their quotients."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any


def ratio(one: Callable[[], Any], other: Callable[[], Any], *, pairs: int = 31, seconds: float = 0.004) -> float:
    """How many times as long `one` takes as `other`: the median over interleaved pairs of samples."""
    times = max(1, round(seconds / _once(other, 3)))
    quotients = []
    for _ in range(pairs):
        before = _once(other, times)
        middle = _once(one, times)
        after = _once(other, times)
        quotients.append(2 * middle / (before + after))
    return statistics.median(quotients)


def _once(function: Callable[[], Any], times: int) -> float:
    start = time.perf_counter()
    for _ in range(times):
        function()
    return (time.perf_counter() - start) / times
