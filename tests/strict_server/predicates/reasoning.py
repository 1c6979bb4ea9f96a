"""Turns → reasoning that the provider did not write, that was changed since, or that is missing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from strict_server import signing
from strict_server.conversation import Part, Request, Turn
from strict_server.paths import MISSING, hashable
from strict_server.predicates.finding import Finding, Findings, Predicate, found

SKIP_THOUGHT_SIGNATURE = ("skip_thought_signature_validator", "context_engineering_is_the_way_to_go")
"""Values that Google documents for calls which its models did not make."""


def _signed(request: Request) -> Iterator[tuple[Turn, Part, Any]]:
    for turn in request.turns:
        for part in turn.of("thinking"):
            native = _readable(part.raw)
            if native is not None:
                yield turn, part, native.get("signature", MISSING)


def _readable(block: dict[str, Any]) -> dict[str, Any] | None:
    """The object that holds the text and the signature, in Anthropic's and in Amazon's spelling."""
    if block.get("type") == "thinking":
        return block
    content = block.get("reasoningContent")
    text = content.get("reasoningText") if isinstance(content, dict) else None
    return text if isinstance(text, dict) else None


def _is_minted(request: Request, signature: Any) -> signing.Token | None:
    token = signing.read(signature)
    return token if token is not None and token.provider == signing.minter(request.provider) else None


def foreign_signature(request: Request, /) -> Findings:
    """Thinking with a signature of somebody else, or whose text is not the signed one."""
    latest = _latest_assistant(request)
    for turn, part, signature in _signed(request):
        token = _is_minted(request, signature)
        if signature is MISSING or (signature == "" and not part.value):
            continue
        if token is None or (turn is not latest and token.text != signing.digest(str(part.value))):
            yield found(part)


def emptied_thinking(request: Request, /) -> Findings:
    """Thinking without its text, under the signature of a text."""
    for _, part, signature in _signed(request):
        token = _is_minted(request, signature)
        if part.value == "" and token is not None and token.text != signing.digest(""):
            yield found(part)


def modified_thinking(request: Request, /) -> Findings:
    """Thinking of the latest assistant message with another text or in another order than it was written."""
    latest = _latest_assistant(request)
    previous = ""
    for turn, part, signature in _signed(request):
        if turn is not latest or signature is MISSING:
            continue
        token = _is_minted(request, signature)
        if token is not None:
            changed = token.text != signing.digest(str(part.value))
            if changed or token.previous != (signing.digest(previous) if previous else ""):
                yield found(part)
        previous = signature


def _latest_assistant(request: Request) -> Turn | None:
    return next((turn for turn in reversed(request.turns) if turn.role == "assistant"), None)


def foreign_prefix(request: Request, /) -> Findings:
    """Thinking that was written behind another conversation than the one in front of it."""
    if isinstance(request.body.get("thinking"), dict) and _drops_mismatches(request.body["thinking"]):
        return
    for turn, part, signature in _signed(request):
        if not signature:
            continue
        token = _is_minted(request, signature)
        if token is None or (token.prefix and token.prefix != signing.prefix_digest(request.body, turn.index)):
            yield found(part)


def _drops_mismatches(thinking: dict[str, Any]) -> bool:
    binding = thinking.get("block_binding")
    return isinstance(binding, dict) and binding.get("prefix_mismatch_behavior") == "drop_block"


def foreign_redacted(request: Request, /) -> Findings:
    for turn in request.turns:
        for part in turn.of("thinking"):
            data = part.raw.get("data", MISSING)
            if part.raw.get("type") != "redacted_thinking" or data is MISSING:
                continue
            token = _is_minted(request, data)
            if token is None or token.text != signing.digest("redacted"):
                yield found(part)


def _loop(request: Request) -> list[Turn]:
    """The assistant turns of the tool loop that the request continues, or the assistant turn that it ends on."""
    loop: list[Turn] = []
    for turn in reversed(request.turns):
        if turn.role == "assistant" and (not loop or turn.of("call")):
            loop.insert(0, turn)
        elif turn.role == "assistant" or (turn.role == "user" and not turn.of("result")):
            break
    last = request.turns[-1] if request.turns else None
    return loop if last is not None and (last.role == "assistant" or last.of("result")) else []


def thinking_not_leading(request: Request, /) -> Findings:
    """The tool loop that the request continues does not begin with thinking."""
    loop = _loop(request)
    if loop and loop[0].parts and loop[0].parts[0].kind != "thinking":
        first = loop[0].parts[0]
        kind = first.raw.get("type") if isinstance(first.raw, dict) else "text"
        yield found(first, found=kind)


def thinking_at_end(request: Request, /) -> Findings:
    last = request.turns[-1] if request.turns else None
    if last is not None and last.role == "assistant":
        yield from (found(part) for part in last.of("thinking")[:1])


def unthinking(request: Request, /, *, keys: list[str], calls_only: bool, empty_counts: bool) -> Findings:
    """Assistant turns (with calls) that carry no reasoning; `empty_counts` lets an empty text pass."""
    for turn in request.turns:
        if turn.role != "assistant" or (calls_only and not turn.of("call")):
            continue
        texts = [turn.raw.get(key) for key in keys] + [part.value for part in turn.of("thinking")]
        if not any(isinstance(text, str) and (text or empty_counts) for text in texts):
            yield found(turn)


def _current_turn(request: Request) -> list[Turn]:
    """What follows the last thing that the user said."""
    start = 0
    for position, turn in enumerate(request.turns):
        if turn.role == "user" and not turn.of("result"):
            start = position
    return request.turns[start:]


def unsigned_call(request: Request, /, *, extra: bool = False) -> Findings:
    """Steps of the current turn whose first call carries no thought signature."""
    for turn in _current_turn(request):
        calls = turn.of("call")
        if calls and not _thought_signature(calls[0].raw, extra):
            yield found(turn, name=calls[0].name, position=turn.index + 1)


def _thought_signature(raw: Any, extra: bool) -> Any:
    if not isinstance(raw, dict):
        return None
    if not extra:
        return raw.get("thoughtSignature") or raw.get("thought_signature")
    for key in ("extra_content", "google"):
        inner = raw.get(key)
        raw = inner if isinstance(inner, dict) else {}
    return raw.get("thought_signature")


def foreign_thought_signature(request: Request, /) -> Findings:
    for turn in request.turns:
        for part in turn.parts:
            signature = _thought_signature(part.raw, False)
            token = signing.read(signature)
            if signature and signature not in SKIP_THOUGHT_SIGNATURE and (token is None or token.provider != "google"):
                yield found(part)


def reasoning_without_follower(request: Request, /) -> Findings:
    """Reasoning items that are not directly before an item, with its id, that the model made."""
    for position, turn in enumerate(request.turns):
        if turn.raw.get("type") != "reasoning" or not turn.raw.get("id"):
            continue
        behind = request.turns[position + 1].raw if position + 1 < len(request.turns) else {}
        if behind.get("type") != "reasoning" and not (
            behind.get("id") and behind.get("role", "assistant") == "assistant"
        ):
            yield found(turn, id=turn.raw["id"])


def item_without_reasoning(request: Request, /, *, types: list[str]) -> Findings:
    """Items of a response that reasoned, without its reasoning item earlier in the input."""
    seen: set[Any] = set()
    for turn in request.turns:
        seen.add(hashable(turn.raw.get("id")))
        needed = signing.required_reasoning(turn.raw.get("id"))
        if needed is not None and turn.raw.get("type", "message") in types and needed not in seen:
            yield found(turn, id=turn.raw["id"], type=turn.raw.get("type", "message"), needed=needed)


def unstored_item(request: Request, /) -> Findings:
    """Reasoning items and references whose id says that they are stored, of which nothing was ever stored."""
    for turn in request.turns:
        identifier, kind = turn.raw.get("id"), turn.raw.get("type")
        readable = signing.read(turn.raw.get("encrypted_content")) is not None
        if identifier and (kind == "item_reference" or (kind == "reasoning" and not readable)):
            yield found(turn, id=identifier)


def undecryptable(request: Request, /) -> Findings:
    """Encrypted reasoning that is plain text, or that this server minted for somebody else."""
    for turn in request.turns:
        content = turn.raw.get("encrypted_content")
        token = signing.read(content)
        foreign = token is not None and token.provider != request.provider
        if isinstance(content, str) and (foreign or re.fullmatch(r"[A-Za-z0-9+/_=-]+", content) is None):
            yield found(turn, id=turn.raw.get("id"), shown=f"{content[:4]}...{content[-4:]}")


def unknown_response(request: Request, /) -> Findings:
    identifier = request.body.get("previous_response_id")
    if identifier is not None and not re.fullmatch(r"resp_55[0-9a-f]+", str(identifier)):
        yield Finding(("previous_response_id",), {"value": identifier})


def pending_container(request: Request, /) -> Findings:
    """Calls that code execution made, answered without naming the container it runs in."""
    for turn in _loop(request):
        for part in turn.of("call"):
            caller = part.raw.get("caller")
            if isinstance(caller, dict) and str(caller.get("type")).startswith("code_execution"):
                yield found(part)


PREDICATES: dict[str, Predicate] = {
    predicate.__name__: predicate
    for predicate in (
        foreign_signature, emptied_thinking, modified_thinking, foreign_prefix, foreign_redacted, thinking_not_leading,
        thinking_at_end, unthinking, unsigned_call, foreign_thought_signature, reasoning_without_follower,
        item_without_reasoning, unstored_item, undecryptable, unknown_response, pending_container,
    )
}  # fmt: skip
