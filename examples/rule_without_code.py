"""Teach it what one's own server refuses: a rule is a few lines of YAML, and carries its own tests."""

import json
from pathlib import Path

from historycompat import Ruleset, apply

HERE = Path(__file__).parent

rules = Ruleset.builtin().extend(HERE / "rules" / "text-only.yaml")
messages = json.loads((HERE / "histories" / "image-for-a-text-model.json").read_text(encoding="utf-8"))

for model in ("ollama/qwen3-coder", "ollama/llava"):
    outcome = apply(messages, model=model, rules=rules)
    print(f"{model}: {json.dumps(outcome.messages[0]['content'][1])[:60]}")
