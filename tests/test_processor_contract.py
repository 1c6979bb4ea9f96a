"""What is no processor, what a hook may not return, and what a type checker makes of the protocols."""

from __future__ import annotations

import pickle
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from test_processors import appending, every_pass, processor, run_of

from historycompat.processors import MessageList, ProcessorError, ProcessorRunner
from historycompat.processors.protocol import HOOKS, lanes_of


class Misspelled:
    id = "p"

    def processLLMRequest(self, **rest: Any) -> None:
        return None


class AlmostRight:
    id = "p"

    def process_llm_requests(self, **rest: Any) -> None:
        return None


def by_position(prompt: Any, /) -> None:
    return None


OUTPUT_ONLY = processor(process_output_step=lambda: None)
UNFIT = [
    (object(), "PROCESSOR_WITHOUT_ID", "object needs an id"),
    (SimpleNamespace(id="", process_input=print), "PROCESSOR_WITHOUT_ID", "needs an id"),
    (processor(), "PROCESSOR_WITHOUT_HOOK", "a hook is one of process_input, "),
    (Misspelled(), "PROCESSOR_WITHOUT_HOOK", 'processLLMRequest is spelled "process_llm_request" here'),
    (AlmostRight(), "PROCESSOR_WITHOUT_HOOK", 'did you mean "process_llm_request"?'),
    (OUTPUT_ONLY, "PROCESSOR_IN_WRONG_LANE", "would never run in the input lane: its hooks belong to the output lane"),
    (
        processor(process_input=lambda mesages: None),
        "PROCESSOR_ASKS_UNKNOWN_ARGUMENT",
        "'mesages': did you mean \"messages\"?",
    ),
    (processor(process_input=lambda prompt: None), "PROCESSOR_ASKS_UNKNOWN_ARGUMENT", "'prompt': there are abort, "),
    (processor(process_llm_request=by_position), "PROCESSOR_ASKS_UNKNOWN_ARGUMENT", "takes 'prompt' by position only"),
]


@pytest.mark.parametrize(("unfit", "code", "message"), UNFIT, ids=[message for *_, message in UNFIT])
def test_what_is_no_processor_is_refused(unfit: Any, code: str, message: str) -> None:
    with pytest.raises(ProcessorError) as refused:
        ProcessorRunner(input=[unfit])
    assert refused.value.code == code
    assert message in str(refused.value)


def test_a_hook_that_cannot_be_asked_is_given_everything() -> None:
    assert (
        ProcessorRunner(input=[processor(process_input=dict)]).hooks("process_input")[0].asks
        == HOOKS["process_input"].arguments
    )


def test_an_id_is_taken_once_in_a_lane() -> None:
    with pytest.raises(ProcessorError, match="PROCESSOR_ID_TAKEN: processor a: two processors of the input lane"):
        ProcessorRunner(input=[appending("a"), appending("a")])
    with pytest.raises(ValueError, match="a number from 0 on, not -1"):
        ProcessorRunner(max_processor_retries=-1)


