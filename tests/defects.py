"""A source of randomness → a conversation that several models wrote, with defects, as a request in any wire format."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from strict_server import item_id, prefix_digest, sign

Body = dict[str, Any]
TOOLS = ("ls", "cat")
SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}}


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


# ---------------------------------------------------------------------------------------------------- good conversations

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


# --------------------------------------------------------------------------------------------------------------- defects

Defect = Callable[[Conversation], None]


def _somewhere(talk: Conversation) -> int:
    return talk.random.randrange(len(talk.turns) + 1)


def _rename(talk: Conversation, new: Callable[[str], str]) -> None:
    """Another id for a call and for what answers it."""
    call = talk.choose(talk.calls())
    if call is None:
        return
    old, call.id = call.id, new(call.id)
    for _, result in talk.results():
        if result.id == old:
            result.id = call.id


def _rename_tool(talk: Conversation, name: str) -> None:
    call = talk.choose(talk.calls())
    if call is None:
        return
    call.name = name
    for _, result in talk.results():
        if result.id == call.id:
            result.name = name


def lost_turn(talk: Conversation) -> None:
    if talk.turns:
        talk.turns.remove(talk.choose(talk.turns))


def repeated_turn(talk: Conversation) -> None:
    if talk.turns:
        at = talk.random.randrange(len(talk.turns))
        turn = talk.turns[at]
        talk.turns.insert(at, replace(turn, calls=list(turn.calls), results=list(turn.results)))


def swapped_turns(talk: Conversation) -> None:
    if len(talk.turns) > 1:
        at = talk.random.randrange(len(talk.turns) - 1)
        talk.turns[at], talk.turns[at + 1] = talk.turns[at + 1], talk.turns[at]


def lost_result(talk: Conversation) -> None:
    turn, result = talk.choose(talk.results()) or (None, None)
    if turn is not None:
        turn.results.remove(result)
        talk.turns = [other for other in talk.turns if other is not turn or turn.results]


def late_result(talk: Conversation) -> None:
    turn, _ = talk.choose(talk.results()) or (None, None)
    if turn is not None:
        talk.turns.remove(turn)
        talk.turns.insert(_somewhere(talk), turn)


def second_result(talk: Conversation) -> None:
    turn, result = talk.choose(talk.results()) or (None, None)
    if turn is not None:
        talk.turns.insert(_somewhere(talk), Turn("tool", results=[replace(result, output="again")]))


def orphan_result(talk: Conversation) -> None:
    talk.turns.insert(_somewhere(talk), Turn("tool", results=[Result("call_nobody", "ls", "nobody asked")]))


def lost_call(talk: Conversation) -> None:
    turn = talk.choose([turn for turn in talk.turns if turn.calls])
    if turn is not None:
        turn.calls.remove(talk.choose(turn.calls))


def late_call(talk: Conversation) -> None:
    turn = talk.choose([turn for turn in talk.turns if turn.calls])
    if turn is not None:
        talk.turns.remove(turn)
        talk.turns.insert(_somewhere(talk), turn)


def second_call(talk: Conversation) -> None:
    turn = talk.choose([turn for turn in talk.turns if turn.calls])
    if turn is not None:
        turn.calls.append(replace(talk.choose(turn.calls)))


def shared_id(talk: Conversation) -> None:
    other = talk.choose(talk.calls())
    _rename(talk, lambda _: other.id)


def without_text(talk: Conversation, text: str | None, roles: tuple[str, ...]) -> None:
    turn = talk.choose([turn for turn in talk.turns if turn.role in roles])
    if turn is not None:
        turn.text = text


def bad_arguments(talk: Conversation) -> None:
    call = talk.choose(talk.calls())
    if call is not None:
        call.arguments = talk.choose(['{"path": ', "", None, '{"path": "p"}', "[1]", "plain"])


def empty_output(talk: Conversation) -> None:
    _, result = talk.choose(talk.results()) or (None, None)
    if result is not None:
        result.output = ""


_ILLEGIBLE: dict[str, tuple[str, ...]] = {"responses": ()}
"""Seals that say nothing of where they come from. A client repairs once: two things that only OpenAI knows are one too many."""


def foreign_thought(talk: Conversation) -> None:
    turn = talk.choose([turn for turn in talk.turns if turn.role == "assistant"])
    if turn is not None:
        by = talk.choose([*THINKERS])
        seals = [None, "not base64!", sign(by, "elsewhere"), *_ILLEGIBLE.get(talk.wire, ("", "c2ln"))]
        turn.thought = Thought("elsewhere", by, talk.choose(seals))


def only_thought(talk: Conversation) -> None:
    turn = talk.choose([turn for turn in talk.turns if turn.role == "assistant" and not turn.calls])
    if turn is not None:
        turn.text, turn.thought = None, Thought("alone", "anthropic", sign("anthropic", "alone"))


def trailing_space(talk: Conversation) -> None:
    if talk.turns and talk.turns[-1].text:
        talk.turns[-1].text += " \n"


def without_tools(talk: Conversation) -> None:
    talk.tools = False


def _insert(talk: Conversation, role: str, at: int) -> None:
    talk.turns.insert(at, Turn(role, talk.word()))


DEFECTS: dict[str, Defect] = {
    "lost turn": lost_turn,
    "repeated turn": repeated_turn,
    "swapped turns": swapped_turns,
    "lost result": lost_result,
    "late result": late_result,
    "second result": second_result,
    "orphan result": orphan_result,
    "lost call": lost_call,
    "late call": late_call,
    "second call": second_call,
    "shared id": shared_id,
    "foreign id": lambda talk: _rename(talk, lambda old: f"functions.x:{old}|é"),
    "long id": lambda talk: _rename(talk, lambda old: old + "x" * 70),
    "empty id": lambda talk: _rename(talk, lambda _: ""),
    "bad name": lambda talk: _rename_tool(talk, "a.b:c(d)"),
    "long name": lambda talk: _rename_tool(talk, "n" * 201),
    "empty name": lambda talk: _rename_tool(talk, ""),
    "bad arguments": bad_arguments,
    "empty output": empty_output,
    "empty text": lambda talk: without_text(talk, "", ("system", "user", "assistant")),
    "blank text": lambda talk: without_text(talk, " \n", ("system", "user", "assistant")),
    "no text": lambda talk: without_text(talk, None, ("assistant",)),
    "trailing space": trailing_space,
    "system in the middle": lambda talk: _insert(talk, "system", _somewhere(talk)),
    "two systems": lambda talk: _insert(talk, "system", 0),
    "developer": lambda talk: _insert(talk, "developer", _somewhere(talk)),
    "two users": lambda talk: _insert(talk, "user", _somewhere(talk)),
    "two assistants": lambda talk: _insert(talk, "assistant", _somewhere(talk)),
    "assistant first": lambda talk: _insert(talk, "assistant", 0),
    "assistant last": lambda talk: _insert(talk, "assistant", len(talk.turns)),
    "foreign thought": foreign_thought,
    "only a thought": only_thought,
    "no tools": without_tools,
}
"""What goes wrong in a conversation, whatever its format."""


# ----------------------------------------------------------------------------------------------------------- wire formats


def _json(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


def _chat_message(turn: Turn, arguments: Callable[[Any], Any]) -> list[Body]:
    if turn.role == "tool":
        return [{"role": "tool", "tool_call_id": each.id, "content": each.output} for each in turn.results]
    message: Body = {"role": turn.role, "content": turn.text}
    if turn.thought is not None:
        message["reasoning_content"] = turn.thought.text
    if turn.calls:
        message["tool_calls"] = [_chat_call(call, arguments) for call in turn.calls]
    return [message]


def _chat_call(call: Call, arguments: Callable[[Any], Any]) -> Body:
    written = {"name": call.name, "arguments": arguments(call.arguments)}
    body: Body = {"id": call.id, "type": "function", "function": written}
    if call.signature:
        body["extra_content"] = {"google": {"thought_signature": call.signature}}
    return body


def chat(talk: Conversation) -> Body:
    body: Body = {"messages": [message for turn in talk.turns for message in _chat_message(turn, _json)]}
    if talk.tools:
        body["tools"] = [{"type": "function", "function": {"name": name, "parameters": SCHEMA}} for name in TOOLS]
    return body


def ollama(talk: Conversation) -> Body:
    written = [message for turn in talk.turns for message in _chat_message(turn, lambda value: value)]
    for message in written:
        if "reasoning_content" in message:
            message["thinking"] = message.pop("reasoning_content")
        message["content"] = message["content"] or ""
    return {**chat(talk), "messages": written}


def responses(talk: Conversation) -> Body:
    body: Body = {"store": False, "input": [item for turn in talk.turns for item in _items(turn)]}
    if talk.tools:
        body["tools"] = [{"type": "function", "name": name, "parameters": SCHEMA} for name in TOOLS]
    return body


def _items(turn: Turn) -> list[Body]:
    if turn.role == "tool":
        return [{"type": "function_call_output", "call_id": each.id, "output": each.output} for each in turn.results]
    items: list[Body] = []
    if turn.thought is not None:
        identifier = item_id("rs", turn.seed) if turn.seed else "rs_other"
        items.append({"type": "reasoning", "id": identifier, "summary": [], "encrypted_content": turn.thought.signature})
        if turn.thought.signature is None:
            del items[0]["encrypted_content"]
    seed = turn.seed if turn.thought is not None else None
    if turn.text is not None:
        items.append({"role": turn.role, "content": turn.text} | _identified(seed, "msg"))
    for index, call in enumerate(turn.calls):
        item = {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": _json(call.arguments)}
        items.append(item | _identified(seed, "fc", index))
    return items


def _identified(seed: str | None, prefix: str, index: int = 0) -> Body:
    return {"id": item_id(prefix, seed, index + 1)} if seed else {}


def _anthropic_blocks(turn: Turn) -> list[Body]:
    blocks: list[Body] = []
    if turn.thought is not None:
        blocks.append({"type": "thinking", "thinking": turn.thought.text, "signature": turn.thought.signature})
        if turn.thought.signature is None:
            del blocks[0]["signature"]
    if turn.text is not None:
        blocks.append({"type": "text", "text": turn.text})
    blocks += [{"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments} for call in turn.calls]
    results = [{"type": "tool_result", "tool_use_id": each.id, "content": each.output} for each in turn.results]
    return blocks + results


def _bedrock_blocks(turn: Turn) -> list[Body]:
    blocks: list[Body] = []
    if turn.thought is not None:
        text = {"text": turn.thought.text, "signature": turn.thought.signature}
        blocks.append({"reasoningContent": {"reasoningText": {key: value for key, value in text.items() if value}}})
    if turn.text is not None:
        blocks.append({"text": turn.text})
    blocks += [{"toolUse": {"toolUseId": call.id, "name": call.name, "input": call.arguments}} for call in turn.calls]
    results = [{"toolResult": {"toolUseId": each.id, "content": [{"text": each.output}]}} for each in turn.results]
    return blocks + results


def _gemini_parts(turn: Turn, with_ids: bool) -> list[Body]:
    parts: list[Body] = [{"text": turn.thought.text, "thought": True}] if turn.thought is not None else []
    if turn.text is not None:
        parts.append({"text": turn.text})
    for call in turn.calls:
        part: Body = {"functionCall": {"name": call.name, "args": call.arguments, **({"id": call.id} if with_ids else {})}}
        parts.append({**part, "thoughtSignature": call.signature} if call.signature else part)
    for each in turn.results:
        response = {"name": each.name, "response": {"output": each.output}, **({"id": each.id} if with_ids else {})}
        parts.append({"functionResponse": response})
    return parts


def _blocks(talk: Conversation, key: str, blocks: Callable[[Turn], list[Body]], roles: Body) -> tuple[Body, list[str]]:
    """The messages of a format in which results are blocks of a user message, and the system texts in front of them."""
    messages: list[Body] = []
    system: list[str] = []
    results: Body | None = None
    for turn in talk.turns:
        if turn.role in ("system", "developer") and not messages:
            system.append(turn.text or "")
        elif turn.role == "tool" and results is not None:
            results[key] += blocks(turn)
        else:
            message = {"role": roles.get(turn.role, turn.role), key: blocks(turn)}
            messages.append(message)
            results = message if turn.role == "tool" else None
    return {key: messages}, system


def anthropic(talk: Conversation) -> Body:
    written, system = _blocks(talk, "content", _anthropic_blocks, {"tool": "user", "developer": "system"})
    body: Body = {"max_tokens": 8000, "messages": written["content"]}
    if system:
        body["system"] = "\n".join(system)
    if talk.thinking:
        body["thinking"] = {"type": "enabled", "budget_tokens": 2000}
    if talk.tools:
        body["tools"] = [{"name": name, "input_schema": SCHEMA} for name in TOOLS]
    _bind(talk, body)
    return body


def _bind(talk: Conversation, body: Body) -> None:
    """Signs what Anthropic's models thought behind the conversation as it stands here, where the thought says so."""
    bound = {turn.thought.text for turn in talk.turns if turn.thought and turn.thought.bound and turn.thought.signature}
    for index, message in enumerate(body["messages"]):
        for block in message["content"]:
            if block["type"] == "thinking" and block["thinking"] in bound:
                block["signature"] = sign("anthropic", block["thinking"], prefix=prefix_digest(body, index))


