"""The regular expressions of rules: one dialect, three engines that agree, and no pattern that hangs."""

from __future__ import annotations

import os
import pickle
import time
from importlib.util import find_spec

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from historycompat.regex import RegexError, cap_text, compile_regex, problems, required_literal, unknown_group

HAS_RE2 = find_spec("re2") is not None or "CI" in os.environ  # the build has it: there a missing one is a failure
ENGINES = ("re2", "re", "linear") if HAS_RE2 else ("re", "linear")
CATASTROPHE = ".*tool.*use.*id.*invalid.*"
ERROR_BODY = ("the tool could not use id " * 60)[:1350]

# pattern, flags, text, the span of the first match
SEARCHES = [
    ("a$", "", "a\n", None),
    ("a$", "m", "a\n", (0, 1)),
    ("^b", "", "a\nb", None),
    ("^b", "m", "a\nb", (2, 3)),
    (r"b\z", "m", "b\nb", (2, 3)),
    (r"\Ab", "m", "a\nb", None),
    ("a.b", "", "a\nb", None),
    ("a.b", "s", "a\nb", (0, 3)),
    (r"\d", "", "٣", None),
    (r"\w", "", "é", None),
    (r"\W", "", "é", (0, 1)),
    (r"\s", "", "\v", None),
    (r"[[:space:]]", "", "\v", (0, 1)),
    (r"\ba", "", "éa", (1, 2)),
    ("k", "i", "\u212a", None),
    ("é", "i", "É", None),
    ("[x-z]", "i", "aY", (1, 2)),
    ("[^a]", "i", "A", None),
    ("(?i)a(?-i)b", "", "Ab", (0, 2)),
    ("(?i:a)b", "", "AB", None),
    (r"\x{1F600}|\x41", "", "😀", (0, 1)),
    ("a|ab", "", "ab", (0, 1)),
    ("a+?", "", "aaa", (0, 1)),
    ("a{2,3}", "", "aaaa", (0, 3)),
    ('"a": {', "", '{"a": {', (1, 7)),
    ("[]a]+", "", "x]a", (1, 3)),
    ("[^\ud7ff]".replace("\ud7ff", r"\x{D7FF}"), "", "x", (0, 1)),
    (".", "", "\ud800", (0, 1)),
    (r"[^\s\S]", "", "x", None),
    ("", "", "x", (0, 0)),
]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("pattern", "flags", "text", "span"), SEARCHES)
def test_search(engine: str, pattern: str, flags: str, text: str, span: tuple[int, int] | None) -> None:
    match = compile_regex(pattern, flags, engine).search(text)
    assert (match and match.span()) == span


@pytest.mark.parametrize("engine", ENGINES)
def test_groups(engine: str) -> None:
    match = compile_regex(r"(?P<what>\w+)=(\d)?(x)?", "", engine).search("a b=1")
    assert match is not None
    assert match.group() == match.group(0) == "b=1"
    assert match.groups() == ("b", "1", None)
    assert match.groupdict() == {"what": "b"}
    assert match.group("what") == "b"
    assert match.span(3) == (-1, -1)
    with pytest.raises(IndexError):
        match.group("other")


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("pattern", "text", "result"),
    [
        ("[^a-z]", "a.b:c", "a_b_c"),
        ("x*", "axb", "_a__b_"),
        ("$", "ab", "ab_"),
        ("^a", "aaa", "_aa"),
        ("q", "ab", "ab"),
    ],
)
def test_sub(engine: str, pattern: str, text: str, result: str) -> None:
    regex = compile_regex(pattern, "", engine)
    assert regex.sub("_", text) == result
    assert regex.sub(r"\\$0\q", text) == result.replace("_", r"\$0\q")


@pytest.mark.parametrize("engine", ENGINES)
def test_sub_with_groups(engine: str) -> None:
    regex = compile_regex(r"<(\w+)( x)?>", "", engine)
    assert regex.sub(r"[\1\2|\0]", "a<b>c<d x>") == "a[b|<b>]c[d x|<d x>]"


@pytest.mark.parametrize(("replacement", "group"), [(r"\1\0", None), (r"\2", 2), (r"\\2", None), ("2", None)])
def test_unknown_group(replacement: str, group: int | None) -> None:
    assert unknown_group("(a)", "", replacement) == group


