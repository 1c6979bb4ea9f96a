"""Hypothesis strategies for rulesets: statements put together from the language's own words."""

from __future__ import annotations

from functools import cache

from hypothesis import strategies as st

from historycompat import Ruleset, compile_rules
from historycompat.compiling import complaints_about
from historycompat.source import Source

PART_TARGETS = (
    "assistant/reasoning",
    "assistant:settled/reasoning",
    "assistant:open/reasoning",
    "assistant/text",
    "user/text",
    "*/text",
    "user|assistant/file",
    "user/text:empty",
    "assistant/text:first",
    "assistant:last/text",
    "assistant/reasoning|text",
)

PART_CONDITIONS = (
    "",
    "where text == ''",
    "where blank(text)",
    "where !has(providerOptions, 'anthropic') && !has(providerMetadata, 'anthropic')",
    "where providerOptions.openai",
    "where has(providerOptions, 'google') || text == 'x'",
    "where type == 'reasoning'",
    "where matches(text || '', 'a')",
    "where $index > `1`",
    "where $message.content[?type == 'reasoning']",
    "where $prev.role == 'user'",
    "except last 1",
    "except first 2",
)

ON_PARTS = (
    "drop {target} {where}",
    "drop {target} {where} on_empty keep",
    'drop {target} {where} on_empty fill "(empty)"',
    "set providerOptions.historycompat.seen to `true` on {target} {where}",
    "set text to 'x' on {target} {where}",
    "unset providerOptions.openai, providerOptions.google prune on {target} {where}",
    "keep only type, text on {target} {where}",
    "rename providerOptions.google to providerOptions.vertex on {target} {where}",
    'replace /[aeiou]/ with "-" in text on {target} {where}',
    "truncate text to 5 chars keeping middle on {target} {where}",
    'report "seen" {target} {where}',
)

WHOLE = (
    "map ids unless /^[a-zA-Z0-9]{9}$/ hash 9",
    'map ids unless /^[a-z_]+$/ replacing /[^a-z_]/ with "_"',
    'map names unless /^[a-z_]+$/ replacing /[^a-z_]/ with "_"',
    "merge message user|assistant",
    'merge message system join " ; "',
    "drop message :empty",
    "drop result:orphan",
    "drop call:orphan",
    "drop call:duplicate",
    "move result:late to after call",
    "move message system:late to start",
    "answer call:orphan with {type: 'error-text', value: 'none'}",
    "reorder reasoning, text, tool-call on message assistant",
    "split message assistant by type == 'reasoning'",
    "insert message {role: 'user', content: [{type: 'text', text: 'go'}]} at_end where $messages[-1].role == 'assistant'",
    "insert message {role: 'user', content: [{type: 'text', text: 'hi'}]} at_start where $messages[0].role == 'assistant'",
    "dedupe path messages[*] by content",
    "coerce input to json on call where type(input) == 'string'",
    "set input to `{}` on call where input == `null`",
    "set toolName to $call.toolName on result where toolName != $call.toolName",
)

statements = st.one_of(
    st.sampled_from(WHOLE),
    st.builds(
        lambda shape, target, where: shape.format(target=target, where=where),
        st.sampled_from(ON_PARTS),
        st.sampled_from(PART_TARGETS),
        st.sampled_from(PART_CONDITIONS),
    ),
)


@cache
def compiled(statement_lists: tuple[tuple[str, ...], ...]) -> Ruleset | None:
    """A ruleset with one rule for each list of statements; None where the compiler rightly refuses one."""
    rules = "\n".join(f"rule r-{number} {{\n  {chr(10).join(each)}\n}}" for number, each in enumerate(statement_lists))
    pack, complaints = complaints_about(Source("random.rules", f"pack random language 1\n{rules}"), "rules")
    assert pack is not None
    refusals = {complaint.code for complaint in complaints if complaint.is_error}
    assert all(code.startswith(("E2", "E5")) for code in refusals), refusals
    return None if refusals else compile_rules(pack.source.text, kind="rules")


rulesets = (
    st.lists(st.lists(statements, min_size=1, max_size=3).map(tuple), min_size=1, max_size=5)
    .map(tuple)
    .map(compiled)
    .filter(lambda ruleset: ruleset is not None)
)
