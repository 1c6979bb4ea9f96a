"""Parts that hold a tool call and its result at once ⇄ the two canonical parts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from historycompat.edits import MISSING, same, value_at, with_path, without_path
from historycompat.formats.aisdk_parts import plain_output
from historycompat.formats.kinds import Field, Joint, Kind, Kinds, Part, Writer, same_at
from historycompat.formats.readers import Links
from historycompat.formats.values import compact

MARKS = "historycompat"
_HALF = (MARKS, "half")
_OPTIONS = (MARKS, "result")
_FAILED = ("error-text", "error-json")


@dataclass(frozen=True, eq=False)
class Invocations:
    """How one format writes tool invocations.

    `within` is the key of the object that has the state (None: the part itself); `call`, `result` are its states
    without and with an output, `input`, `output` the keys of these. `options` is the key of the provider options of a
    call, `result_options` that of a result's own. `failures`: failed outputs have a state of their own. `name` is the
    field of the tool's name (None: it lies `within`), `more` are further fields of a call. `is_one` tells the types of
    invocations from others.

    A result that stands apart from its call, which this shape cannot say, is marked as such in the options:
    `{"historycompat": {"half": "result"}}`.
    """

    format: str
    is_one: Callable[[str], bool]
    name: Field | Joint | None
    template: Mapping[str, Any]
    within: str | None
    call: str
    result: str
    input: str
    output: str
    options: str
    result_options: str | None
    says_options: bool = True
    more: tuple[Field, ...] = ()
    failures: bool = True

    def _given(self, *keys: tuple[str, str]) -> tuple[Field | Joint, ...]:
        """The fields of what both halves or one of them say: the canonical keys, and the native ones."""
        inside = f"{self.within}." if self.within else ""
        fields = tuple(Field(inside + native, key) for key, native in keys)
        return (*fields, Field(f"{inside}toolName", "toolName") if self.name is None else self.name)

    @cached_property
    def calls(self) -> Kinds:
        fields = self._given(("toolCallId", "toolCallId"), ("input", self.input))
        hosted = Field("providerExecuted", "providerExecuted", optional=True)
        options = (Joint((self.options,), ("providerOptions",), self._call_options, self._put_call_options),)
        kind = Kind("", "tool-call", (*fields, hosted, *options * self.says_options, *self.more), native=self.template)
        return Kinds(self.format, "parts", [kind], mark=lambda native: "")

    @cached_property
    def results(self) -> Kinds:
        place = self.result_options or ".".join((self.options, *_OPTIONS))
        fields = self._given(("toolCallId", "toolCallId"))
        fields += (Field(place, "providerOptions", optional=True),) * self.says_options
        kind = Kind("", "tool-result", fields, native=self.template, derived=("output",))
        return Kinds(self.format, "parts", [kind], mark=lambda native: "")

    @cached_property
    def _readers(self) -> tuple[Any, Any]:
        return self.calls.readers[""], self.results.readers[""]

    def _call_options(self, native: Part, links: Links) -> Mapping[str, Any]:
        given = native[self.options]
        if not isinstance(given, dict) or MARKS not in given:
            return {"providerOptions": given}
        options = without_path(without_path(native, (self.options, *_HALF)), (self.options, *_OPTIONS))
        if options is not native and value_at(options, (self.options, MARKS)) == {}:
            options = without_path(options, (self.options, MARKS), prune=True)
        return {"providerOptions": options[self.options]} if self.options in options else {}

    def _put_call_options(self, part: Part, native: Part, writer: Writer) -> Mapping[str, Any]:
        new = {self.options: part["providerOptions"]} if "providerOptions" in part else {}
        for mark in (_HALF, _OPTIONS):
            kept = value_at(native, (self.options, *mark), MISSING)
            new = new if kept is MISSING else with_path(new, (self.options, *mark), kept)
        return new

    # ----- reading

    def read(self, native: Part, links: Links) -> tuple[Part | None, Part | None]:
        """The call and the result of an invocation; None for what it does not have."""
        read_call, read_result = self._readers
        call = None if self.is_half(native) else read_call(native, links, self.calls)
        output = self.said(native)
        if output is MISSING and call is not None:
            return call, None
        result = read_result(native, links, self.results)
        if output is not MISSING:
            result["output"] = output
        return call, result

    def is_half(self, native: Part) -> bool:
        """Whether this is a result without its call."""
        options = native.get(self.options)
        return isinstance(options, dict) and MARKS in options and value_at(options, _HALF) == "result"

    def said(self, native: Part) -> Any:
        """The canonical output, or MISSING."""
        inner = self._inner(native)
        state = inner.get("state")
        if state == self.result:
            return plain_output(inner.get(self.output), failed=inner.get("isError") is True)
        if state == "output-error":
            return plain_output(inner.get("errorText"), failed=True)
        if state == "output-denied":
            reason = value_at(inner, ("approval", "reason"), MISSING)
            return {"type": "execution-denied"} | ({} if reason is MISSING else {"reason": reason})
        return MISSING

    def _inner(self, native: Part) -> Part:
        inner = native.get(self.within) if self.within else native
        return inner if isinstance(inner, dict) else {}

    # ----- writing

    def write(self, call: Part | None, result: Part | None, writer: Writer, *, hosted: bool = False) -> Part:
        """The native part of a call, a result, or both: the one they were read from where they are all of it. `hosted`:
        a result without its call stands in the assistant's message."""
        base = next((native for part in (call, result) if (native := self._native(part, writer)) is not None), None)
        native = dict(self.template) if base is None else base
        native = self._mark(native, half=call is None)
        if call is not None:
            native = _patched(self.calls, native, call, base, writer)
        else:
            native = self._without_call(native, hosted)
        if result is not None:
            native = _patched(self.results, native, result, base, writer, given=call is not None)
        output = MISSING if result is None else result.get("output", MISSING)
        old = MISSING if base is None else self.said(base)
        if base is None or (output is MISSING) != (old is MISSING) or (output is not MISSING and not same(output, old)):
            native = self.saying(native, output)
        return native

    def _native(self, part: Part | None, writer: Writer) -> Part | None:
        link = writer.link(part) if part is not None else None
        return link[0] if link and link[1] in (self.calls, self.results) else None

    def _mark(self, native: Part, *, half: bool) -> Part:
        if half:
            return native if self.is_half(native) else with_path(native, (self.options, *_HALF), "result")
        return without_path(native, (self.options, *_HALF), prune=True)

    def _without_call(self, native: Part, hosted: bool) -> Part:
        native = without_path(native, (self.within, self.input) if self.within else (self.input,))
        if hosted:
            return native if native.get("providerExecuted") else {**native, "providerExecuted": True}
        return without_path(native, ("providerExecuted",))

    def saying(self, native: Part, output: Any) -> Part:
        """An invocation with another output, or with none (MISSING)."""
        old = self._inner(native)
        inner = {key: value for key, value in old.items() if key not in (self.output, "isError", "errorText")}
        inner |= self._state(old, output)
        return {**native, self.within: inner} if self.within else inner

    def _state(self, old: Part, output: Any) -> Part:
        state = old.get("state")
        if output is MISSING:
            ended = state in (None, self.result, "output-error", "output-denied")
            return {"state": self.call if ended else state}
        if not isinstance(output, dict):
            return {"state": self.result, self.output: output}
        kind, value = output.get("type"), output.get("value")
        if kind == "execution-denied":
            return self._denied(old, output)
        if kind not in _FAILED or not self.failures:
            return {"state": self.result, self.output: value}
        if self.within and (not isinstance(value, str) or old.get("isError") is True):
            return {"state": self.result, self.output: value, "isError": True}
        return {"state": "output-error", "errorText": value if isinstance(value, str) else compact(value)}

    def _denied(self, old: Part, output: Part) -> Part:
        reason = {"reason": output["reason"]} if "reason" in output else {}
        if not self.failures:
            return {"state": self.result, self.output: output.get("reason")}
        approval = old.get("approval")
        approval = dict(approval) if isinstance(approval, dict) else {"id": old.get("toolCallId")}
        approval.pop("reason", None)
        return {"state": "output-denied", "approval": {**approval, "approved": False, **reason}}


def _patched(kinds: Kinds, native: Part, part: Part, base: Part | None, writer: Writer, *, given: bool = False) -> Part:
    """A native part with what was edited in a canonical one, or what differs in one that was read from another.
    `given`: what a result shares with its call is said."""
    link = writer.link(part)
    if base is None:
        was: Part = {}
    elif link and link[0] is base:
        was = writer.lineage.origin(part)
    else:
        was = kinds.read(base, Links(), kinds)
    for each in kinds.kinds[0].fields:
        said = given and each.paths()[0] in ("toolCallId", "toolName")
        if not said and not all(same_at(was, part, key) for key in each.paths()):
            native = each.write(part, native, writer)
    return native
