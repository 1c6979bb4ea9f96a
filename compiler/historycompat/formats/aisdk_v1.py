"""AI SDK LanguageModelV1Prompt ⇄ canonical prompt.

`args` is read as `input`, `result` and `isError` as `output`, `content` as an output of type `content`, `signature` and
redacted reasoning as options of `anthropic`, `providerMetadata` as `providerOptions`, an image as a file.

Degraded when written: the type of an output whose value is a string (text) or is none (JSON); filenames of images.
Refused: calls and results of hosted tools.

Facts: @ai-sdk/provider 1.1.3, `LanguageModelV1Prompt`.
"""

from __future__ import annotations

from historycompat.formats.aisdk_prompts import OLD_SAYS, SHAPE, older, prompt_format, prompt_lens
from historycompat.formats.aisdk_traits import scorer
from historycompat.formats.detection import words

NAME = "aisdk-v1"

LENS = prompt_lens(NAME, older(NAME, "providerMetadata", "content", strings=False), "parameters", "prompt")

FORMAT = prompt_format(
    LENS,
    "AI SDK prompt (LanguageModelV1)",
    scorer(
        needs=words("old providerMetadata image"),
        own=words("old"),
        against=words("string row parts thread new core providerOptions foreign ui-old"),
    ),
    SHAPE,
    OLD_SAYS,
)