@pytest.mark.parametrize("engine", ENGINES)
def test_fullmatch_tries_every_alternative(engine: str) -> None:
    regex = compile_regex("a|ab|^", "", engine)
    assert regex.fullmatch("ab")
    assert regex.fullmatch("")
    assert not regex.fullmatch("abc")
    assert not regex.fullmatch("a\n")


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("text", [ERROR_BODY, ERROR_BODY * 48, "tool use id" * 100, "tool" * 16_000])
def test_the_pattern_that_took_minutes(engine: str, text: str) -> None:
    regex = compile_regex(CATASTROPHE, "i", engine)
    regex.search("")
    started = time.perf_counter()
    assert regex.search(text) is None
    assert time.perf_counter() - started < 0.25


@pytest.mark.parametrize("pattern", ["(a|aa)*c", r"(?:a|a){20}c", "a?" * 30 + "a{30}c", ".*a.*a.*a.*c", r"\w+\d+\w+c"])
def test_no_engine_hangs(pattern: str) -> None:
    for engine in ENGINES:
        started = time.perf_counter()
        assert compile_regex(pattern, "", engine).search("a" * 2000) is None
        assert time.perf_counter() - started < 1


PROBLEMS = [
    # pattern, code, the text complained about (None: no complaint)
    (r"(a)\1", "E301", r"\1"),
    (r"(?P<q>a)(?P=q)", "E301", "(?P="),
    (r"\k<q>", "E301", r"\k"),
    ("a(?=b)", "E301", "(?="),
    ("(?<!a)b", "E301", "(?<!"),
    ("(?>a)", "E301", "(?>"),
    ("x*+", "E301", "*+"),
    ("x**", "E301", "*"),
    ("ab(c", "E301", "("),
    ("ab)c", "E301", ")"),
    ("[a-", "E301", "["),
    ("[z-a]", "E301", "z-a"),
    (r"[a-\d]", "E301", r"a-\d"),
    ("+a", "E301", "+"),
    (r"a\Z", "E301", r"\Z"),
    (r"\u0041", "E301", r"\u"),
    (r"\p{L}", "E301", r"\p"),
    (r"a\Bb", "E301", r"\B"),
    (r"\x4", "E301", r"\x"),
    ("a\\", "E301", "\\"),
    ("a{3,2}", "E301", "{3,2}"),
    ("a{,2}", "E301", "{,2}"),
    ("a{2000}", "E301", "{2000}"),
    ("(?:a{50}){50}", "E301", "(?:a{50}){50}"),
    ("(?x)a", "E301", "(?x"),
    ("^*", "E301", "^*"),
    ("x(?:a+)+y", "E301", "(?:a+)+"),
    (r"(?:\s*\w*)*", "E301", r"(?:\s*\w*)*"),
    ("(?:a?)+", "E301", "(?:a?)+"),
    ("(" * 60 + ")" * 60, "E301", "("),
    (r"(?P<a>x)(?P<a>y)", "E301", "a"),
    ("", "W302", ""),
    (".*", "W302", ".*"),
    ("a?", "W302", "a?"),
    ("^", "W302", "^"),
    ("^.*$", "W302", "^.*$"),
    (r"[\s\S]+", "W302", r"[\s\S]+"),
    ("a$b", "W302", "a$b"),
    ("a^b", "W302", "a^b"),
    (r"[^\w\W]", "W302", r"[^\w\W]"),
    (r"\ba\b\w", "W302", r"\ba\b\w"),
    (CATASTROPHE, "W303", ".*use.*"),
    (r"x\w*-?\w*=", "W303", r"\w*-?\w*"),
    ("(a|aa)*b", "W303", "(a|aa)*"),
    (r"tool_use\.id:.*should match pattern", None, None),
    (r"^[a-zA-Z0-9_-]{1,64}$", None, None),
    (r"messages\.\d+\.content\.\d+: ", None, None),
    (r'"[^"]*": "[^"]*"', None, None),
    (r"(?:\w+, )*and \w+", None, None),
    (r"^(?:\d{1,3}\.){3}\d{1,3}$", None, None),
    (r"^$", None, None),
    (r"(?m)a$\nb", None, None),
    ("{a}", None, None),
]


