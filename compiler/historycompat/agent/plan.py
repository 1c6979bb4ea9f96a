"""An agent and the options of one call → everything that its run needs, checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal
from uuid import uuid4

from historycompat.agent.errors import AgentError
from historycompat.agent.executing import Hooks
from historycompat.agent.memory import Memory, MemoryOptions
from historycompat.agent.memory.options import checked
from historycompat.agent.messages import as_rows
from historycompat.agent.models.port import LanguageModel, Settings, ToolChoice
from historycompat.agent.structured import Output
from historycompat.agent.telemetry import Telemetry
from historycompat.agent.tools import Tool, Tools, client_tools, tool_table
from historycompat.processors.message_list import Row
from historycompat.processors.runner import ProcessorRunner

Path = Literal["new", "legacy"]
MAX_STEPS, MAX_RETRIES = 5, 2
_SETTINGS = tuple(each.name for each in fields(Settings))


@dataclass(frozen=True, slots=True)
class Recollection:
    """The memory of a run: which thread of whom."""

    memory: Memory
    thread: Any
    resource: str
    options: MemoryOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """One run. `tools` are those of the agent and of the call; with `output` and no tools the answer is an object.
    `instructions` are a text, or a function of the request context."""

    path: Path
    agent: Any
    model: LanguageModel
    rows: list[Row]
    context: list[Row]
    instructions: Any
    tools: dict[str, Tool]
    tool_choice: ToolChoice
    settings: dict[str, Any]
    output: Output | None
    provider_options: Mapping[str, Any]
    runner: ProcessorRunner
    recollection: Recollection | None
    max_steps: int
    max_retries: int
    retry_delay: float
    run_id: str
    request_context: Mapping[str, Any]
    abort_signal: Any
    hooks: Hooks
    telemetry: Telemetry
    on_finish: Callable[..., Any] | None
    on_step_finish: Callable[..., Any] | None
    save_per_step: bool

    @property
    def owners(self) -> dict[str, str]:
        """What each row of this run says of its thread and resource."""
        return owners_of(self.recollection)


def owners_of(recollection: Recollection | None) -> dict[str, str]:
    if recollection is None:
        return {}
    return {"threadId": thread_id(recollection.thread), "resourceId": recollection.resource}


def thread_id(thread: Any) -> str:
    return str(thread["id"] if isinstance(thread, Mapping) else thread)


def plan_of(
    agent: Any,
    messages: Any,
    options: Mapping[str, Any],
    *,
    path: Path,
    model: LanguageModel,
    runner: ProcessorRunner,
) -> Plan:
    """Options were checked one by one; here is refused what does not go together. Raises AgentError."""
    recollection = _recollection(agent, options)
    owners = owners_of(recollection)
    output, tools = _output(options), _tools(agent, options)
    if options.get("output") is not None:
        _alone(options)
        tools = {}
    rows = as_rows(messages, thread_id=owners.get("threadId"), resource_id=owners.get("resourceId"))
    context = as_rows(options["context"]) if options.get("context") else []
    if not (rows or context or recollection):
        raise AgentError("AGENT_BAD_MESSAGES", "there is no message to answer: write agent.stream('Hello')")
    return Plan(
        path=path,
        agent=agent,
        model=model,
        rows=rows,
        context=context,
        instructions=_chosen(options, "instructions", agent.instructions),
        tools=tools,
        tool_choice=_chosen(options, "tool_choice", "auto"),
        settings=_settings(options),
        output=output,
        provider_options=options.get("provider_options") or {},
        runner=runner,
        recollection=recollection,
        max_steps=_chosen(options, "max_steps", MAX_STEPS),
        max_retries=_chosen(options, "max_retries", MAX_RETRIES),
        retry_delay=agent.retry_delay,
        run_id=options.get("run_id") or str(uuid4()),
        request_context=options.get("request_context") or {},
        abort_signal=_signal(options.get("abort_signal")),
        hooks=_hooks(agent, options),
        telemetry=Telemetry.of(options.get("telemetry")),
        on_finish=options.get("on_finish"),
        on_step_finish=options.get("on_step_finish"),
        save_per_step=options.get("save_per_step", False),
    )


def _chosen(options: Mapping[str, Any], name: str, default: Any) -> Any:
    value = options.get(name)
    return default if value is None else value


def _settings(options: Mapping[str, Any]) -> dict[str, Any]:
    given = {**options, **(options.get("model_settings") or {})}
    return {name: given[name] for name in _SETTINGS if given.get(name) is not None}


def _hooks(agent: Any, options: Mapping[str, Any]) -> Hooks:
    merged = {**agent.hooks, **(options.get("hooks") or {})}
    return {name: hook for name, hook in merged.items() if hook is not None}  # type: ignore[return-value]


def _signal(given: Any) -> Any:
    if given is None or callable(getattr(given, "is_set", None)) or hasattr(given, "cancel_called"):
        return given
    raise AgentError("AGENT_BAD_OPTION", f"abort_signal is an asyncio.Event or a cancel scope, not {given!r}")


# ---- tools and structured output ----


def _tools(agent: Any, options: Mapping[str, Any]) -> dict[str, Tool]:
    sets: list[Tools] = list((options.get("toolsets") or {}).values())
    return tool_table(agent.tools, *sets, client_tools(options.get("client_tools")))


def _output(options: Mapping[str, Any]) -> Output | None:
    given = [name for name in ("output", "experimental_output", "structured_output") if options.get(name) is not None]
    if len(given) > 1:
        raise AgentError("AGENT_BAD_OPTION", f"{given[0]} and {given[1]} do not go together: choose one")
    return Output.of(options[given[0]]) if given else None


def _alone(options: Mapping[str, Any]) -> None:
    """With `output` the answer is the object, and nothing else."""
    for name in ("toolsets", "client_tools"):
        if options.get(name):
            message = f"output and {name} do not go together: experimental_output gives an object beside tool calls"
            raise AgentError("AGENT_BAD_OPTION", message)
    for name in ("on_finish", "on_step_finish"):
        if options.get(name):
            raise AgentError("AGENT_BAD_OPTION", f"{name} is not called with output: await the object instead")


# ---- memory ----


def _recollection(agent: Any, options: Mapping[str, Any]) -> Recollection | None:
    """The memory of a call: in its own option, or in the deprecated ones beside it."""
    given = options.get("memory") or {}
    thread = given.get("thread") or options.get("thread_id")
    resource = given.get("resource") or options.get("resource_id")
    wanted = checked(options.get("memory_options")).merged(given.get("options"))
    if thread is None and resource is None:
        if wanted.model_fields_set or given:
            raise AgentError("AGENT_MEMORY_MISSING_THREAD_ID", f"memory needs a thread and a resource: {_SHAPE}")
        return None
    if agent.memory is None:
        raise AgentError("AGENT_MEMORY_MISSING", "the agent has no memory: Agent(..., memory=Memory('chats.db'))")
    if resource is None:
        raise AgentError("AGENT_MEMORY_MISSING_RESOURCE_ID", f"thread {thread!r} needs its resource too: {_SHAPE}")
    if thread is None or (isinstance(thread, Mapping) and not thread.get("id")):
        raise AgentError("AGENT_MEMORY_MISSING_THREAD_ID", f"resource {resource!r} needs a thread too: {_SHAPE}")
    return Recollection(agent.memory, thread, resource, wanted)


_SHAPE = 'memory={"thread": "some-id", "resource": "user-id"}'
