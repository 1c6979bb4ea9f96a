"""Damage to a text, as people and disks do it."""

from __future__ import annotations

from random import Random

_INTRUDERS = (*"{}[]()'\"`/\\#|&!:*-,>%@?\t", "\x00", "\ufeff", "\u00e9", "\ud800", "\r", "rule", "drop", " #", ": ")


def damaged(text: str, random: Random) -> str:
    """The text after one to three deletions, copies, swaps and insertions of characters, words or lines."""
    for _ in range(random.randint(1, 3)):
        glue = random.choice(("", " ", "\n"))
        parts = text.split(glue) if glue else list(text)
        at, other = random.randrange(len(parts)), random.randrange(len(parts))
        match random.randrange(4):
            case 0:
                del parts[at]
            case 1:
                parts.insert(at, parts[other])
            case 2:
                parts[at], parts[other] = parts[other], parts[at]
            case 3:
                parts.insert(at, random.choice(_INTRUDERS))
        text = glue.join(parts) or " "
    return text
