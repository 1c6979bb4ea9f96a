"""What people bring along from other dialects of regular expressions, and what to write instead."""

# How a group starts, what it is called, what to write instead.
FOREIGN_GROUPS = (
    ("(?=", "lookahead", "match the text itself, or put the second condition into `where matches(..)`"),
    ("(?!", "negative lookahead", "match what may stand there, as in `[^x]`, or say `!matches(..)` in `where`"),
    ("(?<=", "lookbehind", "match the text itself and capture what follows it"),
    ("(?<!", "negative lookbehind", "match what may stand there, as in `(^|[^x])`"),
    ("(?>", "an atomic group", "write `(?:..)`: matching never backtracks here"),
    ("(?#", "a comment", "put it into a `#` line above the rule"),
    ("(?(", "a conditional group", "write both alternatives out: `(?:ab|c)`"),
    ("(?P=", "a backreference", "write the alternatives out, or compare the values in `where`"),
    ("(?P>", "a recursive pattern", "write the levels out"),
)

# The letter behind the backslash: what is wrong with it, what to write instead.
FOREIGN_ESCAPES = {
    "Z": ("`\\Z` is not in the RE2 dialect", "write `\\z`, or `$` without the flag m"),
    "Q": ("`\\Q` is not portable", "escape the punctuation with backslashes"),
    # RE2 finds it inside a character of several bytes, and `re` before Python 3.14 not in the empty text.
    "B": ("`\\B` does not mean the same everywhere", "write the characters that may stand there, as in `[a-z]`"),
    "C": ("`\\C` is not portable", "write `.`"),
    "p": ("Unicode classes are not portable", "write the characters or ranges, such as `[A-Za-zÀ-ÿ]`"),
    "u": ("`\\u` is not in the RE2 dialect", "write `\\x{..}` with the hexadecimal number"),
    "x": ("`\\x` needs two hexadecimal digits, or any number in braces", "write `\\x41` or `\\x{41}`"),
    "0": ("octal numbers are not in the dialect", "write `\\x00` or `\\x{..}`"),
    "k": ("a backreference is not in the RE2 dialect", "write the alternatives out, or compare the values in `where`"),
}
FOREIGN_ESCAPES |= {"P": FOREIGN_ESCAPES["p"], "U": FOREIGN_ESCAPES["u"], "g": FOREIGN_ESCAPES["k"]}
FOREIGN_ESCAPES |= dict.fromkeys("123456789", FOREIGN_ESCAPES["k"])
