"""Codes of what one rule says: its expressions, patterns, targets and statements."""

from __future__ import annotations

from historycompat.codes.code import Code, code

CODES: tuple[Code, ...] = (
    # ----- expressions
    code(
        "E201", "`!` binds stronger than the dot",
        "drop assistant/reasoning where !providerOptions.anthropic",
        "drop assistant/reasoning where !has(providerOptions, 'anthropic')",
        "JMESPath reads `!a.b` as `(!a).b`: a field of true or false, which is null, so the condition never holds.",
    ),
    code(
        "E202", "a constant, a text or a pattern that JMESPath reads as something else",
        'drop message where role == "assistant"',
        "drop message where role == 'assistant'",
        "In JMESPath a bare word and a text in double quotes are names of fields. Texts stand in single quotes, true,"
        " null, numbers and empty lists in backticks, and a pattern in quotes without slashes.",
    ),
    code(
        "E203", "a field that nothing here has",
        "drop assistant/reasoning where txt == ''",
        "drop assistant/reasoning where text == ''",
        "A misspelt field is null, and the rule would silently never match, or always.",
    ),
    code(
        "E204", "a comparison that always comes out the same",
        "drop message where role == 'asistant'",
        "drop message where role == 'assistant'",
        "Roles and types are closed lists, and values of two types are never equal.",
    ),
    code(
        "E205", "a function that fails on a missing value",
        "drop message where length(content) == `0`",
        "drop message where length(content || `[]`) == `0`",
        "JMESPath's functions raise on null. A condition that raises counts as no match, so the rule would skip just"
        " the histories that it was written for.",
    ),
    code(
        "E206", "a function or a variable that does not exist here",
        "drop */text where startswith(text, 'a')",
        "drop */text where starts_with(text, 'a')",
        "The functions are those of JMESPath and blank, has and matches; which variables are defined depends on the"
        " target.",
    ),
    code(
        "E207", "a path that names no place",
        "unset cacheControl on path reverse(messages)",
        "unset cacheControl on path messages[*]",
        "An edit needs a place in the history. Functions, lists and `||` give new values that stand nowhere.",
    ),
    code(
        "W208", "a condition that is always true or always false",
        "drop assistant/reasoning where type == 'reasoning'",
        "drop assistant/reasoning",
        "It says nothing, and was probably meant to say something else.",
    ),
    code(
        "W209", "presence tested by truth where `{}` or '' is legal",
        "drop assistant/reasoning where !(providerOptions.anthropic)",
        "drop assistant/reasoning where !has(providerOptions, 'anthropic')",
        "Empty objects, lists and texts are false in JMESPath, but they are there.",
    ),
    code(
        "E210", "a value that can never stand where it is written",
        "set role to 'assistnt' on message :last",
        "set role to 'assistant' on message :last",
        "Each key has its kinds of values, and roles and types are closed lists; no provider takes anything else. Keys"
        " that make a message or a part what it is cannot be deleted.",
    ),
    # ----- regular expressions
    code(
        "E301", "a regular expression outside the dialect",
        "replace /(a+)+$/ with \"\" in text on */text",
        "replace /a+$/ with \"\" in text on */text",
        "Error texts and messages come from outside, so matching must take linear time: the dialect is RE2's, without"
        " lookaround and backreferences, and patterns mean the same with and without google-re2.",
    ),
    code(
        "W302", "a regular expression that matches everything or nothing",
        "on_error 400 /.*/\ndrop assistant/reasoning",
        "on_error 400 /reasoning is not supported/\ndrop assistant/reasoning",
        "A trigger that matches every error repairs what was not broken.",
    ),
    code(
        "W303", "a regular expression of a slow shape",
        "on_error /tool.*use.*id.*invalid/\ndrop assistant/reasoning",
        "on_error /tool_use\\.id: [^:]*invalid/\ndrop assistant/reasoning",
        "Several runs that can share out the same text cost more than they tell.",
    ),
    code(
        "W304", "a trigger that another rule's contains, or that generic words match",
        "on_error /invalid/\ndrop assistant/reasoning",
        "on_error /Invalid .signature. in .thinking. block/\ndrop assistant/reasoning",
        "It would wake on errors that the rule does not repair.",
    ),
    code(
        "E305", "functions of `map` that never satisfy `unless`",
        "map ids unless /^[a-zA-Z0-9]{9}$/ hash 8",
        "map ids unless /^[a-zA-Z0-9]{9}$/ hash 9",
        "Every id would be made anew until the rule gives up.",
    ),
    # ----- models
    code(
        "E401", "a model pattern that can match nothing",
        "models claude-opus\ndrop assistant/reasoning",
        "models anthropic/claude-opus\ndrop assistant/reasoning",
        "A pattern is a provider, a slash and the beginning of a name, with a lower and an upper version if need be.",
    ),
    code(
        "W402", "an unknown provider",
        "models antropic/\ndrop assistant/reasoning",
        "models anthropic/\ndrop assistant/reasoning",
        "It matches only a host that calls itself so.",
    ),
    code(
        "W403", "a model pattern without effect",
        "models anthropic/, anthropic/claude-opus\ndrop assistant/reasoning",
        "models anthropic/\ndrop assistant/reasoning",
        "Another pattern matches all that it matches, or takes all of it away.",
    ),
    code(
        "W404", "a rule that an earlier one leaves nothing to do",
        "rule first {\n  drop assistant/reasoning\n}\nrule second {\n  drop assistant/reasoning where blank(text)\n}",
        "rule second {\n  drop assistant/reasoning where blank(text)\n}",
        "For the same models everything that it selects is gone when its turn comes.",
    ),
    # ----- statements
    code(
        "E501", "a role, type, state or phase that cannot meet",
        "drop user/reasoning",
        "drop assistant/reasoning",
        "The target selects nothing, whatever the history is.",
    ),
    code(
        "E502", "a verb on a target that it does not apply to",
        "merge assistant/text",
        "merge message assistant",
        "Each verb says which kinds of targets it takes.",
    ),
    code(
        "E503", "an edit that never comes to rest",
        "insert message {role: 'user', content: [{type: 'text', text: 'Continue.'}]} at_end",
        "insert message {role: 'user', content: [{type: 'text', text: 'Continue.'}]} at_end\n"
        "  where $messages[-1].role == 'assistant'",
        "A repaired history must need no repair: the rules run on it again at every turn.",
    ),
)  # fmt: skip
