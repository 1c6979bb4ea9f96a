"""Rule text → rules that can run: the language's stages put together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from historycompat import ir, ruleset
from historycompat.errors import Complaint, HistoryCompatError, RuleError
from historycompat.language.lower import lower
from historycompat.models.patterns import matcher
from historycompat.source import Source
from historycompat.tree import Pack

if TYPE_CHECKING:
    from historycompat.language.packs import Kind


class UnreadableRules(HistoryCompatError):
    """A rule file cannot be opened or is not text."""


def compile_source(source: Source, kind: Kind) -> tuple[ruleset.Rule, ...]:
    """Compile a rule file of kind `yaml` or `rules`. Raises RuleError with every complaint."""
    _, meanings, complaints = _read(source, kind)
    errors = [complaint for complaint in complaints if complaint.is_error]
    if errors:
        raise RuleError(errors)
    return tuple(map(lowered, meanings))


def _read(source: Source, kind: Kind) -> tuple[Pack | None, tuple[ir.Rule, ...], list[Complaint]]:
    """A rule file's tree, what it means, and all complaints about it in file order."""
    # Reading rule text takes a grammar, a YAML library and every check: whoever only runs rules loads none of them.
    from historycompat.language.check import check
    from historycompat.language.packs import read_pack
    from historycompat.wire_checks import wire_complaints

    pack, complaints = read_pack(source, kind=kind)
    meanings, found = check(pack) if pack else ((), [])
    unmapped = wire_complaints(pack) if pack else ()
    return pack, meanings, sorted([*complaints, *found, *unmapped], key=_in_file)


def lowered(meaning: ir.Rule) -> ruleset.Rule:
    """A checked rule as one that can run."""
    return lower(meaning, matcher)


def complaints_about(source: Source, kind: Kind) -> tuple[Pack | None, list[Complaint]]:
    """All complaints about a rule file, in file order, and its tree where it has one."""
    pack, _, complaints = _read(source, kind)
    return pack, complaints


def warnings_about(packs: Sequence[Pack], before: Iterable[ruleset.Rule] = ()) -> list[Complaint]:
    """What is doubtful in packs without errors that run together, in this order, behind `before`; by pack and place."""
    from historycompat.language.checks.warnings import ruleset_warnings

    return ruleset_warnings(packs, [rule.meaning for rule in before])


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
    from historycompat.language.packs import kind_of

    return Source(str(path), text), kind_of(path.name)
