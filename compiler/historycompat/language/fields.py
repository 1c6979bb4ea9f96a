"""What the fields of packs, rules and tests mean, in words, each with an example: for the schema, `explain` and the
documentation."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Field:
    """`says` is the sentence or two that a table has room for, `example` the field in YAML as it stands in its owner,
    `more` what a page tells beside."""

    says: str
    example: str
    more: str = ""


PACK: dict[str, Field] = {
    "language": Field(
        "The version of the rule language.",
        "language: 1",
        "A compiler refuses a version that it does not know, since the same words may mean something else there.",
    ),
    "pack": Field("The pack's name. Default: the file's.", "pack: our-models"),
    "rules": Field(
        "The rules, in the order they run.",
        "rules:\n  - name: no-reasoning\n    do: drop assistant/reasoning",
        "They run behind the built-in rules, from top to bottom, each on what the one before left. A rule with "
        "`replaces` runs in the place of the one it names.",
    ),
}

RULE: dict[str, Field] = {
    "name": Field(
        "The rule's name in kebab-case, unique in a ruleset.",
        "name: groq-no-reasoning",
        'Traces, reports and `.without("...")` call the rule by it.',
    ),
    "because": Field(
        "Which provider refuses what, in a sentence.",
        "because: Groq refuses messages with reasoning in them.",
        "`apply` shows it beside the changes. Text with `: ` or ` #` in it stands in quotes.",
    ),
    "see": Field(
        "Where that was reported or documented.",
        "see:\n  - https://example.org/the-report",
        "One address, or a list.",
    ),
    "verified": Field("When it was last confirmed: a date.", "verified: 2026-07-01"),
    "models": Field(
        "Model patterns, such as `openai/gpt-5 >= 5.1`; any may match, `not` takes away. Default: every model.",
        "models: [openai/gpt-5 >= 5.1, azure/, not openai/gpt-5-nano]",
        "A pattern is a provider, a slash and the beginning of a model's name: `anthropic/` is every model that "
        "Anthropic makes or serves, through gateways as well; `^anthropic/` only Anthropic's own API; `*/gpt-oss` that "
        "model at any provider; `google/gemini-*-image` has a gap. `historycompat rules --model MODEL` lists what is "
        "for a model.",
    ),
    "when": Field(
        "A condition on the whole prompt, in JMESPath; the rule runs only if it is true.",
        "when: messages[-1].role == 'assistant'",
        "It sees `messages`, and `$tools`, `$params` and `$model`. Whether a single place is concerned says `where`, "
        "behind a statement's target. A condition that begins with `!`, or has `: ` in it, stands in quotes.",
    ),
    "on_error": Field(
        "The errors that wake the rule: `[status[|status]] /regex/flags`.",
        "on_error:\n  - 400|422 /reasoning(_content)? is not supported/i\n  - /no thinking, please/",
        "One pattern, or a list of which any may match somewhere in what the provider said. Without a status every "
        "status will do; one that the error does not tell is no obstacle. Flags are `i`, `m` and `s`. What brackets "
        "match is `$error.groups`.",
    ),
    "phase": Field(
        "When the rule runs: `before` the request, `after` a refusal, or `both`. Default: `after` where there is an "
        "`on_error`, else `before`.",
        "phase: both\non_error: 400 /reasoning is not supported/i",
        "`both` saves the refusal where it is sure beforehand, and repairs after it where it is not.",
    ),
    "persist": Field(
        "Whether a repair after an error is saved in the stored history. Default: yes for safe rules.",
        "persist: no\non_error: 400 /reasoning is not supported/i",
        "With `no` only the repeated request is edited, and what is stored stays as it was.",
    ),
    "format": Field(
        "The format whose native shape the rule edits. Default: one shape for all formats.",
        "format: openai-chat\ndo: unset trace_id on message assistant",
        "For keys that only the wire has. The rule runs where the history is in that format, behind all rules without "
        "`format`, and its tests hold messages as they are sent. `historycompat formats` lists the formats.",
    ),
    "safety": Field(
        "What the rule may lose: `safe`, `lossy` or `unsafe`. Default: the least that its verbs imply.",
        "safety: lossy",
        "`safe`: nothing that a person or a model said is lost. `lossy`: reasoning, metadata or media are. `unsafe`: "
        "words of a person or a model are lost or changed. Leave it out, and the compiler works it out.",
    ),
    "replaces": Field(
        "The name of the rule whose place this one takes, in the order of rules.",
        "replaces: missing-tool-result",
        "Without it a name that is taken is an error.",
    ),
    "do": Field(
        "The statements, run in order.",
        "do:\n  - drop assistant/reasoning where blank(text)\n"
        "  - |-\n    convert assistant/reasoning into text {type: 'text', text: text}",
        "One statement, or a list. `historycompat explain VERB` shows each verb. A statement with `: ` or ` #` in it "
        "stands in quotes, or in the lines below `|-`.",
    ),
    "tests": Field(
        "Cases that live with the rule: at least one that it repairs, and one that it leaves alone.",
        "tests:\n"
        "  - name: the reasoning goes\n    model: groq/llama-4\n"
        "    given: [{user: hi}, {assistant: [{reasoning: hmm}, hello]}]\n"
        "    then: [{user: hi}, {assistant: hello}]\n"
        "  - name: the answer stays\n    model: groq/llama-4\n"
        "    given: [{user: hi}, {assistant: hello}]\n    then: unchanged",
        "`historycompat test FILE` runs them. Each is tested for more than it says: a second run changes nothing, the "
        "trace replays, calls and results stay paired.",
    ),
}

CASE: dict[str, Field] = {
    "name": Field("What the case shows.", "name: an empty text goes"),
    "model": Field(
        "The model that is about to read the history: an id, an object, or a list of fallbacks.",
        "model: anthropic/claude-sonnet-4-5",
        "An object is `{provider, modelId}`.",
    ),
    "also": Field(
        "More models that the same comes out for, as under `model`; the case runs once for each.",
        "model: anthropic/claude-sonnet-4-5\nalso: [vertex/claude-sonnet-4-5]",
        "Where it fails for one of the others, the verdict begins with `for` and that model.",
    ),
    "given": Field(
        "The history before: in short form, or native JSON for a rule with `format`.",
        "given:\n  - user: [Look!, {file: image/png, data: iVBORw0KGgo=}]\n"
        "  - assistant: [{reasoning: hmm}, {call: ls, id: c1, input: {path: src}}]\n"
        "  - tool: [{result: c1, output: a.py}]\n  - {user: go on, with: {providerOptions: {groq: {seen: true}}}}",
        "In short form a message is `role: text`, or `role:` and a list of parts. A part is a text, or one of "
        "`{reasoning: text}`, `{call: name, id, input}`, `{result: id, name, output}` and `{file: media type, data}`. "
        "`with` adds fields to a message or a part. A message with `role`, and a part with `type`, stand as they are.",
    ),
    "then": Field(
        "`unchanged`, the history after, or `{report: text}` for a rule that only reports.",
        "then: [{user: hi}, {assistant: hello}]",
        "Written as `given` is.",
    ),
    "phase": Field(
        "`before` or `after`. Default: `after` where there is an error, and for a rule that runs only then.",
        "phase: before",
    ),
    "error": Field(
        "What the provider refused with: a text, or `{status, message}`.",
        "error: {status: 400, message: reasoning is not supported}",
        "A rule with `on_error` must leave the history alone without it; that is tested for nothing.",
    ),
    "tools": Field("The request's tools.", "tools: [{type: function, name: ls}]", "Statements read them as `$tools`."),
    "params": Field("The request's parameters.", "params: {max_tokens: 1024}", "Statements read them as `$params`."),
    "origin": Field(
        "Who wrote the messages: `{provider, model}`.",
        "origin: {provider: groq, model: llama-4}",
        "Statements read it as `$origin`.",
    ),
    "stored": Field(
        "What is saved after the repair: `unchanged`, or a history.",
        "stored: unchanged",
        "For a rule after a refusal; with `persist: no` the stored history stays.",
    ),
}

# By who has them: fields of two owners may have one name.
OWNERS: dict[str, dict[str, Field]] = {"pack": PACK, "rule": RULE, "test": CASE}
