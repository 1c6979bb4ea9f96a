"""Rule text → rules that can run: the language's stages put together."""

from __future__ import annotations

from pathlib import Path

from historycompat import ruleset
from historycompat.errors import Complaint, HistoryCompatError, RuleError
from historycompat.language.check import check
from historycompat.language.lower import lower
from historycompat.language.packs import Kind, kind_of, read_pack
from historycompat.models.patterns import matcher
from historycompat.source import Source
from historycompat.tree import Pack
from historycompat.wire_checks import wire_complaints


class UnreadableRules(HistoryCompatError):
    """A rule file cannot be opened or is not text."""


def compile_source(source: Source, kind: Kind) -> tuple[ruleset.Rule, ...]:
    """Compile a rule file of kind `yaml` or `rules`. Raises RuleError with every complaint."""
    pack, complaints = read_pack(source, kind=kind)
    meanings, found = check(pack) if pack else ((), [])
    found += wire_complaints(pack) if pack else ()
    errors = [complaint for complaint in [*complaints, *found] if complaint.is_error]
    if errors:
        raise RuleError(sorted(errors, key=_in_file))
    return tuple(lower(meaning, matcher) for meaning in meanings)


def complaints_about(source: Source, kind: Kind) -> tuple[Pack | None, list[Complaint]]:
    """All complaints about a rule file, in file order, and its tree where it has one."""
    pack, complaints = read_pack(source, kind=kind)
    found = [*check(pack)[1], *wire_complaints(pack)] if pack else []
    return pack, sorted([*complaints, *found], key=_in_file)


def _in_file(complaint: Complaint) -> tuple[int, str]:
    return (complaint.span.start if complaint.span else 0, complaint.code)


def read_source(path: str | Path) -> tuple[Source, Kind]:
    """A rule file and its kind. Raises UnreadableRules with the reason."""
    path = Path(path)
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise UnreadableRules(f"{path}: there is no such file") from None
    except IsADirectoryError:
        raise UnreadableRules(f"{path}: this is a directory, not a rule file") from None
    except UnicodeDecodeError as error:
        raise UnreadableRules(f"{path}: this is not UTF-8 text (byte {error.start})") from None
    except OSError as error:
        raise UnreadableRules(f"{path}: {error.strerror or error}") from None
    return Source(str(path), text), kind_of(path.name)
