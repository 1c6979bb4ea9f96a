"""One history, its format and the rules to run → the outcome: read, canonical rules, write, wire-shape rules."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from historycompat.code_rules import ANY_FORMAT
from historycompat.edits import same
from historycompat.formats.carrying import Carrier, WireCarrier
from historycompat.formats.format import Format, Reading
from historycompat.models.normalise import facts_of, normalise
from historycompat.observe import observe
from historycompat.ruleset import Rule
from historycompat.runtime.interpret import Run, interpret
from historycompat.runtime.outcome import Outcome
from historycompat.runtime.plan import Plan, Segment
from historycompat.runtime.screen import Screen
from historycompat.view import Context, View

# Who wrote a message or part (a canonical mapping), as `{provider, model}`; None where that is not known.
Origin = Callable[[dict[str, Any]], dict[str, Any] | None]

# Whether message `index` of a view has thinking that was bound to another prefix than the one before it now.
Stale = Callable[[View, int], bool]

# Rules that an error woke, each with what it reads as `$error`.
Woken = Sequence[tuple[Rule, dict[str, Any]]]


class Repair:
    """One history being repaired. Every run starts from it as it was read; nothing is changed in place."""

    def __init__(
        self,
        history: Any,
        kind: Format,
        model: Any,
        *,
        origin: Origin | None = None,
        stale: Stale | None = None,
        raising: bool = False,
    ) -> None:
        self.history, self.kind, self.model, self.raising = history, kind, model, raising
        self.origin, self.stale = origin, stale
        self.reading: Reading = kind.read(history)
        self.root: dict[str, Any] = {"messages": self.reading.messages}
        if self.reading.has_request:
            self.root |= {"tools": self.reading.tools, "params": self.reading.params}

    def before(self, plan: Plan) -> Outcome:
        """The rules of the phase before the request."""
        context, carrier = self._begun()
        run, silent = self._segments(plan, context, carrier)
        native = carrier.written(run.root)
        wire = plan.wire.get(self.kind.name)
        if wire:
            native = self._wire(run, native, partial(self._interpret_wire, wire.rules, context=context, screen=wire))

        def account() -> tuple[Run, list[str]]:
            if not silent:
                return run, context.notes
            again, carrier = self._begun()
            told = interpret(plan.canonical, self.root, again, carrier=carrier)
            if wire:
                body_rules = partial(self._interpret_wire, wire.rules, context=again)
                self._wire(told, carrier.written(told.root), body_rules)
            return told, again.notes

        outcome = self._outcome(native, run, account)
        if outcome.changed or run.faults:
            observe(outcome, run.faults, "before", self.model)
        return outcome

    def after(self, woken: Woken) -> Outcome:
        """The rules that an error woke, in order. The outcome's `stored` is the history with the lasting edits only."""
        outcome = self._reactive(woken)
        lasting = [(rule, error) for rule, error in woken if rule.meaning.persist]
        if not outcome.changed or len(lasting) == len(woken):
            outcome.stored = outcome.messages
        else:
            outcome.stored = self._reactive(lasting).messages if lasting else self.history
        if outcome.changed or outcome.faults:
            observe(outcome, outcome.faults, "after", self.model)
        return outcome

    def _reactive(self, woken: Woken) -> Outcome:
        context, carrier = self._begun()
        run = Run(self.root)
        for rule, context.error in woken:
            if rule.meaning.format is None:
                _join(run, interpret((rule,), run.root, context, carrier=carrier, raising=self.raising))
        wire = [(rule, error) for rule, error in woken if rule.meaning.format in (self.kind.name, ANY_FORMAT)]

        def body_rules(body: dict[str, Any]) -> Run:
            done = Run(body)
            for rule, context.error in wire:
                _join(done, self._interpret_wire((rule,), done.root, context))
            return done

        native = self._wire(run, carrier.written(run.root), body_rules)
        return self._outcome(native, run, lambda: (run, context.notes))

    def _begun(self) -> tuple[Context, Carrier]:
        """The context of a run from the start, and what its format carries."""
        context = Context(model=facts_of(normalise(self.model)), given_model=self.model)
        if self.origin:
            context.origin = self.origin
        if self.stale:
            context.stale = self.stale
        carrier = Carrier(self.kind, self.reading, context.lineage)
        context.is_string = carrier.is_string
        return context, carrier

    def _segments(self, plan: Plan, context: Context, carrier: Carrier) -> tuple[Run, bool]:
        """The canonical rules' run, and whether fused passes edited without keeping records."""
        if self.raising:
            return interpret(plan.canonical, self.root, context, carrier=carrier, raising=True), False
        total = Run(self.root)
        silent = False
        for segment in plan.segments:
            messages = total.root["messages"]
            kept = _fused(segment, messages, context)
            if kept is None:
                _join(total, interpret(segment.rules, total.root, context, carrier=carrier, screen=segment.screen))
            elif kept is not messages:
                silent = True
                total.root = {**total.root, "messages": kept}
        return total, silent

    def _interpret_wire(
        self, rules: Iterable[Rule], body: dict[str, Any], context: Context, screen: Screen | None = None
    ) -> Run:
        carrier = WireCarrier(self.kind, self.history)
        return interpret(
            rules, body, context, shape=self.kind.shape, carrier=carrier, raising=self.raising, screen=screen
        )

    def _wire(self, run: Run, native: Any, rules: Callable[[dict[str, Any]], Run]) -> Any:
        """The native history after the wire-shape rules; what they did joins the run's account."""
        body = self.kind.wrap(native)
        done = rules(body)
        run.records += done.records
        run.reports += done.reports
        run.faults += done.faults
        return native if done.root is body else self.kind.unwrap(done.root, native)

    def _outcome(self, native: Any, run: Run, account: Callable[[], tuple[Run, list[str]]]) -> Outcome:
        changed = not same(native, self.history)
        native = native if changed else self.history
        first = _first_difference(self.kind, self.history, native) if changed else None
        return Outcome(native, format=self.kind.name, changed=changed, first_edit=first, account=account)


def _fused(segment: Segment, messages: list[Any], context: Context) -> list[Any] | None:
    """The messages behind a fused pass; None where there is none, or a value that is too much for it: then each rule
    has its own fault."""
    try:
        return segment.fused(messages, context.lineage) if segment.fused else None
    except Exception:
        return None


def _join(total: Run, run: Run) -> None:
    total.root = run.root
    total.records += run.records
    total.reports += run.reports
    total.faults += run.faults


def _first_difference(kind: Format, before: Any, after: Any) -> int | None:
    """The index of the first message that is not the same object; None where only the rest of a body differs."""
    old, new = (_messages(kind, native) for native in (before, after))
    for index, (was, now) in enumerate(zip(old, new, strict=False)):
        if was is not now:
            return index
    return None if len(old) == len(new) else min(len(old), len(new))


def _messages(kind: Format, native: Any) -> list[Any]:
    body: Any = kind.wrap(native)
    for key in kind.spine:
        body = body.get(key, []) if isinstance(body, dict) else []
    return body if isinstance(body, list) else []
