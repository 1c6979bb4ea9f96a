"""`historycompat convert` and `historycompat formats`: what is written, and that nothing is lost in silence."""

from __future__ import annotations

import copy
import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cli_tools import environment, on_terminal, run, start
from ruamel.yaml import YAML

from historycompat import conversion, formats
from historycompat.cli.account import dotted
from historycompat.conversion_losses import Loss
from historycompat.formats.format import OPAQUE, Format

HERE = Path(__file__).parent
CASES: list[dict[str, Any]] = YAML(typ="safe").load(HERE / "convert_cases.yaml")
CONVERSATION = json.loads((HERE / "same_conversation.json").read_text(encoding="utf-8"))
PAYLOADS = sorted(path for path in (HERE / "formats").glob("*/*.json") if path.parent.name in formats.FORMATS)
every_format = pytest.mark.parametrize("kind", formats.FORMATS.values(), ids=lambda kind: kind.name)


def told(losses: tuple[Loss, ...], *, gone: bool) -> list[str]:
    return [f"{dotted(loss.path)}  {loss.what}" for loss in losses if loss.gone is gone]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"].replace(" ", "-"))
def test_what_is_written_and_told(case: dict[str, Any]) -> None:
    given = copy.deepcopy(case["given"])
    done = conversion.convert(case["given"], formats.find(case["from"]), formats.find(case["to"]))
    assert case["given"] == given
    assert done.history == case["then"]
    assert told(done.losses, gone=True) == case.get("gone", [])
    assert told(done.losses, gone=False) == case.get("otherwise", [])


@every_format
def test_a_plain_conversation_is_said_whole_in_every_format(kind: Format) -> None:
    prompt = [message for message in CONVERSATION["canonical"] if message["role"] != "tool"][:2]
    done = conversion.convert(prompt, formats.find("aisdk-v2"), kind)
    assert told(done.losses, gone=True) == []
    assert [part_text(m) for m in kind.read(done.history).messages] == [part_text(m) for m in prompt]


def part_text(message: dict[str, Any]) -> str:
    content = message["content"]
    return content if isinstance(content, str) else "".join(part["text"] for part in content)


