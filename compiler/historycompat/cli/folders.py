"""Pages → a folder that holds them and nothing else: as a whole, or not at all."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from historycompat.cli.output import UnusableOutput

_LINK = re.compile(r"\]\(([^()\s/]+\.md)\)")


def write_folder(folder: Path, pages: Mapping[str, str], index: str) -> None:
    """Write a folder of pages anew. What stood there before must be such a folder too: its index, the pages that the
    index leads to, and nothing beside them. Raises UnusableOutput, and then nothing has changed."""
    target = Path(os.path.realpath(folder))
    try:
        _refuse_strangers(target, folder, index, pages[index].split("\n", 1)[0])
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=".historycompat-") as scratch:
            fresh = Path(scratch, "fresh")
            fresh.mkdir()
            for name, text in pages.items():
                (fresh / name).write_text(text, encoding="utf-8", newline="\n")
            _exchange(fresh, target, Path(scratch, "old"))
    except OSError as error:
        raise UnusableOutput(f"{folder}: {error.strerror or error}") from None
    except ValueError as error:  # a NUL in the name
        raise UnusableOutput(f"{str(folder)!r}: {error}") from None


def _refuse_strangers(target: Path, shown: Path, index: str, title: str) -> None:
    if not os.path.lexists(target):
        return
    if not target.is_dir():
        raise UnusableOutput(f"{shown}: this is no folder; name another place for the pages")
    there = {entry.name for entry in target.iterdir()}
    kept = (target / index).read_text(encoding="utf-8", errors="replace") if (target / index).is_file() else ""
    ours = {index, *_LINK.findall(kept)} if kept.startswith(f"{title}\n") else set()
    if strangers := sorted(there - ours):
        more = f" and {len(strangers) - 1} more" if len(strangers) > 1 else ""
        raise UnusableOutput(
            f"{shown}: {strangers[0]!r}{more} is none of these pages and would be lost; name a folder that is new, or "
            "that holds nothing else"
        )


def _exchange(fresh: Path, target: Path, old: Path) -> None:
    had = target.exists()
    if had:
        target.rename(old)
    try:
        fresh.rename(target)
    except OSError:
        if had:
            old.rename(target)
        raise
    if had:
        shutil.rmtree(old, ignore_errors=True)