def bedrock(talk: Conversation) -> Body:
    written, system = _blocks(talk, "content", _bedrock_blocks, {"tool": "user", "developer": "system"})
    body: Body = {"messages": written["content"]}
    if system:
        body["system"] = [{"text": text} for text in system]
    if talk.tools:
        tools = [{"toolSpec": {"name": name, "inputSchema": {"json": SCHEMA}}} for name in TOOLS]
        body["toolConfig"] = {"tools": tools}
    return body


def gemini(talk: Conversation) -> Body:
    roles = {"tool": "user", "assistant": "model", "developer": "system"}
    with_ids = any(len(turn.calls) > 1 for turn in talk.turns)  # without them results pair by their order
    written, system = _blocks(talk, "parts", lambda turn: _gemini_parts(turn, with_ids), roles)
    body: Body = {"contents": written["parts"]}
    if system:
        body["systemInstruction"] = {"parts": [{"text": text} for text in system]}
    if talk.tools:
        body["tools"] = [{"functionDeclarations": [{"name": name} for name in TOOLS]}]
    return body


WIRES: dict[str, Callable[[Conversation], Body]] = {
    "chat": chat,
    "ollama": ollama,
    "responses": responses,
    "anthropic": anthropic,
    "bedrock": bedrock,
    "gemini": gemini,
}
HISTORY = {"responses": "input", "gemini": "contents"}
BLOCKS = {"gemini": "parts"}

