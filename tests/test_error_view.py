"""ErrorView: what it reads in errors of every kind, as data, with fake objects and with the clients' own."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import json_lines, shared

from historycompat.ruleset import Trigger
from historycompat.runtime.error_view import BODY_LIMIT, MESSAGE_LIMIT, ErrorView, capped

CASES = [case for file in sorted((Path(__file__).parent / "errors").glob("*.jsonl")) for case in json_lines(file)]
REFUSAL = "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"


class RefusalError(Exception):
    """An API error as client libraries make them: an exception with whatever attributes."""


def build(spec: Any) -> Any:
    """The object that a case describes: `$raise`, `$group`, `$object`, `$bytes` and `$hex` stand for Python objects."""
    if isinstance(spec, list):
        return [build(item) for item in spec]
    if not isinstance(spec, dict):
        return spec
    match spec:
        case {"$raise": parts}:
            return _exception(**parts)
        case {"$group": [message, errors]}:
            return ExceptionGroup(message, build(errors))
        case {"$object": attributes}:
            return SimpleNamespace(**build(attributes))
        case {"$bytes": text}:
            return text.encode()
        case {"$hex": text}:
            return bytes.fromhex(text)
    return {key: build(value) for key, value in spec.items()}


def _exception(
    args: list[Any], attributes: Any = None, cause: Any = None, context: Any = None, suppress: bool = False
) -> RefusalError:
    error = RefusalError(*build(args))
    for name, value in build(attributes or {}).items():
        setattr(error, name, value)
    error.__cause__, error.__context__, error.__suppress_context__ = (
        build(cause),
        build(context),
        suppress or bool(cause),
    )
    return error


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_case(case: dict[str, Any]) -> None:
    view = ErrorView.of(build(case["error"]))
    assert view.status == case["status"]
    assert view.retryable == case.get("retryable")
    if "texts" in case:
        assert list(view.texts) == case["texts"]
    if "first" in case:
        assert view.texts[0] == case["first"]
    assert set(case.get("has", ())) <= set(view.texts)


def test_a_view_of_a_view_is_that_view() -> None:
    view = ErrorView(400, ("no",))
    assert ErrorView.of(view) is view


def test_both_ends_of_a_long_text_are_kept() -> None:
    (message,) = ErrorView.of(RefusalError("head" + "x" * 100_000 + "tail")).texts
    (body,) = ErrorView.of(SimpleNamespace(body=b"head" + b"x" * 2_000_000 + b"tail")).texts
    assert (len(message), len(body)) == (MESSAGE_LIMIT, BODY_LIMIT)
    assert all(text.startswith("headx") and text.endswith("xtail") for text in (message, body))
    assert capped("short", 8) == "short"


def test_a_large_echo_does_not_hide_the_message() -> None:
    body = json.dumps({"input": "x" * 500_000, "error": {"message": REFUSAL}, "rest": "y" * 200_000})
    assert ErrorView.of(body).texts[0] == REFUSAL


def test_cycles_end() -> None:
    error, other = RefusalError("one"), RefusalError("two")
    error.__cause__, other.__cause__ = other, error
    error.body = {"errors": [error]}  # type: ignore[attr-defined]
    error.body["errors"].append(error.body)  # type: ignore[attr-defined]
    assert ErrorView.of(error).texts == ("two", "one")


def test_depth_is_capped() -> None:
    error = RefusalError("outermost")
    for _ in range(5_000):
        outer = RefusalError("wrapped")
        outer.__cause__, error = error, outer
    nested: Any = {"message": "deep"}
    for _ in range(5_000):
        nested = {"error": nested}
    assert ErrorView.of(error).texts == ("wrapped",)
    assert ErrorView.of(nested).texts == ()
    assert ErrorView.of("{" * 100_000).texts
    assert ErrorView.of("[" * 100_000).texts


def test_what_raises_when_read_hides_nothing_else() -> None:
    class Unread:
        status_code = 400

        @property
        def text(self) -> str:
            raise RuntimeError("the stream was not read")

        def json(self) -> Any:
            return json.loads(self.text)

    class Liar:
        @property
        def __class__(self) -> Any:  # type: ignore[override]
            raise ValueError("no class today")

    class MuteError(Exception):
        response, body, details = Unread(), Liar(), {"message": "still read"}

        def __str__(self) -> str:
            raise TypeError("no words either")

    view = ErrorView.of(MuteError())
    assert (view.status, view.texts) == (400, ("still read",))


def test_a_response_that_offers_json_only() -> None:
    class Response:
        status_code = 400

        def json(self) -> Any:
            return {"error": {"message": REFUSAL}}

    class Asynchronous(Response):
        async def json(self) -> Any:
            raise AssertionError("nobody awaits this")

    assert ErrorView.of(SimpleNamespace(response=Response())).texts == (REFUSAL,)
    assert ErrorView.of(SimpleNamespace(response=Asynchronous())).texts == ()


def _trigger(*statuses: int) -> Trigger:
    def search(text: str) -> Mapping[str, Any] | None:
        return {"found": "id"} if "tool_use.id" in text else None

    return Trigger(frozenset(statuses), "tool_use.id", search)


@pytest.mark.parametrize(
    ("status", "statuses", "wakes"),
    [(400, (400,), True), (400, (), True), (None, (400,), True), (429, (400,), False), (422, (400, 422), True)],
)
def test_first_match(status: int | None, statuses: tuple[int, ...], wakes: bool) -> None:
    view = ErrorView(status, ("nothing here", "bad tool_use.id", "tool_use.id again"))
    expected = {"status": status, "text": "bad tool_use.id", "groups": {"found": "id"}} if wakes else None
    assert view.first_match(_trigger(*statuses)) == expected
    assert ErrorView(status, ("other",)).first_match(_trigger(*statuses)) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(
            st.text()
            | st.sampled_from(["error", "message", "status", "code", "raw", "response", "errors", "__cause__"]),
            inner,
        )
    ),
    max_leaves=20,
)


@settings(max_examples=300)
@given(JSON, st.lists(JSON, max_size=3))
def test_never_raises(value: Any, args: list[Any]) -> None:
    for error in (
        value,
        RefusalError(*args),
        SimpleNamespace(body=value, response=SimpleNamespace(text=value)),
        repr(value),
        f"a {value} b",
    ):
        view = ErrorView.of(error)
        assert view.status is None or 400 <= view.status <= 599
        assert all(text and len(text) <= BODY_LIMIT for text in view.texts)
        assert len(set(view.texts)) == len(view.texts)
        assert ErrorView.of(error) == view


@given(st.text(alphabet="{}[]'\"\\b:, 1ae\n", max_size=200))
def test_never_raises_on_brackets_and_quotes(text: str) -> None:
    assert ErrorView.of(text).texts[-1:] == ((text.strip(),) if text.strip() else ())


@pytest.mark.parametrize(
    "text", ["{" * 60_000, "{'" * 30_000, "b'" * 30_000, "{[" * 30_000, '{"a":' * 12_000], ids=lambda text: text[:5]
)
def test_hostile_text_costs_little(text: str) -> None:
    start = time.process_time()
    ErrorView.of(RefusalError(text))
    assert time.process_time() - start < 5


def test_recorded_errors_show_message_and_body() -> None:
    recorded = [
        case["error"]
        for case in json_lines(shared("cases/upstream_behaviour.jsonl"))
        if case["kind"] in ("error", "prefill")
    ]
    for error in (error for error in recorded if error["type"] == "api"):
        view = ErrorView.of(
            {"message": error["message"], "statusCode": error.get("status"), "responseBody": error.get("body")}
        )
        assert view.status == error.get("status")
        assert error["message"] in view.texts
        assert error.get("body") is None or error["body"] in view.texts


def test_reported_errors_are_found_through_a_gateway() -> None:
    for report in json_lines(shared("cases/bug_reports.jsonl")):
        body = json.dumps({"error": {"message": "Provider returned error", "metadata": {"raw": report["error"]}}})
        assert report["error"] in ErrorView.of(RefusalError(f"GatewayException - {body}")).texts


# The clients' own errors, from a local server that refuses.


class Refusing(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("content-length", 0)))
        body = json.dumps(self._body()).encode()
        self.send_response(400)
        for name, value in (
            ("content-type", "application/json"),
            ("x-amzn-errortype", "ValidationException"),
            ("content-length", str(len(body))),
        ):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def _body(self) -> Any:
        if "converse" in self.path:
            return {"message": REFUSAL}
        if "generateContent" in self.path:
            return {"error": {"code": 400, "message": REFUSAL, "status": "INVALID_ARGUMENT"}}
        error = {"message": REFUSAL, "type": "invalid_request_error"}
        return (
            {"type": "error", "error": error}
            if "messages" in self.path
            else {"error": {**error, "param": None, "code": None}}
        )

    def log_message(self, *args: object) -> None:
        """Tests read no access log."""


@contextmanager
def refusing_server() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Refusing) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


MESSAGES: Any = [{"role": "user", "content": "hi"}]


def _openai(url: str) -> None:
    module = pytest.importorskip("openai")
    module.OpenAI(api_key="k", base_url=url + "/v1", max_retries=0).chat.completions.create(
        model="m", messages=MESSAGES
    )


def _openai_stream(url: str) -> None:
    module = pytest.importorskip("openai")
    module.OpenAI(api_key="k", base_url=url + "/v1", max_retries=0).responses.create(model="m", input="hi", stream=True)


def _anthropic(url: str) -> None:
    module = pytest.importorskip("anthropic")
    module.Anthropic(api_key="k", base_url=url, max_retries=0).messages.create(
        model="m", messages=MESSAGES, max_tokens=5
    )


def _google(url: str) -> None:
    genai = pytest.importorskip("google.genai")
    client = genai.Client(api_key="k", http_options=genai.types.HttpOptions(base_url=url))
    list(client.models.generate_content_stream(model="gemini-x", contents="hi"))


def _mistral(url: str) -> None:
    module = pytest.importorskip("mistralai.client")
    module.Mistral(api_key="k", server_url=url).chat.complete(model="m", messages=MESSAGES)


def _boto3(url: str) -> None:
    session = pytest.importorskip("boto3").Session(
        aws_access_key_id="a", aws_secret_access_key="b", region_name="us-east-1"
    )
    session.client("bedrock-runtime", endpoint_url=url).converse(
        modelId="m", messages=[{"role": "user", "content": [{"text": "hi"}]}]
    )


def _litellm(model: str) -> Callable[[str], None]:
    def send(url: str) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")
            litellm = pytest.importorskip("litellm")
        litellm.suppress_debug_info = True
        keys = (
            {"aws_access_key_id": "a", "aws_secret_access_key": "b", "aws_region_name": "us-east-1"}
            if "bedrock" in model
            else {"api_key": "k"}
        )
        litellm.completion(model=model, messages=MESSAGES, api_base=url, num_retries=0, max_retries=0, **keys)

    return send


def _http(name: str, path: str, *, read: bool) -> Callable[[str], None]:
    def send(url: str) -> None:
        client = pytest.importorskip(name).Client()
        with client, client.stream("POST", url + path, json={}) as response:
            if read:
                response.read()
            response.raise_for_status()

    return send


CLIENTS = {
    "openai": _openai,
    "openai responses, streaming": _openai_stream,
    "anthropic": _anthropic,
    "google-genai": _google,
    "mistralai": _mistral,
    "boto3": _boto3,
    "litellm to openai": _litellm("openai/m"),
    "litellm to anthropic": _litellm("anthropic/m"),
    "litellm to gemini": _litellm("gemini/m"),
    "litellm to bedrock": _litellm("bedrock/converse/anthropic.claude-3"),
    "httpx": _http("httpx", "/v1/messages", read=True),
    "httpx2": _http("httpx2", "/v1/chat/completions", read=True),
}


def _error_of(send: Callable[[str], None]) -> Exception:
    with refusing_server() as url, pytest.raises(Exception) as caught:  # noqa: PT011
        send(url)
    return caught.value


@pytest.mark.integration
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("client", CLIENTS)
def test_real_client(client: str) -> None:
    view = ErrorView.of(_error_of(CLIENTS[client]))
    assert (view.status, view.texts[0]) == (400, REFUSAL)


@pytest.mark.integration
@pytest.mark.parametrize("name", ["httpx", "httpx2"])
def test_an_unread_stream_shows_its_status(name: str) -> None:
    view = ErrorView.of(_error_of(_http(name, "/v1/messages", read=False)))
    assert view.status == 400
    assert any("400 Bad Request" in text for text in view.texts)
