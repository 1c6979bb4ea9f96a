"""The verbs of the rule language, in the order of its documentation."""

from __future__ import annotations

from historycompat.verbs import (
    answer,
    coerce,
    convert,
    dedupe,
    drop,
    insert,
    keep,
    map_ids,
    map_names,
    merge,
    move,
    rename,
    reorder,
    replace,
    report,
    split,
    truncate,
    unset,
)
from historycompat.verbs import set as set_
from historycompat.verbs.verb import Verb

_ORDERED = (
    drop,
    set_,
    unset,
    keep,
    rename,
    replace,
    map_ids,
    map_names,
    merge,
    split,
    insert,
    reorder,
    truncate,
    convert,
    move,
    coerce,
    answer,
    dedupe,
    report,
)

VERBS: dict[str, Verb] = {module.VERB.name: module.VERB for module in _ORDERED}
