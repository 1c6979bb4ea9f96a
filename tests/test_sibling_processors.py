"""PrefillErrorHandler, StreamErrorRetry and TrailingAssistantGuard: recorded cases and our own, as data."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from support import json_lines, shared

from historycompat.processors import (
    MessageList,
    PrefillErrorHandler,
    ProcessorError,
    ProcessorRunner,
    RetryMatcher,
    Run,
    StepSettings,
    StreamErrorRetry,
    TrailingAssistantGuard,
    is_bad_request,
)
from historycompat.processors.error_chain import chain, retry_after_ms
from historycompat.processors.trailing_guard import guarded

FOLDER = Path(__file__).parent / "processors"
NOW = 1_700_000_000.0  # Tue, 14 Nov 2023 22:13:20 GMT


class ApiError(Exception):
    """An error with the attributes that a case gives it."""


def build_error(spec: dict[str, Any]) -> Any:
    match spec["type"]:
        case "string" | "object":
            return spec["value"]
        case "error":
            error = ApiError(spec.get("message", ""))
        case "api":
            error = ApiError(spec["message"])
            for name, key in {"status_code": "status", "response_body": "body", "is_retryable": "isRetryable"}.items():
                if key in spec:
                    setattr(error, name, spec[key])
    for name, value in spec.get("attributes", {}).items():
        setattr(error, name, value)
    error.__cause__ = build_error(spec["cause"]) if "cause" in spec else None
    return error


def value(encoded: Any) -> Any:
    """A model as the case files write it."""
    if encoded == {"$undefined": True}:
        return None
    return (lambda: None) if encoded == {"$function": True} else encoded


# ---- what a case of each kind does ----


async def prefill(case: dict[str, Any]) -> dict[str, Any]:
    signals: list[dict[str, Any]] = []

    async def send(signal: Any) -> None:
        signals.append({"tagName" if name == "tag_name" else name: value for name, value in signal.items()})

    result = await PrefillErrorHandler().process_api_error(
        error=build_error(case["error"]), retry_count=case["retryCount"], send_signal=send
    )
    return {"retry": result == {"retry": True}, "signals": signals}


async def guard(case: dict[str, Any]) -> dict[str, Any]:
    drops = case.get("dropsIncompleteToolCalls", True)
    rows = MessageList(case["messages"], drops_incomplete_tool_calls=drops)
    run = Run(ProcessorRunner(input=[TrailingAssistantGuard()]), rows)
    await run.process_input_step(
        StepSettings(model=value(case["model"]), structured_output=case.get("structuredOutput"))
    )
    new = rows.rows("context")
    assert list(rows) == case["messages"] + new
    assert not rows.changed()
    return {"appended": bool(new), "text": new[0]["content"]["parts"][0]["text"] if new else None}


async def applies_to(case: dict[str, Any]) -> list[bool]:
    return [TrailingAssistantGuard().applies_to(value(each["model"])) for each in case["cases"]]


def matcher(spec: Any) -> Callable[[Any], bool] | RetryMatcher:
    match spec:
        case "bad-request":
            return is_bad_request
        case "always":
            return lambda error: True
        case {"messageEquals": text}:
            return lambda error: str(error) == text
    return RetryMatcher(matcher(spec["match"]), spec.get("maxRetries"), spec.get("delayMs"))  # type: ignore[arg-type]


async def stream_retry(case: dict[str, Any]) -> dict[str, Any]:
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(round(seconds, 6))

    names = {
        "maxRetries": "max_retries",
        "retryUnknownErrors": "retry_unknown_errors",
        "delayMs": "delay_ms",
        "maxRetryAfterMs": "max_retry_after_ms",
    }
    options = {names[key]: given for key, given in case["options"].items() if key != "matchers"}
    processor = StreamErrorRetry(
        matchers=[matcher(spec) for spec in case["options"].get("matchers", ())],
        sleep=sleep,
        clock=lambda: NOW,
        **options,
    )
    result = await processor.process_api_error(error=build_error(case["error"]), retry_count=case["retryCount"])
    return {"retry": result is not None} | ({"waits": waits} if "waits" in case["expect"] else {})


KINDS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "prefill": prefill,
    "guard": guard,
    "guard-applies-to": applies_to,
    "stream-retry": stream_retry,
}


def expected(case: dict[str, Any]) -> Any:
    if case["kind"] == "guard-applies-to":
        return [each["expect"] for each in case["cases"]]
    return case["expect"]


async def test_recorded_cases() -> None:
    cases = [case for case in json_lines(shared("cases/upstream_behaviour.jsonl")) if case["kind"] in KINDS]
    differing = {case["id"]: seen for case in cases if (seen := await KINDS[case["kind"]](case)) != expected(case)}
    assert {case["kind"] for case in cases} == set(KINDS)
    assert differing == {}


def own_cases() -> list[dict[str, Any]]:
    return [case for name in ("prefill", "guard", "stream_retry") for case in json_lines(FOLDER / f"{name}.jsonl")]


@pytest.mark.parametrize("case", own_cases(), ids=lambda case: case["id"])
async def test_case(case: dict[str, Any]) -> None:
    assert await KINDS[case["kind"]](case) == expected(case)


# ---- what data cannot say ----


def limited(**attributes: Any) -> ApiError:
    error = ApiError("slow down")
    vars(error).update({"is_retryable": True, "response_headers": {}} | attributes)
    return error


class Waits:
    """A sleep that takes no time."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


