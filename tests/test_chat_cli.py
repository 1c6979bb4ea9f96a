"""`historycompat chat`, with conversations piped in and at a terminal."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from cli_tools import run, start, takes_interrupts, terminal

CHAT = ["-m", "historycompat", "chat"]
SCRIPT = [
    {"tool_calls": [{"name": "look", "input": {"at": "Rome"}, "id": "look:1"}]},
    "I cannot look.",
    {
        "error": {
            "status": 400,
            "body": "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
        }
    },
    "It may rain.",
]


def talk(*lines: str, arguments: str = "", code: int = 0) -> tuple[str, str]:
    ran = run(f"chat {arguments}", given="".join(f"{line}\n" for line in lines).encode())
    assert ran.code == code, ran.err
    assert "Traceback" not in ran.err
    return ran.out, ran.err


def test_the_default_needs_no_network() -> None:
    out, err = talk("Hello there", "/quit", "never")
    assert out == "You said: Hello there\n"
    assert err.startswith("scripted/demo. Write a message, /model NAME")


def test_repairs_are_shown_as_they_happen(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text(json.dumps(SCRIPT))
    out, err = talk("Is it raining?", "And tomorrow?", arguments=f"--model scripted/{script}")
    assert out == "\nI cannot look.\nIt may rain.\n".lstrip("\n")
    said = err.splitlines()
    call = said.index("calls look {'at': 'Rome'}")
    assert "is no tool" in said[call + 1]
    refused, rule, again = said[-3:]
    assert "anthropic-tool-id-format: 2 changes in the stored history" in (refused, rule)
    assert again == "repaired, and sent again"


def test_another_model_goes_on_with_the_conversation(tmp_path: Path) -> None:
    out, err = talk("one", "/model scripted/other", "two", "/model nobody/x", "three", "/help", code=1)
    assert out == "You said: one\nYou said: two\nYou said: three\n"
    assert "From here on with scripted/other." in err
    assert 'there is no provider "nobody"' in err
    assert err.count("/quit") == 2


def test_a_conversation_is_kept(tmp_path: Path) -> None:
    script = tmp_path / "script.yaml"
    script.write_text("- Hello Ada.\n- Ada.\n")
    store = tmp_path / "chats.db"
    talk("I am Ada.", arguments=f"--store {store} --model scripted/{script}")
    assert "I am Ada." in run(f"repair --store {store} --thread chat --model openai/gpt-5 --error x").err + _stored(
        store
    )
    talk("Who am I?", arguments=f"--store {store}")
    assert [text for text in ("I am Ada.", "Hello Ada.", "Who am I?") if text in _stored(store)] == [
        "I am Ada.", "Hello Ada.", "Who am I?",
    ]  # fmt: skip


def _stored(store: Path) -> str:
    from historycompat.store import open_store

    with open_store(store) as opened:
        return json.dumps(opened.load("chat")[1])


def test_a_piped_conversation_in_which_an_answer_failed_ends_with_one(tmp_path: Path) -> None:
    """Refused, broken off, and at the end of the script; what comes after is answered all the same."""
    script = tmp_path / "script.json"
    refused, broken = {"error": {"status": 400, "body": "full moon"}}, {"error": {"status": 400, "body": "gone"}}
    script.write_text(json.dumps(["Fine.", refused, {"text": "Half an", **broken}, "Fine again."]))
    out, err = talk(*["line"] * 5, arguments=f"--model scripted/{script}", code=1)
    assert out == "Fine.\nHalf an\nFine again.\n"
    assert [words for words in ("full moon", "gone", "AGENT_BAD_OPTION") if f"historycompat: {words}" not in err] == []


def test_an_answer_that_cannot_be_kept_has_failed(tmp_path: Path) -> None:
    script, store = tmp_path / "script.yaml", tmp_path / "chats.db"
    script.write_text("turns:\n- [one, {pause: 0.5, text: two}]\n")
    with start(["chat", "--model", f"scripted/{script}", "--store", str(store)], stdin=subprocess.PIPE) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(b"count\n")
        process.stdin.flush()
        assert process.stdout.read(3) == b"one"
        with sqlite3.connect(store) as database:
            for [table] in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
                database.execute(f"ALTER TABLE {table} RENAME TO lost_{table}")
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (1, b"two\n")
    assert b"the answer could not be saved" in err
    assert b"Traceback" not in err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("--model anthropc/claude", 'did you mean "anthropic"'),
        ("--model nonsense", "nonsense"),
        ("--store /no/such/folder/x.db", "there is no folder"),
    ],
)
def test_what_cannot_be_is_said_at_once(arguments: str, words: str) -> None:
    ran = run(f"chat {arguments}", given=b"hi\n")
    assert (ran.code, ran.out) == (2, "")
    assert words in ran.err
    assert "Traceback" not in ran.err


def test_without_standard_input_it_ends() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", f"import os, sys; os.close(0); os.execv(sys.executable, [sys.executable, *{CHAT!r}])"],
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (ran.returncode, ran.stdout) == (0, b"")
    assert b"Traceback" not in ran.stderr


def test_an_interrupt_of_a_piped_conversation_keeps_what_was_said(tmp_path: Path) -> None:
    script, store = tmp_path / "script.yaml", tmp_path / "chats.db"
    script.write_text("turns:\n- [one, {pause: 60, text: two}]\n")
    arguments = ["chat", "--model", f"scripted/{script}", "--store", str(store)]
    with start(arguments, stdin=subprocess.PIPE, preexec_fn=takes_interrupts) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(b"count\n")
        process.stdin.flush()
        assert process.stdout.read(3) == b"one"
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"Traceback" not in err
    assert '"one"' in _stored(store)


def test_an_interrupt_at_a_terminal_stops_the_answer_and_the_conversation_goes_on(tmp_path: Path) -> None:
    script, store = tmp_path / "script.yaml", tmp_path / "chats.db"
    script.write_text("turns:\n- [one, {pause: 60, text: two}]\n- three\n")
    arguments = ["chat", "--model", f"scripted/{script}", "--store", str(store)]
    with terminal(80) as (person, keyboard), start(arguments, stdin=keyboard, preexec_fn=takes_interrupts) as process:
        assert process.stdout
        os.write(person, b"count\n")
        assert process.stdout.read(3) == b"one"
        process.send_signal(signal.SIGINT)
        assert process.stdout.read(1) == b"\n"
        assert '"one"' in _stored(store)
        os.write(person, b"go on\n")
        assert process.stdout.read(6) == b"three\n"
        os.write(person, b"\x04")
        out, err = process.communicate(timeout=60)
        os.close(keyboard)
    assert (process.returncode, out) == (0, b"")
    assert b"stopped; what was said is kept" in err
    assert b"Traceback" not in err
    assert [text for text in ("count", '"one"', "go on", "three") if text not in _stored(store)] == []


def test_an_interrupt_at_the_prompt_ends_it() -> None:
    with terminal(80) as (_, keyboard), start(["chat"], stdin=keyboard, preexec_fn=takes_interrupts) as process:
        assert process.stderr
        assert process.stderr.readline()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        os.close(keyboard)
    assert process.returncode == 130
    assert b"Traceback" not in err
