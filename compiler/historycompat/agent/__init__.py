"""The reference agent: a model run in steps, whose history no provider refuses twice."""

from historycompat.agent.agent import Agent
from historycompat.agent.answer import Answer, Step
from historycompat.agent.errors import Aborted, AgentError, APICallError, ToolError
from historycompat.agent.memory import Memory, MemoryOptions
from historycompat.agent.models.openai import OpenAIModel
from historycompat.agent.models.port import LanguageModel, ModelRequest, Settings, ToolSpec
from historycompat.agent.models.pydantic_ai import PydanticAIModel
from historycompat.agent.models.scripted import ScriptedModel
from historycompat.agent.parts import Usage
from historycompat.agent.result import StreamResult
from historycompat.agent.tools import Tool, ToolContext, tool

__all__ = [
    "APICallError",
    "Aborted",
    "Agent",
    "AgentError",
    "Answer",
    "LanguageModel",
    "Memory",
    "MemoryOptions",
    "ModelRequest",
    "OpenAIModel",
    "PydanticAIModel",
    "ScriptedModel",
    "Settings",
    "Step",
    "StreamResult",
    "Tool",
    "ToolContext",
    "ToolError",
    "ToolSpec",
    "Usage",
    "tool",
]
