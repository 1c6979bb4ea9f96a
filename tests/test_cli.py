"""The command line, run as a process: golden transcripts, terminals, and every mistake of a user."""

from __future__ import annotations

import json
import os
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from cli_tools import DATA, MODULE, SCRIPT, Ran, environment, on_terminal, run, start, takes_interrupts, terminal
from ruamel.yaml import YAML
from support import ROOT

from historycompat.formats import FORMATS

GOLDENS = sorted((DATA / "goldens").glob("*.txt"))
MISTAKES: list[dict[str, Any]] = YAML(typ="safe").load(DATA / "mistakes.yaml")
HISTORY = "examples/histories/moved-to-claude.json"
APPLY = f"apply {ROOT / HISTORY} --model anthropic/claude-sonnet-4-5"
HELLO = b'[{"role": "user", "content": "hi"}]'


@cache
def repaired() -> Ran:
    """The main job, done once for the tests that look at it from several sides."""
    return run(APPLY)


def _golden(path: Path, text: str) -> None:
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(text, encoding="utf-8", newline="\n")
    assert text == path.read_text(encoding="utf-8")


# What changes with every built-in rule: how many there are, and the names of those for every model.
_BUILTIN = (
    (re.compile(r"\d+(?= rules for )"), "{number}"),
    (re.compile(r"(?<=those that apply to it:)[^.]*?(?=\n\n)"), " {names}"),
    (re.compile(r"(?<=columns\n).*?(?=‹1;36mlab-ids)", re.DOTALL), "{builtin rules}\n"),
)


def _transcript(line: str) -> str:
    command, *options = line.split("  # ")
    arguments = command.removeprefix("$ historycompat ")
    if options:
        columns = int(options[0].removesuffix(" columns"))
        stream = "stdout" if arguments.startswith("rules") or "--diff" in arguments else "stderr"
        text = f"{line}\n{on_terminal(arguments, columns, stream=stream, cwd=ROOT)}"
    else:
        ran = run(arguments, cwd=ROOT)
        text = f"{line}\n--- exit code {ran.code}\n--- standard output\n{ran.out}--- standard error\n{ran.err}"
    for pattern, stands_for in _BUILTIN:
        text = pattern.sub(stands_for, text)
    return text


@pytest.mark.parametrize("path", GOLDENS, ids=lambda path: path.stem)
def test_transcripts(path: Path) -> None:
    first = path.read_text(encoding="utf-8").partition("\n")[0]
    text = _transcript(first)
    assert "Traceback" not in text
    _golden(path, text)


def _content(made: dict[str, Any]) -> bytes:
    match made:
        case {"text": text}:
            return str(text).encode()
        case {"hex": digits}:
            return bytes.fromhex(str(digits))
        case {"nested": [opening, depth, inside, closing]}:
            return f"{opening * depth}{inside}{closing * depth}".encode()
    raise ValueError(made)


@pytest.mark.parametrize("case", MISTAKES, ids=lambda case: case["name"].replace(" ", "-"))
def test_a_mistake_gets_one_clear_message(case: dict[str, Any], tmp_path: Path) -> None:
    for name, made in case.get("files", {}).items():
        (tmp_path / name).write_bytes(_content(made))
    given = _content(case["stdin"]) if "stdin" in case else b""
    before = sorted(tmp_path.iterdir())
    ran = run(case["run"], given=given, cwd=tmp_path)
    assert ran.err.rstrip("\n") == case["says"].rstrip("\n").replace("{formats}", ", ".join(FORMATS))
    assert (ran.code, ran.out) == (2, "")
    assert sorted(tmp_path.iterdir()) == before


def test_the_script_and_the_module_are_the_same_program() -> None:
    if not SCRIPT.exists():
        pytest.skip("historycompat is not installed here, only importable")
    for line in ("apply nothing.json -m x", "-h"):
        with start(shlex.split(line), program=[str(SCRIPT)]) as script, start(shlex.split(line)) as module:
            assert script.communicate() == module.communicate()
        assert script.returncode == module.returncode


