"""AI SDK LanguageModelV3Prompt ⇄ canonical prompt: alike, but for media in tool outputs and the answers to approvals.

`image-data` and `file-data` in an output are read as `media`; files by URL or id are opaque.

Facts: @ai-sdk/provider 3.0.19, `LanguageModelV3Prompt`.
"""

from __future__ import annotations

from historycompat.formats.aisdk_parts import NAMED_MEDIA, OPTIONS, file_kind
from historycompat.formats.aisdk_prompts import SHAPE, newer, prompt_format, prompt_lens
from historycompat.formats.aisdk_traits import scorer
from historycompat.formats.detection import words
from historycompat.formats.format import SAYS

NAME = "aisdk-v3"

ROLES = newer(NAME, (file_kind("mediaType", OPTIONS),), NAMED_MEDIA, (), strings=False)

LENS = prompt_lens(NAME, ROLES, spine="prompt")

FORMAT = prompt_format(
    LENS,
    "AI SDK prompt (LanguageModelV3)",
    scorer(
        needs=words("known-type"),
        own=words("v3 approval"),
        against=words("string row parts thread old core image v4 model foreign ui-old"),
    ),
    SHAPE,
    frozenset(SAYS),
)
