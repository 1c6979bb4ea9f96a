"""Repair a history before it is sent: one call in front of the client, whatever the client is."""

import json
from pathlib import Path

from historycompat import apply

HISTORY = Path(__file__).parent / "histories" / "moved-to-claude.json"

messages = json.loads(HISTORY.read_text(encoding="utf-8"))
outcome = apply(messages, model="anthropic/claude-sonnet-4-5")

for edit in outcome.trace:
    print(f"{edit.rule}: {edit.op} {edit.pointer}")

# client.messages.create(model="claude-sonnet-4-5", messages=outcome.messages, ...)
print(f"{len(messages)} messages in, {len(outcome.messages)} out, the first change in message {outcome.first_edit}")
print("the input is untouched:", messages == json.loads(HISTORY.read_text(encoding="utf-8")))
print("a second run changes nothing:", not apply(outcome.messages, model="anthropic/claude-sonnet-4-5").changed)
