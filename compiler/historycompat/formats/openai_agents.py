"""Items of the OpenAI Agents SDK ⇄ canonical prompt.

Read and written as `openai-responses`, for chat models too. Items of those have the id `__fake_id__` and
`provider_data`, which tell them from items of the API.

Facts: openai-agents 0.2, `TResponseInputItem`, `FAKE_RESPONSES_ID`, `chatcmpl_converter`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from historycompat.formats import openai_responses
from historycompat.formats.dialects import dialect

NAME = "openai-agents"

LENS = replace(openai_responses.LENS, name=NAME)


def _is_marked(item: dict[str, Any]) -> bool:
    return item.get("id") == "__fake_id__" or "provider_data" in item


FORMAT = dialect(openai_responses.FORMAT, LENS, "OpenAI Agents SDK items", _is_marked)
