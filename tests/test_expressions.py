"""Expressions: both back ends against the official suite, our own cases and the library itself; facts and places."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jmespath
import pytest
from jmespath import exceptions
from jmespath_library import agree, outcome, parsed, search, searched, truth
from random_expressions import Source as RandomSource
from support import shared

from historycompat.edits import pointer, value_at
from historycompat.language.expressions import closures, codegen, functions, locate
from historycompat.language.expressions.kinds import VARIABLES, Scope, kinds
from historycompat.language.expressions.values import type_of
from historycompat.language.parse import expression
from historycompat.source import Fragment, Source
from historycompat.tree import Expr
from historycompat.view import Context, PathHit, View

CASES = Path(__file__).parent / "expressions"
BACK_ENDS = {"closures": closures.compute, "codegen": codegen.compute}
ERRORS: dict[str, type[Exception]] = {
    "invalid-arity": exceptions.ArityError,
    "invalid-type": exceptions.JMESPathTypeError,
    "invalid-value": exceptions.JMESPathError,
    "unknown-function": exceptions.UnknownFunctionError,
    "undefined-variable": exceptions.JMESPathError,
}
OFFICIAL = ("basic", "boolean", "current", "escape", "filters", "functions", "identifiers", "indices", "literal")
OFFICIAL += ("multiselect", "pipe", "slice", "syntax", "unicode", "wildcard")

Case = dict[str, Any]
FACTS = json.loads((CASES / "facts.json").read_text(encoding="utf-8"))
PLACES = json.loads((CASES / "places.json").read_text(encoding="utf-8"))


def expr(text: str) -> Expr:
    return expression(Fragment.whole(Source("a test", text)))


def own_cases(*files: str) -> list[Any]:
    return [
        pytest.param({**group, **case}, id=f"{file}: {case['expression']}")
        for file in files
        for group in json.loads((CASES / f"{file}.json").read_text(encoding="utf-8"))
        for case in group["cases"]
    ]


def assert_case(compute: Callable[[Expr], Any], tree: Expr, case: Case) -> None:
    given = copy.deepcopy(case["given"])
    hit: Any = SimpleNamespace(**case.get("variables", {}))
    if "error" in case:
        with pytest.raises(ERRORS.get(case["error"], exceptions.JMESPathError)):
            compute(tree)(given, hit)
    else:
        assert json.dumps(compute(tree)(given, hit), sort_keys=True) == json.dumps(case["result"], sort_keys=True)
        assert codegen.predicate(tree)(given, hit) is truth(case["result"])
    assert given == case["given"]


@pytest.mark.parametrize("back_end", BACK_ENDS)
@pytest.mark.parametrize("case", own_cases("paths", "logic", "functions", "variables"))
def test_own_cases(case: Case, back_end: str) -> None:
    assert_case(BACK_ENDS[back_end], expr(case["expression"]), case)


@pytest.mark.parametrize("case", own_cases("paths", "logic", "functions"))
def test_the_library_says_the_same(case: Case) -> None:
    """Our own cases hold in the library too, but for errors of Python's own, which are ours to turn into values."""
    kind, value = searched(case["expression"], case["given"])
    if "library" in case:
        assert not isinstance(value, exceptions.JMESPathError)
    elif "error" in case:
        assert kind == "error"
    else:
        assert json.loads(value) == case["result"]


@pytest.mark.parametrize("back_end", BACK_ENDS)
@pytest.mark.parametrize("file", OFFICIAL)
def test_the_official_suite(file: str, back_end: str) -> None:
    for group in json.loads(shared(f"cases/jmespath_compliance/{file}.json").read_text(encoding="utf-8")):
        for case in group["cases"]:
            if case.get("error") != "syntax" and "bench" not in case:
                assert_case(BACK_ENDS[back_end], parsed(case["expression"]), {"given": group["given"], **case})


def check_against_library(seed: int, expressions: int, values_each: int) -> None:
    """Both back ends, predicates, part tests, types and `may_raise` against the library, on random expressions."""
    source = RandomSource(seed)
    for _ in range(expressions):
        text = source.expression()
        values = [source.data() for _ in range(values_each)]
        judged = [searched(text, value) for value in values]
        try:
            check_expression(parsed(text), values, judged)
        except AssertionError as error:
            raise AssertionError(f"{text}\n{error}") from error