def test_a_repair_loads_nothing_that_reads_rule_text() -> None:
    heavy = ("lark", "ruamel", "jmespath", "historycompat.language.packs", "historycompat.language.parse")
    history = str(ROOT / "examples" / "histories" / "prefill.json")
    code = f"import runpy, sys, atexit; atexit.register(lambda: print([m for m in {heavy!r} if m in sys.modules]))"
    code += "; runpy.run_module('historycompat', run_name='__main__')"
    program = [sys.executable, "-c", code, "apply", history, "-m", "anthropic/claude-opus-4-6"]
    ran = subprocess.run(program, capture_output=True, text=True, env=environment(), check=True)
    assert ran.stdout.splitlines()[-1] == "[]"


# What the operating system does to a program


def test_a_reader_who_goes_away() -> None:
    with start(shlex.split(APPLY)) as process:
        assert process.stdout
        process.stdout.close()
        process.stdout = None
        _, err = process.communicate()
    assert process.returncode == 0
    assert re.search(r"\nRepaired for anthropic/claude-sonnet-4-5 by \d+ rules; read as anthropic\.\n$", err.decode())
    assert b"Traceback" not in err


@pytest.mark.parametrize(
    ("command", "says", "code"),
    [
        (f"{APPLY} >&-", "historycompat: standard output is closed; name a file with --output\n", 2),
        (f"{APPLY} >/dev/full", "historycompat: standard output: No space left on device\n", 2),
        ("rules >/dev/full", "historycompat: standard output: No space left on device\n", 2),
        ("--help >/dev/full", "historycompat: standard output: No space left on device\n", 2),
        ("apply --model anthropic/claude-sonnet-4-5 <&-", "historycompat: standard input is closed; name a file\n", 2),
        (f"{APPLY} 2>&-", "", 0),
        (f"{APPLY} 2>/dev/full", "", 0),
    ],
)
def test_streams_that_are_closed_or_full(command: str, says: str, code: int) -> None:
    ran = run(["-c", f"{shlex.join(MODULE)} {command}"], program=["sh"])
    assert (ran.code, ran.err) == (code, says)


def test_a_disk_that_fills_up_leaves_the_old_file(tmp_path: Path) -> None:
    output = tmp_path / "history.json"
    output.write_text("as it was")

    def small() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))

    ran = run(
        f"{APPLY} --output history.json", cwd=tmp_path, preexec_fn=small, env=environment(PYTHONDONTWRITEBYTECODE="1")
    )
    assert (ran.code, ran.out, ran.err) == (2, "", "historycompat: history.json: File too large\n")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("history.json", "as it was")]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("apply secret.json -m x", "historycompat: secret.json: Permission denied\n"),
        ("apply - -m x --rules secret.json", "historycompat: secret.json: Permission denied\n"),
        ("apply - -m x --output locked/out.json", "historycompat: locked/out.json: Permission denied\n"),
    ],
)
def test_what_may_not_be_read_or_written(line: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "secret.json").write_bytes(HELLO)
    (tmp_path / "secret.json").chmod(0)
    (tmp_path / "locked").mkdir(mode=0o500)
    ran = run(line, given=HELLO, cwd=tmp_path, program=[*_without_privileges(), *MODULE])
    assert (ran.code, ran.out, ran.err) == (2, "", says)


def _without_privileges() -> list[str]:
    """Root may read everything, unless it gives that up first."""
    if os.geteuid() != 0:
        return []
    if shutil.which("setpriv") is None:
        pytest.skip("root may read everything, and setpriv is not installed")
    return ["setpriv", "--bounding-set", "-dac_override,-dac_read_search", "--"]


def test_an_interrupted_run_ends_without_a_traceback() -> None:
    with (
        terminal(80) as (_, keyboard),
        start(shlex.split("apply --model x"), stdin=keyboard, preexec_fn=takes_interrupts) as process,
    ):
        assert process.stderr
        assert process.stderr.readline() == b"reading a history from standard input; end it with Ctrl-D\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        os.close(keyboard)
    assert out == b""
    assert b"Traceback" not in err
    assert process.returncode == 130


# What comes out


def test_output_is_what_standard_output_would_have_been(tmp_path: Path) -> None:
    written = run(f"{APPLY} --output {tmp_path / 'out.json'}")
    assert (written.code, written.out) == (0, "")
    assert (tmp_path / "out.json").read_text(encoding="utf-8") == repaired().out
    assert [path.name for path in tmp_path.iterdir()] == ["out.json"]


