"""An HTTP request of httpx or httpx2 → one that the provider accepts, below any client library that uses them."""

from __future__ import annotations

import json
import re
import sys
from threading import Lock
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from historycompat import api
from historycompat.integrations.repairs import OnRepair, Refused, Repairs
from historycompat.integrations.wires import addressed
from historycompat.runtime.retry import Flow, acall, call
from historycompat.session import Session

if TYPE_CHECKING:
    AnyTransport = Any  # type checkers take it for a transport of either library
else:
    AnyTransport = object

# A request that says one of these is bound to the bytes of its body.
_SEALS = ("content-digest", "content-encoding", "content-md5", "digest", "x-amz-content-sha256")
_SIGNATURES = re.compile(r"AWS4-|Signature ")
_LENGTHS = (b"content-length", b"transfer-encoding")


class HistoryCompatTransport(AnyTransport):
    """A transport for clients of httpx and httpx2, synchronous and asynchronous ones.

        OpenAI(http_client=DefaultHttpxClient(transport=HistoryCompatTransport()))

    It passes requests on to `inner`, a transport of the same library, or a new one with the library's defaults. JSON
    bodies with messages are repaired on their way out. An answer below 400 is passed through unread; any other one is
    read, and if a rule can mend what it says the request is sent once more. Requests that are signed or otherwise
    bound to the bytes of their body are not touched: repair those above their signing. For the options see Repairs;
    a `session` is for a client that carries one conversation.
    """

    def __init__(
        self,
        inner: Any = None,
        *,
        model: Any = None,
        format: str | None = None,  # noqa: A002
        rules: api.Rules | None = None,
        session: Session | None = None,
        on_repair: OnRepair | None = None,
    ) -> None:
        self._inner = inner
        self._lock = Lock()
        self._repairs = Repairs(model, format, rules, session, on_repair)

    def handle_request(self, request: Any) -> Any:
        inner = self._passing_on(request, "HTTPTransport")
        flow = self._flow(request, request.read()) if _is_open(request) else None
        if flow is None:
            return inner.handle_request(request)
        try:
            return call(lambda sent: _accepted(inner.handle_request(sent)), flow)
        except Refused as refused:
            return refused.answer

    async def handle_async_request(self, request: Any) -> Any:
        inner = self._passing_on(request, "AsyncHTTPTransport")
        flow = self._flow(request, await request.aread()) if _is_open(request) else None
        if flow is None:
            return await inner.handle_async_request(request)

        async def send(sent: Any) -> Any:
            return await _aaccepted(await inner.handle_async_request(sent))

        try:
            return await acall(send, flow)
        except Refused as refused:
            return refused.answer

    def _flow(self, request: Any, data: bytes) -> Flow[Any] | None:
        try:
            body = json.loads(data)
        except (ValueError, RecursionError):
            return None
        to = addressed(request.url.host, request.url.path, body)
        if to is None:
            return None

        def build(repaired: Any) -> Any:
            return request if repaired is body else _with_body(request, repaired)

        return self._repairs.requests(body, build, model=to.model, format=to.format, refusal=Refused)

    def _passing_on(self, request: Any, kind: str) -> Any:
        with self._lock:
            if self._inner is None:
                self._inner = getattr(_library(request), kind)()
            return self._inner

    def close(self) -> None:
        if self._inner is not None:
            self._inner.close()

    async def aclose(self) -> None:
        if self._inner is not None:
            await self._inner.aclose()

    def __enter__(self) -> Self:
        if self._inner is not None:
            self._inner.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._inner is not None:
            self._inner.__exit__(kind, error, trace)

    async def __aenter__(self) -> Self:
        if self._inner is not None:
            await self._inner.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._inner is not None:
            await self._inner.__aexit__(kind, error, trace)


def _accepted(answer: Any) -> Any:
    if answer.status_code < 400:
        return answer
    try:
        data = b"".join(answer.stream)
    finally:
        answer.close()
    raise _refused(answer, data)


async def _aaccepted(answer: Any) -> Any:
    if answer.status_code < 400:
        return answer
    try:
        data = b"".join([chunk async for chunk in answer.stream])
    finally:
        await answer.aclose()
    raise _refused(answer, data)


def _refused(answer: Any, data: bytes) -> Refused:
    """The client gets the answer as if nobody had read it."""
    make, status, headers = type(answer), answer.status_code, answer.headers
    unread = make(status, headers=headers, stream=_library(answer).ByteStream(data), extensions=answer.extensions)
    return Refused(unread, status, make(status, headers=headers, content=data).text)


def _with_body(request: Any, body: Any) -> Any:
    headers = [(name, value) for name, value in request.headers.raw if name.lower() not in _LENGTHS]
    content = json.dumps(body, separators=(",", ":")).encode()
    return type(request)(request.method, request.url, headers=headers, content=content, extensions=request.extensions)


def _is_open(request: Any) -> bool:
    """Whether a request has a JSON body that may be another one."""
    headers = request.headers
    return (
        request.method == "POST"
        and headers.get("content-type", "").startswith("application/json")
        and not any(seal in headers for seal in _SEALS)
        and not _SIGNATURES.match(headers.get("authorization", ""))
        and "X-Amz-Signature" not in request.url.params
    )


def _library(thing: Any) -> Any:
    """httpx or httpx2: the one that a request or response is of."""
    return sys.modules[type(thing).__module__.partition(".")[0]]
