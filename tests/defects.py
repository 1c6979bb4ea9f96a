"""A source of randomness → a request with defects: those of a conversation, and those of how it is written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from random_conversations import THINKERS, Conversation, Result, Thought, Turn, conversation
from random_requests import BLOCKS, HISTORY, WIRES, Body
from strict_server import sign
from strict_server.signing import read

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
    for part in [call, *(result for _, result in talk.results() if result.id == call.id)] if call else ():
        part.name = name


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


def foreign_thought(talk: Conversation) -> None:
    turn = talk.choose([turn for turn in talk.turns if turn.role == "assistant"])
    if turn is not None:
        by = talk.choose([*THINKERS])
        seals = [None, "not base64!", sign(by, "elsewhere"), "", "c2ln"]
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


Flaw = Callable[[Random, str, list[Body]], None]


def _unknown_field(random: Random, wire: str, messages: list[Body]) -> None:
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


def _only_its_provider_knows(answer: Body) -> bool:
    """Whether nobody else can tell that a thought is refused here: two of those need two repairs, and a client has one."""
    seals = [block["signature"] for block in answer["content"] if isinstance(block, dict) and "signature" in block]
    tokens = map(read, seals)
    return any(token is None or token.prefix or token.provider != "anthropic" for token in tokens)


def _sealed_thought(random: Random, wire: str, messages: list[Body]) -> None:
    """A thought whose text only its provider can read."""
    answers = [message for message in messages if message.get("role") == "assistant" and message.get("content")]
    if answers and wire in ("anthropic", "bedrock") and not any(map(_only_its_provider_knows, answers)):
        seal = random.choice([sign("anthropic", "redacted"), sign("google", "redacted"), "c2ln"])
        block = {"type": "redacted_thinking", "data": seal}
        random.choice(answers)["content"].insert(
            0, block if wire == "anthropic" else {"reasoningContent": {"redactedContent": seal}}
        )


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


def _chat_item(random: Random, wire: str, messages: list[Body]) -> None:
    """A call or a result in the shape of the chat API, among the items of the other one."""
    places = [at for at, item in enumerate(messages) if str(item.get("type")).startswith("function_call")]
    if wire != "responses" or not places:
        return
    at = random.choice(places)
    item = messages[at]
    if item["type"] == "function_call":
        function = {"name": item["name"], "arguments": item["arguments"]}
        call = {"id": item["call_id"], "type": "function", "function": function}
        messages[at] = {"role": "assistant", "content": None, "tool_calls": [call]}
    else:
        messages[at] = {"role": "tool", "tool_call_id": item["call_id"], "content": item["output"]}


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
    "chat item": _chat_item,
}
"""What goes wrong in a request, as its format spells it."""


def _one_mystery(talk: Conversation) -> None:
    """A thought that is illegible to OpenAI alone, beside others that only OpenAI can judge, would need a repair of its
    own, and a client has one."""
    thinking = [turn for turn in talk.turns if turn.thought is not None]
    for turn in thinking if len(thinking) > 1 else ():
        if turn.thought and turn.thought.signature == "c2ln":
            turn.thought = None


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
    if wire == "responses":
        _one_mystery(talk)
    body = WIRES[wire](talk)
    messages = body[HISTORY.get(wire, "messages")]
    for name in chosen:
        if name in FLAWS and messages:
            FLAWS[name](random, wire, messages)
    return Defective(body, chosen, talk.said())
