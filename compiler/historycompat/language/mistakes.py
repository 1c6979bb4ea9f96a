"""What authors write for what the language has: data of the complaints about syntax."""

from __future__ import annotations

from typing import NamedTuple

END = "$END"

_WHERE_BELONGS = "`where` stands directly behind its target: convert user/file where .. into text {..}"
ON_WHAT = "say on what: on assistant/text, on message user, on call"
_PATTERNS = "several patterns are a list of strings: [anthropic/, openai/]"
_COMMA = "a comma stands between two of them"
_QUOTED = "this text stands in double quotes"
_SLASHES = "the words of the error stand in slashes, without quotes: 400 /the words/i"
_NO_SIGN = "a clause is a word and its value, with nothing between them"
_PLAIN_PATH = "such a path is fields alone; a list is reached by the target: unset name on path messages[*]"


class Mistake(NamedTuple):
    """What authors write at a place where the parser would take all of `accepted`: names of terminals, none for any
    place. With a `!` behind it would take nothing else. `fix` is what is certainly meant by what the pattern matches,
    which stands for `{}` in it."""

    pattern: str
    accepted: str
    suggestion: str
    code: str = "E101"
    message: str = ""
    fix: str | None = None


# In their order: the first that fits is told.
MISTAKES = (
    *(
        Mistake("[:=]", of, _NO_SIGN, fix="")
        for of in ("DQ !", "NOT MODEL", "REGEX UINT", "BOTH", "SAFE", "RULENAME !")
    ),
    Mistake('"', "LBRACE !", 'the reason stands inside the braces: { because "..." ... }'),
    Mistake(":", "LBRACE !", "a rule stands in braces: rule name { .. }"),
    Mistake('"', "DQ", 'text in double quotes ends with " in the same line', "E102", "this quote is never closed"),
    Mistake("'", "RAW", "a string in single quotes ends with '", "E102", "this quote is never closed"),
    Mistake("`", "LITERAL", "a JSON value ends with a backtick", "E102", "this backtick is never closed"),
    Mistake("//|--", "", "a comment begins with #", fix="#"),
    Mistake("/[*]", "", "a comment begins with #"),
    Mistake("/", "REGEX", r"write /.../ in one line, and \/ for a / inside", "E102", "this / is never closed"),
    Mistake(r"(?<=/)\S", "REPLACING", r"a / inside a regular expression is written \/"),
    Mistake(r"(?<=/)\S", "_WITH", r"a / inside a regular expression is written \/"),
    Mistake("(?<=[=!]=)=", "", "equality is written ==, its opposite !=", fix=""),
    Mistake("(?<=<)>", "", "the opposite of == is written !="),
    Mistake("=~|~", "COMPARE", "write matches(value, 'pattern')"),
    Mistake("=(?!=)", "COMPARE", "equality is written ==", fix="=="),
    Mistake("=", "_TO", "write to for =", fix="to"),
    Mistake("=>", "VERSION_TEST", "write >=", fix=">="),
    Mistake("=<", "VERSION_TEST", "write <=", fix="<="),
    Mistake("[=~^]", "VERSION_TEST", "one version alone is written with two bounds: >= 4.6 <= 4.6"),
    Mistake(r"and\b", "_AND", "write && for and", fix="&&"),
    Mistake("&", "_AND", "write && for and", fix="&&"),
    Mistake(r"or\b", "_OR", "write || for or", fix="||"),
    Mistake(r"(?<=\bnot )\S", "_AND", "write !(..) for not"),
    Mistake(r"is\b", "COMPARE", "equality is written ==", fix="=="),
    Mistake(r"(not\s+)?in\b", "COMPARE", "write contains(list, value), and !contains(..) for not in"),
    Mistake(r"\?", "_AND", "one of two values is written: condition && this || that"),
    Mistake("[*/%+]", "_AND", "values are compared, not calculated with; text is joined: join('', [a, b])"),
    Mistake(r"-?\d+(?:\.\d+)?", "LITERAL", "a number in an expression stands in backticks: `5`", fix="`{}`"),
    Mistake(r"(?<=[\w\])'`}] )['\"`\[{\w]", "RPAR COMMA", _COMMA),
    Mistake(r"(?<=[\w\])'`}] )['\"`\[{\w]", "RBRACE COMMA _OR", _COMMA),
    Mistake(r"(?<=[,])\s*[}\])]", "", "no comma stands before a closing bracket"),
    Mistake("(?<=, on )", "_ON", "no comma stands before on"),
    Mistake("'", "DQ", _QUOTED),
    Mistake("[A-Za-z]", "DQ !", _QUOTED),
    Mistake("by\\b", "_WITH", "write with", fix="with"),
    Mistake("['{`]", "_WITH", "write with before it"),
    Mistake("[\"'\\[]", "NOT MODEL", "model patterns stand bare, with commas between two: anthropic/, openai/"),
    Mistake("[!-]", "NOT", "write not anthropic/"),
    Mistake("[\"'A-Za-z]", "REGEX UINT", _SLASHES),
    Mistake("xx", "REGEX VBAR", "a status has three digits: 400|422; leave it out for any"),
    Mistake("[A-Za-z]", "REGEX VBAR", _SLASHES),
    Mistake("[:,]", "REGEX VBAR", "statuses stand before the pattern, joined with |: 400|422 /words/i"),
    Mistake("[\"']", "REGEX", "a regular expression is written /.../"),
    Mistake("[\u2018\u2019\u201c\u201d]", "", "quotes are straight: ' or \""),
    Mistake(
        "[\u00a0\u2000-\u200b\u202f\u3000\ufeff]", "", "this is not a plain space: delete it or write one", fix=" "
    ),
    Mistake("-", "DOT", 'a field with other characters than letters, digits and _ is quoted: "cache-control"'),
    Mistake(r"\[", "_TO", _PLAIN_PATH),
    Mistake(r"\[", "PRUNE", _PLAIN_PATH),
    Mistake(r"\[", "_ON", _PLAIN_PATH),
    Mistake(r"(text|reasoning|file|image|tool-(call|result))\b", "PARTS", "parts are named by role and type: */text"),
    Mistake(r"(system|user|assistant|tool)\b", "PARTS", "messages are named so: message user; parts so: user/text"),
    Mistake(r"where\b", END, _WHERE_BELONGS),
    Mistake(r"where\b", "RBRACE", _WHERE_BELONGS),
    Mistake(
        r"(if|when)\b",
        "_WHERE",
        "write where; `when` is a condition of the whole rule, before its statements",
        fix="where",
    ),
    Mistake(r"\|", "_WHERE", "roles are joined without spaces: user|assistant"),
    Mistake(",", "_WHERE", "roles and types are joined with |: user|assistant/text; else write a second statement"),
    Mistake(r"do\b", "RBRACE", "statements follow the clauses directly, one a line"),
    Mistake(r"tests?\b", "RBRACE", "tests stand in YAML packs: historycompat fmt --to yaml FILE"),
    Mistake("-", "RBRACE", "statements stand below each other, with nothing before them"),
    Mistake("rule-", "_RULE", "a blank stands behind rule"),
    Mistake("", "RULENAME !", "a name is small letters and digits, joined by single hyphens: drop-empty-text"),
    Mistake("[;.]", f"_WHERE {END}", "nothing stands behind a statement", fix=""),
    Mistake(";", END, "nothing stands behind a statement", fix=""),
    Mistake(r"[.]\d", f"{END} !", "this is a whole number: language: 1"),
    Mistake("[;,]", "RBRACE", "statements and clauses end with their line: nothing stands between them", fix=""),
    Mistake(r"\d", "VERSION_TEST", "a version has its bound before it: >= 4.6"),
    Mistake(",", "!", _PATTERNS),
)

