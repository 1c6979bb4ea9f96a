"""What came of rule tests → JSON for programs, JUnit's XML for build servers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from historycompat.cli.output import to_json
from historycompat.cli.screen import visible

if TYPE_CHECKING:
    from historycompat.cases import Verdict
    from historycompat.cli.test import Tested


def as_json(tested: Sequence[Tested], coverage: bool) -> bytes:
    """One object: the totals, and for each file its verdicts and, where asked for, its gaps."""
    verdicts = [verdict for one in tested for verdict in one.verdicts]
    passed = sum(verdict.passed for verdict in verdicts)
    return to_json({"passed": passed, "failed": len(verdicts) - passed, "files": [_file(o, coverage) for o in tested]})


def _file(tested: Tested, coverage: bool) -> dict[str, Any]:
    made: dict[str, Any] = {
        "file": tested.file,
        "tests": [
            {"rule": v.rule, "name": v.case, "verdict": v.kind} | ({} if v.passed else _failure(tested, v))
            for v in tested.verdicts
        ],
    }
    if coverage:
        gaps = [
            {"rule": rule, "line": point.place.line, "what": point.what, "text": point.text, "gap": point.gap}
            for rule, point in tested.gaps
        ]
        made["coverage"] = {"points": tested.points, "gaps": gaps}
    return made


def _failure(tested: Tested, verdict: Verdict) -> dict[str, Any]:
    line = tested.place(verdict).line
    return {"line": line, "problem": verdict.problem, "expected": verdict.expected, "got": verdict.got}


def as_junit(tested: Sequence[Tested], coverage: bool) -> bytes:
    """A `testsuites` document: a suite for each file, a `failure` for each test that did not pass."""
    root = ElementTree.Element("testsuites", name="historycompat")
    for one in tested:
        attributes = {"name": one.file, "tests": str(len(one.verdicts)), "failures": str(len(one.failures))}
        suite = ElementTree.SubElement(root, "testsuite", attributes)
        for verdict in one.verdicts:
            case = ElementTree.SubElement(suite, "testcase", classname=verdict.rule, name=visible(verdict.case))
            if not verdict.passed:
                message = visible(verdict.problem)
                failure = ElementTree.SubElement(case, "failure", type=verdict.kind, message=message)
                failure.text = str(one.place(verdict))
        if coverage and one.gaps:
            out = ElementTree.SubElement(suite, "system-out")
            out.text = "\n".join(f"{point.place}: {rule}: {visible(point.gap or '')}" for rule, point in one.gaps)
    ElementTree.indent(root)
    text: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return text + b"\n"
