"""The public face: what the package says it exports is what there is, and importing it costs next to nothing."""

from __future__ import annotations

import importlib
import pkgutil
import subprocess
import sys
from types import ModuleType

from cli_tools import environment

import historycompat

HEAVY = ("lark", "ruamel", "pydantic", "jmespath", "typer", "rich", "sqlite3", "asyncio")


def test_all_is_what_there_is() -> None:
    assert sorted(historycompat.__all__) == historycompat.__all__
    assert len(set(historycompat.__all__)) == len(historycompat.__all__)
    for name in historycompat.__all__:
        value = getattr(historycompat, name)
        assert value.__doc__, f"{name} is public and has no docstring"
        assert value.__module__.startswith("historycompat.")
    assert set(historycompat.__all__) <= set(dir(historycompat))


def test_a_star_import_gives_exactly_the_face() -> None:
    scope: dict[str, object] = {}
    exec("from historycompat import *", scope)
    assert set(scope) - {"__builtins__"} == set(historycompat.__all__)


def test_no_exported_name_hides_a_module() -> None:
    modules = {module.name for module in pkgutil.iter_modules(historycompat.__path__)}
    assert modules & set(historycompat.__all__) == set()
    for name in sorted(modules - {"__main__"}):
        assert isinstance(importlib.import_module(f"historycompat.{name}"), ModuleType)
        assert isinstance(getattr(historycompat, name), ModuleType), f"historycompat.{name} is hidden"


def test_an_unknown_name_is_an_attribute_error() -> None:
    assert not hasattr(historycompat, "aply")


def test_importing_loads_nothing_heavy() -> None:
    loaded = f"[m for m in sys.modules if m in {HEAVY!r} or m.startswith('historycompat.')]"
    code = f"import sys, historycompat; print({loaded})"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment(), check=True)
    assert ran.stdout == "[]\n"


def test_every_name_is_typed_where_checkers_look() -> None:
    """The names are imported on first use; a checker reads them from the block that never runs."""
    source = pkgutil.get_data("historycompat", "__init__.py")
    assert source
    block = source.decode().partition("if TYPE_CHECKING:")[2].partition("\n__version__")[0]
    assert [name for name in historycompat.__all__ if f" {name}" not in block.replace(",", " ")] == []
