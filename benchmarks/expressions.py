"""Both expression back ends against the jmespath library's compiled search, as ratios: how many times faster.

Run: python benchmarks/expressions.py [rounds]. The library and a back end are timed in turns, the library before and
after each sample; an expression's ratio is the median over the rounds, a set's the geometric mean of its expressions.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import jmespath

from historycompat.language.expressions import closures, codegen
from historycompat.language.parse import expression
from historycompat.source import Fragment, Source
from historycompat.tree import Expr

GATES = {"cases": 12, "part conditions": 25, "whole prompt": 12}
CASES = Path(__file__).parents[1] / "tests" / "expressions"
SAMPLE_SECONDS = 0.0004

PART_CONDITIONS = (
    "type == 'reasoning'",
    "type == 'reasoning' && !(providerOptions.anthropic.signature)",
    "type == 'reasoning' && !(providerOptions.anthropic.signature || providerOptions.anthropic.redactedData)",
    "type == 'text' && text == ''",
    "type != 'text' && type != 'file' && type != 'reasoning'",
    "type == 'tool-call' && type(input) == 'string'",
    "providerOptions.google.thoughtSignature == `null`",
    "type == 'tool-call' && starts_with(toolCallId, 'call_')",
)
PARTS: tuple[Any, ...] = (
    {"type": "text", "text": "Let me look at that file."},
    {"type": "reasoning", "text": "Hm.", "providerOptions": {"anthropic": {"signature": "c2lnbmF0dXJl"}}},
    {"type": "reasoning", "text": "Hm.", "providerOptions": {"openai": {"itemId": "rs_1"}}},
    {"type": "tool-call", "toolCallId": "call_1", "toolName": "read", "input": {"path": "a.py"}},
)
PROMPT_QUERIES = (
    "messages[?role == 'assistant'].content[].type",
    "messages[-1].role == 'assistant'",
    "messages[?role == 'tool'] && !(messages[?role == 'user'])",
    "messages[*].content[?type == 'tool-call'].toolCallId | []",
)
MESSAGE = {"role": "assistant", "content": list(PARTS)}
PROMPT = {"messages": [{"role": "user", "content": [PARTS[0]]}, MESSAGE] * 50}


def own_cases() -> list[tuple[str, Any]]:
    groups = [
        g for name in ("paths", "logic", "functions") for g in json.loads((CASES / f"{name}.json").read_text("utf-8"))
    ]
    cases = [(case["expression"], group["given"]) for group in groups for case in group["cases"] if "error" not in case]
    return [
        (text, given) for text, given in cases if not any(f"{name}(" in text for name in ("blank", "has", "matches"))
    ]


def tree(text: str) -> Expr:
    return expression(Fragment.whole(Source("a benchmark", text)))


def seconds(run: Callable[[], Any], times: int) -> float:
    started = time.perf_counter()
    for _ in range(times):
        run()
    return (time.perf_counter() - started) / times


def speedup(library: Callable[[], Any], ours: Callable[[], Any], rounds: int) -> float:
    slow = max(1, round(SAMPLE_SECONDS / seconds(library, 3)))
    fast = max(1, round(SAMPLE_SECONDS / seconds(ours, 10)))
    ratios = []
    for _ in range(rounds):
        before, mine, after = seconds(library, slow), seconds(ours, fast), seconds(library, slow)
        ratios.append((before + after) / 2 / mine)
    return statistics.median(ratios)


def measured(cases: list[tuple[str, Any]], back_end: Callable[[Expr], Any], rounds: int) -> float:
    ratios = []
    for text, value in cases:
        library, ours = jmespath.compile(text), back_end(tree(text))
        try:
            library.search(value)
        except TypeError:  # what the library does not catch of Python's own errors
            continue
        ratios.append(speedup(partial(library.search, value), partial(ours, value, None), rounds))
    return statistics.geometric_mean(ratios)


def main() -> int:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 9
    sets = {
        "cases": (own_cases(), codegen.compute),
        "part conditions": (
            [(text, part) for text in PART_CONDITIONS for part in PARTS if _judgeable(text, part)],
            codegen.predicate,
        ),
        "whole prompt": ([(text, PROMPT) for text in PROMPT_QUERIES], codegen.compute),
    }
    failed = False
    for name, (cases, generated) in sets.items():
        closed, fast = (measured(cases, back_end, rounds) for back_end in (closures.compute, generated))
        failed |= fast < GATES[name]
        verdict = f"gate x{GATES[name]}: {'ok' if fast >= GATES[name] else 'TOO SLOW'}"
        print(f"{name:16} ({len(cases):3})  closures x{closed:5.1f}   generated x{fast:5.1f}   {verdict}")
    return int(failed)


def _judgeable(text: str, part: Any) -> bool:
    """Whether a condition holds or not: some raise on parts that they are not about."""
    try:
        jmespath.search(text, part)
    except jmespath.exceptions.JMESPathError:
        return False
    return True


if __name__ == "__main__":
    raise SystemExit(main())
