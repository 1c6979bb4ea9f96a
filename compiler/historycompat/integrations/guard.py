"""Any function that takes messages → the same function, which repairs them and sends them once more if refused."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial, wraps
from typing import Any, ParamSpec, TypeVar

from historycompat import api
from historycompat.integrations.repairs import OnRepair, Repairs
from historycompat.runtime.retry import Flow, acall, astream, call, stream
from historycompat.session import Session

Arguments = ParamSpec("Arguments")
Reply = TypeVar("Reply")

_Call = tuple[tuple[Any, ...], dict[str, Any]]


def guard(
    send: Callable[Arguments, Reply],
    *,
    model: Any = None,
    format: str | None = None,  # noqa: A002
    rules: api.Rules | None = None,
    session: Session | None = None,
    on_repair: OnRepair | None = None,
    argument: str = "messages",
    streaming: bool | None = None,
) -> Callable[Arguments, Reply]:
    """A function with the signature of `send` that sends what its model accepts.

        ask = guard(client.chat.completions.create)

    Every call is repaired before it is sent, and after a refusal that a rule can mend it is sent once more. The
    caller's messages are never changed. `send` may be a function, a coroutine function, a generator or an asynchronous
    generator, and must raise where it is refused. Its history is the argument of the name `argument`, or the first one
    where it has none of that name. `model` is, unless given, the argument `model` of each call. With `streaming` the
    guarded function is a generator, for a `send` whose stream refuses only when its first chunk is asked for; nothing
    is sent again behind that chunk. `format`, `rules`, `session` and `on_repair` are as in Repairs. Raises TypeError
    for a call without a history, and with `format` HistoryError for one that is not in it.
    """
    repairs = Repairs(model, format, rules, session, on_repair)
    target = _unwrapped(send)
    given = _Given(send, argument)
    driver = _DRIVERS[_is_asynchronous(target), _is_stream(target) if streaming is None else streaming]
    return wraps(send)(driver(lambda made: send(*made[0], **made[1]), partial(given.flow, repairs)))


class _Given:
    """Where a function's history is among its arguments."""

    def __init__(self, send: Callable[..., Any], argument: str) -> None:
        self.argument = argument
        self.index = _position(send, argument)

    def flow(self, repairs: Repairs, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Flow[_Call]:
        named = self.argument in kwargs
        if not named and len(args) <= self.index:
            raise TypeError(f"the call has no argument {self.argument!r}; name the one that holds the history")

        def build(history: Any) -> _Call:
            if named:
                return args, {**kwargs, self.argument: history}
            return (*args[: self.index], history, *args[self.index + 1 :]), kwargs

        history = kwargs[self.argument] if named else args[self.index]
        return repairs.requests(history, build, model=kwargs.get("model"))


_Send = Callable[[_Call], Any]
_Flows = Callable[[tuple[Any, ...], dict[str, Any]], Flow[_Call]]


def _calls(send: _Send, flow: _Flows) -> Callable[..., Any]:
    def guarded(*args: Any, **kwargs: Any) -> Any:
        return call(send, flow(args, kwargs))

    return guarded


def _acalls(send: _Send, flow: _Flows) -> Callable[..., Any]:
    async def guarded(*args: Any, **kwargs: Any) -> Any:
        return await acall(send, flow(args, kwargs))

    return guarded


def _streams(send: _Send, flow: _Flows) -> Callable[..., Any]:
    def guarded(*args: Any, **kwargs: Any) -> Iterator[Any]:
        return stream(send, flow(args, kwargs))

    return guarded


def _astreams(send: _Send, flow: _Flows) -> Callable[..., Any]:
    def guarded(*args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        return astream(send, flow(args, kwargs))

    return guarded


# By whether the function is asynchronous, and whether it streams.
_DRIVERS = {(False, False): _calls, (True, False): _acalls, (False, True): _streams, (True, True): _astreams}


def _unwrapped(send: Callable[..., Any]) -> Callable[..., Any]:
    while isinstance(send, partial):
        send = send.func
    return send if inspect.isroutine(send) else type(send).__call__


def _is_asynchronous(send: Callable[..., Any]) -> bool:
    return inspect.iscoroutinefunction(send) or inspect.isasyncgenfunction(send)


def _is_stream(send: Callable[..., Any]) -> bool:
    return inspect.isgeneratorfunction(send) or inspect.isasyncgenfunction(send)


def _position(send: Callable[..., Any], argument: str) -> int:
    try:
        names = list(inspect.signature(send).parameters)
    except (TypeError, ValueError):  # some functions written in C do not tell
        return 0
    return names.index(argument) if argument in names else 0
