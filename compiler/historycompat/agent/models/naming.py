"""Options as the AI SDK spells them → as Python libraries and HTTP APIs do."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_HUMP = re.compile(r"(?<=[a-z0-9])([A-Z])")


def snake_case(options: Mapping[str, Any], *, deep: bool = False) -> dict[str, Any]:
    """The options with `reasoningEffort` as `reasoning_effort`; with `deep` the objects in them as well."""
    return {
        _HUMP.sub(r"_\1", key).lower(): snake_case(value, deep=True) if deep and isinstance(value, Mapping) else value
        for key, value in options.items()
    }