async def failing(processor: StreamErrorRetry, error: object, retry_count: int = 0, **rest: Any) -> bool:
    """What a run makes of an error, for a processor alone in the error lane."""
    run = Run(ProcessorRunner(error=[processor], max_processor_retries=9), MessageList(), **rest)
    run.retry_count = retry_count
    return await run.process_api_error(error)


async def doubled(retry_count: int) -> float:
    await asyncio.sleep(0)
    return 100.0 * 2**retry_count


@pytest.mark.parametrize(
    "delay", [doubled, lambda retry_count: 100 * 2**retry_count, lambda **rest: 100 * 2 ** rest["retry_count"]]
)
async def test_a_delay_may_be_computed_from_what_the_hook_is_given(delay: Any) -> None:
    sleep = Waits()
    assert await failing(StreamErrorRetry(max_retries=9, delay_ms=delay, sleep=sleep), limited(), retry_count=3)
    assert sleep.seconds == [0.8]


async def test_the_delay_is_told_before_it_is_waited() -> None:
    told: list[Any] = []

    async def sleep(seconds: float) -> None:
        told.append(seconds)

    async def on_retry(*, delay_ms: float, retry_count: int, error: Exception, **rest: Any) -> None:
        told.append((delay_ms, retry_count, str(error), "message_list" in rest))

    matcher = RetryMatcher(lambda error: True, delay_ms=5, on_retry=on_retry)
    assert await failing(
        StreamErrorRetry(matchers=[matcher], sleep=sleep), limited(response_headers={"retry-after": "2"})
    )
    assert told == [(2000.0, 0, "slow down", True), 2.0]


@pytest.mark.parametrize("signal", [asyncio.Event, threading.Event])
async def test_an_abort_ends_the_wait_and_there_is_no_retry(signal: Any) -> None:
    abort_signal = signal()
    waiting = asyncio.create_task(failing(StreamErrorRetry(delay_ms=3_600_000), limited(), abort_signal=abort_signal))
    await asyncio.sleep(0.01)
    assert not waiting.done()
    abort_signal.set()
    assert await asyncio.wait_for(waiting, 5) is False
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_a_cancelled_wait_leaves_no_task_behind() -> None:
    waiting = asyncio.create_task(
        failing(StreamErrorRetry(delay_ms=3_600_000), limited(), abort_signal=asyncio.Event())
    )
    await asyncio.sleep(0.01)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_with_an_abort_signal_that_is_not_given_the_wait_is_whole() -> None:
    sleep = Waits()
    assert await failing(StreamErrorRetry(delay_ms=70, sleep=sleep), limited(), abort_signal=asyncio.Event())
    assert sleep.seconds == [0.07]


async def test_causes_may_go_in_circles_and_come_in_groups() -> None:
    outer, inner = ApiError("outer"), ApiError("inner")
    outer.__cause__, inner.__cause__ = inner, outer
    assert list(chain(outer)) == [outer, inner]
    assert not await failing(StreamErrorRetry(), outer)
    group = ExceptionGroup("all failed", [ApiError("one"), limited()])
    assert await failing(StreamErrorRetry(), group)
    assert retry_after_ms(group, NOW) is None


@pytest.mark.parametrize(
    "callbacks", [{"delay_ms": lambda attempt: 1}, {"matchers": [RetryMatcher(bool, on_retry=lambda attempts: None)]}]
)
def test_a_callback_that_asks_for_what_is_not_there_is_refused_at_once(callbacks: Any) -> None:
    with pytest.raises(ProcessorError, match="asks for an argument that does not exist, 'attempt"):
        StreamErrorRetry(**callbacks)


async def test_without_a_way_to_send_signals_the_reminder_becomes_a_row() -> None:
    run = Run(ProcessorRunner(error=[PrefillErrorHandler()]), MessageList([{"id": "a", "role": "assistant"}]))
    assert await run.process_api_error("This model does not support assistant message prefill.")
    reminder = run.message_list[-1]
    assert reminder["role"] == "user"
    assert reminder["content"]["parts"] == [
        {"type": "text", "text": '<system-reminder type="anthropic-prefill-processor-retry">continue</system-reminder>'}
    ]
    assert run.message_list.source_of(reminder) == "input"


