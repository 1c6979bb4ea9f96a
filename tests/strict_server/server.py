"""HTTP requests → replies and refusals of the imitated providers, each one recorded."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from strict_server.conversation import Request
from strict_server.providers import Route, Target, base_path, route, target
from strict_server.replies.bodies import BODIES
from strict_server.replies.plan import plan
from strict_server.replies.streams import OWN_STREAMS, STREAMS
from strict_server.table import Refusal, check

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request as received, and what became of it; headers are not kept, so that no key is."""

    route: Route
    model: str
    body: Json
    stream: bool
    refusal: Refusal | None

    @property
    def status(self) -> int:
        return 200 if self.refusal is None else self.refusal.status


class StrictServer:
    """A loopback server that speaks every provider's wire below `/{provider}/` and refuses what they refuse.

    ```python
    with StrictServer() as server:
        client = anthropic.Anthropic(base_url=server.url("anthropic"), api_key="any")
        ...
        assert [exchange.status for exchange in server.exchanges] == [400, 200]
    ```

    `reply` is the text of every answer that is not a tool call."""

    def __init__(self, reply: str = "All good now.") -> None:
        self.reply = reply
        self._exchanges: list[Exchange] = []
        self._lock = threading.Lock()
        self._http = _Http(("127.0.0.1", 0), _Handler)
        self._http.strict = self
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def url(self, where: str | Route) -> str:
        """The base URL to give to the official client of a route, `openai` or `deepseek/anthropic` say."""
        return self.origin + base_path(route(where))

    @property
    def exchanges(self) -> list[Exchange]:
        with self._lock:
            return list(self._exchanges)

    @property
    def accepted(self) -> list[Exchange]:
        return [exchange for exchange in self.exchanges if exchange.refusal is None]

    @property
    def refused(self) -> list[Exchange]:
        return [exchange for exchange in self.exchanges if exchange.refusal is not None]

    def clear(self) -> None:
        with self._lock:
            self._exchanges.clear()

    def judge(self, wanted: Target, body: Json) -> Exchange:
        """Decides about a request and records it."""
        model = wanted.model or str(body.get("model", ""))
        stream = wanted.stream or body.get("stream") is True
        exchange = Exchange(wanted.route, model, body, stream, check(wanted.route, model, body))
        with self._lock:
            self._exchanges.append(exchange)
        return exchange


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128
    strict: StrictServer


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Http

    def do_GET(self) -> None:
        self._json(200, {"object": "list", "data": []})

    def do_POST(self) -> None:
        raw = self._read()
        wanted = target(self.path)
        try:
            body = json.loads(raw)
        except ValueError:
            body = None
        if wanted is None:
            self._json(404, {"error": {"message": f"no provider serves {self.path}"}})
        elif not isinstance(body, dict):
            self._json(400, {"error": {"message": "the body is no JSON object"}})
        else:
            self._answer(self.server.strict.judge(wanted, body))

    def _answer(self, exchange: Exchange) -> None:
        if exchange.refusal is not None:
            self._json(exchange.status, exchange.refusal.body, exchange.refusal.error_type)
            return
        provider, wire = exchange.route
        request = Request(provider, wire, exchange.model, exchange.body)
        body = BODIES[wire](request, plan(request, self.server.strict.reply))
        if exchange.stream:
            stream = OWN_STREAMS.get(provider, STREAMS[wire])
            self._chunks(stream.content_type, stream.encode(body))
        else:
            self._json(200, body)

    def _read(self) -> bytes:
        if self.headers.get("transfer-encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("content-length") or 0))
        chunks: list[bytes] = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            chunks.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(chunks)

    def _json(self, status: int, body: Json, error_type: str | None = None) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        if error_type is not None and self.path.startswith("/bedrock"):
            self.send_header("x-amzn-errortype", error_type)
        self.end_headers()
        self.wfile.write(data)

    def _chunks(self, content_type: str, chunks: Iterable[bytes]) -> None:
        self.send_response(200)
        self.send_header("content-type", content_type)
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for chunk in chunks:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """The tests' output belongs to the tests."""
