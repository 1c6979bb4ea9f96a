"""Where the data folders are: inside the installed package, or at the top of a checkout."""

from __future__ import annotations

from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

_CHECKOUT = Path(__file__).resolve().parents[2]


def data_dir(name: str) -> Traversable:
    """The folder `grammar` or `builtin_rules`.

    A checkout's own folder wins over copies that an editable install may have left in site-packages.
    """
    checkout = _CHECKOUT / name
    if (_CHECKOUT / "pyproject.toml").is_file() and checkout.is_dir():
        return checkout
    return files("historycompat").joinpath(name)
