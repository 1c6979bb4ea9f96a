"""A plain typed function → a tool: a name, a JSON Schema of its input, and a way to call it."""

from __future__ import annotations

import asyncio
import inspect
import re
from collections.abc import AsyncIterable, Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, get_type_hints, overload

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from pydantic_core import PydanticUndefined

from historycompat.agent.errors import AgentError
from historycompat.agent.models.port import Schema, ToolSpec
from historycompat.agent.plain import plain
from historycompat.processors.calling import settled

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


class _Parameters(BaseModel):
    """The parameters of a function, each under its alias."""

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=False)


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a tool learns of the run that calls it, if one of its parameters is annotated with this class."""

    tool_call_id: str
    tool_name: str
    messages: list[dict[str, Any]]
    agent: Any = None
    run_id: str | None = None
    thread_id: str | None = None
    resource_id: str | None = None
    request_context: Any = None
    abort_signal: Any = None


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that models may call. Without `function` it runs at the client: the run ends with its call.

    `parameters` is the JSON Schema of the input, `inputs` the pydantic model that checks it, where there is one.
    """

    name: str
    description: str
    parameters: Schema
    function: Callable[..., Any] | None = None
    inputs: type[BaseModel] | None = None
    context_name: str | None = None

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.name):
            raise AgentError(
                "AGENT_BAD_TOOL",
                f"{self.name!r} is no name that providers take for a tool: use up to 64 letters, digits, _ and -",
            )

    @property
    def spec(self) -> ToolSpec:
        return ToolSpec(self.name, self.description, self.parameters)

    def arguments(self, given: Any) -> dict[str, Any]:
        """The keyword arguments for an input that a model wrote. Raises AgentError where it does not fit."""
        if not isinstance(given, dict):
            raise self._misfit(f"the input is no JSON object: {given!r}")
        if self.inputs is None:
            return given
        try:
            checked = self.inputs.model_validate(given)
        except ValidationError as error:
            found = "; ".join(f"{'.'.join(map(str, each['loc'])) or 'input'}: {each['msg']}" for each in error.errors())
            raise self._misfit(found) from None
        given_names = {name: getattr(checked, name) for name in checked.model_fields_set}
        if issubclass(self.inputs, _Parameters):
            return {str(self.inputs.model_fields[name].alias): value for name, value in given_names.items()}
        return given_names

    async def call(self, arguments: dict[str, Any], context: ToolContext) -> Any:
        """What the function returns, as JSON. One that is not asynchronous runs in a thread."""
        assert self.function is not None, "a client tool is not called here"
        given = {**arguments, self.context_name: context} if self.context_name else arguments
        if inspect.iscoroutinefunction(self.function):
            returned = await self.function(**given)
        else:
            returned = await settled(await asyncio.to_thread(_called, self.function, given))
        if isinstance(returned, AsyncIterable | Awaitable):
            raise TypeError(f"{self.name} returned {type(returned).__name__}, which is not awaited: return a value")
        return plain(returned)

    def _misfit(self, why: str) -> AgentError:
        return AgentError("AGENT_TOOL_CALL_INVALID", f"the call of {self.name} does not fit its parameters: {why}")


def _called(function: Callable[..., Any], given: dict[str, Any]) -> Any:
    try:
        return function(**given)
    except StopIteration as error:  # which no future can hold: whoever waits for it would wait for ever
        raise RuntimeError("the tool raised StopIteration") from error


@overload
def tool(function: Callable[..., Any], /) -> Tool: ...
@overload
def tool(*, name: str | None = None, description: str | None = None) -> Callable[[Callable[..., Any]], Tool]: ...
def tool(
    function: Callable[..., Any] | None = None, /, *, name: str | None = None, description: str | None = None
) -> Any:
    """Make a tool of a function, as a call or as a decorator.

    Its parameters need annotations; `Annotated[str, Field(description=...)]` describes one. The docstring describes
    the tool. Raises AgentError AGENT_BAD_TOOL for a function that no model could call.
    """
    if function is None:
        return lambda decorated: _of_function(decorated, name, description)
    return _of_function(function, name, description)


AnyTool: TypeAlias = Tool | Callable[..., Any] | Mapping[str, Any]
Tools: TypeAlias = Mapping[str, AnyTool] | Iterable[AnyTool]


