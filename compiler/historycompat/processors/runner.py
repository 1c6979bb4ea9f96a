"""Processors in three lanes → the hooks to call, in order, and how many retries they may ask for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from historycompat.processors.calling import Bound, bound
from historycompat.processors.errors import ProcessorError
from historycompat.processors.protocol import HOOKS, Lane, Processor

# Error processors are there to ask for retries; a processor of another lane that asks for one is honoured once.
_RETRIES_WITH_ERROR_LANE, _RETRIES_WITHOUT = 3, 1


class ProcessorRunner:
    """The processors of an agent, checked once. It holds nothing of a Run, so that any number may go on at once.

    `max_processor_retries` is how often in a row a request may be repeated because a processor asks for it; by default
    3 with error processors and 1 without, and no repetition of an answer that `process_output_step` rejects.
    A processor may stand in several lanes. An error is shown to all three, each processor once.
    Raises ProcessorError for an object that is no processor, or could never run in its lane.
    """

    def __init__(
        self,
        *,
        input: Iterable[Processor] = (),  # noqa: A002
        output: Iterable[Processor] = (),
        error: Iterable[Processor] = (),
        max_processor_retries: int | None = None,
    ) -> None:
        if max_processor_retries is not None and max_processor_retries < 0:
            raise ValueError(f"max_processor_retries is a number from 0 on, not {max_processor_retries}")
        lanes: dict[Lane, Iterable[Processor]] = {"input": tuple(input), "output": tuple(output), "error": tuple(error)}
        self.max_processor_retries = max_processor_retries
        self.retry_limit = _limit(max_processor_retries, lanes["error"])
        self._hooks = _by_name(each for lane, processors in lanes.items() for each in _in_lane(lane, processors))

    def hooks(self, name: str) -> tuple[Bound, ...]:
        """The hooks of that name, in the order in which they are called."""
        return self._hooks[name]


def _limit(given: int | None, error_lane: Iterable[Processor]) -> int:
    if given is not None:
        return given
    return _RETRIES_WITH_ERROR_LANE if error_lane else _RETRIES_WITHOUT


def _in_lane(lane: Lane, processors: Iterable[Processor]) -> Iterator[Bound]:
    seen: dict[str, object] = {}
    for processor in processors:
        hooks = bound(processor, lane)
        if seen.setdefault(processor.id, processor) is not processor:
            message = f"two processors of the {lane} lane have this id, and would share a state: rename one"
            raise ProcessorError("PROCESSOR_ID_TAKEN", message, processor.id)
        yield from hooks


def _by_name(hooks: Iterable[Bound]) -> dict[str, tuple[Bound, ...]]:
    """The processors of each hook in order, every id once: the same one may stand in several lanes."""
    table: dict[str, dict[str, Bound]] = {name: {} for name in HOOKS}
    for each in hooks:
        table[each.hook.name].setdefault(each.id, each)
    return {name: tuple(processors.values()) for name, processors in table.items()}
