"""Bedrock Converse messages ⇄ canonical prompt.

A user message with tool results is read as a tool message for each run of them and a user message for each run of the
rest. `system` of a body is read as a leading system message, `toolConfig.tools` as tools. A cache point is the option
`bedrock.cachePoint` of the block before it; one without such a block, citations, guarded content, search results,
media in S3 and whatever is unknown are opaque. Signatures and redacted data of reasoning are options of `anthropic`,
whose models they are for. Bytes are read as base64, and written as bytes where there were some.

Degraded when written: outputs of the type `content` that are one text, which become that text; failed outputs of
several blocks; a result's tool name (its call's holds); a document without name, which is called "document".

Facts: botocore 1.44, `bedrock-runtime` `Converse`; it refuses unknown keys before the request.
"""

from __future__ import annotations

from functools import partial

from historycompat.formats.apart import System, Tools
from historycompat.formats.bedrock_blocks import BLOCKS, MEDIA, NAME, OURS, by_key
from historycompat.formats.cache_points import fold, unfold
from historycompat.formats.detection import Marks, words
from historycompat.formats.kinds import Field, Kind, Kinds
from historycompat.formats.lens import Lens
from historycompat.formats.roles import Role, Roles, Slot
from historycompat.pairs import Site
from historycompat.view import Shape

TOOLS = Kinds(
    NAME,
    "tools",
    [
        Kind(
            "toolSpec",
            "function",
            (
                Field("toolSpec.name", "name"),
                Field("toolSpec.description", "description"),
                Field("toolSpec.inputSchema.json", "inputSchema"),
            ),
        )
    ],
    mark=lambda tool: "toolSpec" if isinstance(tool.get("toolSpec"), dict) else None,
)

SLOT = Slot(BLOCKS, string={"type": "text"}, lone="text", empty=[])

LENS = Lens(
    NAME,
    Roles(
        [
            Role("user", "user", (SLOT,), splits=True),
            Role("assistant", "assistant", (SLOT,)),
            Role("system", "system", (SLOT,), text=True),
        ],
        other=Role(None, None, (SLOT,)),
    ),
    tools=Tools(TOOLS, ("toolConfig", "tools")),
    system=System(("system",)),
    unnamed_results=True,
    namespaces=OURS,
    unfold=partial(unfold, may_have=by_key),
    fold=fold,
)

_TYPES = frozenset(
    f"{{{key}}}"
    for key in (
        *MEDIA,
        *words("text toolUse toolResult reasoningContent cachePoint guardContent citationsContent searchResult"),
    )
)

FORMAT = LENS.format(
    "Bedrock Converse",
    Marks(
        roles=words("user assistant system"),
        types=_TYPES,
        lists=words("user assistant system"),
        own_types=_TYPES,
        own_body=words("modelId inferenceConfig toolConfig additionalModelRequestFields"),
        foreign_keys=words("parts tool_calls tool_call_id providerOptions"),
    ),
    Shape(
        calls=(Site("content", None, ("toolUse", "toolUseId"), ("toolUse", "name")),),
        results=tuple(
            Site("content", None, ("toolResult", "toolUseId"), (), (role,)) for role in ("user", "assistant")
        ),
    ),
    words(
        "documents reasoning any-order any-input results-together output-json output-error-text output-error-json "
        "hosted-calls empty-messages many-texts neighbours result-ids"
    ),
)
