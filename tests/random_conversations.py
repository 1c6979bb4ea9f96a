"""A source of randomness → a conversation that several models wrote, whatever the format."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

from strict_server import sign

TOOLS = ("ls", "cat")


@dataclass
class Call:
    id: str
    name: str
    arguments: Any
    signature: str | None = None


@dataclass
class Result:
    id: str
    name: str
    output: str


@dataclass
class Thought:
    """Reasoning, who wrote it, and what that model's provider sealed it with (None: nothing)."""

    text: str
    by: str
    signature: str | None = None
    bound: bool = False


@dataclass
class Turn:
    """A message. A `tool` turn holds results; only an assistant turn has calls and thoughts, and a seed of item ids."""

    role: str
    text: str | None = None
    calls: list[Call] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)
    thought: Thought | None = None
    seed: str | None = None


class Conversation:
    """Turns, and what the request around them says."""

    def __init__(self, random: Random, wire: str) -> None:
        self.random = random
        self.wire = wire
        self.words = self.ids = 0
        self.turns: list[Turn] = []
        self.tools = True
        self.thinking = random.random() < 0.1

    def word(self) -> str:
        self.words += 1
        return f"word{self.words:03}."

    def calls(self) -> list[Call]:
        return [call for turn in self.turns for call in turn.calls]

    def results(self) -> list[tuple[Turn, Result]]:
        return [(turn, result) for turn in self.turns for result in turn.results]

    def said(self) -> list[str]:
        """What a person or a model said, reasoning aside."""
        return [turn.text.strip() for turn in self.turns if turn.text and turn.text.strip()]

    def choose(self, options: list[Any]) -> Any:
        return self.random.choice(options) if options else None


IDS: dict[str, Callable[[int], str]] = {
    "openai": lambda number: f"call_{number:024}",
    "anthropic": lambda number: f"toolu_{number:022}",
    "mistral": lambda number: f"a{number:08}",
    "google": lambda number: f"g-{number}",
    "moonshot": lambda number: f"functions.ls:{number}",
    "codex": lambda number: f"call_{number:024}|fc_{number:050}",
}
"""How the models of a provider name their calls."""

THINKERS = ("anthropic", "openai", "google", "deepseek")


def conversation(random: Random, wire: str) -> Conversation:
    """System, user and assistant turns with calls, all of them answered: nothing is wrong but who wrote it."""
    talk = Conversation(random, wire)
    writers = [random.choice([*IDS]) for _ in range(random.randrange(1, 3))]
    if random.random() < 0.6:
        talk.turns.append(Turn("system", talk.word()))
    for _ in range(random.randrange(1, 4)):
        talk.turns.append(Turn("user", talk.word()))
        for _ in range(random.randrange(0, 3)):
            talk.turns += _step(talk, random.choice(writers))
        talk.turns.append(Turn("assistant", talk.word(), thought=_thought(talk, random.choice(writers))))
    if random.random() < 0.85:
        talk.turns.append(Turn("user", talk.word()))
    return talk


def _step(talk: Conversation, by: str) -> list[Turn]:
    calls = []
    for _ in range(talk.random.randrange(1, 3)):
        talk.ids += 1
        signature = sign("google", "ls") if by == "google" and not calls else None
        calls.append(Call(IDS[by](talk.ids), talk.random.choice(TOOLS), {"path": f"p{talk.ids}"}, signature))
    text = talk.word() if talk.random.random() < 0.5 else None
    step = Turn("assistant", text, calls, thought=_thought(talk, by), seed=_seed(talk, by))
    return [step, *(Turn("tool", results=[Result(call.id, call.name, f"out{call.id[-3:]}")]) for call in calls)]


def _seed(talk: Conversation, by: str) -> str | None:
    return f"{by}{talk.ids}" if by in ("openai", "codex") else None


def _thought(talk: Conversation, by: str) -> Thought | None:
    if talk.random.random() > 0.25:
        return None
    thinker = by if by in THINKERS else "deepseek"
    text = f"hmm{talk.random.randrange(100)}"
    signature = None if thinker == "deepseek" else sign(thinker, text)
    return Thought(text, thinker, signature, bound=talk.random.random() < 0.5)