@pytest.mark.parametrize(("pattern", "code", "about"), PROBLEMS)
def test_problems(pattern: str, code: str | None, about: str | None) -> None:
    found = problems(pattern)
    assert [p.code for p in found] == ([code] if code else [])
    for problem in found:
        assert pattern[problem.start : problem.end] == about or about in pattern[problem.start : problem.end]
        assert problem.message
        assert problem.suggestion or problem.code == "E301"


def test_unknown_flag() -> None:
    assert problems("a", "g")[0].suggestion == "the flags are i, m and s"


def test_an_unchecked_bad_pattern_fails_with_its_problem() -> None:
    with pytest.raises(RegexError) as caught:
        compile_regex("(?=a)").search("a")
    assert pickle.loads(pickle.dumps(caught.value)).problem == caught.value.problem


def test_regexes_are_cached_and_picklable() -> None:
    regex = compile_regex("a(b)", "i")
    assert regex.search("AB")
    assert compile_regex("a(b)", "i") is regex == pickle.loads(pickle.dumps(regex))
    match = regex.search("xab")
    assert pickle.loads(pickle.dumps(match)) == match


@pytest.mark.parametrize(
    ("pattern", "flags", "literal"),
    [
        (r"tool_use\.id:.*should match pattern", "", "should match pattern"),
        ("INVALID (?:a|b)", "", "invalid "),
        ("Tool", "i", "tool"),
        ("(?:abc)+d?ef", "", "abc"),
        ("a|b", "", None),
        ("é+", "", None),
    ],
)
def test_required_literal(pattern: str, flags: str, literal: str | None) -> None:
    assert required_literal(pattern, flags) == literal


def test_cap_keeps_both_ends() -> None:
    capped = cap_text("a" * 5000 + "b" * 5000, 1000)
    assert len(capped) == 1000
    assert capped.startswith("a" * 400)
    assert capped.endswith("b" * 400)
    assert compile_regex("a.*b").search(capped) is None
    assert cap_text("short", 1000) == "short"


# ----- the engines agree on random patterns and texts

_ATOMS = [
    "a",
    "b",
    "A",
    "é",
    "-",
    ".",
    "_",
    r"\.",
    r"\n",
    r"\d",
    r"\w",
    r"\W",
    r"\s",
    "[ab]",
    "[^a]",
    "[^a-c\\n]",
    "[[:alpha:]]",
]
_PLACES = ["^", "$", r"\b", r"\A", r"\z"]
_COUNTS = ["*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}", "{0,2}?", "{1,}"]

_patterns = st.recursive(
    st.sampled_from(_ATOMS + _PLACES),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=4).map("".join),
        st.lists(inner, min_size=2, max_size=3).map("|".join).map("(?:{})".format),
        inner.map("({})".format),
        st.tuples(inner, st.sampled_from(_COUNTS)).map(lambda it: f"(?:{it[0]}){it[1]}"),
        inner.map("(?i:{})".format),
        inner.map("(?ms:{})".format),
    ),
    max_leaves=12,
)
_texts = st.text(alphabet=st.sampled_from("aabbABé-_. 1\n\ud800\U0001f600"), max_size=14)


def _engines_agree(pattern: str, flags: str, text: str) -> None:
    if any(problem.code == "E301" for problem in problems(pattern, flags)):
        return
    answers = []
    for name in ENGINES:
        regex = compile_regex(pattern, flags, name)
        match, whole = regex.search(text), regex.fullmatch(text)
        answers.append((match and match.slots, whole and whole.slots, regex.sub("#", text)))
    assert all(answer == answers[0] for answer in answers), (pattern, flags, text)
    literal = required_literal(pattern, flags)
    assert answers[0][0] is None or literal is None or literal in text.lower()


@given(_patterns, st.sampled_from(["", "i", "s", "m", "ims"]), _texts)
@settings(max_examples=600, deadline=None)
def test_engines_agree(pattern: str, flags: str, text: str) -> None:
    _engines_agree(pattern, flags, text)


@pytest.mark.slow
@given(_patterns, st.sampled_from(["", "i", "s", "m", "ims"]), _texts)
@settings(max_examples=8_000, deadline=None)
def test_engines_agree_at_length(pattern: str, flags: str, text: str) -> None:
    _engines_agree(pattern, flags, text)