# ------------------------------------------------------------------------------------------- defects of the written request

Flaw = Callable[[Random, str, list[Body]], None]


def _unknown_field(random: Random, wire: str, messages: list[Body]) -> None:
    if wire == "responses" and any(message.get("type") == "reasoning" for message in messages):
        return  # again two things that only OpenAI knows
    key, value = random.choice(_FOREIGN_FIELDS)
    random.choice(messages)[key] = value


_FOREIGN_FIELDS: tuple[tuple[str, Any], ...] = (
    ("timestamp", 1764460800), ("agent", {"name": "a"}), ("metadata", {}), ("refusal", None), ("id", "m1"),
    ("reasoning_details", []), ("name", "ann"), ("annotations", []), ("parsed", None), ("cache_control", {"type": "ephemeral"}),
)  # fmt: skip


def _empty_tool_calls(random: Random, wire: str, messages: list[Body]) -> None:
    plain = [message for message in messages if message.get("role") == "assistant" and not message.get("tool_calls")]
    if plain and wire in ("chat", "ollama"):
        random.choice(plain)["tool_calls"] = random.choice([[], None])


def _cache_mark(random: Random, wire: str, messages: list[Body]) -> None:
    message = random.choice(messages)
    content = message.get("content")
    if wire == "bedrock" and content:
        content.append({"cachePoint": {"type": "default"}})
    elif wire == "anthropic" and content:
        random.choice(content)["cache_control"] = {"type": "ephemeral"}
    elif wire == "chat" and isinstance(content, str) and message["role"] != "tool":
        message["content"] = [{"type": "text", "text": content, "cache_control": {"type": "ephemeral"}}]


