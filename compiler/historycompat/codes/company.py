"""Codes of how rules get on with each other, with prompt caches, and with their readers."""

from __future__ import annotations

from historycompat.codes.code import Code, code

CODES: tuple[Code, ...] = (
    code(
        "W601", "two rules that write different values to one place",
        "set providerOptions.a.b to 'x' on */text\nset providerOptions.a.b to 'y' on */text",
        "set providerOptions.a.b to 'y' on */text",
        "The second undoes the first at every run.",
    ),
    code(
        "W602", "rules that undo each other",
        "rule first {\n  convert assistant/reasoning into text {text: text}\n}\n"
        "rule second {\n  convert assistant/text into reasoning {text: text}\n}",
        "rule first {\n  convert assistant/reasoning into text {text: text}\n}",
        "Each run changes the history back and forth, and the provider's prompt cache is lost each time.",
    ),
    code(
        "W603", "a rule that runs before the one that makes work for it",
        "merge message user|assistant\nmove message system:late to start",
        "move message system:late to start\nmerge message user|assistant",
        "The second run would change what the first left over. Structure before emptiness, dropping before merging.",
    ),
    code(
        "W701", "a rule before the request that changes the prefix of a growing history",
        "drop assistant/reasoning except last 1",
        "drop assistant:settled/reasoning",
        "The provider's cache of the prompt ends at the first change, at every turn.",
    ),
    code(
        "W702", "`safety` that claims more than the verbs keep",
        "safety safe\ndrop assistant/reasoning",
        "safety lossy\ndrop assistant/reasoning",
        "Hosts choose what may run unasked by it.",
    ),
    code(
        "W801", "a rule without tests, or with a branch that no test reaches",
        """
        language: 1
        pack: example
        rules:
          - name: example
            do: [drop assistant/reasoning]
        """,
        """
        language: 1
        pack: example
        rules:
          - name: example
            do: [drop assistant/reasoning]
            tests:
              - name: drops it
                model: groq/llama-4
                given: [{assistant: [{reasoning: hmm}, hello]}]
                then: [{assistant: [hello]}]
              - name: keeps the rest
                model: groq/llama-4
                given: [{assistant: [hello]}]
                then: unchanged
        """,
        "What no test shows has been wrong before.",
    ),
    code(
        "W802", "no `because` or `see`, or a name that says nothing",
        "drop assistant/reasoning",
        'rule groq-reasoning {\n  because "Groq refuses reasoning in messages."\n  see "https://example.org/report"\n'
        "  drop assistant/reasoning\n}",
        "Rules outlive the knowledge of why they were written; with its source one can tell when it may go.",
    ),
    code(
        "W803", "an allowance that silences nothing",
        "# allow: W302 was needed once\nrule example {\n  on_error 400 /no reasoning/\n  drop assistant/reasoning\n}",
        "rule example {\n  on_error 400 /no reasoning/\n  drop assistant/reasoning\n}",
        "It would silence the next mistake of its kind.",
    ),
)  # fmt: skip
