"""A request of the anthropic client → one that is accepted, as client middleware (anthropic 0.110 or newer)."""

from __future__ import annotations

from typing import Any

import anthropic

from historycompat import api
from historycompat.integrations.repairs import OnRepair, Refused, Repairs
from historycompat.runtime.retry import Flow, acall, call
from historycompat.session import Session


class HistoryCompatMiddleware(anthropic.Middleware):
    """Middleware for synchronous and asynchronous clients of the anthropic package, those of its clouds included.

        Anthropic(middleware=[HistoryCompatMiddleware()])

    It stands above signing, so it is also what repairs requests to Bedrock. Requests with messages are repaired on
    their way out; one that is refused for a reason that a rule can mend is sent once more, and so is a stream, since
    it is refused before it begins. For the options see Repairs; a `session` is for a client that carries one
    conversation.
    """

    def __init__(
        self,
        *,
        model: Any = None,
        rules: api.Rules | None = None,
        session: Session | None = None,
        on_repair: OnRepair | None = None,
    ) -> None:
        self._repairs = Repairs(model=model, rules=rules, session=session, on_repair=on_repair)

    def handle(self, request: Any, call_next: Any) -> Any:
        flow = self._flow(request)
        if flow is None:
            return call_next(request)

        def send(sent: Any) -> Any:
            answer = call_next(sent)
            if answer.status_code < 400:
                return answer
            answer.http_response.read()
            raise Refused(answer, answer.status_code, answer.http_response.text)

        try:
            return call(send, flow)
        except Refused as refused:
            return refused.answer

    async def handle_async(self, request: Any, call_next: Any) -> Any:
        flow = self._flow(request)
        if flow is None:
            return await call_next(request)

        async def send(sent: Any) -> Any:
            answer = await call_next(sent)
            if answer.status_code < 400:
                return answer
            await answer.http_response.aread()
            raise Refused(answer, answer.status_code, answer.http_response.text)

        try:
            return await acall(send, flow)
        except Refused as refused:
            return refused.answer

    def _flow(self, request: Any) -> Flow[Any] | None:
        body = request.json
        if not isinstance(body, dict) or not isinstance(body.get("messages"), list):
            return None

        def build(repaired: Any) -> Any:
            return request if repaired is body else request.copy(body=repaired)

        return self._repairs.requests(body, build, model=body.get("model"), format="anthropic", refusal=Refused)
