"""An agent: a model, instructions, tools, memory and processors, and four ways to run it."""

from __future__ import annotations

import warnings
from collections.abc import Awaitable, Callable, Iterable, Mapping
from types import TracebackType
from typing import Any, Self, Unpack

from historycompat.agent.answer import Answer
from historycompat.agent.errors import AgentError, Code
from historycompat.agent.executing import Hooks
from historycompat.agent.loop import Loop
from historycompat.agent.memory import Memory
from historycompat.agent.messages import Messages
from historycompat.agent.models.port import LanguageModel, SpecificationVersion
from historycompat.agent.models.resolve import resolve
from historycompat.agent.options import HooksOption, LegacyOptions, StreamOptions, checked
from historycompat.agent.plan import Path, Plan, plan_of
from historycompat.agent.result import StreamResult
from historycompat.agent.tools import Tools, tool_table
from historycompat.processor import ProviderHistoryCompat
from historycompat.processors.prefill import PrefillErrorHandler
from historycompat.processors.runner import ProcessorRunner
from historycompat.processors.trailing_guard import guarded

Instructions = str | Callable[[Mapping[str, Any]], str | Awaitable[str | None] | None] | None

_VERSIONS: dict[Path, SpecificationVersion] = {"new": "v2", "legacy": "v1"}
_MIGRATION = "{old} is deprecated: use agent.{new}(messages, model_settings={{...}}, structured_output=...)"


