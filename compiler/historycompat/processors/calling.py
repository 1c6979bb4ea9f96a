"""A processor and one of its hooks → a call with the arguments that the hook asks for."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from historycompat.errors import did_you_mean
from historycompat.processors.errors import ProcessorError, TripWire
from historycompat.processors.protocol import HOOKS, Hook, Lane, hooks_of

logger = logging.getLogger("historycompat.processors")

# The hooks that can run in a lane: an error is shown to the processors of all lanes.
_RUNS: dict[Lane, frozenset[Lane]] = {
    "input": frozenset({"input", "error"}),
    "output": frozenset({"output", "error"}),
    "error": frozenset({"error"}),
}


@dataclass(frozen=True, slots=True)
class Bound:
    """A hook of one processor, ready to be called."""

    hook: Hook
    processor: Any
    function: Callable[..., Any]
    asks: frozenset[str]

    @property
    def id(self) -> str:
        return str(self.processor.id)

    async def __call__(self, arguments: Mapping[str, Any]) -> Any:
        """The hook's result. A TripWire is reported to the processor and raised with its id; all else passes."""
        try:
            given = {name: arguments[name] for name in self.asks - {"abort"}}
            if "abort" in self.asks:
                given["abort"] = self._abort
            return await settled(self.function(**given))
        except TripWire as trip:
            trip.processor_id = trip.processor_id or self.id
            await self._report(trip)
            raise

    def _abort(self, reason: str = "", retry: bool = False, metadata: Any = None) -> NoReturn:
        raise TripWire(reason, retry=retry, metadata=metadata, processor_id=self.id)

    async def _report(self, trip: TripWire) -> None:
        told = getattr(self.processor, "on_violation", None)
        if not callable(told):
            return
        try:
            await settled(told(processor_id=self.id, message=trip.reason, detail=trip.metadata))
        except Exception:
            logger.exception("processor %s failed in on_violation", self.id)


async def settled(value: Any) -> Any:
    """What a function returned, awaited where it was asynchronous."""
    return await value if inspect.isawaitable(value) else value


def bound(processor: object, lane: Lane) -> list[Bound]:
    """The hooks of a processor that can run in a lane. Raises ProcessorError where it has none, or no id."""
    name = type(processor).__name__
    processor_id = getattr(processor, "id", None)
    if not isinstance(processor_id, str) or not processor_id:
        raise ProcessorError("PROCESSOR_WITHOUT_ID", f"{name} needs an id, a text that is not empty")
    hooks = hooks_of(processor)
    if not hooks:
        hint = _near_miss(processor) or f"a hook is one of {', '.join(HOOKS)}"
        raise ProcessorError("PROCESSOR_WITHOUT_HOOK", f"{name} has no hook: {hint}", processor_id)
    usable = [hook for hook in hooks if hook.lane in _RUNS[lane]]
    if not usable:
        lanes = " and ".join(sorted({hook.lane for hook in hooks}))
        message = f"{name} would never run in the {lane} lane: its hooks belong to the {lanes} lane"
        raise ProcessorError("PROCESSOR_IN_WRONG_LANE", message, processor_id)
    return [_bind(hook, processor, processor_id) for hook in usable]


def _bind(hook: Hook, processor: object, processor_id: str) -> Bound:
    function = getattr(processor, hook.name)
    return Bound(hook, processor, function, asked(function, hook.arguments, hook.name, processor_id))


def asked(function: Callable[..., Any], known: frozenset[str], what: str, processor_id: str) -> frozenset[str]:
    """The arguments of `known` that a function takes. Raises ProcessorError where it needs any other."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # a callable that does not tell, such as a builtin
        return known
    by_name = [each for each in parameters if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)]
    for each in parameters:
        needed = each.default is each.empty and each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)
        if needed and (each.name not in known or each not in by_name):
            raise ProcessorError("PROCESSOR_ASKS_UNKNOWN_ARGUMENT", _no_argument(each, known, what), processor_id)
    if any(each.kind is each.VAR_KEYWORD for each in parameters):
        return known
    return known & {each.name for each in by_name}


def _no_argument(parameter: inspect.Parameter, known: frozenset[str], what: str) -> str:
    if parameter.name in known:
        return f"{what} takes {parameter.name!r} by position only, but arguments are passed by name"
    hint = did_you_mean(parameter.name, known) or f"there are {', '.join(sorted(known))}"
    return f"{what} asks for an argument that does not exist, {parameter.name!r}: {hint}"


def _near_miss(processor: object) -> str | None:
    members = [name for name in dir(processor) if not name.startswith("_")]
    folded = {hook.replace("_", ""): hook for hook in HOOKS}
    for name in members:
        plain = name.replace("_", "").lower()
        if plain in folded:
            return f'{name} is spelled "{folded[plain]}" here'
    hints = (did_you_mean(name, HOOKS, cutoff=0.8) for name in members)
    return next(filter(None, hints), None)
