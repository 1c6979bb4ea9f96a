"""Codes of what cannot be read: the syntax of statements, clauses and YAML."""

from __future__ import annotations

from historycompat.codes.code import Code, code

CODES: tuple[Code, ...] = (
    code(
        "E101", "something else was expected here",
        "drop user/text where text = 'a'",
        "drop user/text where text == 'a'",
        "The text is not a statement or clause of the language. Only the first such place of a rule is reported,"
        " because what follows it cannot be told apart.",
    ),
    code(
        "E102", "the text ends before it is complete",
        "drop user/text where contains(text, 'a)",
        "drop user/text where contains(text, 'a')",
        "A quote, a regular expression or a statement was begun and not finished.",
    ),
    code(
        "E103", "a clause, an option or a flag is given twice",
        'safety safe\nsafety lossy\ndrop assistant/reasoning',
        'safety lossy\ndrop assistant/reasoning',
        "It would be a guess which of the two is meant.",
    ),
    code(
        "E104", "a word that the language does not know",
        "dorp assistant/reasoning",
        "drop assistant/reasoning",
        "Verbs and keywords are a closed list.",
    ),
    code(
        "E105", "a required field or clause is missing",
        "models anthropic/",
        "models anthropic/\ndrop assistant/reasoning",
        "A rule has a name and at least one statement.",
    ),
    code(
        "E106", "a value of the wrong kind",
        r'report "a \q" prompt',
        r'report "a \\q" prompt',
        "An escape that does not exist, a number that is too large, JSON that is none, or a YAML value of another"
        " type than its field takes.",
    ),
    code(
        "E107", "a field that no rule or pack has",
        """
        language: 1
        pack: example
        rules:
          - name: example
            model: [anthropic/]
            do: [drop assistant/reasoning]
        """,
        """
        language: 1
        pack: example
        rules:
          - name: example
            models: [anthropic/]
            do: [drop assistant/reasoning]
        """,
        "An unknown field is a misspelt one, and what it should say would silently not hold.",
    ),
    code(
        "E108", "a version of the rule language that this compiler does not know",
        "pack example language 2\nrule example {\n  drop assistant/reasoning\n}",
        "pack example language 1\nrule example {\n  drop assistant/reasoning\n}",
        "A later language may mean something else by the same words.",
    ),
    code(
        "E109", "two rules with the same name",
        "rule example {\n  drop assistant/reasoning\n}\nrule example {\n  drop message :empty\n}",
        "rule example {\n  drop assistant/reasoning\n}\nrule another {\n  drop message :empty\n}",
        "Traces, switches and overrides call rules by their names.",
    ),
    code(
        "E110", "YAML ate the rule text",
        """
        language: 1
        pack: example
        rules:
          - name: example
            do:
              - convert assistant/reasoning into text {text: text}
        """,
        """
        language: 1
        pack: example
        rules:
          - name: example
            do:
              - |-
                convert assistant/reasoning into text {text: text}
        """,
        "In YAML `: ` makes a mapping and ` #` a comment, and a text that begins with `!`, `*`, `[`, `{` or a"
        " backtick is something else. Quote it, or write it as a block below `|-`.",
    ),
    code(
        "E111", "a folded text, or a key that is given twice",
        """
        language: 1
        pack: example
        rules:
          - name: example
            do:
              - >-
                drop assistant/reasoning
                where blank(text)
        """,
        """
        language: 1
        pack: example
        rules:
          - name: example
            do:
              - |-
                drop assistant/reasoning
                where blank(text)
        """,
        "Folding joins lines, so complaints and traces could no longer name the place in the file.",
    ),
    code(
        "E112", "the file cannot be read",
        """
        language: 1
        pack: example
        rules: [
        """,
        """
        language: 1
        pack: example
        rules: [{name: example, do: [drop assistant/reasoning]}]
        """,
        "It is no text in UTF-8, or not YAML.",
    ),
    code(
        "E113", "something nests deeper than any rule needs",
        "drop */text where " + " || ".join(f"text == '{n}'" for n in range(150)),
        "drop */text where contains(['1', '2', '3'], text)",
        "The limit keeps a rule file that nobody wrote by hand from exhausting the compiler.",
    ),
)  # fmt: skip
