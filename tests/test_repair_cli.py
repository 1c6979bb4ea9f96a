"""`historycompat repair` and `historycompat undo`: what they print, write and refuse, and their exit codes."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from poisoned import ANTHROPIC, anthropic_history

from historycompat.cli import main
from historycompat.errors import Conflict
from historycompat.store import SqliteStore, open_store

REPAIRED = anthropic_history(foreign="functions_bash_0")
REFUSAL = "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"
ASKED = ("--model", "team-alias", "--error", REFUSAL)
THREAD = "thread-1"


# Why a rule is there, in its own words, which others may choose.
_REASONS = re.compile(r"(?<= changes\n)(  .*\n)+?(?=  place)")


class Shell:
    """Runs the command line in a folder with a history, an error and a store."""

    def __init__(self, folder: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self._capfd, self._monkeypatch = capfd, monkeypatch
        monkeypatch.chdir(folder)
        monkeypatch.setenv("COLUMNS", "120")
        Path("history.json").write_text(json.dumps(ANTHROPIC))
        Path("error.json").write_text(json.dumps({"type": "error", "error": {"message": REFUSAL}}))
        Path("passing.rules.yaml").write_text(PASSING)
        with open_store("threads.db") as store:
            store.create(THREAD, ANTHROPIC)

    def run(self, *arguments: str) -> tuple[int, str, str]:
        self._monkeypatch.setattr(sys, "argv", ["historycompat", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = self._capfd.readouterr()
        return int(ended.value.code or 0), out, _REASONS.sub("", err)

    def stored(self) -> Any:
        with open_store("threads.db") as store:
            return store.load(THREAD)


@pytest.fixture
def shell(tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Shell:
    return Shell(tmp_path, capfd, monkeypatch)


PASSING = """
language: 1
pack: passing
rules:
  - name: forget-the-question
    because: a rule whose edits are for the repeated request only
    phase: after
    persist: no
    on_error: [/should match pattern|out of credit/]
    do: [replace /open it/ with "read it" in text on user/text]
    tests: [{name: it is asked otherwise, model: any/model, given: [{user: open it}], then: [{user: read it}]}]
"""

ACCOUNT = """\
anthropic-tool-id-format  2 changes
  place                                     before → after
  messages[1].content[0].id  assistant      "functions.bash:0" → "functions_bash_0"
  messages[2].content[0].tool_use_id  user  "functions.bash:0" → "functions_bash_0"