@pytest.mark.slow
@pytest.mark.parametrize("path", PAYLOADS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_nothing_is_lost_in_silence(path: Path) -> None:
    """Of every payload in every format: each text, call and result is in what was written, or something at its place
    is told; what was written has nothing in it that its own format does not know."""
    native = json.loads(path.read_text(encoding="utf-8"))["native"]
    given = copy.deepcopy(native)
    source = formats.find(path.parent.name)
    for target in formats.FORMATS.values():
        if target is source:
            continue
        done = conversion.convert(native, source, target)
        assert native == given
        back = target.read(done.history).messages
        assert not [each for each in objects(back) if OPAQUE in (each.get("type"), each.get("role"))], target.name
        lost = marks(source.read(native).messages) - marks(back) - {""}
        assert len(lost) <= len(done.losses), target.name


def objects(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from objects(inner)


def marks(messages: list[Any]) -> set[str]:
    """The texts of parts and the ids of calls and results, as far as they are texts."""
    parts = [part for m in messages if isinstance(m, dict) for part in parts_of(m)]
    found = [part.get(key) for part in parts if isinstance(part, dict) for key in ("text", "toolCallId")]
    return {text for text in found if isinstance(text, str)}


def parts_of(message: dict[str, Any]) -> list[Any]:
    content = message.get("content")
    return [{"text": content}] if isinstance(content, str) else content if isinstance(content, list) else []


def test_a_long_history_takes_time_in_proportion(tmp_path: Path) -> None:
    prompt = [
        message
        for at in range(2_000)
        for message in (
            {"role": "user", "content": [{"type": "text", "text": f"question {at}"}, {"type": "text", "text": "!"}]},
            {"role": "assistant", "content": [{"type": "text", "text": f"answer {at}"}]},
        )
    ]
    done = conversion.convert(prompt, formats.find("aisdk-v2"), formats.find("ollama-chat"))
    assert len(done.history) == len(prompt)
    assert len(done.losses) == 4_000
    assert not any(loss.gone for loss in done.losses)


# As people run it


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for case in CASES:
        (tmp_path / f"{case['name'].replace(' ', '-')}.json").write_text(json.dumps(case["given"]), encoding="utf-8")
    return tmp_path


def test_the_history_is_written_and_the_account_is_told(folder: Path) -> None:
    ran = run("convert options-that-nobody-else-knows.json --from anthropic --to cohere-chat", cwd=folder)
    assert ran.code == 1
    assert json.loads(ran.out) == CASES[4]["then"]
    assert ran.err == (
        "left out\n"
        "  messages[0].content[0]  providerOptions.anthropic.signature of a reasoning part\n"
        "\n"
        "Converted from anthropic to cohere-chat: 1 thing left out, 0 said in another way.\n"
    )


def test_what_is_said_in_another_way_is_no_finding(folder: Path) -> None:
    ran = run("convert texts-that-become-one.json --from openai-chat --to ollama-chat -o out.json", cwd=folder)
    assert (ran.code, ran.out) == (0, "")
    assert json.loads((folder / "out.json").read_text()) == CASES[10]["then"]
    assert "messages[0]  a text part becomes one with its neighbours" in ran.err


def test_the_format_is_detected(folder: Path) -> None:
    given = (folder / "system-prompts-go-where-the-format-has-them.json").read_bytes()
    ran = run("convert --to anthropic", given=given)
    assert (ran.code, json.loads(ran.out)) == (0, CASES[0]["then"])
    assert ran.err == "Converted from openai-chat to anthropic: all of it.\n"


@pytest.mark.parametrize(
    ("line", "given", "says"),
    [
        ("convert --to anthropik", b"[]", 'there is no format "anthropik": did you mean "anthropic"?'),
        ("convert --to anthropic --from x", b"[]", 'there is no format "x"'),
        ("convert --to anthropic", b"[]", "standard input: there are no messages in it"),
        ("convert --to anthropic", b"[", "standard input:1:2: this is not JSON"),
        ("convert --to anthropic --from openai-chat", b"{}", "standard input: the body holds no list of messages"),
        ("convert nothing.json --to anthropic", b"", "nothing.json: there is no such file"),
        ("convert . --to anthropic", b"", ".: this is a directory"),
        ("convert --to anthropic -o no/where.json", b'[{"role": "user", "content": "hi"}]', "there is no folder no"),
        ("convert --to anthropic --from aisdk-v2", b"[" * 3000 + b"]" * 3000, "nested too deeply"),
        ("formats", b"", ""),
        ("formats -", b'[{"strange": 1}]', "standard input: no format fits it (roles None; message keys strange)"),
        ("formats -", b"[]", "standard input: there are no messages in it"),
        ("formats nothing.json", b"", "nothing.json: there is no such file"),
    ],
)
def test_mistakes_get_one_clear_message(line: str, given: bytes, says: str, tmp_path: Path) -> None:
    ran = run(line, given=given, cwd=tmp_path)
    assert says in ran.err
    assert "Traceback" not in ran.err
    assert (ran.code, bool(ran.out)) == ((2, False) if says else (0, True))


def test_a_reader_who_goes_away(folder: Path) -> None:
    line = "convert a-bare-list-stays-one.json --from anthropic --to openai-chat"
    with start(shlex.split(line), cwd=folder) as process:
        assert process.stdout
        process.stdout.close()
        process.stdout = None
        _, err = process.communicate()
    assert process.returncode == 0
    assert err == b"Converted from anthropic to openai-chat: all of it.\n"


def test_formats_are_listed_with_their_limits() -> None:
    ran = run("formats")
    assert ran.code == 0
    listed = [line.split()[0] for line in ran.out.splitlines()[1:] if line[:1].strip()]
    assert listed == list(formats.FORMATS)
    assert "failed and JSON outputs" in " ".join(ran.out.split())
    assert ran.err == f"{len(formats.FORMATS)} formats\n"


def test_formats_are_listed_without_docstrings() -> None:
    ran = run("formats", env=environment(PYTHONOPTIMIZE="2"))
    assert (ran.code, ran.out.splitlines()[1].split()[0]) == (0, "openai-chat")


def test_formats_fit_a_terminal() -> None:
    shown = on_terminal("formats", 72, stream="stdout")
    assert "‹1;36mopenai-chat" in shown


def test_the_formats_that_fit_a_file(folder: Path) -> None:
    (folder / "chat.json").write_text(json.dumps(CONVERSATION["natives"]["openai-chat"]))
    ran = run("formats chat.json", cwd=folder)
    first, *others = [line.split() for line in ran.out.splitlines()[1:]]
    assert (first[0], first[-1], ran.code, ran.err) == ("openai-chat", "100%", 0, "")
    assert all(int(row[-1].rstrip("%")) < 100 for row in others)
