"""An agent's process: it asks a model with a stored thread, and saves what had to be repaired.

`turn STORE URL QUESTION` adds a question and its answer, and prints the statuses of its requests. `loop STORE URL` asks
and takes the repair back, over and over until it is killed, and prints the revision of each finished repair.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "compiler"))

from poisoned import ALIAS

from historycompat import Outcome
from historycompat.integrations.guard import guard
from historycompat.store import HistoryStore, open_store

THREAD = "thread-1"


class RefusedError(Exception):
    """The provider's answer, as a client raises it."""

    def __init__(self, status_code: int, body: str) -> None:
        super().__init__(f"HTTP status {status_code}")
        self.status_code, self.body = status_code, body


class Provider:
    """A minimal client of the Messages API."""

    def __init__(self, url: str) -> None:
        self.host, self.path = urlsplit(url).netloc, urlsplit(url).path
        self.statuses: list[int] = []

    def ask(self, messages: list[Any]) -> dict[str, Any]:
        body = {"model": ALIAS, "max_tokens": 99, "messages": messages}
        connection = HTTPConnection(self.host)
        try:
            connection.request("POST", f"{self.path}/v1/messages", json.dumps(body))
            answer = connection.getresponse()
            text = answer.read().decode()
        finally:
            connection.close()
        self.statuses.append(answer.status)
        if answer.status >= 400:
            raise RefusedError(answer.status, text)
        return {"role": "assistant", "content": json.loads(text)["content"]}


def ask(store: HistoryStore, send: Callable[[list[Any]], Any], revision: int, messages: list[Any]) -> Any:
    """Ask with what is stored at a revision; a repair is saved over that revision."""

    def save(outcome: Outcome) -> None:
        store.replace(THREAD, revision, outcome.stored, note="refused", rules=outcome.rules)

    return guard(send, model=ALIAS, on_repair=save)(messages)


def turn(store: HistoryStore, provider: Provider, question: str) -> None:
    revision, messages = store.load(THREAD)
    asked = [*messages, {"role": "user", "content": question}]
    revision = store.replace(THREAD, revision, asked)
    answer = ask(store, provider.ask, revision, asked)
    revision, messages = store.load(THREAD)
    store.replace(THREAD, revision, [*messages, answer])
    print(json.dumps(provider.statuses))


def loop(store: HistoryStore, provider: Provider) -> None:
    while True:
        ask(store, provider.ask, *store.load(THREAD))
        print(store.load(THREAD)[0], flush=True)
        store.undo(THREAD)


if __name__ == "__main__":
    with open_store(sys.argv[2]) as opened:
        if sys.argv[1] == "turn":
            turn(opened, Provider(sys.argv[3]), sys.argv[4])
        else:
            loop(opened, Provider(sys.argv[3]))
