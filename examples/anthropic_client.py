"""An anthropic client with one added line: `pip install anthropic`, then `python examples/anthropic_client.py`."""

from __future__ import annotations

from typing import Any

from _local_provider import provider
from anthropic import Anthropic, BadRequestError

from historycompat.integrations.anthropic import HistoryCompatMiddleware

thread: list[Any] = [
    {"role": "user", "content": "What does a.txt say?"},
    {"role": "assistant", "content": [{"type": "tool_use", "id": "functions.read:0", "name": "read", "input": {}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "functions.read:0", "content": "hello"}]},
]


def main(url: str) -> None:
    print("as it is")
    plain = Anthropic(api_key="any", base_url=url)
    try:
        plain.messages.create(model="team-alias", max_tokens=99, messages=thread)
    except BadRequestError as error:
        print(f"  {error}")

    print("with one line")
    client = Anthropic(
        api_key="any",
        base_url=url,
        middleware=[HistoryCompatMiddleware()],
    )
    answer = client.messages.create(model="team-alias", max_tokens=99, messages=thread)
    print(f"  {answer.content[0].text}")

    print("a model that is known is right the first time")
    client.messages.create(model="claude-opus-4-8", max_tokens=99, messages=thread)


if __name__ == "__main__":
    with provider() as address:
        main(address)