def _parts_for_text(random: Random, wire: str, messages: list[Body]) -> None:
    message = random.choice(messages)
    if wire == "chat" and isinstance(message.get("content"), str):
        message["content"] = [{"type": "text", "text": message["content"]}]


def _empty_part(random: Random, wire: str, messages: list[Body]) -> None:
    message, key = random.choice(messages), BLOCKS.get(wire, "content")
    if isinstance(message.get(key), list):
        message[key].append({"type": "text", "text": ""} if wire in ("chat", "anthropic") else {"text": ""})


def _sealed_thought(random: Random, wire: str, messages: list[Body]) -> None:
    """A thought whose text only its provider can read."""
    answers = [message for message in messages if message.get("role") == "assistant" and message.get("content")]
    if answers and wire in ("anthropic", "bedrock"):
        seal = random.choice([sign("anthropic", "redacted"), sign("google", "redacted"), "c2ln"])
        block = {"type": "redacted_thinking", "data": seal}
        random.choice(answers)["content"].insert(0, block if wire == "anthropic" else {"reasoningContent": {"redactedContent": seal}})


def _many_cache_marks(random: Random, wire: str, messages: list[Body]) -> None:
    for _ in range(7):
        _cache_mark(random, wire, messages)


def _misplaced_signature(random: Random, wire: str, messages: list[Body]) -> None:
    calls = [part for message in messages for part in message.get("parts", ()) if "functionCall" in part]
    if calls:
        part = random.choice(calls)
        part["functionCall"]["thoughtSignature"] = part.pop("thoughtSignature", sign("google", "ls"))


