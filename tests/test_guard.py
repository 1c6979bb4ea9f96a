"""guard: any function that takes messages, in each of the ways in which Python calls one."""

from __future__ import annotations

import asyncio
import copy
import inspect
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from functools import partial
from typing import Any

import pytest
from poisoned import ALIAS, ANTHROPIC, anthropic_history
from strict_server import check

from historycompat import HistoryError, Outcome, Ruleset, compile_rules
from historycompat.integrations.guard import guard
from historycompat.session import Session


class RefusalError(Exception):
    """What this client raises: its status and its body."""

    def __init__(self, status_code: int, body: dict[str, Any]) -> None:
        super().__init__(f"the provider refuses ({status_code})")
        self.status_code, self.body = status_code, body


class Client:
    """Refuses what the Messages API refuses, in every calling convention, and keeps what it was sent."""

    def __init__(self) -> None:
        self.sent: list[Any] = []

    def send(self, messages: list[Any], model: str = ALIAS) -> str:
        self.sent.append(copy.deepcopy(messages))
        if refusal := check("anthropic", model, {"max_tokens": 9, "messages": messages}):
            raise RefusalError(refusal.status, refusal.body)
        return str(messages[-1]["content"])

    def stream(self, messages: list[Any]) -> Iterator[str]:
        yield from self.send(messages).split()

    def lazily(self, messages: list[Any]) -> Iterator[str]:
        """A plain function, whose stream refuses when it is read."""
        return self.stream(messages)

    async def asend(self, messages: list[Any]) -> str:
        await asyncio.sleep(0)
        return self.send(messages)

    async def astream(self, messages: list[Any]) -> AsyncIterator[str]:
        for word in self.stream(messages):
            await asyncio.sleep(0)
            yield word

    async def aopen(self, messages: list[Any]) -> AsyncIterator[str]:
        return self.astream(messages)


async def _call(client: Client, messages: list[Any], **options: Any) -> str:
    return guard(client.send, **options)(messages)


async def _stream(client: Client, messages: list[Any], **options: Any) -> str:
    return " ".join(guard(client.stream, **options)(messages))


async def _lazily(client: Client, messages: list[Any], **options: Any) -> str:
    return " ".join(guard(client.lazily, streaming=True, **options)(messages))


async def _acall(client: Client, messages: list[Any], **options: Any) -> str:
    return await guard(client.asend, **options)(messages)


async def _astream(client: Client, messages: list[Any], **options: Any) -> str:
    return " ".join([word async for word in guard(client.astream, **options)(messages)])


async def _aopen(client: Client, messages: list[Any], **options: Any) -> str:
    opened: Any = guard(client.aopen, streaming=True, **options)(messages)
    return " ".join([word async for word in opened])


WAYS = [_call, _stream, _lazily, _acall, _astream, _aopen]
every_way = pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__.strip("_"))
Way = Callable[..., Awaitable[str]]


@every_way
async def test_a_refused_history_is_repaired_and_sent_once_more(way: Way) -> None:
    client, messages = Client(), anthropic_history()
    assert await way(client, messages, model=ALIAS) == "open it"
    assert messages == ANTHROPIC, "the caller's messages were changed"
    first, second = client.sent
    assert first == ANTHROPIC
    assert second[1]["content"][0]["id"] == second[2]["content"][0]["tool_use_id"] == "functions_bash_0"


@every_way
async def test_a_known_model_is_right_the_first_time(way: Way) -> None:
    client = Client()
    assert await way(client, anthropic_history(), model="anthropic/claude-sonnet-4-5") == "open it"
    assert len(client.sent) == 1


@every_way
async def test_without_the_rule_the_refusal_comes_as_it_was(way: Way) -> None:
    client = Client()
    with pytest.raises(RefusalError) as caught:
        await way(client, anthropic_history(), model=ALIAS, rules=Ruleset())
    assert (len(client.sent), caught.value.__context__) == (1, None)


IN_VAIN = compile_rules(
    """
    language: 1
    pack: in-vain
    rules:
      - name: renames-files
        because: the provider here refuses something else
        phase: after
        on_error: [400 /should match pattern/]
        do: [replace /open/ with "read" in text on user/text]
        tests: [{name: a file, model: any/model, given: [{user: open it}], then: [{user: read it}]}]
    """
)


@every_way
async def test_there_is_one_retry_and_no_more(way: Way) -> None:
    client = Client()
    with pytest.raises(RefusalError) as caught:
        await way(client, anthropic_history(), model=ALIAS, rules=IN_VAIN)
    assert [messages[-1]["content"] for messages in client.sent] == ["open it", "read it"]
    assert isinstance(caught.value.__context__, RefusalError)


