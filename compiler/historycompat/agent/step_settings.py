"""The settings of a step, as processors left them → what its request is made of, checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from historycompat.agent.errors import AgentError
from historycompat.agent.models.port import LanguageModel, Settings, ToolChoice
from historycompat.agent.models.resolve import resolve
from historycompat.agent.options import ProcessedSettings, WantedOutput, checked
from historycompat.agent.plan import Plan
from historycompat.agent.structured import Output
from historycompat.agent.tools import Tool, tool_table
from historycompat.errors import did_you_mean
from historycompat.processors.run_state import StepSettings

_NAMES = tuple(ProcessedSettings.__annotations__)


@dataclass(frozen=True, slots=True)
class Prepared:
    """One step. `tools` are those that the model is told of, and no other can be called."""

    model: LanguageModel
    tools: dict[str, Tool]
    tool_choice: ToolChoice
    settings: Settings
    output: Output | None
    provider_options: Mapping[str, Any]
    message_id: str | None


def settings_of(plan: Plan, tools: dict[str, Tool], message_id: str) -> StepSettings:
    """What processors are shown."""
    return StepSettings(
        model=plan.model,
        tools=tools,
        tool_choice=plan.tool_choice,
        provider_options=plan.provider_options,
        model_settings=plan.settings,
        structured_output={"schema": plan.output.schema} if plan.output else None,
        message_id=message_id,
    )


def prepared(plan: Plan, given: StepSettings) -> Prepared:
    """Raises AgentError for what no request can be made of."""
    model, tools = resolve(given.model, plan.model.specification_version), tool_table(given.tools)
    told = checked({name: getattr(given, name) for name in _NAMES}, ProcessedSettings, "process_input_step")
    active = _active(told["active_tools"], tools)
    return Prepared(
        model=model,
        tools=active,
        tool_choice=_choice(told["tool_choice"] or "auto", active),
        settings=Settings(**(told["model_settings"] or {})),
        output=_output(plan, told["structured_output"]),
        provider_options=told["provider_options"] or {},
        message_id=told["message_id"],
    )


def _active(names: list[str] | None, tools: dict[str, Tool]) -> dict[str, Tool]:
    if names is None:
        return tools
    for name in names:
        _refuse_unknown("active_tools", name, tools)
    return {name: tool for name, tool in tools.items() if name in names}


def _choice(choice: Any, active: Mapping[str, Tool]) -> ToolChoice:
    if isinstance(choice, Mapping):
        _refuse_unknown("tool_choice", choice["tool_name"], active)
    known: ToolChoice = choice
    return known


def _refuse_unknown(option: str, name: str, known: Mapping[str, Tool]) -> None:
    if name not in known:
        advice = did_you_mean(name, known) or f"there are {', '.join(known) or 'none'}"
        raise AgentError("AGENT_BAD_OPTION", f"{option} names {name!r}, which is no tool of this step: {advice}")


def _output(plan: Plan, wanted: WantedOutput | None) -> Output | None:
    if wanted is None:
        return None
    if plan.output is not None and wanted["schema"] is plan.output.schema:
        return plan.output
    return Output.of(wanted["schema"])