def tool_table(*sets: Tools | None) -> dict[str, Tool]:
    """Tools by name. Raises AgentError where two share one."""
    table: dict[str, Tool] = {}
    for each in (tool for given in sets if given for tool in _named(given)):
        if table.setdefault(each.name, each) is not each:
            raise AgentError("AGENT_TOOL_NAME_COLLISION", f"two tools are named {each.name}: rename one")
    return table


def client_tools(given: Tools | None) -> dict[str, Tool]:
    """Tools that run at the client: what they could execute here is left out."""
    return {name: Tool(name, each.description, each.parameters) for name, each in tool_table(given).items()}


def _named(given: Tools) -> list[Tool]:
    if isinstance(given, Mapping):
        return [_as_tool(each, str(name)) for name, each in given.items()]
    if isinstance(given, Iterable) and not isinstance(given, str):
        return [_as_tool(each, None) for each in given]
    raise AgentError("AGENT_BAD_TOOL", f"tools are a list of functions or a mapping of names to them, not {given!r}")


def _as_tool(given: Any, name: str | None) -> Tool:
    if isinstance(given, Tool):
        return given if name in (None, given.name) else _renamed(given, str(name))
    if isinstance(given, Mapping):
        return _of_mapping(given, name)
    if callable(given):
        return _of_function(given, name, None)
    raise AgentError("AGENT_BAD_TOOL", f"a tool is a function, a Tool or a mapping, not {given!r}")


def _renamed(given: Tool, name: str) -> Tool:
    return Tool(name, given.description, given.parameters, given.function, given.inputs, given.context_name)


def _of_mapping(given: Mapping[str, Any], name: str | None) -> Tool:
    known = {"name", "description", "parameters", "execute"}
    if strange := given.keys() - known:
        raise AgentError(
            "AGENT_BAD_TOOL", f"a tool has no {sorted(strange)[0]!r}: there are {', '.join(sorted(known))}"
        )
    chosen = given.get("name") or name
    if not isinstance(chosen, str):
        raise AgentError("AGENT_BAD_TOOL", "a tool needs a name")
    parameters = given.get("parameters") or {"type": "object", "properties": {}}
    inputs = parameters if isinstance(parameters, type) and issubclass(parameters, BaseModel) else None
    schema = inputs.model_json_schema() if inputs else parameters
    return Tool(chosen, given.get("description") or "", schema, given.get("execute"), inputs)


def _of_function(function: Callable[..., Any], name: str | None, description: str | None) -> Tool:
    own = name or str(getattr(function, "__name__", type(function).__name__))
    fields, context_name = _parameters(function, own)
    try:
        inputs = create_model(own, __base__=_Parameters, **fields)
        schema = inputs.model_json_schema()
    except Exception as error:  # pydantic raises errors of many classes for types that JSON cannot say
        raise AgentError("AGENT_BAD_TOOL", f"no JSON Schema can be made of the parameters of {own}: {error}") from error
    schema.pop("title", None)
    told = description or inspect.getdoc(function) or ""
    return Tool(own, told, schema, function, inputs, context_name)


def _parameters(function: Callable[..., Any], name: str) -> tuple[dict[str, Any], str | None]:
    try:
        hints = get_type_hints(function, include_extras=True)
        parameters = inspect.signature(function).parameters.values()
    except (NameError, TypeError, ValueError) as error:
        raise AgentError("AGENT_BAD_TOOL", f"the parameters of {name} cannot be read: {error}") from error
    fields: dict[str, Any] = {}
    context_name = None
    for each in parameters:
        if hints.get(each.name) is ToolContext:
            context_name = each.name
        elif each.kind in (each.VAR_POSITIONAL, each.VAR_KEYWORD, each.POSITIONAL_ONLY):
            raise AgentError("AGENT_BAD_TOOL", f"{name} takes {each}: a model passes each argument by its name")
        elif each.name not in hints:
            raise AgentError("AGENT_BAD_TOOL", f"{name} does not say what {each.name} is: write {each.name}: str, say")
        else:
            default = PydanticUndefined if each.default is each.empty else each.default
            # pydantic has no place for names such as `schema` or `_x`, but for any alias
            fields[f"parameter_{len(fields)}"] = (hints[each.name], Field(default, alias=each.name))
    return fields, context_name
