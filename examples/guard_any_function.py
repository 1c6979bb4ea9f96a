"""Any function that takes messages, guarded: run `python examples/guard_any_function.py` (no network, no packages)."""

from __future__ import annotations

import json
import urllib.request
from typing import Any
from urllib.error import HTTPError

from _local_provider import provider

from historycompat import Outcome, guard

# A conversation that another model has had: its tool call ids have a dot and a colon.
thread: list[dict[str, Any]] = [
    {"role": "user", "content": "What does a.txt say?"},
    {"role": "assistant", "content": [{"type": "tool_use", "id": "functions.read:0", "name": "read", "input": {}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "functions.read:0", "content": "hello"}]},
]


def main(url: str) -> None:
    def ask(messages: list[dict[str, Any]]) -> str:
        body = {"model": "team-alias", "max_tokens": 99, "messages": messages}
        request = urllib.request.Request(f"{url}/v1/messages", json.dumps(body).encode())
        try:
            with urllib.request.urlopen(request) as answer:
                return str(json.load(answer)["content"][0]["text"])
        except HTTPError as error:
            with error:
                raise RuntimeError(f"{error.code} {error.read().decode()}") from error

    print("without guard")
    try:
        ask(thread)
    except RuntimeError as error:
        print(f"  {error}")

    def save(outcome: Outcome) -> None:
        thread[:] = outcome.stored
        print(f"  saved, repaired by {', '.join(outcome.rules)}")

    print("with guard")
    ask = guard(ask, model="team-alias", on_repair=save)
    print(f"  {ask(thread)}")
    print("the next turn does not pay again")
    print(f"  {ask(thread)}")


if __name__ == "__main__":
    with provider() as address:
        main(address)
