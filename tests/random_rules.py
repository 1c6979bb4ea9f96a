"""Hypothesis strategies for rulesets: statements put together from the language's own words."""

from __future__ import annotations

from functools import cache

from hypothesis import strategies as st

from historycompat import RuleError, Ruleset, compile_rules

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
    'merge message system join "; "',
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
    try:
        return compile_rules(f"pack random language 1\n{rules}", kind="rules")
    except RuleError as error:
        assert all(complaint.code.startswith("E2") or complaint.code.startswith("E5") for complaint in error.complaints)
        return None


rulesets = (
    st.lists(st.lists(statements, min_size=1, max_size=3).map(tuple), min_size=1, max_size=5)
    .map(tuple)
    .map(compiled)
    .filter(lambda ruleset: ruleset is not None)
)