def test_output_keeps_the_mode_of_a_file_and_follows_a_link(tmp_path: Path) -> None:
    target = tmp_path / "history.json"
    target.write_bytes(HELLO)
    target.chmod(0o640)
    (tmp_path / "link.json").symlink_to(target)
    assert run(f"{APPLY} --output {tmp_path / 'link.json'}").code == 0
    assert (tmp_path / "link.json").is_symlink()
    assert target.stat().st_mode & 0o777 == 0o640
    assert len(json.loads(target.read_bytes())) > 1


def test_output_to_a_device_writes_to_it() -> None:
    ran = run(f"{APPLY} --output /dev/stdout", env=environment())  # a pipe
    assert json.loads(ran.out)
    assert Path("/dev/null").is_char_device()


def test_json_holds_the_history_and_every_edit() -> None:
    told = json.loads(run(f"{APPLY} --json").out)
    assert told["messages"] == json.loads(repaired().out)
    assert (told["format"], told["changed"], told["first_edit"]) == ("anthropic", True, 1)
    edit = next(edit for edit in told["trace"] if edit["before"] == "functions.bash:0")
    assert edit.keys() == {"rule", "statement", "place", "op", "pointer", "before", "after"}
    assert (edit["op"], edit["pointer"]) == ("replace", "/messages/1/content/1/toolCallId")
    assert told["reports"] == told["faults"] == []


def test_a_diff_is_a_patch(tmp_path: Path) -> None:
    patch = run(f"{APPLY} --diff").out
    shutil.copy(ROOT / HISTORY, tmp_path / "history.json")
    if shutil.which("patch") is None:
        pytest.skip("patch is not installed")
    subprocess.run(["patch", "-s", tmp_path / "history.json"], input=patch, text=True, check=True)
    assert (tmp_path / "history.json").read_text(encoding="utf-8") == repaired().out


def test_an_unchanged_history_comes_out_equal_and_gives_no_diff() -> None:
    assert json.loads(run("apply --model openai/gpt-5", given=HELLO).out) == json.loads(HELLO)
    assert run("apply --model openai/gpt-5 --diff", given=HELLO).out == ""


def test_no_colour_where_it_is_not_wanted() -> None:
    coloured = re.compile("3[0-7]m")
    assert coloured.search(on_terminal(APPLY, 80))
    assert not coloured.search(on_terminal(APPLY, 80, env=environment(NO_COLOR="1")))
    assert "\x1b" not in repaired().err


@pytest.mark.parametrize("name", ["bomb.yaml", "deep.yaml", "deep.rules"])
def test_rule_files_made_to_explode(name: str, tmp_path: Path) -> None:
    tens = [f"x{n}: &x{n} [{', '.join([f'*x{n - 1}'] * 9)}]" for n in range(1, 10)]
    text = {
        "bomb.yaml": "\n".join(["language: 1", "pack: bomb", "x0: &x0 [lol]", *tens, "rules: *x9", ""]),
        "deep.yaml": f"language: 1\npack: deep\nrules: {'[' * 10_000}{']' * 10_000}\n",
        "deep.rules": f"pack deep language 1\nrule x {{ when {'(' * 10_000}a{')' * 10_000} drop call }}\n",
    }
    (tmp_path / name).write_text(text[name])
    checked = run(f"check {name}", cwd=tmp_path)
    assert checked.code == 1
    assert name in checked.out
    assert "Traceback" not in checked.out + checked.err
    applied = run(f"apply --model x --rules {name}", given=HELLO, cwd=tmp_path)
    assert (applied.code, applied.out) == (2, "")
    assert name in applied.err
    assert "Traceback" not in applied.err


@pytest.mark.slow
def test_a_hundred_megabytes(tmp_path: Path) -> None:
    turn = [
        {"role": "user", "content": "question " + "x" * 450},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "t.1", "name": "ls", "input": {"path": "y" * 450}}],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t.1", "content": "z" * 450}]},
    ]
    path = tmp_path / "history.json"
    path.write_text(json.dumps(turn * 70_000))
    assert path.stat().st_size > 100_000_000
    ran = run(f"apply {path} --model anthropic/claude-sonnet-4-5 --output {tmp_path / 'out.json'}")
    assert (ran.code, ran.out) == (0, "")
    assert "anthropic-tool-id-format  140,000 changes" in ran.err
    assert '"id": "t.1"' not in (tmp_path / "out.json").read_text()