def check_expression(tree: Expr, values: list[Any], judged: list[tuple[str, Any]]) -> None:
    computes = [compute(tree) for compute in BACK_ENDS.values()]
    predicate, part_test = codegen.predicate(tree), compiled_part_test(tree)
    types, raises = kinds(tree, Scope()), functions.may_raise(tree)
    for value, theirs in zip(values, judged, strict=True):
        before = json.dumps(value)
        for compute in computes:
            ours = outcome(compute, value, no_hit())
            assert agree(ours, theirs), (before, ours, theirs)
            assert ours[0] == "value" or raises, (before, ours)
            assert ours[0] == "error" or (type_of(json.loads(ours[1])) or "null") in types, (before, ours, types)
        true = outcome(predicate, value, no_hit())
        expected = (theirs[0], json.dumps(truth(json.loads(theirs[1])))) if theirs[0] == "value" else theirs
        assert agree(true, expected), (before, true, expected)
        if part_test and isinstance(value, dict):
            assert ("value", json.dumps(part_test(value))) == true, (before, true)
        assert json.dumps(value) == before


def no_hit() -> Any:
    return None


def compiled_part_test(tree: Expr) -> Callable[[Any], bool] | None:
    made = codegen.part_test(tree, at="part", prefix="x1_")
    if made is None:
        return None
    text, names = made
    assert all(name.startswith("x1_") for name in names)
    scope: dict[str, Any] = {"__builtins__": {}, **names}
    exec(f"def test(part):\n    if {text}: return True\n    return False", scope)
    test: Callable[[Any], bool] = scope["test"]
    return test


def test_random_expressions() -> None:
    check_against_library(seed=1, expressions=400, values_each=5)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 7))
def test_many_random_expressions(seed: int) -> None:
    check_against_library(seed, expressions=2_000, values_each=5)


def own_containers(value: Any) -> Iterator[int]:
    if isinstance(value, (list, dict)):
        yield id(value)
        for member in value if isinstance(value, list) else value.values():
            yield from own_containers(member)


def spread(found: Any, own: set[int]) -> Iterator[Any]:
    """The values that a result holds: lists that projections made are opened, those of the data are not."""
    if isinstance(found, list) and id(found) not in own:
        for member in found:
            yield from spread(member, own)
    elif found is not None:
        yield found


def check_places(seed: int, expressions: int) -> None:
    """In data without nulls the places hold, in order, the very values that the library finds."""
    source = RandomSource(seed)
    for _ in range(expressions):
        text = source.place()
        root = {name: source.data(1, nulls=False) for name in ("a", "b", "c", "type")}
        kind, _ = searched(text, root)
        try:
            places = list(locate.locator(parsed(text))(root, no_hit))
        except exceptions.JMESPathError:
            assert kind == "error", text
            continue
        if kind == "value":
            expected = list(spread(search(text, root), set(own_containers(root))))
            assert [value for _, value in places] == expected, (text, root)
        assert all(value_at(root, path) is value for path, value in places), (text, root)
        assert len({path for path, _ in places}) == len(places), (text, root)


def test_random_places() -> None:
    check_places(seed=1, expressions=1_000)


@pytest.mark.slow
def test_many_random_places() -> None:
    check_places(seed=2, expressions=10_000)


@pytest.mark.parametrize(("text", "pointers"), PLACES["places"])
def test_places(text: str, pointers: list[str]) -> None:
    root = PLACES["root"]
    view = View(root, Context())
    places = list(locate.locator(expr(text))(root, lambda path, value: PathHit(path, value, view)))
    assert [pointer(path) for path, _ in places] == pointers
    assert all(value_at(root, path) is value for path, value in places)


@pytest.mark.parametrize(("text", "part"), PLACES["problems"])
def test_what_names_no_place(text: str, part: str | None) -> None:
    found = locate.problem(expr(text))
    assert (found.span.text if found and found.span else None) == part


@pytest.mark.parametrize(("text", "expected"), FACTS["may_raise"])
def test_may_raise(text: str, expected: bool) -> None:
    assert functions.may_raise(expr(text)) is expected


@pytest.mark.parametrize(("text", "arguments"), FACTS["missing_arguments"])
def test_missing_arguments(text: str, arguments: list[str]) -> None:
    found = functions.missing_arguments(expr(text))
    assert [argument.span.text for _, argument in found if argument.span] == arguments


@pytest.mark.parametrize(("name", "argc", "problem"), FACTS["call_problem"])
def test_call_problem(name: str, argc: int, problem: str | None) -> None:
    assert functions.call_problem(name, argc) == problem


@pytest.mark.parametrize(("text", "names"), FACTS["variables"])
def test_variables(text: str, names: list[str]) -> None:
    assert sorted(codegen.variables(expr(text))) == names


@pytest.mark.parametrize(("text", "literal", "rest"), FACTS["type_literal"])
def test_type_literal(text: str, literal: str | None, rest: str | None) -> None:
    assert codegen.type_literal(expr(text)) == (literal, rest and expr(rest))


