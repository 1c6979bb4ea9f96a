"""Every code that a complaint can have, as data: what it means, why it is refused, and how to write it instead.

A code is never used again for something else. E refuses the file, W can be allowed above a rule. Examples are whole
files: `.rules` text, or YAML where they begin with `language:`.
"""

from __future__ import annotations

from historycompat.codes import company, meaning, syntax
from historycompat.codes.code import Code

__all__ = ["CODES", "Code"]

CODES: dict[str, Code] = {one.code: one for one in (*syntax.CODES, *meaning.CODES, *company.CODES)}
