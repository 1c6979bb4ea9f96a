"""The memory of agents: threads that are loaded before a run and saved with it, and what is recalled of them."""

from historycompat.agent.memory.embedding import Embedder, MiniLM
from historycompat.agent.memory.memory import Memory
from historycompat.agent.memory.options import MemoryOptions
from historycompat.agent.memory.session import MemorySession

__all__ = ["Embedder", "Memory", "MemoryOptions", "MemorySession", "MiniLM"]