def test_conjuncts() -> None:
    assert codegen.conjuncts(expr("a && (b && c) && (d || e)")) == [expr(text) for text in ("a", "b", "c", "d || e")]


@pytest.mark.parametrize("text", FACTS["part_test_refused"])
def test_part_tests_refuse_what_one_safe_expression_cannot_say(text: str) -> None:
    assert codegen.part_test(expr(text)) is None


def test_signatures_are_the_library_s() -> None:
    table = jmespath.functions.Functions.FUNCTION_TABLE
    for name, entry in table.items():
        ours = functions.FUNCTIONS[name]
        takes = [frozenset(parameter["types"]) for parameter in entry["signature"]]
        assert [kinds if kinds != ours_any() else frozenset() for kinds in ours.takes] == takes, name
        assert ours.variadic == bool(entry["signature"][-1].get("variadic")), name
    assert set(functions.FUNCTIONS) - set(table) == {"blank", "has", "matches"}


def ours_any() -> frozenset[str]:
    return functions.FUNCTIONS["type"].takes[0]


def test_variables_are_what_a_hit_has() -> None:
    assert all(isinstance(getattr(PathHit, name), property | type(PathHit.index)) for name in VARIABLES)


@pytest.mark.parametrize("back_end", BACK_ENDS)
@pytest.mark.parametrize(
    "text", ['`[{"a": []}]`', '`{"a": {}}`', "a || `{}`", "[`[]`, a]", "{x: `[1]`}", "`[[1]]`[0]", "to_array(`[1]`)"]
)
def test_a_literal_is_new_each_time(text: str, back_end: str) -> None:
    compute = BACK_ENDS[back_end](expr(text))
    first, second = compute({}, no_hit()), compute({}, no_hit())
    assert first == second
    assert set(own_containers(first)).isdisjoint(own_containers(second))


def test_what_nests_too_deep_for_generated_code_still_runs() -> None:
    given = {"a": 0, "b": [{"b": [{"b": [7]}]}]}
    deep = {
        "||".join(["missing", *["a.b"] * 400, "a"]): 0,
        "!" * 151 + "a": False,
        "a" + ".b" * 300: None,
        "[" * 90 + "a" + "]" * 90 + "[0]" * 89: [0],
        "b" + "[*].b" * 30 + " || a": [],
    }
    for text, expected in deep.items():
        for compute in BACK_ENDS.values():
            value = compute(parsed(text))(given, no_hit())
            assert value == expected or (expected == [] and isinstance(value, list)), text


def test_subclasses_of_dict_and_list_are_objects_and_arrays() -> None:
    class Object(dict[str, Any]):
        pass

    class Array(list[Any]):
        pass

    given = Object(a=Array([Object(b="x"), Object(c=Object(b=0))]))
    text = "[a[*].b, a[0].b, a[?c.b == `0`].c.b, has(@, 'a'), has(a[1].c, 'b'), type(a), type(a[0]) == 'object', a[]]"
    expected = [["x"], "x", [0], True, True, "array", True, [{"b": "x"}, {"c": {"b": 0}}]]
    for compute in BACK_ENDS.values():
        assert compute(expr(text))(given, no_hit()) == expected


def test_generated_source() -> None:
    """What authors' conditions become, to be read. Rewrite `generated.txt` with this function's text where it is meant
    to change."""
    golden = CASES / "generated.txt"
    entries = golden.read_text(encoding="utf-8").split("\n\n\n")
    texts = [entry.split("\n", 1)[0].removeprefix("# ") for entry in entries]
    assert "\n\n\n".join(map(generated, texts)) == golden.read_text(encoding="utf-8").rstrip("\n")


def generated(text: str) -> str:
    part_test = codegen.part_test(expr(text))
    shown = part_test[0] if part_test else "none"
    return f"# {text}\n{codegen.source(expr(text), truth=True)}part test: {shown}"


def test_the_library_is_imported_only_where_one_of_its_functions_runs() -> None:
    program = """
import sys
import historycompat
assert "jmespath" not in sys.modules
from historycompat.language.expressions import codegen
from historycompat.tree import Expr
a, b = Expr("field", (), "a"), Expr("field", (), "b")
calls = [Expr("function_expression", (a,), name) for name in ("length", "type", "blank")]
for call in calls:
    codegen.compute(call)({"a": "x"}, None)
assert "jmespath" not in sys.modules
codegen.compute(Expr("function_expression", (a,), "reverse"))({"a": "x"}, None)
assert "jmespath" in sys.modules
"""
    path = str(Path(codegen.__file__).parents[3])
    done = subprocess.run([sys.executable, "-c", program], env={"PYTHONPATH": path}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