def _no_content(random: Random, wire: str, messages: list[Body]) -> None:
    message, key = random.choice(messages), BLOCKS.get(wire, "content")
    if message.get(key) in (None, "", []):
        message.pop(key, None)


FLAWS: dict[str, Flaw] = {
    "unknown field": _unknown_field,
    "empty tool_calls": _empty_tool_calls,
    "cache mark": _cache_mark,
    "parts for text": _parts_for_text,
    "empty part": _empty_part,
    "no content": _no_content,
    "sealed thought": _sealed_thought,
    "many cache marks": _many_cache_marks,
    "misplaced signature": _misplaced_signature,
}
"""What goes wrong in a request, as its format spells it."""


@dataclass(frozen=True)
class Defective:
    """A request, the names of what is wrong with it, and every text that has to survive."""

    body: Body
    defects: list[str]
    said: list[str]


def defective(random: Random, wire: str, defects: int) -> Defective:
    """A request in this wire format with that many defects."""
    talk = conversation(random, wire)
    chosen = [random.choice([*DEFECTS, *FLAWS]) for _ in range(defects)]
    for name in chosen:
        if name in DEFECTS:
            DEFECTS[name](talk)
    body = WIRES[wire](talk)
    messages = body[HISTORY.get(wire, "messages")]
    for name in chosen:
        if name in FLAWS and messages:
            FLAWS[name](random, wire, messages)
    return Defective(body, chosen, talk.said())
