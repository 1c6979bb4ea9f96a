"""A provider on this machine, for the examples: it refuses tool call ids as Anthropic and Mistral do, and answers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

_ID = re.compile(r'"(?:id|tool_use_id|tool_call_id)": "(?P<id>[^"]*)"')


def _anthropic(ids: list[str], model: str) -> tuple[int, Any]:
    if not all(re.fullmatch("[a-zA-Z0-9_-]+", id_) for id_ in ids):
        message = "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"
        return 400, {"type": "error", "error": {"type": "invalid_request_error", "message": message}}
    content = [{"type": "text", "text": "It says: hello."}]
    usage = {"input_tokens": 9, "output_tokens": 9}
    return 200, {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content,
        "usage": usage,
    }


def _mistral(ids: list[str], model: str) -> tuple[int, Any]:
    for id_ in ids:
        if not re.fullmatch("[a-zA-Z0-9]{9}", id_):
            message = f"Tool call id was {id_} but must be a-z, A-Z, 0-9, with a length of 9."
            return 400, {"object": "error", "message": message, "type": "invalid_request_message_order"}
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "It says: hello."}}
    return 200, {"id": "1", "object": "chat.completion", "created": 0, "model": model, "choices": [choice]}


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        ids = [match["id"] for match in _ID.finditer(json.dumps(body["messages"]))]
        status, answer = (_anthropic if self.path.endswith("/messages") else _mistral)(ids, body["model"])
        print(f"  provider: tool call id {ids[0]!r} -> {status}")
        data = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """The example prints what matters."""


@contextmanager
def provider() -> Iterator[str]:
    """The address of a running provider."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
