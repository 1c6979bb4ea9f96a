"""A run → OpenTelemetry spans, where the caller asks for them; names are those of the GenAI semantic conventions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from historycompat.agent.errors import AgentError
from historycompat.agent.plain import json_text

Attributes = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Telemetry:
    """Spans `invoke_agent`, `chat` and `execute_tool`; what was sent and said is told unless that is switched off."""

    tracer: Any = None
    record_inputs: bool = True
    record_outputs: bool = True
    function_id: str | None = None

    @classmethod
    def of(cls, option: Mapping[str, Any] | None) -> Telemetry:
        if not option or not option.get("is_enabled"):
            return cls()
        try:
            from opentelemetry import trace
        except ImportError:
            message = 'telemetry needs a library: pip install "historycompat[otel]"'
            raise AgentError("AGENT_BAD_OPTION", message) from None
        return cls(
            trace.get_tracer("historycompat.agent"),
            option.get("record_inputs", True),
            option.get("record_outputs", True),
            option.get("function_id"),
        )

    @contextmanager
    def span(self, operation: str, subject: str, attributes: Attributes) -> Iterator[Span]:
        """A span around what is done; an exception is recorded in it."""
        if self.tracer is None:
            yield Span(None, self)
            return
        with self.tracer.start_as_current_span(f"{operation} {subject}".strip()) as span:
            told = Span(span, self)
            told.set({"operation.name": operation, "function.id": self.function_id, **attributes})
            yield told


@dataclass(frozen=True, slots=True)
class Span:
    """A span, or nothing."""

    span: Any
    telemetry: Telemetry

    def set(self, attributes: Attributes) -> None:
        """Attributes by their names below `gen_ai.`; those that are None are left out."""
        if self.span is not None:
            for name, value in attributes.items():
                if value is not None:
                    self.span.set_attribute(f"gen_ai.{name}", value)

    def record_input(self, name: str, value: Any) -> None:
        if self.span is not None and self.telemetry.record_inputs:
            self.set({name: _text(value)})

    def record_output(self, name: str, value: Any) -> None:
        if self.span is not None and self.telemetry.record_outputs:
            self.set({name: _text(value)})

    def fail(self, error: Exception) -> None:
        """Note an exception that does not pass through the span."""
        if self.span is not None:
            self.span.record_exception(error)
            self.set({"error.type": type(error).__name__})


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json_text(value)
