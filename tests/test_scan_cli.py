"""`historycompat scan`: which threads it finds, in which words, and how it takes files that are none."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cli_tools import MODULE, environment, on_terminal, run, start
from ruamel.yaml import YAML
from support import ROOT

HERE = Path(__file__).parent
CASES: list[dict[str, Any]] = YAML(typ="safe").load(HERE / "scan_cases.yaml")
CONVERSATION = json.loads((HERE / "same_conversation.json").read_text(encoding="utf-8"))
CHAT = json.loads(json.dumps(CONVERSATION["natives"]["anthropic"]))
del CHAT["messages"][1]["content"][0]  # its thinking, of which the rules for Cerebras have something to say
FINE = [{"role": "user", "content": "hi"}]
LAB = str(HERE / "scan.rules.yaml")
SCAN = f"--model cerebras/lab --rules {shlex.quote(LAB)}"


def lines(path: Path, *values: Any) -> Path:
    """A file with a line for each value; bytes are lines as they are."""
    path.write_bytes(b"".join(v if isinstance(v, bytes) else json.dumps(v).encode() + b"\n" for v in values))
    return path


def found(text: str) -> list[str]:
    """The findings of a JSON report, in short."""
    return [f"{f['line']}:{f['column']} {f['rule']} ({f['kind']}) {f['message']}" for f in json.loads(text)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"].replace(" ", "-"))
def test_what_is_found(case: dict[str, Any], tmp_path: Path) -> None:
    name = case.get("file", "threads.jsonl")
    data = bytes.fromhex(case["hex"]) if "hex" in case else case["text"].encode()
    (tmp_path / name).write_bytes(data)
    ran = run(f"scan {name} {SCAN} --output-format json {case.get('options', '')}", cwd=tmp_path)
    assert found(ran.out) == case["found"]
    assert ran.code == bool(case["found"])
    assert ran.err.splitlines()[-1] == case["says"]
    assert (tmp_path / name).read_bytes() == data
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_the_table(tmp_path: Path) -> None:
    lines(tmp_path / "a.jsonl", CHAT, b"\n", FINE, *[[{"role": "user", "content": "lab"}]] * 5, b"no\n")
    ran = run(f"scan a.jsonl {SCAN}", cwd=tmp_path)
    assert ran.code == 1
    assert ran.out == (
        "rule              threads  places  first seen in\n"
        "lab-word                5       5  a.jsonl:4, a.jsonl:5, a.jsonl:6 and 2 more\n"
        "lab-ids                 1       4  a.jsonl:1\n"
        "lab-two (report)        1       1  a.jsonl:1\n"
        "\n"
        "a.jsonl:9:1: this is not JSON: Expecting value\n"
    )


def test_each_thread_may_be_in_a_format_of_its_own(tmp_path: Path) -> None:
    natives = CONVERSATION["natives"]
    lines(tmp_path / "all.jsonl", *natives.values())
    ran = run(f"scan all.jsonl {SCAN} --output-format json", cwd=tmp_path)
    ids = {each["line"] for each in json.loads(ran.out) if each["rule"] == "lab-ids"}
    assert ids == set(range(1, len(natives) + 1))


def _list_in(native: Any) -> Any:
    return native if isinstance(native, list) else max((v for v in native.values() if isinstance(v, list)), key=len)


@pytest.mark.parametrize("key", ["messages", "history", "body"])
def test_records_hold_threads_under_any_key(key: str, tmp_path: Path) -> None:
    natives = CONVERSATION["natives"]
    inside = [native if key == "body" else _list_in(native) for native in natives.values()]
    lines(tmp_path / "all.jsonl", *({"id": name, key: held} for name, held in zip(natives, inside, strict=True)))
    lines(tmp_path / "bare.jsonl", *inside)
    bare, ran = (run(f"scan {name}.jsonl {SCAN} --output-format json", cwd=tmp_path) for name in ("bare", "all"))
    same = [{**finding, "file": "bare.jsonl"} for finding in json.loads(ran.out)]
    assert same == json.loads(bare.out)
    assert {each["line"] for each in same if each["rule"] == "lab-ids"} == set(range(1, len(natives) + 1))


def test_a_record_with_two_lists_is_ambiguous(tmp_path: Path) -> None:
    lines(tmp_path / "a.jsonl", {"left": CHAT["messages"], "right": FINE})
    assert "there are no messages in it" in run(f"scan a.jsonl {SCAN}", cwd=tmp_path).out


def test_sarif(tmp_path: Path) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    lines(tmp_path / "a.jsonl", CHAT, b"{\n", FINE)
    log = json.loads(run(f"scan a.jsonl {SCAN} --output-format sarif", cwd=tmp_path).out)
    (single,) = log["runs"]
    rules = [rule["id"] for rule in single["tool"]["driver"]["rules"]]
    assert rules == ["lab-ids", "lab-two", "unreadable"]
    assert [rules[result["ruleIndex"]] for result in single["results"]] == [r["ruleId"] for r in single["results"]]
    assert [result["level"] for result in single["results"]] == ["warning", "error", "error"]
    places = [result["locations"][0]["physicalLocation"] for result in single["results"]]
    assert [(place["artifactLocation"]["uri"], place["region"]["startLine"]) for place in places] == [
        ("a.jsonl", 1),
        ("a.jsonl", 1),
        ("a.jsonl", 2),
    ]
    schema = HERE / "schemas" / "sarif-2.1.0.json"
    if schema.exists():
        jsonschema.validate(log, json.loads(schema.read_text(encoding="utf-8")))


def test_nothing_found(tmp_path: Path) -> None:
    lines(tmp_path / "a.jsonl", FINE)
    for output, empty in (("json", []), ("sarif", "runs"), ("text", None)):
        ran = run(f"scan a.jsonl {SCAN} --output-format {output}", cwd=tmp_path)
        assert ran.code == 0
        assert ran.err == "1 thread (1 openai-chat): cerebras/lab would refuse 0.\n"
        if output == "text":
            assert ran.out == ""
        else:
            got = json.loads(ran.out)
            assert got == empty or got["runs"][0]["results"] == []


def test_a_provider_that_the_rules_of_the_house_name_is_known(tmp_path: Path) -> None:
    lines(tmp_path / "a.jsonl", FINE)
    (tmp_path / "own.rules").write_text("rule own { models acme/ drop assistant/reasoning }", encoding="utf-8")
    for command in ("scan", "apply"):
        line = f"{command} a.jsonl --model acme/one"
        assert "names no provider" in run(line, cwd=tmp_path).err
        assert "names no provider" not in run(f"{line} --rules own.rules", cwd=tmp_path).err


@pytest.mark.parametrize(
    ("line", "says", "code"),
    [
        ("scan . a.jsonl", "historycompat: .: this is a directory; name the files in it", 2),
        ("scan no.jsonl a.jsonl", "historycompat: no.jsonl: there is no such file", 2),
        ("scan a.jsonl --format opnai-chat", 'there is no format "opnai-chat": did you mean "openai-chat"?', 2),
        ("scan a.jsonl --rules no.yaml", "no.yaml", 2),
        ("scan a.jsonl --model ' '", "--model names no model", 2),
        ("scan", "Missing argument", 2),
        ("scan a.jsonl --model mistal/large", 'no provider that the rules know (did you mean "mistral"?)', 0),
    ],
)
def test_mistakes_get_one_clear_message(line: str, says: str, code: int, tmp_path: Path) -> None:
    lines(tmp_path / "a.jsonl", FINE)
    model = "" if "--model" in line else "--model mistral/large"
    ran = run(f"{line} {model}", cwd=tmp_path)
    assert says in re.sub(r"[\s│]+", " ", ran.err)
    assert "Traceback" not in ran.err
    assert ran.code == code


def test_files_that_can_be_read_are_scanned_all_the_same(tmp_path: Path) -> None:
    lines(tmp_path / "a.jsonl", CHAT)
    ran = run(f"scan no.jsonl a.jsonl {SCAN} --output-format json", cwd=tmp_path)
    assert (ran.code, len(json.loads(ran.out))) == (2, 2)


@pytest.mark.parametrize("output", ["text", "json", "sarif"])
def test_a_reader_who_goes_away(output: str, tmp_path: Path) -> None:
    lines(tmp_path / "a.jsonl", *[CHAT] * 50)
    arguments = shlex.split(f"scan a.jsonl {SCAN} --output-format {output}")
    with start(arguments, cwd=tmp_path) as process:
        assert process.stdout
        process.stdout.close()
        process.stdout = None
        _, err = process.communicate()
    assert b"Traceback" not in err
    assert process.returncode == 1
    looked = int(re.match(rb"(\d+) thread", err)[1])  # type: ignore[index]
    assert looked == (50 if output == "text" else 1)


def test_standard_input(tmp_path: Path) -> None:
    given = b"".join(json.dumps(each).encode() + b"\n" for each in (FINE, CHAT))
    ran = run(f"scan - {SCAN} --output-format json", given=given)
    assert [(each["file"], each["line"]) for each in json.loads(ran.out)] == [("-", 2), ("-", 2)]
    assert run(["-c", f"{shlex.join(MODULE)} scan - {SCAN} <&-"], program=["sh"]).err.startswith(
        "historycompat: standard input is closed"
    )


def test_a_bar_on_a_terminal_only(tmp_path: Path) -> None:
    lines(tmp_path / "a.jsonl", *[FINE] * 50)
    assert "scanning" in on_terminal(f"scan a.jsonl {SCAN}", 80, cwd=tmp_path)
    assert "scanning" not in run(f"scan a.jsonl {SCAN}", cwd=tmp_path).err


def test_a_thread_of_ten_thousand_messages(tmp_path: Path) -> None:
    long = [{"role": role, "content": f"{at}"} for at in range(5_000) for role in ("user", "assistant")]
    lines(tmp_path / "a.jsonl", long, b"{\n", [*long, {"role": "user", "content": "lab"}])
    ran = run(f"scan a.jsonl {SCAN} --output-format json", cwd=tmp_path)
    assert [each["rule"] for each in json.loads(ran.out)] == ["unreadable", "lab-word"]


# The peak of this program alone: what getrusage says begins with that of the one which started it.
_PEAK = """
import re, sys
from historycompat.cli import app
try:
    app(sys.argv[1:])
except SystemExit:
    print(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1], file=sys.stderr)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="only Linux tells the peak of a program")
def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    thread = [{"role": "user", "content": "lab " + "x" * 20_000}]
    peaks = []
    for number in (5, 500):  # 10 MB in all
        path = lines(tmp_path / f"{number}.jsonl", *[thread] * number)
        arguments = ["scan", str(path), *shlex.split(SCAN), "--output-format", "json"]
        ran = subprocess.run(
            [sys.executable, "-c", _PEAK, *arguments], capture_output=True, text=True, env=environment(), cwd=ROOT
        )
        peaks.append(int(ran.stderr.split()[-1]))
    assert peaks[1] - peaks[0] < 5_000  # kilobytes
