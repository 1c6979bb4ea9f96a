"""ModelMessage of ai 5, 6 and 7 ⇄ canonical prompt: alike, with contents that may be strings.

An `image` part is read as a file. Of the ways to say media in a tool output and the data of a file, that of ai 6 is
written from scratch; the others stay as they are. Files by id or reference are opaque.

Facts: ai 5, 6 and 7, `ModelMessage`.
"""

from __future__ import annotations

from historycompat.formats.aisdk_parts import NAMED_MEDIA, OPTIONS, file_kind, image_kind, tagged_files
from historycompat.formats.aisdk_prompts import newer, prompt_format, prompt_lens
from historycompat.formats.aisdk_traits import scorer
from historycompat.formats.detection import words
from historycompat.formats.format import SAYS
from historycompat.view import Shape

NAME = "model-message"

FILES = (
    file_kind("mediaType", OPTIONS),
    image_kind("mediaType", OPTIONS),
    *tagged_files("file", "file"),
)

LENS = prompt_lens(
    NAME,
    newer(
        NAME,
        FILES,
        (*NAMED_MEDIA, *tagged_files("file", "media")),
        ("reasoning-file", "custom", "tool-approval-request"),
        strings=True,
    ),
)

FORMAT = prompt_format(
    LENS,
    "AI SDK ModelMessage (ai 5 to 7)",
    scorer(
        needs=words("string known-type"),
        own=words("model string+new string+v3 string+v4 string+approval"),
        against=words("row parts thread old core providerMetadata foreign ui-old"),
        base=0.45,
    ),
    Shape(),
    frozenset(SAYS),
)
