"""Always-on memory for coding agents.

The installed hook imports this package on every call of the agent, so this file stays free of imports; the library is
loaded when one of its names is asked for.
"""

__version__ = "0.1.0"
__all__ = [
    "AsyncMemory", "Block", "Board", "ConversationConfig", "ConversationMemory", "Hit", "Kept", "Memory", "MemoryManager", "News",
    "Note", "Said", "Session", "Turn", "__version__", "with_memory",
]  # fmt: skip

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hindbrain.converse.conversation import ConversationMemory
    from hindbrain.converse.saved import MemoryManager
    from hindbrain.converse.turns import ConversationConfig
    from hindbrain.serve.arrivals import News
    from hindbrain.serve.async_memory import AsyncMemory
    from hindbrain.serve.board import Board, Note
    from hindbrain.serve.memory import Block, Hit, Memory
    from hindbrain.serve.talking import with_memory
    from hindbrain.serve.values import Kept, Said, Session, Turn

_PLACES = {
    "Block": "serve.memory", "Hit": "serve.memory", "Memory": "serve.memory",
    "AsyncMemory": "serve.async_memory", "News": "serve.arrivals", "Board": "serve.board", "Note": "serve.board",
    "Kept": "serve.values", "Said": "serve.values", "Session": "serve.values", "Turn": "serve.values",
    "ConversationConfig": "converse.turns", "ConversationMemory": "converse.conversation", "MemoryManager": "converse.saved",
    "with_memory": "serve.talking",
}  # fmt: skip


def __getattr__(name: str) -> object:
    if name in _PLACES:
        import importlib

        return getattr(importlib.import_module(f"hindbrain.{_PLACES[name]}"), name)
    raise AttributeError(f"module 'hindbrain' has no attribute {name!r}")
