"""CoreMessage of ai 4 ⇄ canonical prompt: as prompt V1, with contents that may be strings.

The deprecated `experimental_providerMetadata` is read as `providerMetadata`; `experimental_content` as an output of
type `content`. What is degraded and refused is as for prompt V1.

Facts: ai 4, `CoreMessage`.
"""

from __future__ import annotations

from historycompat.formats.aisdk_prompts import OLD_SAYS, older, prompt_format, prompt_lens
from historycompat.formats.aisdk_traits import scorer
from historycompat.formats.detection import words
from historycompat.formats.kinds import Field
from historycompat.view import Shape

NAME = "core-message"

ROLES = older(
    NAME,
    "providerOptions",
    "experimental_content",
    Field("experimental_providerMetadata", "providerMetadata", optional=True),
    strings=True,
)

LENS = prompt_lens(NAME, ROLES)

FORMAT = prompt_format(
    LENS,
    "AI SDK CoreMessage (ai 4)",
    scorer(
        needs=words("string known-type"),
        own=words("core string+old providerOptions+old"),
        against=words("row parts thread new providerMetadata foreign ui-old"),
        base=0.3,
    ),
    Shape(),
    OLD_SAYS,
)