Repaired for team-alias by 1 rule; read as anthropic.
"""


def test_a_file_is_repaired_to_standard_output(shell: Shell) -> None:
    code, out, err = shell.run("repair", "history.json", *ASKED)
    assert (code, json.loads(out), err) == (0, REPAIRED, ACCOUNT)


def test_the_error_may_be_in_a_file(shell: Shell) -> None:
    code, out, _ = shell.run("repair", "history.json", "--model", "team-alias", "--error", "@error.json")
    assert (code, json.loads(out)) == (0, REPAIRED)


def test_the_output_may_be_a_file(shell: Shell) -> None:
    code, out, err = shell.run("repair", "history.json", *ASKED, "--output", "history.json")
    assert (code, out, err) == (0, "", ACCOUNT)
    assert json.loads(Path("history.json").read_text()) == REPAIRED


def test_a_dry_run_only_tells(shell: Shell) -> None:
    assert shell.run("repair", "history.json", *ASKED, "--dry-run") == (0, "", ACCOUNT)
    code, out, err = shell.run("repair", "--store", "threads.db", "--thread", THREAD, *ASKED, "--dry-run")
    assert (code, out, err) == (0, "", f"{ACCOUNT}Nothing was saved.\n")
    assert shell.stored() == (1, ANTHROPIC)


def test_a_stored_thread_is_repaired_and_the_repair_undone(shell: Shell) -> None:
    code, out, err = shell.run("repair", "--store", "threads.db", "--thread", THREAD, *ASKED)
    assert (code, out) == (0, "")
    assert err == f"{ACCOUNT}Saved as revision 2; historycompat undo takes it back.\n"
    assert shell.stored() == (2, REPAIRED)
    code, out, err = shell.run("undo", "--store", "threads.db", "--thread", THREAD)
    assert (code, out) == (0, "")
    undone, _, reason = " ".join(err.split()).partition(" Its reason was: ")
    assert undone.startswith("Undone: the repair of 2")
    assert undone.endswith(" UTC by anthropic-tool-id-format; saved as revision 3.")
    assert reason == f"team-alias refused it: {REFUSAL}"
    assert shell.stored() == (3, ANTHROPIC)
    assert shell.run("undo", "--store", "threads.db", "--thread", THREAD) == (
        2,
        "",
        f'historycompat: history "{THREAD}" has no repair to undo\n',
    )


def test_a_rule_that_does_not_last_is_not_saved(shell: Shell) -> None:
    rules = ("--rules", "passing.rules.yaml")
    code, _, err = shell.run("repair", "--store", "threads.db", "--thread", THREAD, *ASKED, *rules)
    assert (code, shell.stored()) == (0, (2, REPAIRED))
    assert "\nnote: for the repeated request only, and never saved: forget-the-question\nSaved as" in err
    with open_store("threads.db") as store:
        assert store.history_of(THREAD)[-1].rules == ("anthropic-tool-id-format",)
    out_of_credit = ("--model", "team-alias", "--error", "out of credit")
    code, _, err = shell.run("repair", "--store", "threads.db", "--thread", THREAD, *out_of_credit, *rules)
    assert (code, shell.stored()[0]) == (0, 2)
    assert err.endswith("never saved: forget-the-question\nThere is nothing to save.\n")


def test_an_error_that_no_rule_knows_is_a_finding(shell: Shell) -> None:
    code, out, err = shell.run("repair", "history.json", "--model", "team-alias", "--error", "Overloaded")
    assert (code, json.loads(out)) == (1, ANTHROPIC)
    assert err.startswith("Not repaired: of ")
    assert err.endswith(" rules for team-alias none knows this error.\n")


def test_nothing_to_change_is_a_finding(shell: Shell) -> None:
    shell.run("repair", "--store", "threads.db", "--thread", THREAD, *ASKED)
    code, _, err = shell.run("repair", "--store", "threads.db", "--thread", THREAD, *ASKED)
    assert code == 1
    assert err == "Not repaired: the error wakes anthropic-tool-id-format, but nothing was found to change.\n"
    assert shell.stored() == (2, REPAIRED)


def test_a_writer_who_was_faster_is_told(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    load = SqliteStore.load

    def load_and_lose(store: SqliteStore, history_id: str) -> tuple[int, Any]:
        found = load(store, history_id)
        monkeypatch.setattr(SqliteStore, "load", load)
        with open_store("threads.db") as other:
            other.replace(history_id, 1, [*ANTHROPIC, {"role": "assistant", "content": "faster"}])
        return found

    monkeypatch.setattr(SqliteStore, "load", load_and_lose)
    code, out, err = shell.run("repair", "--store", "threads.db", "--thread", THREAD, *ASKED)
    assert (code, out, err) == (2, "", f"historycompat: {Conflict(THREAD, 1, 2)}\n")
    assert shell.stored()[1][-1]["content"] == "faster"


def test_an_undoing_that_no_longer_fits_is_told(shell: Shell) -> None:
    shell.run("repair", "--store", "threads.db", "--thread", THREAD, *ASKED)
    with open_store("threads.db") as store:
        store.replace(THREAD, 2, anthropic_history(foreign="another"))
    code, _, err = shell.run("undo", "--store", "threads.db", "--thread", THREAD)
    assert code == 2
    assert "the repair cannot be undone" in err
    assert shell.stored() == (3, anthropic_history(foreign="another"))


MISTAKES: dict[str, tuple[tuple[str, ...], str]] = {
    "no such file": (("repair", "nothing.json", *ASKED), "nothing.json: there is no such file"),
    "no such error file": (
        ("repair", "history.json", "--model", "m", "--error", "@nothing.txt"),
        "nothing.txt: there is no such file",
    ),
    "an empty error": (("repair", "history.json", "--model", "m", "--error", " "), "--error says nothing"),
    "no such format": (("repair", "history.json", *ASKED, "--format", "antropic"), 'did you mean "anthropic"?'),
    "no such format where no rule wakes": (
        ("repair", "history.json", "--model", "m", "--error", "no", "--format", "antropic"),
        'did you mean "anthropic"?',
    ),
    "no history in the file": (("repair", "error.json", *ASKED), "error.json: there are no messages in it"),
    "no such store": (("repair", "--store", "no.db", "--thread", THREAD, *ASKED), 'there is no store "no.db"'),
    "no such thread": (("repair", "--store", "threads.db", "--thread", "thread-2", *ASKED), 'did you mean "thread-1"?'),
    "no such thread to undo": (("undo", "--store", "threads.db", "--thread", "thread-2"), 'did you mean "thread-1"?'),
    "no such store to undo": (("undo", "--store", "no.db", "--thread", THREAD), 'there is no store "no.db"'),
    "a store without a thread": (("repair", "--store", "threads.db", *ASKED), "--store and --thread go together"),
    "a store and a file": (
        ("repair", "history.json", "--store", "threads.db", "--thread", THREAD, *ASKED),
        "name no file",
    ),
    "a dry run with an output": (("repair", "history.json", *ASKED, "--dry-run", "-o", "x"), "--dry-run writes nothing"),
    "no model": (("repair", "history.json", "--model", " ", "--error", "no"), "--model names no model"),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_clear_message(mistake: str, shell: Shell) -> None:
    arguments, message = MISTAKES[mistake]
    code, out, err = shell.run(*arguments)
    assert (code, out) == (2, "")
    assert message in " ".join(err.replace("│", " ").split())
    assert "Traceback" not in err
    assert shell.stored() == (1, ANTHROPIC)