@pytest.mark.parametrize(
    ("created", "later"),
    [
        ("2131-05-01T10:00:00.000Z", "2131-05-01T10:00:00.001000+00:00"),
        (datetime(2131, 5, 1, tzinfo=UTC), datetime(2131, 5, 1, 0, 0, 0, 1000, tzinfo=UTC)),
        (datetime(2131, 5, 1), datetime(2131, 5, 1, 0, 0, 0, 1000)),
    ],
)
async def test_the_guards_row_is_younger_than_the_last_one(created: Any, later: Any) -> None:
    rows = MessageList([{"id": "a", "role": "assistant", "createdAt": created, "content": "Ten."}])
    await Run(ProcessorRunner(input=[TrailingAssistantGuard()]), rows).process_input_step(
        StepSettings(model="google/gemini-3-pro")
    )
    assert rows[-1]["createdAt"] == later


@pytest.mark.parametrize("created", ["yesterday", None, "2001-05-01T10:00:00Z", datetime(2001, 5, 1, tzinfo=UTC)])
async def test_the_guards_row_is_of_the_present_after_an_old_one(created: Any) -> None:
    rows = MessageList([{"id": "a", "role": "assistant", "createdAt": created, "content": "Ten."}])
    before = datetime.now(UTC)
    await Run(ProcessorRunner(input=[TrailingAssistantGuard()]), rows).process_input_step(
        StepSettings(model="google/gemini-3-pro")
    )
    made = rows[-1]["createdAt"]
    assert before <= (datetime.fromisoformat(made) if isinstance(made, str) else made) <= datetime.now(UTC)


class Other:
    id = "other"

    def process_input_step(self, **rest: Any) -> None:
        return None


@pytest.mark.parametrize(
    ("processors", "model", "ids"),
    [
        ([], "openai/gpt-5", []),
        ([], "google/gemini-3-pro", ["trailing-assistant-guard"]),
        ([Other()], "openai/gpt-5", ["other", "trailing-assistant-guard"]),
        ([TrailingAssistantGuard(), Other()], "google/gemini-3-pro", ["trailing-assistant-guard", "other"]),
    ],
)
def test_the_guard_stands_last_where_it_may_be_needed(processors: Any, model: str, ids: list[str]) -> None:
    assert [each.id for each in guarded(processors, model)] == ids


# ---- the clients' own errors ----


class _Busy(BaseHTTPRequestHandler):
    """Refuses with 429 and a Retry-After of three seconds; a streamed response begins, and then fails."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        streamed = b'"stream":true' in body
        self.send_response(200 if streamed else 429)
        self.send_header("content-type", "text/event-stream" if streamed else "application/json")
        self.send_header("retry-after", "3")
        self.send_header("connection", "close")
        self.end_headers()
        code = b"429" if "generateContent" in self.path else b'"internal_error"'
        fault = b'{"error": {"type": "server_error", "code": %b, "message": "busy"}}' % code
        self.wfile.write(b"data: " + fault + b"\n\n" if streamed else fault)

    def log_message(self, *arguments: Any) -> None:
        return


@contextmanager
def busy_server() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Busy) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


MESSAGES: Any = [{"role": "user", "content": "hi"}]


def _openai(url: str, **options: Any) -> None:
    client = pytest.importorskip("openai").OpenAI(api_key="k", base_url=url, max_retries=0)
    list(client.chat.completions.create(model="m", messages=MESSAGES, **options))


def _anthropic(url: str) -> None:
    client = pytest.importorskip("anthropic").Anthropic(api_key="k", base_url=url, max_retries=0)
    client.messages.create(model="m", messages=MESSAGES, max_tokens=5)


def _google(url: str) -> None:
    genai = pytest.importorskip("google.genai")
    client = genai.Client(api_key="k", http_options={"base_url": url})
    client.models.generate_content(model="gemini-x", contents="hi")


def _mistral(url: str) -> None:
    pytest.importorskip("mistralai.client").Mistral(api_key="k", server_url=url).chat.complete(
        model="m", messages=MESSAGES
    )


def _boto3(url: str) -> None:
    boto3 = pytest.importorskip("boto3")
    once = pytest.importorskip("botocore.config").Config(retries={"total_max_attempts": 1})
    session = boto3.Session(aws_access_key_id="a", aws_secret_access_key="b", region_name="us-east-1")
    client = session.client("bedrock-runtime", endpoint_url=url, config=once)
    client.converse(modelId="m", messages=[{"role": "user", "content": [{"text": "hi"}]}])


CLIENTS: dict[str, tuple[Callable[[str], None], list[float]]] = {
    "openai": (_openai, [3.0]),
    "openai, failing in the middle of a stream": (lambda url: _openai(url, stream=True), []),
    "anthropic": (_anthropic, [3.0]),
    "google-genai": (_google, [3.0]),
    "mistralai": (_mistral, [3.0]),
    "boto3": (_boto3, [3.0]),
}


@pytest.mark.integration
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("client", CLIENTS)
async def test_a_real_clients_error_is_retried_after_the_wait_that_it_asks_for(client: str) -> None:
    send, waits = CLIENTS[client]
    with busy_server() as url, pytest.raises(Exception) as caught:  # noqa: PT011
        await asyncio.to_thread(send, url)
    sleep = Waits()
    assert await failing(StreamErrorRetry(sleep=sleep), caught.value)
    assert sleep.seconds == waits
