"""Long conversations with thinking that is bound to what stood before it: repaired turn after turn, what is valid stays."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
from strict_server import check, prefix_digest, sign
from strict_server.signing import read

from historycompat.session import Session

Body = dict[str, Any]
TURNS = 20
MODELS = ["claude-opus-5-5", "claude-fable-5-1"]
TOOLS = [{"name": name, "input_schema": {"type": "object"}} for name in ("ls", "cat")]


class Talk:
    """A host, which stores what was said as it was said, and a model, which signs its thinking behind what it was sent."""

    def __init__(self, model: str) -> None:
        self.model = model
        self.session = Session(model=f"anthropic/{model}", format="anthropic")
        self.stored: Body = {"system": "Be brief.", "tools": TOOLS, "max_tokens": 9000, "messages": []}
        self.refusals = 0

    @property
    def messages(self) -> list[Any]:
        return self.stored["messages"]

    def say(self, content: Any) -> None:
        self.messages.append({"role": "user", "content": content})

    def send(self) -> Body:
        """What is sent in the end: after a refusal repaired, and prepared once more."""
        outcome = self.session.prepare(self.stored)
        refused = check("anthropic/anthropic", self.model, outcome.messages)
        if refused is not None:
            self.refusals += 1
            repaired = self.session.repair(self.stored, {"status": refused.status, "message": refused.message})
            outcome = self.session.prepare(repaired.messages)
            refused = check("anthropic/anthropic", self.model, outcome.messages)
        assert refused is None, f"{refused.pointer}: {refused.message}"
        assert not outcome.faults
        return copy.deepcopy(outcome.messages)

    def answer(self, number: int, calls: tuple[str, ...] = ()) -> Body:
        """Sends the history and stores the answer to it; gives what was sent."""
        sent = self.send()
        thought = f"thought {number}"
        seal = sign("anthropic", thought, prefix=prefix_digest(sent, len(sent["messages"])))
        content = [
            {"type": "thinking", "thinking": thought, "signature": seal},
            {"type": "text", "text": f"answer {number}"},
            *({"type": "tool_use", "id": call, "name": "ls", "input": {}} for call in calls),
        ]
        self.messages.append({"role": "assistant", "content": content})
        return sent


def kept(sent: Body) -> list[str]:
    return [thought["thinking"] for _, thought in _thoughts(sent)]


def _thoughts(body: Body) -> list[tuple[int, Body]]:
    return [
        (index, block)
        for index, message in enumerate(body["messages"])
        for block in (message["content"] if isinstance(message["content"], list) else ())
        if block.get("type") == "thinking"
    ]


def valid(stored: Body, sent: Body) -> list[str]:
    """The thinking of the stored history that holds where its answer stands in what is sent."""
    places = {
        block["text"]: index
        for index, message in enumerate(sent["messages"])
        for block in (message["content"] if isinstance(message["content"], list) else ())
        if block.get("type") == "text"
    }
    holds = []
    for _, thought in _thoughts(stored):
        at, token = places[thought["thinking"].replace("thought", "answer")], read(thought["signature"])
        if token is not None and token.prefix == prefix_digest(sent, at):
            holds.append(thought["thinking"])
    return holds


def result(call: str, output: str) -> Body:
    return {"type": "tool_result", "tool_use_id": call, "content": output}


def interrupted_calls(talk: Talk, number: int) -> None:
    """Calls under ids that Anthropic refuses, some of which nobody answers."""
    talk.answer(number, (f"functions.ls:{number}", f"call|{number}"))
    if number % 2:
        talk.say([result(f"functions.ls:{number}", "out")])


def empty_texts(talk: Talk, number: int) -> None:
    talk.say([{"type": "text", "text": ""}, {"type": "text", "text": f"more {number}"}])
    talk.answer(number)


def foreign_answers(talk: Talk, number: int) -> None:
    """A turn that another model wrote, with thinking that nobody here signed."""
    thought = {"type": "thinking", "thinking": "hmm", "signature": ""}
    talk.messages.append({"role": "assistant", "content": [thought, {"type": "text", "text": f"other {number}"}]})
    talk.say(f"and {number}?")
    talk.answer(number)


def cache_marks(talk: Talk, number: int) -> None:
    for message in talk.messages:
        for block in message["content"] if isinstance(message["content"], list) else ():
            block.pop("cache_control", None)
    mark = {"cache_control": {"type": "ephemeral"}}
    talk.stored["tools"] = [TOOLS[0], {**TOOLS[1], **(mark if number % 2 else {})}]
    talk.say([{"type": "text", "text": f"and {number}?", **mark}])
    talk.answer(number)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("step", [interrupted_calls, empty_texts, foreign_answers, cache_marks])
def test_repairs_turn_after_turn_keep_all_thinking(model: str, step: Callable[[Talk, int], None]) -> None:
    talk = Talk(model)
    for number in range(TURNS):
        talk.say(f"question {number}")
        step(talk, number)
    talk.say("thanks")
    sent = talk.send()
    assert [text for text in kept(sent) if text != "hmm"] == [f"thought {number}" for number in range(TURNS)]
    assert talk.refusals == 0


def late_result(talk: Talk) -> None:
    """The result of a call that was taken for interrupted: what the model saw of it changes."""
    index = next(i for i, message in enumerate(talk.messages) if "tool_use" in str(message))
    talk.messages.append({"role": "user", "content": [result("toolu_late", "here it is")]})
    assert index < len(talk.messages)


def edited_question(talk: Talk) -> None:
    talk.messages[14] = {"role": "user", "content": "question 7, but otherwise"}


def summary(talk: Talk) -> None:
    """The host replaces the beginning of the conversation by a summary."""
    talk.messages[:10] = [{"role": "user", "content": "We spoke of five things."}]


def other_instruction(talk: Talk) -> None:
    talk.stored["system"] = "Be brief and kind."


def other_tools(talk: Talk) -> None:
    talk.stored["tools"] = TOOLS[:1]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("edit", [late_result, edited_question, summary, other_instruction, other_tools])
def test_after_an_edit_just_what_is_still_valid_stays(model: str, edit: Callable[[Talk], None]) -> None:
    talk = Talk(model)
    for number in range(TURNS):
        if number == TURNS // 2:
            edit(talk)
        talk.say(f"question {number}")
        sent = talk.answer(number, ("toolu_late",) if number == 3 else ())
        assert kept(sent) == valid({"messages": talk.messages[:-1]}, sent)
    talk.say("thanks")
    last = kept(talk.send())
    assert last[-TURNS // 2 :] == [f"thought {number}" for number in range(TURNS // 2, TURNS)]
    assert talk.refusals == 0