@every_way
async def test_what_was_repaired_is_told_before_the_second_request(way: Way) -> None:
    client = Client()
    told: list[tuple[int, Outcome]] = []
    await way(
        client, anthropic_history(), model=ALIAS, on_repair=lambda outcome: told.append((len(client.sent), outcome))
    )
    [(requests, outcome)] = told
    assert (requests, outcome.rules) == (1, ("anthropic-tool-id-format",))
    assert outcome.stored == client.sent[1]


async def test_what_is_told_asynchronously_is_awaited() -> None:
    client, saved = Client(), []

    async def save(outcome: Outcome) -> None:
        await asyncio.sleep(0)
        saved.append(outcome.stored)

    await guard(client.asend, model=ALIAS, on_repair=save)(anthropic_history())
    assert saved == client.sent[1:]


@every_way
async def test_a_session_pays_one_refusal_for_the_whole_conversation(way: Way) -> None:
    client = Client()
    session = Session(model=ALIAS, format="anthropic")
    for _ in range(3):
        await way(client, anthropic_history(), session=session)
    assert len(client.sent) == 4
    kept = json.loads(json.dumps(session.dump()))
    await way(client, anthropic_history(), session=Session.load(kept, model=ALIAS, format="anthropic"))
    assert len(client.sent) == 5


def create(*, model: str, messages: list[Any], temperature: float = 0) -> tuple[str, list[Any], float]:
    return model, messages, temperature


def ask(model: str, messages: list[Any]) -> tuple[str, list[Any], float]:
    return create(model=model, messages=messages)


def say(history: list[Any]) -> tuple[str, list[Any], float]:
    return create(model="", messages=history)


class Called:
    def __call__(self, messages: list[Any], **options: Any) -> tuple[str, list[Any], float]:
        return create(messages=messages, **options)


CLAUDE = "claude-sonnet-4-5"
PLACES: dict[str, tuple[Callable[..., Any], dict[str, Any], tuple[Any, ...], dict[str, Any]]] = {
    "by keyword, model too": (create, {}, (), {"model": CLAUDE, "messages": ANTHROPIC}),
    "by its place in the signature": (ask, {"model": CLAUDE}, (CLAUDE, ANTHROPIC), {}),
    "the first where none has the name": (say, {"model": CLAUDE}, (ANTHROPIC,), {}),
    "under a name of its own": (say, {"model": CLAUDE, "argument": "history"}, (), {"history": ANTHROPIC}),
    "of a partial": (partial(create, temperature=0), {}, (), {"model": CLAUDE, "messages": ANTHROPIC}),
    "of an object that is called": (Called(), {}, (ANTHROPIC,), {"model": CLAUDE}),
}  # fmt: skip


@pytest.mark.parametrize("place", PLACES)
def test_where_the_history_stands(place: str) -> None:
    send, options, args, kwargs = PLACES[place]
    _, sent, temperature = guard(send, **options)(*args, **kwargs)
    assert sent[1]["content"][0]["id"] == "functions_bash_0"
    assert temperature == 0


async def test_the_kind_of_function_stays() -> None:
    client = Client()
    assert inspect.iscoroutinefunction(guard(client.asend))
    assert inspect.isasyncgen(guard(client.astream)([]))
    assert guard(create).__name__ == "create"
    assert inspect.signature(guard(create)) == inspect.signature(create)


def test_a_call_without_a_history_is_told_so() -> None:
    with pytest.raises(TypeError, match="the call has no argument 'messages'"):
        guard(ask)(CLAUDE)


def test_a_session_brings_its_rules() -> None:
    with pytest.raises(TypeError, match="a session has its own rules and format"):
        guard(ask, session=Session(), rules=Ruleset())


@pytest.mark.parametrize("history", ["a prompt", [{"what": 1}], None, 7])
def test_what_is_no_history_is_sent_as_it_is(history: Any) -> None:
    _, sent, _ = guard(create)(model=CLAUDE, messages=history)
    assert sent is history


def test_a_format_that_was_named_is_insisted_on() -> None:
    with pytest.raises(HistoryError, match='no format "antropic": did you mean "anthropic"'):
        guard(create, format="antropic")(model=CLAUDE, messages=anthropic_history())


async def test_two_hundred_concurrent_calls_do_not_meet() -> None:
    client = Client()
    ask = guard(client.asend, model=ALIAS)
    questions = [f"question {number}" for number in range(200)]
    histories = [anthropic_history(each, f"id.{number}") for number, each in enumerate(questions)]
    kept = copy.deepcopy(histories)
    assert await asyncio.gather(*map(ask, histories)) == questions
    assert histories == kept
    ids: dict[str, list[str]] = {}
    for messages in client.sent:
        ids.setdefault(messages[-1]["content"], []).append(messages[1]["content"][0]["id"])
    assert ids == {each: [f"id.{number}", f"id_{number}"] for number, each in enumerate(questions)}