WRONG = [
    ("process_input", lambda: MessageList(), "PROCESSOR_RETURNED_EXTERNAL_MESSAGE_LIST", "return that one"),
    (
        "process_input",
        lambda: {"messages": MessageList()},
        "PROCESSOR_RETURNED_EXTERNAL_MESSAGE_LIST",
        "return that one",
    ),
    (
        "process_input",
        lambda: "rows",
        "PROCESSOR_RETURNED_UNKNOWN_VALUE",
        "process_input returned str: return a list of rows",
    ),
    ("process_input", lambda: ["row"], "PROCESSOR_RETURNED_UNKNOWN_VALUE", "return a list of rows, each a dict"),
    (
        "process_input",
        lambda: {"mesages": []},
        "PROCESSOR_RETURNED_UNKNOWN_FIELD",
        "'mesages': did you mean \"messages\"?",
    ),
    (
        "process_input",
        lambda: {"model": "m"},
        "PROCESSOR_RETURNED_UNKNOWN_FIELD",
        "there are messages, system_messages",
    ),
    (
        "process_input_step",
        lambda: {"message_list": MessageList()},
        "PROCESSOR_RETURNED_EXTERNAL_MESSAGE_LIST",
        "return that one",
    ),
    (
        "process_input_step",
        lambda message_list: {"messages": [], "message_list": message_list},
        "PROCESSOR_RETURNED_MESSAGES_AND_MESSAGE_LIST",
        "not both",
    ),
    (
        "process_input_step",
        lambda: {"toolChoice": "auto"},
        "PROCESSOR_RETURNED_UNKNOWN_FIELD",
        'did you mean "tool_choice"?',
    ),
    (
        "process_llm_request",
        lambda: ["prompt"],
        "PROCESSOR_RETURNED_UNKNOWN_VALUE",
        'process_llm_request returned list: return {"prompt": ...} or None',
    ),
    ("process_llm_request", lambda: {"promt": []}, "PROCESSOR_RETURNED_UNKNOWN_FIELD", 'did you mean "prompt"?'),
    ("process_output_result", lambda: MessageList(), "PROCESSOR_RETURNED_EXTERNAL_MESSAGE_LIST", "return that one"),
]


@pytest.mark.parametrize(("hook", "function", "code", "message"), WRONG)
async def test_what_may_not_be_returned_is_refused(hook: str, function: Any, code: str, message: str) -> None:
    wrong = processor("wrong", **{hook: function})
    rows = [{"id": "u", "role": "user"}]
    run = run_of(rows, **{next(iter(lanes_of(wrong))): [wrong]})
    with pytest.raises(ProcessorError) as refused:
        await every_pass(run)
    assert (refused.value.code, refused.value.processor_id) == (code, "wrong")
    assert message in str(refused.value)
    assert list(run.message_list) == rows
    assert str(pickle.loads(pickle.dumps(refused.value))) == str(refused.value)


# ---- types ----

TYPED = """
from typing import Any, Unpack
from historycompat.processors import PrefillErrorHandler, ProcessorRunner, StreamErrorRetry, TrailingAssistantGuard
from historycompat.processors.arguments import LLMRequestArguments, LLMRequestResult, Prompt
from historycompat.processors.protocol import ProcessesAPIError, ProcessesInputStep, ProcessesLLMRequest

class Named:
    id = "named"
    async def process_llm_request(self, *, prompt: Prompt, **rest: Any) -> LLMRequestResult | None:
        return {"prompt": prompt}

class Unpacked:
    id = "unpacked"
    def process_llm_request(self, **given: Unpack[LLMRequestArguments]) -> None:
        given["abort"](str(given["step_number"]))

class Wrong:
    id = "wrong"
    def process_llm_request(self, *, prompt: str, **rest: Any) -> None: ...

good: list[ProcessesLLMRequest] = [Named(), Unpacked()]
guard: ProcessesInputStep = TrailingAssistantGuard()
errors: list[ProcessesAPIError] = [PrefillErrorHandler(), StreamErrorRetry()]
runner = ProcessorRunner(input=[Named(), guard], error=errors)
wrong: ProcessesLLMRequest = Wrong()
"""


@pytest.mark.slow
def test_a_type_checker_understands_the_protocols(tmp_path: Path) -> None:
    mypy = pytest.importorskip("mypy.api")
    path = tmp_path / "typed.py"
    path.write_text(TYPED)
    output, _, status = mypy.run(
        ["--strict", "--no-incremental", "--config-file=", "--follow-imports=silent", str(path)]
    )
    errors = [line for line in output.splitlines() if ": error:" in line]
    assert status == 1
    assert [error.split(":", 2)[1] for error in errors] == [
        str(TYPED.splitlines().index("wrong: ProcessesLLMRequest = Wrong()") + 1)
    ], output
