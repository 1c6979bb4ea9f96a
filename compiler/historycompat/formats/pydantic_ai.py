"""pydantic-ai messages ⇄ canonical prompt.

Each part of a request is a message of its own: a system prompt, a prompt of the user, or the return of a tool; a demand
to call a tool again is its failed result. A response is an assistant message. Thoughts keep the proof of their
provider: Anthropic's signature or redacted data, Google's signature, OpenAI's encrypted content. Parts of other kinds,
cache points and uploaded files are opaque; `instructions` stay as they are.

Degraded when written: inputs that are null, which become empty objects; several texts of a system prompt, which are no
list there; JSON outputs that are texts, which become texts; images in outputs, which become JSON; several results of
one tool message, which become a request each, as pydantic-ai joins neighbouring requests itself.

Facts: pydantic-ai-slim 2.68.0, `ModelMessagesTypeAdapter`.
"""

from __future__ import annotations

from dataclasses import replace

from historycompat.formats.apart import Tools
from historycompat.formats.chat_parts import function_tools
from historycompat.formats.detection import Marks, Survey, words
from historycompat.formats.envelopes import role_of
from historycompat.formats.format import OPAQUE
from historycompat.formats.kinds import Kinds
from historycompat.formats.lens import Lens
from historycompat.formats.pydantic_ai_items import OTHER, fold, unfold
from historycompat.formats.pydantic_ai_parts import ASKED, NAME, RESULT, SAID
from historycompat.formats.roles import Role, Roles, Slot
from historycompat.pairs import Site
from historycompat.view import Shape

USER = Slot(ASKED, string={"type": "text"}, empty=[])
SYSTEM = Slot(Kinds(NAME, "content", ()), string={"type": "text"}, only_strings=True, empty="")

LENS = Lens(
    NAME,
    Roles(
        [
            Role("system", "system", (SYSTEM,), text=True),
            Role("user", "user", (USER,)),
            Role("assistant", "assistant", (Slot(SAID, empty=[]),)),
            Role("tool", "tool", whole=RESULT),
            Role(OTHER, OPAQUE, (Slot(Kinds(NAME, "content", ())),)),
        ],
        other=Role(None, None, (USER,)),
        name_of=role_of,
    ),
    tools=Tools(function_tools(NAME)),
    unfold=unfold,
    fold=fold,
)


def detect(survey: Survey) -> float:
    """The share of messages that are requests or responses with parts."""
    seen = list(survey.sample())
    ours = [each for each in seen if each.get("kind") in ("request", "response") and "parts" in each]
    return len(ours) / len(seen) if seen else 0.0


_KEYS = (("tool_call_id",), ("tool_name",))

FORMAT = replace(
    LENS.format(
        "pydantic-ai messages",
        Marks(roles=frozenset(), types=frozenset()),
        Shape(
            role="kind",
            parts="parts",
            calls=(Site("parts", "tool-call", *_KEYS, ("response",), type_key="part_kind"),),
            results=(
                Site("parts", "tool-return", *_KEYS, ("request",), type_key="part_kind"),
                Site("parts", "retry-prompt", *_KEYS, ("request",), type_key="part_kind", state=("tool_name",)),
            ),
        ),
        words(
            "user-files documents reasoning any-order result-names output-error-text "
            "hosted-calls empty-messages many-texts neighbours result-ids"
        ),
    ),
    detect=detect,
)
