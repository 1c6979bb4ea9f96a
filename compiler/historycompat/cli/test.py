"""`historycompat test`: the tests inside rule files."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated

import typer
from rich.text import Text

from historycompat.cases import Verdict, case_name, run_case
from historycompat.cli import test_reports
from historycompat.cli.output import write_out
from historycompat.cli.screen import complain, count, fail, say, visible
from historycompat.compiling import UnreadableRules, compile_source, read_source
from historycompat.coverage import Coverage, Point
from historycompat.errors import HistoryCompatError, RuleError, did_you_mean
from historycompat.language.packs import Kind, read_pack
from historycompat.resources import data_dir
from historycompat.ruleset import Rule
from historycompat.shorthand import as_yaml
from historycompat.source import Place, Source

_STYLES = {"+": "green", "-": "red"}


class Output(StrEnum):
    """What `--output-format` takes."""

    TEXT = "text"
    JSON = "json"
    JUNIT = "junit"


class NothingChosen(HistoryCompatError):
    """`-k` chose no test."""


@dataclass(slots=True)
class Tested:
    """What came of one rule file: its rules, a verdict for each case that was run, and what no case shows."""

    file: str
    rules: tuple[Rule, ...]
    verdicts: list[Verdict] = field(default_factory=list)
    gaps: list[tuple[str, Point]] = field(default_factory=list)
    points: int = 0
    places: dict[tuple[str, int], Place] = field(default_factory=dict)

    @property
    def failures(self) -> list[Verdict]:
        return [verdict for verdict in self.verdicts if not verdict.passed]

    def place(self, verdict: Verdict) -> Place:
        """Where a case stands that did not pass."""
        return self.places.get((verdict.rule, verdict.number), Place(self.file, 1, 1))


def test(
    files: Annotated[
        list[str] | None, typer.Argument(help="Rule files; without any, the built-in rules.", metavar="[FILE]...")
    ] = None,
    only: Annotated[
        str | None, typer.Option("-k", metavar="TEXT", help="Only the tests whose rule or name contains this text.")
    ] = None,
    coverage: Annotated[
        bool,
        typer.Option("--coverage", help="Tell which patterns, statements and operands no test shows; exit 1 if any."),
    ] = False,
    output: Annotated[
        Output, typer.Option("--output-format", help="For people, for programs, or for a build server.")
    ] = Output.TEXT,
) -> None:
    """Run the tests inside rule files.

    A test is noisy if its rule edited what it should leave, missing if it left what it should edit, wrong if it
    edited otherwise or broke what holds for every rule, and unusable if the test itself makes no sense. Of every test
    it is checked, too, that a second run changes nothing, that the input is not touched, that the recorded edits lead
    to the result, that no pair of call and result is parted, and that a rule for an error sleeps after another one.
    """
    tested = [_run(*file, only) for file in _sources(files)]
    read = [one for one in tested if one is not None]
    if only and None not in tested and not any(one.verdicts for one in read):
        raise NothingChosen(_none_chosen(only, read))
    if output is Output.TEXT:
        for one in read:
            _show(one, coverage)
        _summary(read, coverage)
    else:
        write_out((test_reports.as_json if output is Output.JSON else test_reports.as_junit)(read, coverage))
    if None in tested:
        raise typer.Exit(2)
    if any(one.failures or (coverage and one.gaps) for one in read):
        raise typer.Exit(1)


def _none_chosen(only: str, read: list[Tested]) -> str:
    rules = [rule for one in read for rule in one.rules]
    names = [case_name(rule, number) for rule in rules for number in range(len(rule.meaning.tests))]
    hint = did_you_mean(only, [*(rule.name for rule in rules), *names])
    return f"no test has {only!r} in its name or in its rule's" + (f"; {hint}" if hint else "")


def _sources(files: list[str] | None) -> Iterator[tuple[Source | None, Kind]]:
    """The files to test; None in place of one that cannot be read."""
    if not files:
        folder = sorted(data_dir("builtin_rules").iterdir(), key=lambda file: file.name)
        yield from ((Source(f.name, f.read_text("utf-8")), "yaml") for f in folder if f.name.endswith(".yaml"))
    for file in files or ():
        try:
            yield read_source(file)
        except UnreadableRules as error:
            fail(error)
            yield None, "yaml"
        except RuleError as error:  # no kind of rule file has such a name
            complain(error.complaints)
            yield None, "yaml"


def _run(source: Source | None, kind: Kind, only: str | None) -> Tested | None:
    if source is None:
        return None
    try:
        tested = Tested(source.name, compile_source(source, kind))
    except RuleError as error:
        complain(error.complaints)
        return None
    for rule in tested.rules:
        _run_rule(rule, tested, (only or "").lower())
    if tested.failures:
        tested.places = _places(source, kind)
    return tested


def _places(source: Source, kind: Kind) -> dict[tuple[str, int], Place]:
    """Where the cases of a file stand, by rule and number."""
    pack, _ = read_pack(source, kind=kind)
    rules = pack.rules if pack else ()
    return {(rule.name, n): rule.spans[f"tests[{n}]"].place for rule in rules for n in range(len(rule.tests))}


def _run_rule(rule: Rule, tested: Tested, only: str) -> None:
    watch = Coverage(rule)
    for number in range(len(rule.meaning.tests)):
        if only in f"{rule.name} {case_name(rule, number)}".lower():
            tested.verdicts.append(run_case(watch.rule, number))
    tested.points += len(watch.points)
    tested.gaps += ((rule.name, point) for point in watch.gaps)


def _show(tested: Tested, coverage: bool) -> None:
    for verdict in tested.failures:
        head = Text.assemble((verdict.kind, "bold red"), f"  {verdict.rule}: {visible(verdict.case)}")
        what = f"  {tested.place(verdict)}: {visible(verdict.problem)}"
        say(head, what, *_difference(verdict), "", stderr=False, wrap=False)
    for rule, point in tested.gaps if coverage else ():
        head = Text.assemble((str(point.place), "bold"), f": {rule}: ", (visible(point.gap or ""), "yellow"))
        say(head, stderr=False, wrap=False)


def _difference(verdict: Verdict) -> Iterator[Text]:
    """The expected history and the one that came out, a message a line: `-` was expected, `+` came instead."""
    if verdict.kind == "unusable":
        return
    for line in difflib.ndiff(as_yaml(verdict.expected), as_yaml(verdict.got)):
        if not line.startswith("?"):
            yield Text("    " + visible(line), _STYLES.get(line[0], ""))


def _summary(read: list[Tested], coverage: bool) -> None:
    verdicts = [verdict for one in read for verdict in one.verdicts]
    failed = [verdict for verdict in verdicts if not verdict.passed]
    kinds = [f"{sum(v.kind == kind for v in failed)} {kind}" for kind in dict.fromkeys(v.kind for v in failed)]
    text = f"{count(len(verdicts), 'test')}: {', '.join([f'{len(verdicts) - len(failed)} passed', *kinds])}"
    untested = [rule.name for one in read for rule in one.rules if not rule.meaning.tests]
    if untested:
        text += f"; without tests: {', '.join(untested)}"
    gaps, points = sum(len(one.gaps) for one in read), sum(one.points for one in read)
    if coverage:
        text += f"; {points - gaps} of {points} points covered"
    say(Text(text, "yellow" if failed or (coverage and gaps) else "green"))
