"""Each format's read and write of an unchanged 1,000-message history, as a ratio of copy.deepcopy of it.

Run: python benchmarks/formats.py [rounds [format ...]]. Absolute times mean nothing on shared machines: the two sides
are timed in turns, and the median of the pairs' ratios is compared with the gate.
"""

from __future__ import annotations

import copy
import json
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

from histories import history
from turns import TURNS

from historycompat import formats
from historycompat.conversion import convert
from historycompat.edits import Lineage
from historycompat.formats.format import Format

GATE = 0.5
MESSAGES = 1000


def native_history(kind: Format) -> Any:
    """1,000 canonical messages in a format, as it is kept or else as it is written from scratch.

    It went through JSON: keys are shared and values are not, as a decoder leaves them.
    """
    if kind.name in TURNS:
        native: Any = [message for turn in range(MESSAGES // 4) for message in TURNS[kind.name](turn)]
    else:
        native = convert(history(MESSAGES, foreign=0.5), formats.find("aisdk-v2"), kind).history
    return json.loads(json.dumps(native))


def seconds(job: Callable[[], object]) -> float:
    """The time of the best of three runs in a row: what else the machine does only ever adds."""
    return min(_once(job) for _ in range(3))


def _once(job: Callable[[], object]) -> float:
    start = time.process_time()
    job()
    return time.process_time() - start


def ratio(kind: Format, rounds: int) -> float:
    native = native_history(kind)

    def lens() -> None:
        reading = kind.read(native)
        if kind.write(reading, reading.messages, reading.tools, reading.params, Lineage()) is not native:
            raise AssertionError(f"{kind.name}: an unchanged history was rewritten")

    return statistics.median(seconds(lens) / seconds(lambda: copy.deepcopy(native)) for _ in range(rounds))


def main() -> int:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    kinds = [formats.find(name) for name in sys.argv[2:]] or list(formats.FORMATS.values())
    missed = 0
    for kind in kinds:
        value = ratio(kind, rounds)
        missed += value > GATE
        print(f"{kind.name:<16} {value:5.2f}  {'FAIL' if value > GATE else 'pass'} (at most {GATE})")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
