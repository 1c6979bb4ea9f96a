"""What a host writes about its memory → checked options, in which the shorter spellings are gone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from historycompat.agent.errors import AgentError
from historycompat.errors import did_you_mean

Scope = Literal["resource", "thread"]


def _switch(value: Any) -> Any:
    """True is a feature with its defaults, False one that is off."""
    return {} if value is True else None if value is False else value


def _count(value: Any) -> Any:
    return 0 if value is False else value


class _Options(BaseModel):
    """Names in snake_case or camelCase; unknown ones are refused."""

    model_config = ConfigDict(
        frozen=True,
        strict=True,
        extra="forbid",
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
    )


class MessageRange(_Options):
    """How many neighbours of a recalled message come with it."""

    before: int = Field(default=1, ge=0)
    after: int = Field(default=1, ge=0)


def _range(value: Any) -> Any:
    return {"before": value, "after": value} if isinstance(value, int) and not isinstance(value, bool) else value


class SemanticRecall(_Options):
    """Recall by meaning: of the thread, or of all threads of its resource."""

    top_k: int = Field(default=4, ge=1)
    message_range: Annotated[MessageRange, BeforeValidator(_range)] = MessageRange()
    scope: Scope = "resource"


class WorkingMemory(_Options):
    """A text that the model keeps up to date itself, starting from `template`."""

    enabled: bool = False
    template: str | None = None
    scope: Scope = "resource"


class TitleOptions(_Options):
    """`model` and `instructions` are for whoever writes the titles; None leaves them to the agent."""

    model: Any = None
    instructions: str | None = None


class ThreadOptions(_Options):
    generate_title: Annotated[TitleOptions | None, BeforeValidator(_switch)] = None


class MemoryOptions(_Options):
    """`last_messages`: how many of a thread's last rows are loaded, or False for none.

    `semantic_recall` and `threads.generate_title` also take True or False. Use `checked` for what users wrote.
    """

    last_messages: Annotated[int, BeforeValidator(_count), Field(ge=0)] = 10
    semantic_recall: Annotated[SemanticRecall | None, BeforeValidator(_switch)] = None
    working_memory: WorkingMemory = WorkingMemory()
    threads: ThreadOptions = ThreadOptions()

    def merged(self, over: MemoryOptions | Mapping[str, Any] | None) -> MemoryOptions:
        """These options, with what is set in others in its place, down to single members."""
        if over is None:
            return self
        return checked(_merge(_set(self), _set(checked(over))))


def checked(given: MemoryOptions | Mapping[str, Any] | None) -> MemoryOptions:
    """The options that a mapping means. Raises AgentError AGENT_BAD_OPTION, which names each place."""
    if isinstance(given, MemoryOptions):
        return given
    if given is not None and not isinstance(given, Mapping):
        raise AgentError("AGENT_BAD_OPTION", f"options of a memory are a mapping or MemoryOptions, not {given!r}")
    try:
        return MemoryOptions.model_validate(dict(given or {}))
    except ValidationError as error:
        raise AgentError("AGENT_BAD_OPTION", "; ".join(map(_complaint, error.errors()))) from None


def _set(options: BaseModel) -> dict[str, Any]:
    """What was set, model objects left as they are."""
    values = {name: getattr(options, name) for name in options.model_fields_set}
    return {name: _set(value) if isinstance(value, BaseModel) else value for name, value in values.items()}


def _merge(base: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    merged = base | over
    for name, value in over.items():
        if isinstance(value, dict) and isinstance(base.get(name), dict):
            merged[name] = _merge(base[name], value)
    return merged


def _complaint(found: Any) -> str:
    steps = [str(step) for step in found["loc"]]
    place = ".".join(["memory.options", *steps])
    if found["type"] != "extra_forbidden":
        return f"{place}: {found['msg']}"
    known = _known(steps[:-1])
    spellings = [*known, *map(to_camel, known)]
    if steps[-1] in spellings:
        return f"{place} is there in both spellings; write one"
    advice = did_you_mean(steps[-1], spellings) or f"there are {', '.join(known)}"
    return f"{place} is no option; {advice}"


def _known(steps: list[str]) -> list[str]:
    """The names of the options at a place."""
    options: type[BaseModel] = MemoryOptions
    for step in steps:
        options = _SECTIONS.get(step, options)
    return list(options.model_fields)


_NAMED: dict[str, type[BaseModel]] = {
    "semantic_recall": SemanticRecall,
    "message_range": MessageRange,
    "working_memory": WorkingMemory,
    "threads": ThreadOptions,
    "generate_title": TitleOptions,
}
_SECTIONS = {spelling: section for name, section in _NAMED.items() for spelling in (name, to_camel(name))}
