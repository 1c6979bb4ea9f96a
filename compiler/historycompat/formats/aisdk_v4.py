"""AI SDK LanguageModelV4Prompt ⇄ canonical prompt: alike, but for files, whose data names its kind.

Data and URLs are read as `data`; files by reference, and plain text as a file, are opaque.

Facts: @ai-sdk/provider 4.0.38, `LanguageModelV4Prompt`.
"""

from __future__ import annotations

from historycompat.formats.aisdk_parts import tagged_files
from historycompat.formats.aisdk_prompts import SHAPE, newer, prompt_format, prompt_lens
from historycompat.formats.aisdk_traits import scorer
from historycompat.formats.detection import words
from historycompat.formats.format import SAYS

NAME = "aisdk-v4"

ROLES = newer(
    NAME, tagged_files("file", "file"), tagged_files("file", "media"), ("reasoning-file", "custom"), strings=False
)

LENS = prompt_lens(NAME, ROLES, spine="prompt")

FORMAT = prompt_format(
    LENS,
    "AI SDK prompt (LanguageModelV4)",
    scorer(
        needs=words("known-type"),
        own=words("v4"),
        against=words("string row parts thread old core image v3 model foreign ui-old"),
        base=0.35,
    ),
    SHAPE,
    frozenset(SAYS),
)
