"""An openai client with one added line: `pip install openai`, then `python examples/openai_client.py` (no network)."""

from __future__ import annotations

from typing import Any

from _local_provider import provider
from openai import BadRequestError, DefaultHttpxClient, OpenAI

from historycompat.integrations.transport import HistoryCompatTransport

call = {"id": "call_PTLP8xhu3uwZk4l3nlnrrJha", "type": "function", "function": {"name": "read", "arguments": "{}"}}
thread: list[Any] = [
    {"role": "user", "content": "What does a.txt say?"},
    {"role": "assistant", "content": None, "tool_calls": [call]},
    {"role": "tool", "tool_call_id": call["id"], "content": "hello"},
]


def main(url: str) -> None:
    print("as it is")
    plain = OpenAI(api_key="any", base_url=f"{url}/v1")
    try:
        plain.chat.completions.create(model="team-alias", messages=thread)
    except BadRequestError as error:
        print(f"  {error}")

    print("with one line")
    client = OpenAI(
        api_key="any",
        base_url=f"{url}/v1",
        http_client=DefaultHttpxClient(transport=HistoryCompatTransport()),
    )
    answer = client.chat.completions.create(model="team-alias", messages=thread)
    print(f"  {answer.choices[0].message.content}")


if __name__ == "__main__":
    with provider() as address:
        main(address)