# The same where no word of the language is near.
LESS_SURE = (
    Mistake(r"\S+/", f"VERSION_TEST {END}", _PATTERNS),
    Mistake("[A-Za-z]", f"VERSION_TEST {END}", "provider and model are joined with /: anthropic/claude"),
    Mistake("[a-z]", "COMMA _ON", _COMMA),
)

# What other languages call our words.
MEANT = {
    **dict.fromkeys(("delete", "remove", "filter", "strip", "discard", "skip", "omit"), "drop"),
    **dict.fromkeys(("join", "combine", "concat", "concatenate", "collapse"), "merge"),
    **dict.fromkeys(("add", "append", "prepend", "create"), "insert"),
    **dict.fromkeys(("update", "assign", "let", "change"), "set"),
    **dict.fromkeys(("substitute", "sub", "gsub", "rewrite"), "replace"),
    **dict.fromkeys(("cast", "parse", "stringify"), "coerce"),
    **dict.fromkeys(("warn", "log", "print", "error", "fail"), "report"),
    **dict.fromkeys(("sort", "order"), "reorder"),
    **dict.fromkeys(("deduplicate", "unique", "distinct"), "dedupe"),
    **dict.fromkeys(("cut", "limit", "trim", "clip"), "truncate"),
    **dict.fromkeys(("int", "integer", "float"), "number"),
    **dict.fromkeys(("bool",), "boolean"),
    **dict.fromkeys(("str", "text"), "string"),
    **dict.fromkeys(("object", "dict", "list", "array"), "json"),
}

# Of these the words that may mean something else as well.
UNSURE = frozenset(
    {"filter", "strip", "skip", "create", "let", "change", "update", "parse", "error", "fail", "sort", "order", "limit",
     "trim", "clip", "object", "dict", "list", "array"}
)  # fmt: skip

# What other tools call the fields of a rule and of a test.
MEANT_FIELDS = {
    **dict.fromkeys(("id", "title", "rule"), "name"),
    **dict.fromkeys(("reason", "why", "description", "message", "comment"), "because"),
    **dict.fromkeys(("link", "links", "url", "urls", "source", "sources", "reference", "references"), "see"),
    **dict.fromkeys(("date", "checked", "last_verified"), "verified"),
    **dict.fromkeys(("provider", "providers", "for"), "models"),
    **dict.fromkeys(("if", "condition", "where"), "when"),
    **dict.fromkeys(("error", "errors", "match", "pattern", "trigger"), "on_error"),
    **dict.fromkeys(("statement", "statements", "action", "actions", "steps", "then", "fix", "repair"), "do"),
    **dict.fromkeys(("test", "case", "cases", "examples"), "tests"),
    **dict.fromkeys(("input", "before", "history", "messages"), "given"),
    **dict.fromkeys(("expect", "expected", "output", "after", "result"), "then"),
}
