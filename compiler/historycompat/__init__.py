"""Rules that repair an LLM message history."""