class Agent:
    """Runs a model in steps: its tool calls are executed and answered until it is done.

    `model` is a LanguageModel or a text such as `anthropic/claude-sonnet-4-5`. `instructions` is a text, or a function
    of the request context that makes one, sync or async. `tools` are functions, Tools or mappings. `memory` is a
    Memory, or the path or URL of the store for one.

    Whatever the history, each request is made acceptable to its model first, and after a refusal the stored history is
    repaired and the request sent once more: `compat` does both, and False leaves it out. Processors of the three lanes
    run behind it. A call can be told otherwise by its options.
    """

    def __init__(
        self,
        *,
        model: LanguageModel | str,
        name: str = "agent",
        instructions: Instructions = None,
        tools: Tools = (),
        memory: Memory | str | None = None,
        input_processors: Iterable[Any] = (),
        output_processors: Iterable[Any] = (),
        error_processors: Iterable[Any] = (),
        max_processor_retries: int | None = None,
        hooks: HooksOption | None = None,
        compat: ProviderHistoryCompat | bool = True,
        retry_delay: float = 2.0,
    ) -> None:
        self.name, self.model, self.instructions = name, model, instructions
        self.tools = tool_table(tools)
        self.memory = memory if isinstance(memory, Memory) or memory is None else Memory(memory)
        self._own_memory = self.memory if self.memory is not memory else None
        given = {"hooks": hooks or {}, "max_processor_retries": max_processor_retries}
        options = checked(given, StreamOptions, "an agent")
        self.hooks: Hooks = dict(options["hooks"])  # type: ignore[assignment]
        self.retry_delay = retry_delay
        self._compat = _compat(compat)
        self._lanes = {
            "input_processors": list(input_processors),
            "output_processors": list(output_processors),
            "error_processors": list(error_processors),
        }
        self._max_processor_retries = max_processor_retries
        self._runner({})  # a processor that cannot run is refused here, not in the middle of a conversation

    # ---- the four ways ----

    def stream(self, messages: Messages, **options: Unpack[StreamOptions]) -> StreamResult:
        """Run, and read the answer while it is written; models of specification v2.

        `messages` is a text, a list of texts, or messages in any supported format. Options, all of which may be left
        out, also in camelCase:

        - `instructions`, `model`: in place of the agent's. `context`: messages that are sent, but not saved.
        - `memory`: `{"thread": id, "resource": user, "options": {...}}`; the thread is made where it is missing.
        - `model_settings`: temperature, max_tokens and so on. `provider_options`: `{provider: {key: value}}`.
        - `structured_output`: a pydantic type or JSON Schema; its value is `object`.
        - `toolsets`, `client_tools`, `tool_choice`, `hooks`: what may be called, and what is called around it.
        - `max_steps` (5): answers of the model at most; a refused request that is sent again is none.
        - `max_retries` (2): how often a request that failed for a passing reason is sent again.
        - `on_step_finish(json)`, `on_finish(answer)`: called when all that was said is in memory.
        - `abort_signal`: an event or cancel scope; the run ends with Aborted.
        - `save_per_step`, `telemetry`, `run_id`, `request_context`, `input_processors`, `output_processors`,
          `error_processors`, `max_processor_retries`.

        A tool that fails tells the model why. Raises AgentError for options that are unknown or do not go together.
        """
        return StreamResult(Loop(self._plan(messages, dict(options), "new", "stream"), streaming=True))

    async def generate(self, messages: Messages, **options: Unpack[StreamOptions]) -> Answer:
        """Run to the end; takes what `stream` takes. Raises what ended the run."""
        return await _to_the_end(Loop(self._plan(messages, dict(options), "new", "generate"), streaming=False))

    def stream_legacy(self, messages: Messages, **options: Unpack[LegacyOptions]) -> StreamResult:
        """Deprecated: use `stream`. For models of specification v1; a tool that fails ends the run.

        Model settings are options of their own here (`temperature`, `max_tokens`, ...). `output` asks for an object
        in place of text and tools, `experimental_output` for one beside them. `thread_id`, `resource_id` and
        `memory_options` are older forms of `memory`.
        """
        _deprecated("stream_legacy", "stream")
        return StreamResult(Loop(self._plan(messages, dict(options), "legacy", "stream_legacy"), streaming=True))

    async def generate_legacy(self, messages: Messages, **options: Unpack[LegacyOptions]) -> Answer:
        """Deprecated: use `generate`. Takes what `stream_legacy` takes."""
        _deprecated("generate_legacy", "generate")
        plan = self._plan(messages, dict(options), "legacy", "generate_legacy")
        return await _to_the_end(Loop(plan, streaming=False))

    def close(self) -> None:
        """Close the memory, if it was made from a path or URL here; `with` does so too."""
        if self._own_memory is not None:
            self._own_memory.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # ---- what a run asks for ----

    def _plan(self, messages: Messages, given: dict[str, Any], path: Path, method: str) -> Plan:
        options = checked(given, LegacyOptions if path == "legacy" else StreamOptions, method)
        given_model = options.get("model")
        model = resolve(self.model if given_model is None else given_model, _VERSIONS[path])
        if model.specification_version != _VERSIONS[path]:
            raise _wrong_version(model, method)
        return plan_of(self, messages, options, path=path, model=model, runner=self._runner(options, model))

    def _runner(self, options: Mapping[str, Any], model: Any = None) -> ProcessorRunner:
        """Our own processors stand in front, except where one with the same id is given."""
        lanes = {name: own if options.get(name) is None else options[name] for name, own in self._lanes.items()}
        retries = options.get("max_processor_retries")
        compat = [self._compat] if self._compat else []
        prefill = [PrefillErrorHandler()] if self._compat else []
        return ProcessorRunner(
            input=guarded(_behind(compat, lanes["input_processors"]), model),
            output=lanes["output_processors"],
            error=_behind([*compat, *prefill], lanes["error_processors"]),
            max_processor_retries=self._max_processor_retries if retries is None else retries,
        )


def _compat(given: Any) -> ProviderHistoryCompat | None:
    if not isinstance(given, bool | ProviderHistoryCompat):
        raise AgentError("AGENT_BAD_OPTION", f"compat is True, False or a ProviderHistoryCompat, not {given!r}")
    return ProviderHistoryCompat() if given is True else given or None


def _behind(own: list[Any], given: list[Any]) -> list[Any]:
    taken = {getattr(each, "id", None) for each in given}
    return [*(each for each in own if each.id not in taken), *given]


async def _to_the_end(loop: Loop) -> Answer:
    async for _ in loop.parts():
        pass
    return loop.answer


def _wrong_version(model: LanguageModel, method: str) -> AgentError:
    version, legacy = model.specification_version, method.endswith("_legacy")
    base = method.removesuffix("_legacy")
    code: Code = f"AGENT_{base.upper()}_{version.upper()}_MODEL_NOT_SUPPORTED"  # type: ignore[assignment]
    other = base if legacy else f"{base}_legacy"
    return AgentError(
        code, f"{model.provider}/{model.model_id} is a model of specification {version}: use agent.{other} for it"
    )


def _deprecated(old: str, new: str) -> None:
    warnings.warn(_MIGRATION.format(old=old, new=new), DeprecationWarning, stacklevel=3)
