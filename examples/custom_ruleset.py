"""Choose the rules: leave some out, keep only some, put one of one's own in the place of another."""

from historycompat import Ruleset, apply, compile_rules

builtin = Ruleset.builtin()
some = builtin.only("empty-text", "cerebras-strip-reasoning-content")
print("of these two, for Cerebras:", *(rule.name for rule in some.for_model("cerebras/zai-glm-4.7")))

ours = compile_rules("""
language: 1
pack: ours
rules:
  - name: missing-tool-result
    because: Our users read the placeholder, so it is in their words.
    do:
      - "answer call:orphan with {type: 'error-text', value: 'Stopped by you.'}"
""")
rules = builtin.without("orphan-tool-result").override(ours["missing-tool-result"])

interrupted = [
    {"role": "user", "content": "Which tests fail?"},
    {"role": "assistant", "content": None, "tool_calls": [
        {"id": "call_1", "type": "function", "function": {"name": "bash", "arguments": '{"command": "pytest -q"}'}},
    ]},
    {"role": "user", "content": "Never mind."},
]  # fmt: skip
print(apply(interrupted, model="openai/gpt-5", rules=rules).messages[2])
