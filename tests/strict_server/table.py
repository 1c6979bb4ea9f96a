"""refusals/*.toml and a request → the refusals that concern it, as the provider would word them."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from strict_server import models
from strict_server.conversation import HISTORY_KEY, Request
from strict_server.paths import MISSING, json_pointer, select
from strict_server.predicates import PREDICATES, Finding, Words
from strict_server.predicates.values import loads
from strict_server.providers import PROVIDERS, Provider, Route, route

FOLDER = Path(__file__).with_name("refusals")


@dataclass(frozen=True, slots=True)
class Entry:
    """One row of the table.

    `on` names routes, `models` and `not_models` model patterns; `given` and `unless` map selectors of body fields to the
    values they must (not) have, `["*"]` for any. `when` is a predicate and `args` its parameters; `says` the message."""

    id: str
    on: tuple[Route, ...]
    when: str
    says: str
    args: Mapping[str, Any] = field(default_factory=dict)
    models: tuple[str, ...] = ("*",)
    not_models: tuple[str, ...] = ()
    given: Mapping[str, list[Any]] = field(default_factory=dict)
    unless: Mapping[str, list[Any]] = field(default_factory=dict)
    status: int = 400
    type: str | None = None
    code: str | int | None = None
    param: str | None = None
    body: Mapping[str, Any] | None = None

    def concerns(self, request: Request) -> bool:
        return (
            models.matches(request.model, self.models)
            and not models.matches(request.model, self.not_models)
            and all(_holds(request.body, path, values) for path, values in self.given.items())
            and not any(_holds(request.body, path, values) for path, values in self.unless.items())
        )

    def refusals(self, request: Request) -> Iterator[Refusal]:
        if self.concerns(request):
            for finding in PREDICATES[self.when](request, **self.args):
                yield self._refusal(request, finding)

    def _refusal(self, request: Request, finding: Finding) -> Refusal:
        words = Words(request, finding)
        message = self.says.format_map(words)
        param = self.param.format_map(words) if self.param else PROVIDERS[request.provider].param
        return Refusal(self.id, self.status, message, json_pointer(finding.pointer), request.provider, param, self)


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a provider refuses a request: the catalogue's name of the reason, the answer, and the place as JSON pointer."""

    entry_id: str
    status: int
    message: str
    pointer: str
    provider: str
    param: str | None = None
    entry: Entry | None = field(default=None, repr=False, compare=False)

    @property
    def body(self) -> dict[str, Any]:
        """The JSON body of the answer, in the shape of this provider."""
        provider, entry = PROVIDERS[self.provider], self.entry
        shape = (entry.body if entry else None) or provider.error
        return {key: _fill(value, self._fields(provider)) for key, value in shape.items()}

    def _fields(self, provider: Provider) -> dict[str, Any]:
        entry = self.entry
        code = entry.code if entry and entry.code is not None else provider.code
        kind = (entry.type if entry else None) or provider.type
        return {
            "message": self.message, "json": loads(self.message), "type": kind, "code": code, "param": self.param,
            "status": self.status, "status_text": str(self.status),
        }  # fmt: skip

    @property
    def error_type(self) -> str:
        return str(self._fields(PROVIDERS[self.provider])["type"])


def _fill(shape: Any, fields: Mapping[str, Any]) -> Any:
    if isinstance(shape, str):
        whole = shape[1:-1]
        return fields[whole] if shape == f"{{{whole}}}" else shape.format_map(fields)
    if isinstance(shape, Mapping):
        return {key: _fill(value, fields) for key, value in shape.items()}
    return [_fill(item, fields) for item in shape] if isinstance(shape, list) else shape


def _holds(body: Any, selector: str, values: list[Any]) -> bool:
    found = [place.value for place in select(body, selector) if place.value is not MISSING]
    return any(value in values or ("*" in values and value not in (None, "", [], {})) for value in found)


@cache
def entries() -> tuple[Entry, ...]:
    """Every row, in the order in which a provider would look: file by file, top to bottom."""
    return tuple(entry for file in sorted(FOLDER.glob("*.toml")) for entry in _read(file))


def _read(file: Path) -> Iterator[Entry]:
    document = tomllib.loads(file.read_text(encoding="utf-8"))
    defaults = document.get("defaults", {})
    for row in document["refusal"]:
        merged = {**defaults, **row}
        merged |= {name: tuple(merged[name]) for name in ("models", "not_models") if name in merged}
        merged["on"] = tuple(route(name) for name in merged["on"])
        yield Entry(**merged)


@cache
def _entries_of(where: Route) -> tuple[Entry, ...]:
    return tuple(entry for entry in entries() if where in entry.on)


def refusals(where: str | Route, body: Mapping[str, Any] | list[Any], model: str | None = None) -> list[Refusal]:
    """Everything for which this provider would refuse the request, in the order in which it looks.

    `where` is a route (`openai/responses`, `mistral`) or a message format (`openai-chat`); `body` the native request, or
    the bare history; `model` is taken from the body where it is not given."""
    target = route(where)
    native = {HISTORY_KEY.get(target.wire, "messages"): body} if isinstance(body, list) else dict(body)
    request = Request(target.provider, target.wire, model or str(native.get("model", "")), native)
    return [refusal for entry in _entries_of(target) for refusal in entry.refusals(request)]


def check(where: str | Route, model: str, body: Mapping[str, Any] | list[Any]) -> Refusal | None:
    """The refusal that the provider answers with; None when it accepts the request."""
    return next(iter(refusals(where, body, model)), None)
